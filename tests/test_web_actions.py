"""Acting on pages: every action of the web, and the truth about what became of it."""

import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from pipeline.actions import Pixel
from pipeline.envs.browser import Browser
from pipeline.envs.web_actions import full_address
from pipeline.errors import ActionError
from tests.webserver import page, redirect
from tests.webworld import World, node, running_browser, running_world

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = "aA<>_@#é你🙂|\"'`` %s $(x) \\n {}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with running_browser() as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def world(browser: Browser) -> AsyncIterator[World]:
    async with running_world(browser, allow=("127.0.0.1",)) as made:
        yield made


POINTER = """<body style="margin:0;height:100vh"><script>
for (const kind of ['click', 'dblclick', 'contextmenu', 'mouseup', 'mousemove'])
  addEventListener(kind, (e) => {
    if (kind === 'contextmenu') e.preventDefault();
    if (kind === 'mouseup') document.body.dataset.held = e.timeStamp - down > 600;
    document.title = (kind === 'mousemove' ? '' : document.title + ' ') + kind + e.clientX + ',' + e.clientY;
  });
let down = 0;
addEventListener('mousedown', (e) => { down = e.timeStamp; });
</script>"""


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        ("Click", "click300,200"),
        ("DoubleClick", "dblclick300,200"),
        ("RightClick", "contextmenu300,200"),
        ("Hover", "mousemove300,200"),
    ],
)
async def test_pointer_actions_reach_the_page_at_their_pixel(world: World, action: str, wanted: str) -> None:
    await world.open(POINTER)
    await world.do(action, Pixel(x=300, y=200))
    assert wanted in (await world.look()).title


