"""UI trees and hit tests of real pages, compared with what Chromium itself says where it says it."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.actions import Pixel
from pipeline.envs.browser import Browser
from pipeline.protocols import Observation, leading_in
from pipeline.structs import LeadingTarget, TargetUnderPoint
from tests.webserver import PAGES, page
from tests.webworld import World, node, running_browser, running_world, spot

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNTOLD = {"InlineTextBox", "LineBreak", "ListMarker", "StaticText", "generic", "none", "LabelText", "MenuListPopup"}
"""What Chromium's tree has beside things with a name of their own."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser) -> AsyncIterator[World]:
    async with running_world(browser) as made:
        yield made


async def chromium_says(world: World) -> set[tuple[str, str]]:
    """Roles and names of Chromium's own accessibility tree."""
    tab = world.environment._watching().tab
    assert tab is not None
    answer = await tab._session.send("Accessibility.getFullAXTree")
    told = [node for node in answer["nodes"] if not node["ignored"]]
    pairs = {(n["role"]["value"], " ".join(n.get("name", {}).get("value", "").split())) for n in told}
    return {(role, name) for role, name in pairs if role not in UNTOLD and name}


def told(seen: Observation) -> set[tuple[str, str]]:
    nodes = seen.tree.nodes if seen.tree else []
    return {(n.role, n.name) for n in nodes if n.role not in UNTOLD and n.name}


async def test_roles_and_names_are_those_of_chromium(world: World) -> None:
    seen = await world.open((PAGES / "rich.html").read_text())
    assert told(seen) ^ await chromium_says(world) == set()


async def test_hidden_parts_are_not_told(world: World) -> None:
    seen = await world.open((PAGES / "rich.html").read_text())
    assert seen.tree is not None
    text = " ".join(node.name for node in seen.tree.nodes)
    assert [hidden for hidden in ("nobody hears", "nobody sees", "nor this", "hidden terms") if hidden in text] == []


@pytest.mark.parametrize(
    ("role", "name", "value", "states"),
    [
        ("textbox", "Customer name", "Ada", ["editable", "required"]),
        ("textbox", "Password", "••••••", ["editable", "protected"]),
        ("combobox", "Wrapped", "two", []),
        ("spinbutton", "Amount", "3", ["editable"]),
        ("slider", "Volume", "4", []),
        ("checkbox", "Paid", "", ["checked"]),
        ("radio", "Cash", "", []),
        ("button", "Not now", "", ["disabled"]),
        ("button", "Bold", "", ["pressed"]),
        ("button", "More", "", ["collapsed"]),
        ("checkbox", "Some", "", ["mixed"]),
        ("switch", "On", "", ["checked"]),
        ("option", "S", "", ["selected"]),
        ("option", "two", "", ["selected"]),
        ("textbox", "Editor", "typed", ["editable"]),
        ("DisclosureTriangle", "Terms", "", ["collapsed"]),
        ("progressbar", "Progress", "3", []),
    ],
)
async def test_values_and_states(world: World, role: str, name: str, value: str, states: list[str]) -> None:
    seen = await world.open((PAGES / "rich.html").read_text())
    found = node(seen, role, name)
    assert (found.value, [state for state in found.states if state != "offscreen"]) == (value, states)


async def test_nodes_are_in_reading_order_and_texts_are_told_once(world: World) -> None:
    seen = await world.open("<h1>Title</h1><p>first <a href=#>second</a> third</p><button>fourth</button>")
    assert seen.tree is not None
    assert [(n.role, n.name) for n in seen.tree.nodes[1:]] == [
        ("heading", "Title"),
        ("StaticText", "first"),
        ("link", "second"),
        ("StaticText", "third"),
        ("button", "fourth"),
    ]


async def test_the_focus_is_told(world: World) -> None:
    seen = await world.open("<input aria-label=a><input aria-label=b autofocus>")
    assert node(seen, "textbox", "b").states == ["editable", "focused"]


