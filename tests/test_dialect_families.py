"""What is particular to each family: replies as its models write them, and what cannot be carried out."""

from __future__ import annotations

import pytest

from pipeline.actions import (
    AcceptDialog,
    Action,
    Answer,
    CallUser,
    Click,
    Drag,
    Finished,
    GetUrl,
    Hotkey,
    Hover,
    Launch,
    LaunchApp,
    LongPress,
    Pixel,
    Point,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    Scroll,
    SelectOption,
    Swipe,
    TakeNote,
    Type,
    Wait,
)
from pipeline.dialects import AT_CENTRE, Move, Picture, Reading, Said, load_dialect
from pipeline.errors import ActionError

PICTURE = Picture(2000, 1000)
"""Two pixels across and one down for each step of a space of 1000."""


def read(name: str, reply: str) -> Reading:
    return load_dialect(name).read(Said(reply), PICTURE)


def actions(name: str, reply: str) -> list[Action]:
    return [move.action for move in read(name, reply).moves]


def refusal(name: str, reply: str) -> str | None:
    with pytest.raises(ActionError) as caught:
        read(name, reply)
    return caught.value.code


def tool(arguments: str, name: str = "computer_use") -> str:
    return f'Some words.\n<tool_call>\n{{"name": "{name}", "arguments": {{{arguments}}}}}\n</tool_call>'


def at(x: int, y: int) -> Point:
    return Point(x=x, y=y)


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("<action>LongPress(point=(100, 200), duration=20)</action>", LongPress(point=at(100, 200))),
        ("<action>Scroll(direction='DOWN', point=[100, 200])</action>", Scroll(point=at(100, 200), direction="down")),
        ("<ACTION>\nget_url()\n</ACTION>", GetUrl()),
        ("<action>Hotkey(keys=('ctrl', 'shift', 'tab'))</action>", Hotkey(keys=["Control", "Shift", "Tab"])),
        ("<action>SelectOption(index=3)</action>", SelectOption(index=3)),
        ("<action>Launch(url='http://127.0.0.1:1/?a=1&b=(2)')</action>", Launch(url="http://127.0.0.1:1/?a=1&b=(2)")),
        ('<action>TakeNote(content="it\'s 5")</action>', TakeNote(content="it's 5")),
        ("<action>Click(box=(1, 2))", Click(point=at(1, 2))),
        ("so\n</think>\n\nPressEnter()", PressEnter()),
        ("<action>Finished()</action>", Finished()),
        ("<action>CallUser(content='help')</action>", CallUser(content="help")),
    ],
)
def test_browser(reply: str, action: Action) -> None:
    assert actions("ui-venus-2-browser", reply) == [action]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("<action>Upload(file='a.pdf')</action>", "unknown_action"),
        ("<action>Swipe(start=(1,2), end=(3,4))</action>", "unknown_action"),
        ("<action>Scroll(direction='down')</action>", "bad_arguments"),
        ("<action>Scroll(point=(1,2), direction='around')</action>", "bad_arguments"),
        ("<action>SelectOption(index=-1)</action>", "bad_arguments"),
        ("<action>Hotkey(keys=['ctrl', 'a', 'b', 'c'])</action>", "bad_arguments"),
        ("<action>Hotkey(keys=['hyper'])</action>", "bad_arguments"),
        ("<action>Hotkey(keys=[])</action>", "bad_arguments"),
        ("<action>Type(content=42)</action>", "bad_arguments"),
        ("<action>Click(point=(1,2), button='right')</action>", "bad_arguments"),
        ("<action>Click(point=(1,2), box=(1,2))</action>", "bad_arguments"),
        ("<action>Click(point=(1,2))</action> <action>Wait()</action>", "multiple_actions"),
        ("<action>Click(point=(1,2))Wait()</action>", "multiple_actions"),
        ("<action>click the button</action>", "no_action"),
        ("<action></action>", "no_action"),
        ("I would Click(point=(1,2)) now", "no_action"),
        ("Click(point=(1,2)) opens the menu.", "no_action"),
        (r"<action>Type(content='\ud800')</action>", "bad_arguments"),
    ],
)
def test_browser_refuses(reply: str, code: str) -> None:
    assert refusal("ui-venus-2-browser", reply) == code


def test_a_desktop_sequence_is_several_moves() -> None:
    reply = (
        "<action>Sequence(actions=[Click(box=(0, 0)), Hotkey(keys=['down'], repeat=2), Finished(content='x')])</action>"
    )
    down = Hotkey(keys=["ArrowDown"])
    assert actions("ui-venus-2-desktop", reply) == [Click(point=at(0, 0)), down, down, Finished(content="x")]