async def test_waiting_takes_as_long_as_others_leave_programs_room(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of which a second takes two."""
    monkeypatch.setattr("pipeline.room.FairClock", lambda: lambda: time.monotonic() / 2)
    await world.open("<p>nothing</p>")
    began = time.monotonic()

    await world.do("Wait")

    assert time.monotonic() - began >= 2.0


async def test_a_long_press_holds(world: World) -> None:
    await world.open(POINTER)
    await world.do("LongPress", Pixel(x=300, y=200))
    assert await world.ask("document.body.dataset.held") == "true"


async def test_a_drag_moves_what_can_be_dragged(world: World) -> None:
    await world.open("""<div draggable=true id=a style="width:100px;height:50px;background:red">drag</div>
        <div id=b style="width:200px;height:100px;background:#ddd" ondragover="event.preventDefault()"
        ondrop="event.preventDefault(); b.append(a)">drop here</div>""")
    await world.do("Drag", Pixel(x=50, y=30), Pixel(x=100, y=120))
    assert await world.ask("a.parentElement.id") == "b"


async def test_a_drag_moves_a_slider(world: World) -> None:
    await world.open(
        "<body style='margin:0'><input type=range id=r min=0 max=100 value=0 style='width:400px;margin:0'>"
    )
    await world.do("Drag", Pixel(x=8, y=8), Pixel(x=200, y=8))
    assert 40 <= int(str(await world.ask("r.value"))) <= 60


async def test_scrolling_moves_two_thirds_of_the_viewport(world: World) -> None:
    await world.open("<body style='height:5000px'>")
    await world.do("Scroll", Pixel(x=300, y=300), direction="down")
    assert await world.ask("scrollY") == 480
    await world.do("Scroll", Pixel(x=300, y=300), direction="up")
    assert await world.ask("scrollY") == 0


async def test_scrolling_a_smaller_part_moves_two_thirds_of_that(world: World) -> None:
    await world.open("<div id=d style='height:150px;width:300px;overflow:auto'><p style='height:3000px;width:900px'>x")
    await world.do("Scroll", Pixel(x=100, y=100), direction="down")
    await world.do("Scroll", Pixel(x=100, y=100), direction="right")
    assert abs(int(str(await world.ask("d.scrollTop"))) - 90) <= 12
    assert abs(int(str(await world.ask("d.scrollLeft"))) - 190) <= 14


async def test_a_swipe_moves_the_content_with_it(world: World) -> None:
    await world.open("<body style='height:5000px'>")
    await world.do("Swipe", Pixel(x=300, y=500), Pixel(x=300, y=200))
    assert await world.ask("scrollY") == 300


@pytest.mark.parametrize("field", ["<input id=f>", "<textarea id=f></textarea>", "<div id=f contenteditable></div>"])
async def test_text_arrives_exactly(world: World, field: str) -> None:
    await world.open(field + "<script>f.focus()</script>")
    await world.do("Type", content=TEXT)
    assert await world.ask("f.value ?? f.innerText") == TEXT


async def test_every_printable_character_can_be_typed_alone(world: World) -> None:
    await world.open("<input id=f autofocus>")
    characters = "".join(chr(code) for code in range(33, 127)) + "ß漢"
    hands = world.hands()
    for character in characters:
        await hands._type(character)
    assert await world.ask("f.value") == characters


async def test_a_newline_is_text(world: World) -> None:
    await world.open(
        """<form onsubmit="document.title = 'sent'; return false"><textarea id=f></textarea></form>
        <script>f.focus()</script>"""
    )
    await world.do("Type", content="one\ntwo\n")
    assert await world.ask("f.value") == "one\ntwo\n"
    assert (await world.look()).title != "sent"


async def test_text_goes_where_the_caret_is_and_replaces_the_selection(world: World) -> None:
    await world.open("<input id=f value='one two three' autofocus><script>f.setSelectionRange(4, 7)</script>")
    await world.do("Type", content="2")
    assert await world.ask("f.value") == "one 2 three"


async def test_typing_is_noticed_by_pages_that_listen_to_keys(world: World) -> None:
    await world.open("<input id=f autofocus onkeyup='document.title = f.value'>")
    await world.do("Type", content="search me")
    assert (await world.look()).title == "search me"


@pytest.mark.parametrize(
    ("html", "content", "code"),
    [
        ("<p>nothing to type in</p>", "x", "text_not_delivered"),
        ("<input autofocus readonly value=fixed>", "x", "text_not_delivered"),
        ("<input autofocus maxlength=3>", "too long", "text_not_delivered"),
        ("<input autofocus type=number>", "letters", "text_not_delivered"),
        ("<input autofocus>", "two\nlines", "text_not_delivered"),
        ("<input autofocus oninput=\"this.value = ''\">", "hello", "value_reverted"),
        ("<input autofocus oninput=\"setTimeout(() => { this.value = '' }, 20)\">", "hello", "value_reverted"),
        ("<input autofocus value=a>", "", "bad_arguments"),
    ],
)
async def test_text_that_does_not_arrive_is_a_failed_action(world: World, html: str, content: str, code: str) -> None:
    await world.open(html)
    with pytest.raises(ActionError) as caught:
        await world.do("Type", content=content)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("html", "content", "code"),
    [
        ("<input autofocus value=1500 onkeydown='event.preventDefault()'>", "5", "text_not_delivered"),
        ("<input autofocus value=1500 oninput=\"this.value = '1500'\">", "5", "value_reverted"),
        ("<input autofocus type=number value=15 onkeydown='event.preventDefault()'>", "7", "text_not_delivered"),
        ("<input autofocus value=15 onfocus='this.select()'>", "15", None),
        ("<input autofocus value='1 500' onfocus='this.select()' oninput=\"this.value = '1 500'\">", "1500", None),
    ],
)
async def test_what_a_field_held_before_is_no_sign_of_a_text(
    world: World, html: str, content: str, code: str | None
) -> None:
    await world.open(html)
    found: str | None = None
    try:
        await world.do("Type", content=content)
    except ActionError as error:
        found = error.code
    assert found == code


async def test_a_text_that_an_editor_showed_before_is_not_verified(world: World) -> None:
    await world.open(
        "<div id=f contenteditable onkeydown='event.preventDefault()'>say 5</div><script>f.focus()</script>"
    )

    assert (await world.do("Type", content="5")).flags == ["text_unverified"]


@pytest.mark.parametrize(
    "html",
    [
        "<input autofocus oninput=\"this.value = this.value.replace(/(\\d{3})(?=\\d)/g, '$1 ')\">",
        "<input autofocus oninput='this.value = this.value.toUpperCase()'>",
        "<input autofocus onkeyup='this.remove()'>",
        "<script>addEventListener('keydown', (e) => { document.title += e.key })</script>",
    ],
)
async def test_fields_may_shape_or_use_up_what_they_are_given(world: World, html: str) -> None:
    await world.open(html)

    result = await world.do("Type", content="1234567a")

    assert set(result.flags) <= {"text_unverified"}


async def test_an_editor_with_a_hidden_field_is_not_called_a_failure(world: World) -> None:
    await world.open("""<pre id=text></pre><textarea autofocus style="width:1px;height:1px;opacity:0"
        oninput="text.append(this.value); this.value = ''"></textarea>""")
    result = await world.do("Type", content="code")
    assert result.flags == ["text_unverified"]
    assert await world.ask("text.textContent") == "code"


async def test_text_in_a_frame_of_another_site_arrives_but_cannot_be_verified(browser: Browser) -> None:
    async with running_world(browser, allow=("localhost",)) as world:
        world.server.answers["/inner"] = page("<textarea id=f autofocus style='width:200px;height:100px'></textarea>")
        await world.open(f"<iframe src='http://localhost:{world.server.port}/inner' title=Elsewhere></iframe>")
        await world.do("Click", Pixel(x=60, y=60))
        result = await world.do("Type", content="hello")
        assert result.flags == ["text_unverified"]
        tab = world.environment._watching().tab
        assert tab is not None
        assert await tab.page.frames[1].evaluate("f.value") == "hello"
        seen = await world.look()
        assert node(seen, "Iframe", "Elsewhere").box is not None


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (["Control", "a"], "selected"),
        (["ctrl", "A"], "selected"),
        (["Delete"], "Delete"),
        (["esc"], "Escape"),
        (["Control", "Shift", "k"], "Control Shift K"),
        (["PageDown"], "PageDown"),
        (["+"], "+"),
        (["space"], " "),
        (["F2"], "F2"),
    ],
)
async def test_hotkeys(world: World, keys: list[str], wanted: str) -> None:
    await world.open("""<input id=f value=abc autofocus><script>
        addEventListener('keydown', (e) => {
          const held = (e.ctrlKey ? 'Control ' : '') + (e.shiftKey ? 'Shift ' : '');
          if (!['Control', 'Shift'].includes(e.key)) document.title = '[' + held + e.key + ']';
        });
        document.addEventListener('selectionchange', () => {
          if (f.selectionEnd - f.selectionStart === 3) document.title = 'selected';
        });</script>""")
    await world.do("Hotkey", keys=keys)
    assert await world.ask("document.title") in (wanted, f"[{wanted}]")


async def test_enter_submits(world: World) -> None:
    world.server.answers["/found"] = page("<title>found</title>")
    await world.open("<form action=/found><input name=q autofocus></form>")
    await world.do("Type", content="lamp")
    await world.do("PressEnter")
    assert (await world.look()).location.endswith("/found?q=lamp")


SELECT = """<label>Colour <select id=s onchange="document.title = s.value + seen.join('')">
<option>red</option><option>green</option><option disabled>grey</option><option>blue</option></select></label>
<script>const seen = []; s.addEventListener('input', () => seen.push('!'));</script>"""


async def test_an_option_is_chosen_by_position_after_a_click(world: World) -> None:
    before = await world.open(SELECT)
    assert [n.name for n in (before.tree.nodes if before.tree else []) if n.role == "option"] == [
        "red",
        "green",
        "grey",
        "blue",
    ]
    await world.click("combobox", "Colour")
    await world.do("SelectOption", index=3)
    seen = await world.look()
    assert seen.title == "blue!"
    assert node(seen, "combobox", "Colour").value == "blue"
    assert "expanded" not in node(seen, "combobox", "Colour").states


async def test_an_option_is_chosen_in_the_focused_drop_down(world: World) -> None:
    await world.open(SELECT + "<script>s.focus()</script>")
    await world.do("SelectOption", index=1)
    assert (await world.look()).title == "green!"


@pytest.mark.parametrize(
    ("html", "index", "code"),
    [
        ("<p>no drop-down</p>", 0, "option_not_found"),
        (SELECT + "<script>s.focus()</script>", 9, "option_not_found"),
        (SELECT + "<script>s.focus()</script>", 2, "option_not_found"),
        (SELECT + "<script>s.focus(); s.oninput = () => { s.selectedIndex = 0 }</script>", 1, "value_reverted"),
    ],
)
async def test_an_option_that_is_not_chosen_is_a_failed_action(world: World, html: str, index: int, code: str) -> None:
    await world.open(html)
    with pytest.raises(ActionError) as caught:
        await world.do("SelectOption", index=index)
    assert caught.value.code == code


async def test_a_choice_may_lead_elsewhere(world: World) -> None:
    world.server.answers["/green"] = page("<title>green page</title>")
    await world.open(
        "<select id=s onchange='location = s.value'><option>/red<option>/green</select><script>s.focus()</script>"
    )
    await world.do("SelectOption", index=1)
    assert (await world.look()).title == "green page"


COVERED = """<button style="position:absolute;left:100px;top:100px" onclick="document.title = 'pressed'">Save</button>
<div role=dialog aria-label=Cookies style="position:fixed;inset:50px;background:#eee"{handler}></div>"""


async def test_a_click_on_something_covered_fails_and_names_what_covers_it(world: World) -> None:
    await world.open(COVERED.format(handler=""))
    pixel = Pixel(x=115, y=110)
    target = await world.environment.target(pixel)
    assert target is not None
    assert (target.role, target.name, target.covered_by) == ("button", "Save", "dialog Cookies")
    with pytest.raises(ActionError) as caught:
        await world.do("Click", pixel)
    assert caught.value.code == "target_covered"
    assert (await world.look()).title != "pressed"


async def test_a_click_on_a_cover_that_reacts_is_done(world: World) -> None:
    await world.open(COVERED.format(handler=' onclick="this.remove()"'))
    pixel = Pixel(x=115, y=110)
    await world.environment.target(pixel)
    await world.do("Click", pixel)
    target = await world.environment.target(pixel)
    assert target is not None
    assert (target.role, target.covered_by) == ("button", None)


async def test_launching_goes_to_an_address_of_the_application(world: World) -> None:
    world.server.answers["/there"] = page("<title>there</title>")
    await world.open("")
    await world.do("Launch", url="/there?x=1")
    assert (await world.look()).location == f"{world.server.url}/there?x=1"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "data:text/html,hello",
        "javascript:alert(1)",
        "about:blank",
        "chrome://version",
        "http://169.254.169.254/latest/meta-data",
        "https://example.com/",
        "example.com",
        "ftp://127.0.0.1/",
        "http://[::1]/",
    ],
)
async def test_launching_elsewhere_is_refused(world: World, url: str) -> None:
    await world.open("<title>home</title>")
    with pytest.raises(ActionError) as caught:
        await world.do("Launch", url=url)
    assert caught.value.code == "blocked_address"
    assert (await world.look()).title == "home"


async def test_an_address_that_redirects_out_is_refused(world: World) -> None:
    world.server.answers["/out"] = redirect("http://blocked.example/secret")
    await world.open("")
    with pytest.raises(ActionError) as caught:
        await world.do("Launch", url="/out")
    assert caught.value.code == "blocked_address"
    assert [e.address for e in world.events() if e.kind == "blocked_address"] == ["http://blocked.example/secret"]


async def test_a_page_that_goes_where_no_proxy_sees_it_is_brought_back(world: World) -> None:
    await world.open("<title>home</title>")
    tab = world.environment._watching().tab
    assert tab is not None
    await tab.page.goto("data:text/html,<title>away</title>")
    await world.do("Wait")
    assert (await world.look()).title == "home"
    [event] = world.events()
    assert (event.kind, event.address) == ("blocked_address", "data:text/html,<title>away</title>")


async def test_a_document_a_page_has_made_itself_is_its_own(world: World) -> None:
    await world.open("""<button onclick="location = window.URL.createObjectURL(
        new Blob(['<title>made</title>'], { type: 'text/html' }))">Make</button>""")
    await world.click("button", "Make")
    assert (await world.look()).title == "made"
    assert world.events() == []