SHADOW = """<div id=host></div><script>
const root = host.attachShadow({ mode: 'open' });
root.innerHTML = '<button onclick="document.title = \\'inside\\'"><slot></slot></button>';
host.append('In a shadow');
</script>"""


async def test_open_shadow_roots_are_read_and_hit(world: World) -> None:
    seen = await world.open(SHADOW)
    pixel = spot(seen, "button", "In a shadow")
    target = await world.environment.target(pixel)
    assert target is not None
    assert (target.role, target.name) == ("button", "In a shadow")
    await world.do("Click", pixel)
    assert (await world.look()).title == "inside"


LEADING = """<a href=/items/3/delete>Link</a><a href=#part>Part</a>
<a href="javascript:void 0">Script</a><a href="http://[">Odd</a>
<form action=/posted method=post><input name=action value=x><button>Sends</button>
<button formaction=/other formmethod=get>Other</button><button type=button>Plain</button></form>
<form><button>Here</button></form><button>Loose</button>"""


async def test_the_keyboard_says_where_it_leads(world: World) -> None:
    await world.open("<a href=/items/3/delete autofocus>Link</a><form action=/posted method=post><input><button>Sends")
    found = [await leading_in(world.environment)]
    await world.do("Hotkey", keys=["Tab"])
    found.append(await leading_in(world.environment))
    await world.open("<input autofocus>")
    found.append(await leading_in(world.environment))

    url = world.server.url
    assert [one and (one.name, one.leads_to) for one in found] == [
        ("Link", f"GET {url}/items/3/delete"),
        ("Sends", f"POST {url}/posted"),
        None,
    ]


async def test_links_and_buttons_of_forms_say_where_they_lead(world: World) -> None:
    seen = await world.open(LEADING)
    found = {}
    for role, name in [("link", one) for one in ("Link", "Part", "Script", "Odd")] + [
        ("button", one) for one in ("Sends", "Other", "Plain", "Here", "Loose")
    ]:
        target = await world.environment.target(spot(seen, role, name))
        found[name] = target.leads_to if isinstance(target, LeadingTarget) else None

    url = world.server.url
    assert found == {
        "Link": f"GET {url}/items/3/delete",
        "Part": None,
        "Script": None,
        "Odd": None,
        "Sends": f"POST {url}/posted",
        "Other": f"GET {url}/other",
        "Plain": None,
        "Here": f"GET {url}/",
        "Loose": None,
    }


async def test_frames_of_the_same_site_are_read_and_hit(world: World) -> None:
    world.server.answers["/inner"] = page(
        "<body style='margin:0'><button style='margin:20px' onclick=\"top.document.title = 'framed'\">Inner</button>"
    )
    seen = await world.open("<h1>Outer</h1><iframe src=/inner style='border:5px solid;padding:3px'></iframe>")
    pixel = spot(seen, "button", "Inner")
    target = await world.environment.target(pixel)
    assert target is not None
    assert (target.role, target.name, target.covered_by) == ("button", "Inner", None)
    assert target.box == node(seen, "button", "Inner").box
    await world.do("Click", pixel)
    assert (await world.look()).title == "framed"


async def test_changes_inside_a_frame_are_waited_for(world: World) -> None:
    world.server.answers["/inner"] = page(
        "<button onclick=\"setTimeout(() => { this.textContent = 'Changed' }, 50)\">Inner</button>"
    )
    await world.open("<iframe src=/inner></iframe>")
    await world.click("button", "Inner")
    assert node(await world.look(), "button", "Changed").box is not None


async def test_what_a_container_hides_is_told_as_offscreen(world: World) -> None:
    seen = await world.open("""<div style="height:60px;overflow:auto">
        <button>Near</button><div style="height:300px"></div><button>Far</button></div>""")
    assert node(seen, "button", "Near").states == []
    assert node(seen, "button", "Far").states == ["offscreen"]


