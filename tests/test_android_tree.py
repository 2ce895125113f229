"""Trees as the tree tool writes them become nodes; what is no tree is a typed failure."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pipeline.envs.android_tree import TreeReader
from pipeline.errors import EnvError, TreeError
from pipeline.handset.wire import Output
from pipeline.structs import Box, Node
from tests.androids import AndroidPhone, node, tree
from tests.phones import Plugged, plugged


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, AndroidPhone()) as found:
        yield found


async def _nodes(there: Plugged, *elements: str) -> list[Node]:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.tree = tree(*elements)
    return (await TreeReader(there.device).read("screen")).nodes


async def test_a_node_has_role_name_box_and_states(there: Plugged) -> None:
    nodes = await _nodes(
        there,
        node("android.widget.CheckBox", "[10,20][30,40]", text="Milk", checked="true", enabled="false", focused="true"),
    )

    assert nodes == [
        Node(
            role="checkbox",
            name="Milk",
            box=Box(left=10, top=20, right=30, bottom=40),
            states=["checked", "disabled", "focused"],
        )
    ]


@pytest.mark.parametrize(
    "kind, attributes, role",
    [
        ("android.widget.TextView", {"text": "a"}, "StaticText"),
        ("android.widget.TextView", {"text": "a", "clickable": "true"}, "button"),
        ("android.view.View", {"text": "a"}, "StaticText"),
        ("android.view.View", {"content_desc": "a"}, "generic"),
        ("androidx.appcompat.widget.SwitchCompat", {"text": "a"}, "switch"),
        ("android.widget.ImageView", {"content_desc": "a"}, "image"),
        ("android.widget.ImageView", {"content_desc": "a", "clickable": "true"}, "button"),
        ("android.app.ActionBar$Tab", {"text": "a"}, "tab"),
        ("com.vendor.Odd", {"text": "a", "checkable": "true"}, "checkbox"),
        ("android.widget.Spinner", {}, "combobox"),
    ],
)
async def test_classes_become_roles(there: Plugged, kind: str, attributes: dict[str, str], role: str) -> None:
    (found,) = await _nodes(there, node(kind, **attributes))

    assert found.role == role


async def test_a_field_has_its_label_as_name_and_its_text_as_value(there: Plugged) -> None:
    nodes = await _nodes(
        there,
        node("android.widget.EditText", text="Bob", content_desc="Name"),
        node("android.widget.EditText", text="Search", hint="Search"),
        node("android.widget.EditText", text="•••", resource_id="org.a:id/pin", password="true"),
    )

    assert [(found.role, found.name, found.value) for found in nodes] == [
        ("textbox", "Name", "Bob"),
        ("textbox", "Search", ""),
        ("textbox", "pin", "•••"),
    ]
    assert nodes[2].states == ["editable", "protected"]


async def test_what_can_be_pressed_is_called_by_what_is_written_on_it(there: Plugged) -> None:
    row = (
        '<node class="android.widget.LinearLayout" clickable="true" bounds="[0,0][9,9]">'
        f"{node('android.widget.TextView', text='Alice')}{node('android.widget.TextView', text='555 12')}</node>"
    )

    nodes = await _nodes(there, row)

    assert [(found.role, found.name) for found in nodes] == [
        ("button", "Alice 555 12"),
        ("StaticText", "Alice"),
        ("StaticText", "555 12"),
    ]


async def test_what_only_arranges_is_left_out(there: Plugged) -> None:
    assert await _nodes(there, node("android.widget.FrameLayout"), node("android.widget.TextView", text="")) == []


@pytest.mark.parametrize(
    "said, code",
    [
        (b"ERROR: could not get idle state.\n", "not_idle"),
        (b"ERROR: null root node returned by UiTestAutomationBridge.\n", "unavailable"),
        (b"Killed\n", "unavailable"),
        (b"", "unavailable"),
        (b"<hierarchy rotation='0'><node text='a</hierarchy>", "unavailable"),
    ],
)
async def test_what_is_no_tree_is_a_typed_failure(there: Plugged, said: bytes, code: str) -> None:
    assert isinstance(there.phone, AndroidPhone)
    there.phone.tree = said

    with pytest.raises(TreeError) as caught:
        await TreeReader(there.device).read("screen")

    assert caught.value.code == code


@pytest.mark.parametrize("said", [b"ERROR: could not get idle state.\n", tree()])
async def test_a_tool_that_answers_late_is_told_from_one_that_never_does(there: Plugged, said: bytes) -> None:
    assert isinstance(there.phone, AndroidPhone)
    reader = TreeReader(there.device, 0.3)
    there.phone.on("uiautomator", there.phone.hang)
    with pytest.raises(TreeError):
        await reader.read("screen")
    unanswered = reader.unanswered
    with pytest.raises(EnvError) as caught:
        await reader.prove("screen")

    there.phone.on("uiautomator", said)
    await reader.prove("screen")

    assert unanswered and caught.value.code == "tree_tool_hung"
    assert reader.is_quiet("screen") is (b"ERROR" in said)


async def test_a_window_that_is_missing_for_a_moment_is_asked_for_once_more(there: Plugged) -> None:
    answers = [b"ERROR: null root node returned\n", tree(node(text="Here", clickable="true"))]

    async def answer(command: str, output: Output) -> int:
        await output.out(answers.pop(0))
        return 0

    there.phone.on("uiautomator", answer)

    dumped = await TreeReader(there.device).read("screen")

    assert [found.name for found in dumped.nodes] == ["Here"]


async def test_a_device_without_a_terminal_gives_its_tree_through_a_file_of_this_moment(there: Plugged) -> None:
    written = tree(node(text="Filed", clickable="true"))
    there.phone.on("uiautomator dump --compressed /dev/tty", "UI hierchary dumped to: /dev/tty\n")
    there.phone.on("uiautomator dump --compressed /data", "UI hierchary dumped to: a file\n")
    there.phone.on("cat /data/local/tmp", written)
    reader = TreeReader(there.device)

    dumped = [await reader.read("screen") for _ in range(2)]

    assert [found.name for read in dumped for found in read.nodes] == ["Filed"] * 2
    assert there.phone.count("uiautomator dump --compressed /dev/tty") == 1
    paths = {command.split()[-1] for _, command in there.phone.asked if command.startswith("cat /data")}
    assert len(paths) == 2
    assert all(there.phone.count(f"rm -f {path}") == 1 for path in paths)


async def test_a_device_that_is_gone_is_no_missing_tree(there: Plugged) -> None:
    await there.wire.close()

    with pytest.raises(EnvError):
        await TreeReader(there.device).read("screen")