@pytest.mark.parametrize("count", [2, 32])
def test_sequences_are_read_as_they_are_rendered(count: int) -> None:
    dialect = load_dialect("ui-venus-2-desktop")
    moves = (*[Move(Wait())] * (count - 1), Move(CallUser(content="it's (up) to you")))
    assert dialect.read(Said(dialect.render(moves, "why", PICTURE)), PICTURE) == Reading("why", moves)


@pytest.mark.parametrize(
    "children",
    [
        "[]",
        "[Wait()]",
        "[Finished(), Wait()]",
        "[Sequence(actions=[Wait(), Wait()]), Wait()]",
        "[Wait(), 'Wait()']",
        "'Wait()'",
        f"[{', '.join(['Wait()'] * 33)}]",
        "[Wait(), Hotkey(keys=['a'], repeat=32)]",
    ],
)
def test_sequences_that_are_none_are_refused(children: str) -> None:
    assert refusal("ui-venus-2-desktop", f"<action>Sequence(actions={children})</action>") == "bad_arguments"


def test_a_sequence_belongs_to_the_desktop() -> None:
    assert refusal("ui-venus-2-mobile", "<action>Sequence(actions=[Wait(), Wait()])</action>") == "unknown_action"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Click()", "bad_arguments"),
        ("Drag(end=(1, 2))", "bad_arguments"),
        ("Swipe(amount=0, axis='vertical')", "bad_arguments"),
        ("Swipe(amount=5)", "bad_arguments"),
        ("Swipe(amount=5, axis='diagonal')", "bad_arguments"),
        ("Hotkey(keys=['a'], repeat=0)", "bad_arguments"),
        ("Hotkey(keys=['a'], repeat=True)", "bad_arguments"),
        ("KeyDown()", "bad_arguments"),
        ("MouseUp()", "unknown_action"),
        ("TripleClick()", "bad_arguments"),
    ],
)
def test_desktop_refuses_what_is_relative_to_the_pointer_or_held(reply: str, code: str) -> None:
    assert refusal("ui-venus-2-desktop", f"<action>{reply}</action>") == code


@pytest.mark.parametrize(
    ("axis", "amount", "way"),
    [
        ("vertical", 5, "up"),
        ("vertical", -5, "down"),
        ("horizontal", 4096, "right"),
        ("horizontal", -1, "left"),
    ],
)
def test_the_desktop_wheel_turns_at_the_centre(axis: str, amount: int, way: str) -> None:
    [move] = read("ui-venus-2-desktop", f"<action>Swipe(amount={amount}, axis='{axis}')</action>").moves
    scroll = Scroll.model_validate({"point": at(500, 500), "direction": way})
    assert move == Move(scroll, (Pixel(x=1000, y=500),), (AT_CENTRE,))


def test_a_single_enter_is_the_enter_key_where_there_is_no_other_word() -> None:
    assert actions("ui-venus-2-desktop", "<action>Hotkey(keys=['Return'])</action>") == [PressEnter()]
    assert actions("ui-tars", "Action: hotkey(key='enter')") == [PressEnter()]
    assert actions("ui-venus-2-browser", "<action>Hotkey(keys=['enter'])</action>") == [Hotkey(keys=["Enter"])]


def test_a_puzzle_is_solved_in_one_reply() -> None:
    reply = "<action>Click(box=(0,0))Type(content='a,b'),Drag(start=(0,0),end=(0,999))\n</action>"
    moves = read("ui-venus-2-puzzle", reply).moves
    assert [move.action.type for move in moves] == ["Click", "Type", "Drag"]
    assert moves[2].points == (Pixel(x=0, y=0), Pixel(x=0, y=999))
    dialect = load_dialect("ui-venus-2-puzzle")
    assert dialect.read(Said(dialect.render(moves, "", PICTURE)), PICTURE).moves == moves


def test_two_puzzle_solutions_are_too_many() -> None:
    assert refusal("ui-venus-2-puzzle", "<action>Click(box=(0,0))</action><action>Click(box=(9,9))</action>") == (
        "multiple_actions"
    )
    assert len(actions("ui-venus-2-puzzle", "<action>Click(box=(0,0)),Click(box=(0,0))</action>")) == 2