async def test_what_lies_behind_a_modal_dialog_is_not_told(world: World) -> None:
    seen = await world.open(
        "<button>Behind</button><dialog id=d><button>Front</button></dialog><script>d.showModal()</script>"
    )
    assert seen.tree is not None
    assert [n.name for n in seen.tree.nodes if n.role == "button"] == ["Front"]
    assert "modal" in next(n for n in seen.tree.nodes if n.role == "dialog").states


async def test_a_huge_page_is_read_in_bounds_with_everything_that_shows(world: World) -> None:
    await world.open("""<ol id=o></ol><script>o.innerHTML =
        Array.from({ length: 30000 }, (_, i) => `<li><a href="#${i}">item ${i}</a></li>`).join('')</script>""")
    await world.ask("scrollTo(0, document.body.scrollHeight)")
    seen = await world.look()
    assert seen.tree is not None
    assert len(seen.tree.nodes) < 1200
    assert node(seen, "link", "item 29999").states == []


async def test_odd_characters_do_not_break_a_tree(world: World) -> None:
    seen = await world.open(
        "<button id=b></button><script>b.textContent = 'half \\ud83d'; document.title = '\\udc00'</script>"
    )
    assert seen.tree is not None
    assert seen.tree.model_dump_json()


async def target_at(world: World, html: str, x: int, y: int) -> TargetUnderPoint:
    await world.open("<title>page</title><body style='margin:0'>" + html)
    target = await world.environment.target(Pixel(x=x, y=y))
    assert target is not None
    return target


@pytest.mark.parametrize(
    ("html", "role", "name"),
    [
        ("<a href=#><p>Whole <b>card</b></p></a>", "link", "Whole card"),
        (
            "<label><input type=checkbox style='opacity:0;position:absolute'><span>Agree to all</span></label>",
            "checkbox",
            "Agree to all",
        ),
        ("<h1 style='margin:0'>Heading</h1>", "heading", "Heading"),
        ("<div>plain words</div>", "StaticText", "plain words"),
        ("<div style='height:300px'></div>", "RootWebArea", "page"),
        ("<div style='cursor:pointer' role=menuitem>Open</div>", "menuitem", "Open"),
        ("<select style='font-size:30px' aria-label=Pick><option>abcdef</select>", "combobox", "Pick"),
        ("<canvas width=300 height=100 aria-label=Board></canvas>", "Canvas", "Board"),
    ],
)
async def test_the_target_is_what_a_person_would_say_they_click(world: World, html: str, role: str, name: str) -> None:
    target = await target_at(world, html, 40, 10)
    assert (target.role, target.name, target.covered_by) == (role, name, None)


async def test_a_menu_over_a_button_is_not_covered_itself(world: World) -> None:
    target = await target_at(
        world,
        "<button style='width:200px;height:50px'>Below</button>"
        "<div role=menu style='position:absolute;left:0;top:0'>"
        "<div role=menuitem style='width:150px;height:40px'>Above</div></div>",
        40,
        10,
    )
    assert (target.role, target.name, target.covered_by) == ("menuitem", "Above", None)


async def test_a_transparent_layer_over_a_button_covers_it(world: World) -> None:
    target = await target_at(
        world,
        "<button style='width:200px;height:50px'>Below</button><div style='position:fixed;inset:0'></div>",
        40,
        10,
    )
    assert (target.role, target.name, target.covered_by) == ("button", "Below", "generic")


async def test_nothing_is_told_of_a_point_outside(world: World) -> None:
    await world.open("")
    assert await world.environment.target(Pixel(x=5000, y=10)) is None


async def test_a_drop_down_as_it_looks_when_open(world: World) -> None:
    await world.open("<select aria-label=Pick><option>a<option>b</select>")
    await world.click("combobox", "Pick")
    assert node(await world.look(), "combobox", "Pick").states == ["expanded", "focused"]