async def test_a_click_that_leads_out_is_recorded(world: World) -> None:
    await world.open("<a href='http://blocked.example/'>out</a>")
    await world.click("link", "out")
    assert [e.address for e in world.events() if e.kind == "blocked_address"] == ["http://blocked.example/"]


async def test_back_goes_to_the_earlier_page(world: World) -> None:
    world.server.answers["/two"] = page("<title>two</title>")
    await world.open("<title>one</title><a href=/two>on</a>")
    await world.click("link", "on")
    await world.do("PressBack")
    assert (await world.look()).title == "one"


async def test_a_slow_page_is_waited_for(world: World) -> None:
    world.server.answers["/slow"] = world.server.later(1.2, page("<title>slow</title>"))
    await world.open("<a href=/slow>go</a>")
    await world.click("link", "go")
    assert (await world.look()).title == "slow"


async def test_what_a_page_fetches_for_an_action_is_waited_for(world: World) -> None:
    world.server.answers["/data"] = world.server.later(0.6, page("fetched"))
    await world.open(
        """<button onclick="fetch('/data').then(r => r.text()).then(t => { document.title = t })">Get</button>"""
    )
    await world.click("button", "Get")
    assert (await world.look()).title == "fetched"


async def test_what_a_page_computes_is_waited_for(world: World) -> None:
    await world.open("""<button onclick="setTimeout(() => {
        const end = performance.now() + 300;
        while (performance.now() < end);
        setTimeout(() => { document.title = 'computed' }, 40);
        }, 20)">Go</button>""")
    await world.click("button", "Go")
    assert (await world.look()).title == "computed"