def test_grounding_answers_with_a_point_a_box_or_nothing() -> None:
    assert actions("ui-venus-2-grounding", "[100, 200]") == [Click(point=at(100, 200))]
    assert actions("ui-venus-2-grounding", "```json\n[100, 200, 200, 400]\n```") == [Click(point=at(150, 300))]
    nothing = read("ui-venus-2-grounding", "[-1,-1]")
    assert nothing.infeasible
    assert nothing.moves == (Move(Finished(content="infeasible:")),)
    assert refusal("ui-venus-2-grounding", "[100]") == "bad_arguments"
    assert refusal("ui-venus-2-grounding", "[-1, 5]") == "out_of_range"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Scroll(start=(100,800), end=(100,200), direction='up')", Swipe(start=at(100, 800), end=at(100, 200))),
        ("Scroll(direction='down')", Scroll(point=at(500, 500), direction="down")),
        ("Launch(app='Maps')", LaunchApp(app="Maps")),
        ("Launch(url='http://a')", Launch(url="http://a")),
        ("PressRecent()", PressRecent()),
    ],
)
def test_venus_1_5_tells_words_of_one_name_apart(reply: str, expected: Action) -> None:
    whole = f"<think>x</think><action>{reply}</action><conclusion>Scrolled (done).</conclusion>"
    assert actions("ui-venus-1.5", whole) == [expected]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("drag(start_box='(100,200)', end_box='(300,400)')", Drag(start=at(100, 200), end=at(300, 400))),
        (
            "drag(start_point='<point>100 200</point>', end_point='<point>300 400</point>')",
            Drag(start=at(100, 200), end=at(300, 400)),
        ),
        ("click(start_box='[100, 200, 300, 400]')", Click(point=at(200, 300))),
        ("hotkey(key='ctrl c')", Hotkey(keys=["Control", "c"])),
        ("hotkey(key='ctrl+c')", Hotkey(keys=["Control", "c"])),
        ("hotkey(key='ctrl + c')", Hotkey(keys=["Control", "c"])),
        ("hotkey(key='page_down')", Hotkey(keys=["PageDown"])),
        ("type(content='it\\'s \\\"5\\\"\\n')", Type(content='it\'s "5"\n')),
        ("scroll(point='<point>100 200</point>', direction='left')", Scroll(point=at(100, 200), direction="left")),
        ("open_app(app_name='Maps')", LaunchApp(app="Maps")),
        ("press_back()", PressBack()),
        ("call_user()", CallUser(content="")),
        ("finished(content='It is 5.')", Finished(content="It is 5.")),
    ],
)
def test_tars(call: str, expected: Action) -> None:
    reading = read("ui-tars", f"Thought: I see (it).\nSo I go on.\nAction: {call}")
    assert reading.thought == "I see (it).\nSo I go on."
    assert [move.action for move in reading.moves] == [expected]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Thought: one\nAction: wait()\n\npress_back()", "multiple_actions"),
        ("Thought: one\nAction: wait()\nAction: press_back()", "multiple_actions"),
        ("Thought: I should click.", "no_action"),
        ("Thought: x\nAction: click the button", "no_action"),
        ("Action: scroll(direction='down')", "bad_arguments"),
        ("Action: click(start_box='somewhere')", "bad_arguments"),
        ("Action: hotkey(key='a b c d')", "bad_arguments"),
        ("Action: fly()", "unknown_action"),
    ],
)
def test_tars_refuses(reply: str, code: str) -> None:
    assert refusal("ui-tars", reply) == code


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("qwen3-vl", '"action": "left_click", "coordinate": [999, 0]', Click(point=at(999, 0))),
        ("qwen3-vl", '"action": "key", "keys": ["ctrl", "ENTER"]', Hotkey(keys=["Control", "Enter"])),
        ("gui-owl", '"action": "mouse_move", "coordinate": [100, 200]', Hover(point=at(100, 200))),
        (
            "gui-owl",
            '"action": "hscroll", "pixels": 10, "coordinate": [100, 200]',
            Scroll(point=at(100, 200), direction="right"),
        ),
        ("gui-owl", '"action": "interact", "text": "log in"', CallUser(content="log in")),
        ("fara", '"action": "visit_url", "url": "http://a"', Launch(url="http://a")),
        ("fara", '"action": "history_back"', PressBack()),
        ("fara", '"action": "pause_and_memorize_fact", "fact": "5 {EUR}"', TakeNote(content="5 {EUR}")),
        ("fara", '"action": "wait", "time": 3', Wait()),
        ("fara", '"action": "type", "text": "a\\nb", "press_enter": false', Type(content="a\nb")),
        ("fara-1.5", '"action": "ask_user_question", "question": "Which?"', CallUser(content="Which?")),
        ("fara-1.5", '"action": "terminate", "status": "success", "answer": "5"', Finished(content="5")),
        ("fara-1.5", '"action": "terminate", "answer": "5"', Finished(content="5")),
    ],
)
def test_computer_tools(name: str, arguments: str, expected: Action) -> None:
    reading = read(name, tool(arguments))
    assert reading.thought == "Some words."
    assert [move.action for move in reading.moves] == [expected]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        (
            "gui-owl",
            '"action": "swipe", "coordinate": [100, 800], "coordinate2": [100, 200]',
            Swipe(start=at(100, 800), end=at(100, 200)),
        ),
        ("gui-owl", '"action": "system_button", "button": "Home"', PressHome()),
        ("gui-owl", '"action": "system_button", "button": "back"', PressBack()),
        ("gui-owl", '"action": "answer", "text": "5"', Answer(content="5")),
        ("gui-owl", '"action": "open", "text": "Maps"', LaunchApp(app="Maps")),
        ("mai-ui", '"action": "AWAKE", "text": "Maps"', LaunchApp(app="Maps")),
        ("mai-ui", '"action": "INFO", "text": "Which?"', CallUser(content="Which?")),
        ("mai-ui", '"action": "system_button", "button": "enter"', PressEnter()),
        ("qwen3-vl", '"action": "long_press", "coordinate": [0, 0], "time": 2', LongPress(point=at(0, 0))),
    ],
)
def test_phone_tools(name: str, arguments: str, expected: Action) -> None:
    assert actions(name, tool(arguments, "mobile_use")) == [expected]


