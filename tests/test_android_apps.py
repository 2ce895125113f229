"""Applications of a phone: a site of this machine in a package, the questions to each, and finding one by its name."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from pipeline.app_entry import PhoneEntry
from pipeline.envs.android_apps import PhoneApps, WrappedSite
from pipeline.envs.android_launch import find
from pipeline.envs.web_sites import PageEval, StaticSite
from pipeline.errors import ActionError, EnvError, SetupError
from pipeline.tasks import CHANGES, Check, SetupOperation
from tests.androids import PACKAGE, AndroidPhone, PlainApp, phone_task
from tests.phones import Plugged, plugged

COMPONENTS = ["org.a.mail/.Main", "org.b.mail/.Main", "org.a.clock/.Main", "com.ss.chat/.Main", "com.ss.chat/.Other"]


ENTRY = PhoneEntry(
    app_id="notes",
    title="Notes",
    version="1",
    platform="mobile",
    licence="MIT",
    folder=Path(),
    package=PACKAGE,
    locale="zh-CN",
    page_of="fava",
)


class Pages(StaticSite):
    """A site that serves somewhere else after each reset, and answers one question."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:4000")
        self.resets = 0
        self.applied: list[SetupOperation] = []

    async def reset(self) -> None:
        self.resets += 1
        self.base_url = f"http://127.0.0.1:{4000 + self.resets}"

    async def apply(self, operations: Sequence[SetupOperation]) -> None:
        self.applied += operations

    async def read(self, check: Check, page_eval: PageEval | None = None) -> list[list[str]]:
        del page_eval
        if check.probe == "broken":
            raise ValueError("no such table")
        return [["a row"]]

    def changes(self) -> list[list[str]]:
        return [["notes/1", "added"]]


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Plugged]:
    async with plugged(tmp_path, AndroidPhone()) as found:
        yield found


def _apps(there: Plugged, site: StaticSite) -> PhoneApps:
    return PhoneApps(lambda _, device: WrappedSite(ENTRY, site, device), there.device)


def _check(probe: str) -> Check:
    return Check(name=probe, verifier="equals", probe=probe)


async def test_a_page_is_opened_where_its_site_is_now(there: Plugged) -> None:
    apps = _apps(there, Pages())

    for _ in range(2):
        await apps.prepare(phone_task())
    await apps.open("notes", "/list?a=b&c=$d")

    assert there.phone.asked[-2][1] == (
        "am start -W -a android.intent.action.VIEW -d 'http://127.0.0.1:4002/list?a=b&c=$d' org.example.notes"
    )
    assert apps.titles == {"Notes": PACKAGE}


@pytest.mark.parametrize("only", [True, False])
async def test_what_the_last_episode_left_in_its_package_is_gone_unless_others_use_it(
    there: Plugged, only: bool
) -> None:
    app = WrappedSite(ENTRY, Pages(), there.device, only=only)

    await app.reset()

    spoken = ["settings get system system_locales", "settings put system system_locales zh-CN"]
    asked = [command for _, command in there.phone.asked]
    assert asked == [*spoken, f"am force-stop {PACKAGE}", *([f"pm clear {PACKAGE}"] if only else [])]


async def test_a_site_that_the_episode_does_not_begin_with_is_found_from_the_launcher(there: Plugged) -> None:
    other = ENTRY.model_copy(update={"title": "Ledger"})
    apps = PhoneApps(
        lambda app_id, device: PlainApp(device) if app_id == "notes" else WrappedSite(other, Pages(), device),
        there.device,
    )
    await apps.prepare(phone_task().model_copy(update={"app_ids": ["notes", "ledger"]}))
    there.phone.asked.clear()

    await apps.open("notes", "/")

    order = [command for _, command in there.phone.asked if command.startswith("am ")]
    assert order == [
        f"am start -W -a android.intent.action.VIEW -d http://127.0.0.1:4001/ {PACKAGE}",
        f"am force-stop {PACKAGE}",
        f"am start -n {PACKAGE}/.Main",
    ]


async def test_a_phone_without_the_package_is_said_to_have_none(there: Plugged) -> None:
    there.phone.on("pm path", 1)

    with pytest.raises(SetupError, match=f"has no package {PACKAGE}") as caught:
        await _apps(there, Pages()).prepare(phone_task())

    assert caught.value.code == "app_not_installed"


async def test_a_page_that_does_not_come_to_the_front_is_a_failed_set_up(
    there: Plugged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.envs.android_launch._FRONT_SECONDS", 0.1)
    assert isinstance(there.phone, AndroidPhone)
    there.phone.focus = "org.example.other/.Main"
    apps = _apps(there, Pages())
    await apps.prepare(phone_task())

    with pytest.raises(SetupError) as caught:
        await apps.open("notes", "/")

    assert caught.value.code == "app_not_opened"


async def test_each_question_is_asked_once_and_changes_are_told(there: Plugged) -> None:
    apps = _apps(there, Pages())
    await apps.prepare(phone_task())
    await apps.mark()

    reads = await apps.read([_check("rows"), _check("rows"), _check("broken")], 3)

    assert [(read.probe, read.value, read.observation_index) for read in reads] == [
        ("rows", [["a row"]], 3),
        ("broken", None, 3),
        (CHANGES, [["notes/1", "added"]], 3),
    ]
    assert reads[1].error is not None and "no such table" in reads[1].error


async def test_a_site_that_has_ended_is_the_world_s_fault(there: Plugged) -> None:
    site = Pages()
    apps = _apps(there, site)
    await apps.prepare(phone_task())

    site.alive = False

    with pytest.raises(EnvError, match="notes has ended"):
        apps.check()


@pytest.mark.parametrize(
    "name, component",
    [
        ("org.b.mail", "org.b.mail/.Main"),
        ("Clock", "org.a.clock/.Main"),
        ("微聊", "com.ss.chat/.Main"),
        ("wei liao", "com.ss.chat/.Main"),
    ],
)
def test_an_application_is_found_by_what_people_call_it(name: str, component: str) -> None:
    assert find(name, COMPONENTS, {"微聊": "com.ss.chat", "weiliao": "com.ss.chat"}) == component


def test_a_word_of_several_packages_is_not_guessed_at() -> None:
    with pytest.raises(ActionError, match="several applications 'mail'"):
        find("mail", COMPONENTS, {})