async def test_what_a_page_makes_of_an_answer_is_waited_for(world: World) -> None:
    world.server.answers["/data"] = world.server.later(0.06, page("fetched"))
    await world.open("""<button onclick="fetch('/data').then(r => r.text()).then(t => {
        setTimeout(() => { document.title = t }, 50) })">Get</button>""")
    await world.click("button", "Get")
    assert (await world.look()).title == "fetched"


async def test_a_request_that_never_ends_is_not_waited_for_long(world: World) -> None:
    world.server.stalled.add("/never")
    await world.open("<button onclick=\"fetch('/never'); document.title = 'asked'\">Get</button>")
    await world.click("button", "Get")
    assert (await world.look()).title == "asked"


async def test_get_url_tells_the_address(world: World) -> None:
    await world.open("")
    assert (await world.do("GetUrl")).feedback == f"{world.server.url}/"


async def test_a_note_comes_back(world: World) -> None:
    await world.open("")
    assert (await world.do("TakeNote", content="remember")).feedback == "remember"


@pytest.mark.parametrize("action", [("PressHome", {}), ("LaunchApp", {"app": "x"}), ("GetScreenshot", {})])
async def test_actions_of_other_platforms_are_unknown(world: World, action: tuple[str, dict[str, str]]) -> None:
    await world.open("")
    with pytest.raises(ActionError) as caught:
        await world.do(action[0], **action[1])
    assert caught.value.code == "unknown_action"


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("/x", "http://app:1/x"),
        ("next", "http://app:1/a/next"),
        ("?q=1", "http://app:1/a/b?q=1"),
        ("example.com/x", "http://example.com/x"),
        ("localhost:8000", "http://localhost:8000"),
        ("https://example.com", "https://example.com"),
        ("javascript:alert(1)", "javascript:alert(1)"),
    ],
)
async def test_addresses_may_be_written_as_people_do(typed: str, address: str) -> None:
    assert full_address(typed, "http://app:1/a/b") == address