@pytest.mark.parametrize(
    ("way", "end"),
    [
        ("up", Pixel(x=1000, y=166)),
        ("down", Pixel(x=1000, y=833)),
        ("left", Pixel(x=333, y=500)),
        ("right", Pixel(x=1666, y=500)),
    ],
)
def test_a_swipe_by_direction_goes_a_third_of_the_picture(way: str, end: Pixel) -> None:
    [move] = read("mai-ui", tool(f'"action": "swipe", "direction": "{way}"', "mobile_use")).moves
    assert move.points == (Pixel(x=1000, y=500), end)
    assert move.flags == (AT_CENTRE,)
    dialect = load_dialect("mai-ui")
    assert dialect.read(Said(dialect.render([move], "", PICTURE)), PICTURE).moves == (move,)


def test_a_swipe_by_direction_stays_in_the_picture() -> None:
    [move] = read("mai-ui", tool('"action": "swipe", "direction": "up", "coordinate": [0, 100]', "mobile_use")).moves
    assert move.points == (Pixel(x=0, y=100), Pixel(x=0, y=0))
    assert move.flags == ()


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("qwen3-vl", "failure"),
        ("gui-owl", "infeasible"),
        ("mai-ui", "fail"),
        ("fara", "failure"),
        ("fara-1.5", "failure"),
    ],
)
def test_ending_without_success_says_that_it_cannot_be_done(name: str, status: str) -> None:
    reading = read(name, f'{{"action": "terminate", "status": "{status}"}}')
    assert reading == Reading("", (Move(Finished(content="infeasible:")),), infeasible=True)
    again = load_dialect(name).render(reading.moves, "", PICTURE)
    assert read(name, again) == reading


def test_a_refusal_keeps_its_reason_where_there_is_room() -> None:
    reading = read("fara-1.5", tool('"action": "terminate", "status": "failure", "answer": "no such page"'))
    assert reading.infeasible
    assert reading.moves[0].action == Finished(content="infeasible: no such page")
    assert read("fara-1.5", load_dialect("fara-1.5").render(reading.moves, "", PICTURE)).moves == reading.moves


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('"action": "left_click_drag", "coordinate": [1, 2]', "unknown_action"),
        ('"action": "triple_click", "coordinate": [1, 2]', "unknown_action"),
        ('"action": "left_click"', "bad_arguments"),
        ('"action": "scroll", "pixels": "far"', "bad_arguments"),
        ('"action": "scroll", "pixels": NaN', "bad_arguments"),
        ('"action": "terminate"', "bad_arguments"),
        ('"action": "terminate", "status": "maybe"', "bad_arguments"),
        ('"action": "key", "keys": ["volume_up"]', "bad_arguments"),
        ('"action": "key", "keys": 5', "bad_arguments"),
        ('"action": 5', "unknown_action"),
        ('"coordinate": [1, 2]', "unknown_action"),
        ('"action": "type", "text": "a", "clear": true', "bad_arguments"),
    ],
)
def test_tools_refuse(arguments: str, code: str) -> None:
    assert refusal("qwen3-vl", tool(arguments)) == code


def test_another_tool_is_unknown() -> None:
    assert refusal("mai-ui", tool('"action": "click", "coordinate": [1, 2]', "search_tool")) == "unknown_action"


def test_braces_in_the_thought_of_a_tool_call_do_no_harm() -> None:
    reply = 'List [1, {"action": "wait"}, is open.<tool_call>{"name": "computer_use", "arguments": {"action": "wait"}}'
    assert actions("fara", reply) == [Wait()]


@pytest.mark.parametrize("name", ["fara", "fara-1.5"])
def test_fara_types_into_a_field_in_one_action(name: str) -> None:
    reading = read(
        name,
        tool('"action": "type", "coordinate": [0, 0], "text": "q", "press_enter": true, "delete_existing_text": true'),
    )
    select_all = Hotkey(keys=["Control", "a"])
    assert [move.action for move in reading.moves] == [
        Click(point=at(0, 0)),
        select_all,
        Type(content="q"),
        PressEnter(),
    ]
    again = load_dialect(name).render(reading.moves, reading.thought, PICTURE)
    assert '"press_enter": true' in again
    assert read(name, again) == reading


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ('"action": "type", "text": "q", "press_enter": "yes"', "bad_arguments"),
        ('"action": "type", "coordinate": [0], "text": "q"', "bad_arguments"),
        ('"action": "type", "press_enter": true', "bad_arguments"),
        ('"action": "web_search", "query": "q"', "unknown_action"),
        ('"action": "refresh"', "unknown_action"),
    ],
)
def test_fara_refuses(arguments: str, code: str) -> None:
    assert refusal("fara", tool(arguments)) == code


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('do(action="Tap", element=[100,200])', Click(point=at(100, 200))),
        ('do(action="Tap", element=[100,200], message="pay")', Click(point=at(100, 200))),
        ('do(action="Long Press", element=[100,200])', LongPress(point=at(100, 200))),
        ('do(action="Type", text="say "hi", (now)")', Type(content='say "hi", (now)')),
        ('do(action="Type_Name", text="Li")', Type(content="Li")),
        ('do(action="Swipe", start=[100,800], end=[100,200])', Swipe(start=at(100, 800), end=at(100, 200))),
        ('do(action="Launch", app="微信")', LaunchApp(app="微信")),
        ('do(action="Wait", duration="3 seconds")', Wait()),
        ('do(action="Note", message="True")', TakeNote(content="True")),
        ('do(action="Interact")', CallUser(content="")),
        ('finish(message="done")', Finished(content="done")),
    ],
)
def test_autoglm(call: str, expected: Action) -> None:
    assert actions("open-autoglm", f"<think>so</think><answer>{call}</answer>") == [expected]
    assert actions("open-autoglm", f"so</think>\n{call}") == [expected]


def test_autoglm_refuses_other_functions() -> None:
    assert refusal("open-autoglm", '<answer>do(action="Call_API", instruction="x")</answer>') == "unknown_action"
    assert refusal("open-autoglm", "<answer>do(element=[1,2])</answer>") == "unknown_action"


@pytest.mark.parametrize(
    "reply",
    [
        '{"type": "AcceptDialog"}',
        "{'type': 'accept_dialog'}",
        'First I accept.\n```json\n[{"type": "AcceptDialog"}]\n```',
        '{"note": 1} {"type": "AcceptDialog"}',
    ],
)
def test_canonical(reply: str) -> None:
    assert actions("canonical", reply) == [AcceptDialog()]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('{"type": "Wait", "seconds": 3}', "bad_arguments"),
        ('{"type": "Hotkey", "keys": ["a", "b", "c", "d"]}', "bad_arguments"),
        ('{"type": "Hotkey", "keys": "a"}', "bad_arguments"),
        ('{"type": "Scroll", "point": {"x": 1, "y": 1}}', "bad_arguments"),
        ('{"type": 5}', "no_action"),
        ('{"action": "Wait"}', "no_action"),
        ('{"type": "Wait", "type": "PressBack"}', "no_action"),
    ],
)
def test_canonical_refuses(reply: str, code: str) -> None:
    assert refusal("canonical", reply) == code
