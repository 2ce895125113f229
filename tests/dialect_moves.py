"""What each dialect can say, and how its numbers become pixels: written down apart from the dialects themselves."""

from __future__ import annotations

import string
from collections.abc import Callable

from hypothesis import strategies as st

from pipeline.actions import (
    AcceptDialog,
    Action,
    Answer,
    CallUser,
    Click,
    DoubleClick,
    Drag,
    Finished,
    GetScreenshot,
    GetUrl,
    Hotkey,
    Hover,
    KeyDown,
    KeyUp,
    Launch,
    LaunchApp,
    LongPress,
    MiddleClick,
    Pixel,
    Point,
    PressBack,
    PressEnter,
    PressHome,
    PressRecent,
    RightClick,
    Scroll,
    SelectOption,
    Swipe,
    TakeNote,
    TripleClick,
    Type,
    Wait,
    canonical_point,
)
from pipeline.dialects import AT_CENTRE, Move, Picture
from pipeline.dialects.reasoning import plain

SIZES = [(640, 400), (412, 915), (1366, 768)]
RATIOS = [1, 2]
PICTURES = [Picture(width * ratio, height * ratio) for width, height in SIZES for ratio in RATIOS]

DIVISORS = {
    "canonical": 1000,
    "canonical-pixels": None,
    "canonical-unit": 1,
    "canonical-yx": 1000,
    "fara": None,
    "fara-1.5": 1000,
    "gui-owl": 1000,
    "mai-ui": 999,
    "open-autoglm": 1000,
    "qwen3-vl": 999,
    "ui-tars": 1000,
    "ui-tars-1.5": None,
    "ui-venus-1.5": 1000,
    "ui-venus-2-browser": 1000,
    "ui-venus-2-desktop": 999,
    "ui-venus-2-grounding": 1000,
    "ui-venus-2-mobile": 1000,
    "ui-venus-2-puzzle": 999,
}
RESIZED = {"fara", "ui-tars-1.5"}

_EVERYTHING = (
    "AcceptDialog Answer CallUser Click DoubleClick Drag Finished GetScreenshot GetUrl Hotkey Hover KeyDown KeyUp "
    "Launch LaunchApp LongPress MiddleClick PressBack PressEnter PressHome PressRecent RightClick Scroll SelectOption "
    "Swipe TakeNote TripleClick Type Wait"
)
_QWEN = (
    "Answer CallUser Click DoubleClick Hotkey Hover LaunchApp LongPress PressBack PressEnter PressHome PressRecent "
    "RightClick Scroll Swipe Type Wait Done"
)
_TARS = (
    "CallUser Click DoubleClick Drag Finished Hotkey LaunchApp LongPress PressBack PressEnter PressHome RightClick "
    "Scroll Type Wait"
)
SAYS = {
    "canonical": _EVERYTHING,
    "canonical-pixels": _EVERYTHING,
    "canonical-unit": _EVERYTHING,
    "canonical-yx": _EVERYTHING,
    "fara": "Click Hotkey Hover Launch PressBack PressEnter ScrollUpOrDown TakeNote Type Wait Done",
    "fara-1.5": (
        "CallUser Click DoubleClick Finished Hotkey Hover Launch PressBack PressEnter RightClick Scroll TakeNote Type "
        "Wait"
    ),
    "gui-owl": _QWEN,
    "mai-ui": (
        "Answer CallUser Click DoubleClick Drag LaunchApp LongPress PressBack PressEnter PressHome PressRecent "
        "SwipeTowards Type Wait Done"
    ),
    "open-autoglm": (
        "CallUser Click DoubleClick Finished LaunchApp LongPress PressBack PressHome Swipe TakeNote Type Wait"
    ),
    "qwen3-vl": f"{_QWEN} Drag SwipeTowards",
    "ui-tars": _TARS,
    "ui-tars-1.5": _TARS,
    "ui-venus-1.5": (
        "CallUser Click DoubleClick Drag Finished Hotkey Hover Launch LaunchApp LongPress PressBack PressEnter "
        "PressHome PressRecent ScrollAtCentre Swipe Type Wait"
    ),
    "ui-venus-2-browser": (
        "CallUser Click DoubleClick Drag Finished GetUrl Hotkey Hover Launch LongPress PressBack PressEnter PressHome "
        "Scroll SelectOption TakeNote Type Wait"
    ),
    "ui-venus-2-desktop": (
        "CallUser Click DoubleClick Drag Finished Hotkey Hover KeyDown KeyUp MiddleClick PressEnter RightClick "
        "ScrollAtCentre TripleClick Type Wait"
    ),
    "ui-venus-2-grounding": "Click Infeasible",
    "ui-venus-2-mobile": (
        "Answer CallUser Click DoubleClick Drag Finished GetScreenshot LaunchApp LongPress PressBack PressEnter "
        "PressHome PressRecent Swipe Type Wait"
    ),
    "ui-venus-2-puzzle": "Click Drag LongPress Type",
}
"""The actions of each dialect; `Done` and `Infeasible` are endings without a text."""

CLICKS = {
    "canonical": '{{"type": "Click", "point": {{"x": {x}, "y": {y}}}}}',
    "canonical-pixels": '{{"type": "Click", "point": [{x}, {y}]}}',
    "canonical-unit": '{{"type": "Click", "point": [{x}, {y}]}}',
    "canonical-yx": '{{"type": "Click", "point": [{y}, {x}]}}',
    "fara": 'I see it.\n<tool_call>\n{{"name": "computer_use", "arguments": {{"action": "left_click", '
    '"coordinate": [{x}, {y}]}}}}\n</tool_call>',
    "fara-1.5": '<tool_call>{{"name": "computer_use", "arguments": {{"action": "left_click", '
    '"coordinate": [{x}, {y}]}}}}</tool_call>',
    "gui-owl": 'Action: tap it\n<tool_call>\n{{"name": "mobile_use", "arguments": {{"action": "click", '
    '"coordinate": [{x}, {y}]}}}}\n</tool_call>',
    "mai-ui": '<thinking>\nthere\n</thinking>\n<tool_call>\n{{"name": "mobile_use", "arguments": '
    '{{"action": "click", "coordinate": [{x}, {y}]}}}}\n</tool_call>',
    "open-autoglm": '<think>there</think><answer>do(action="Tap", element=[{x},{y}])</answer>',
    "qwen3-vl": 'there</think>\n<tool_call>{{"name": "mobile_use", "arguments": {{"action": "click", '
    '"coordinate": [{x}, {y}]}}}}</tool_call>',
    "ui-tars": "Thought: there\nAction: click(start_box='<|box_start|>({x},{y})<|box_end|>')",
    "ui-tars-1.5": "Thought: there\nAction: click(point='<point>{x} {y}</point>')",
    "ui-venus-1.5": "<think>there</think>\n<action>Click(box=({x}, {y}))</action>\n<conclusion>done</conclusion>",
    "ui-venus-2-browser": "<think>there</think>\n<action>Click(point=({x},{y}))</action>",
    "ui-venus-2-desktop": "there</think>\n<action>Click(box=({x}, {y}))</action>",
    "ui-venus-2-grounding": "[{x}, {y}]",
    "ui-venus-2-mobile": "<think>there</think><action>Click(point=({x}, {y}))</action>",
    "ui-venus-2-puzzle": "<action>Click(box=({x},{y}))</action>",
}
"""A click as the model would write it, for any numbers."""

_PIECES = [
    *(
        "'",
        '"',
        "\\",
        "\n",
        "\r\n",
        "\t",
        "`",
        "```json\n",
        "```",
        "{",
        "}",
        "[1]",
        "(",
        ")",
        "')",
        '")',
        "|",
        ",",
        "=",
    ),
    *("<think>", "</think>", "</action>", "<tool_call>", "</answer>", "<", '{"type": "Wait"}', "x=", " ", "\x00"),
    *("你好", "🙂", "Action: wait()", "\\n", "\\u0041", "\\x3c", "%s", "$(touch pwned)", "<point>1 2</point>"),
]
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
"""Texts to be typed, with everything in them that forms use for themselves."""
THOUGHTS = (
    st.text(string.ascii_letters + string.digits + " .,;?!'\"(){}[]<>你好🙂\n", max_size=60)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: plain(text) == text)
)
"""Thoughts without the tags of replies, which rendering leaves out."""
KEYS = ["Control", "Alt", "Shift", "Meta", "a", "C", "9", "+", "-", "?", "F5", "Tab", "ArrowUp", "PageDown", "Escape"]
HOTKEYS = st.lists(st.sampled_from([*KEYS, "Enter", "Space", "Delete"]), min_size=1, max_size=3, unique=True).filter(
    lambda keys: keys != ["Enter"]
)
WAYS = st.sampled_from(["up", "down", "left", "right"])


def pixel_of(name: str, number: int, size: int, sent: int) -> int:
    """The pixel of a whole number, by the rule of the dialect's space."""
    if name == "canonical":
        return (2 * number + 1) * size // 2000
    return number * size // (sent if DIVISORS[name] is None else DIVISORS[name] or 1)


def spots(name: str, picture: Picture, sent: Picture) -> st.SearchStrategy[tuple[Pixel, Point]]:
    """Places that the dialect's numbers can name."""
    if name in ("canonical-unit", "canonical-pixels"):
        pixels = st.builds(Pixel, x=st.integers(0, picture.width - 1), y=st.integers(0, picture.height - 1))
        return pixels.map(lambda pixel: (pixel, canonical_point(pixel, *picture)))
    most = [(DIVISORS[name] or side) - 1 for side in sent]

    def spot(x: int, y: int) -> tuple[Pixel, Point]:
        pixel = Pixel(x=pixel_of(name, x, picture.width, sent.width), y=pixel_of(name, y, picture.height, sent.height))
        return pixel, Point(x=x, y=y) if name == "canonical" else canonical_point(pixel, *picture)

    return st.builds(spot, st.integers(0, most[0]), st.integers(0, most[1]))


def moves(name: str, picture: Picture, sent: Picture) -> st.SearchStrategy[Move]:
    """Moves that the dialect can say."""
    at = spots(name, picture, sent)
    return st.sampled_from(SAYS[name].split()).flatmap(lambda word: _move(word, at, picture))


def _move(word: str, at: st.SearchStrategy[tuple[Pixel, Point]], picture: Picture) -> st.SearchStrategy[Move]:
    pointed: dict[str, Callable[..., Action]] = {
        "Click": Click,
        "DoubleClick": DoubleClick,
        "RightClick": RightClick,
        "LongPress": LongPress,
        "Hover": Hover,
        "MiddleClick": MiddleClick,
        "TripleClick": TripleClick,
    }
    strokes: dict[str, Callable[..., Action]] = {"Drag": Drag, "Swipe": Swipe}
    if word in pointed:
        return at.map(lambda spot: Move(pointed[word](point=spot[1]), (spot[0],)))
    if word in strokes:
        return st.builds(lambda a, b: Move(strokes[word](start=a[1], end=b[1]), (a[0], b[0])), at, at)
    if word in ("Scroll", "ScrollUpOrDown"):
        ways = WAYS if word == "Scroll" else st.sampled_from(["up", "down"])
        return st.builds(lambda spot, way: Move(Scroll(point=spot[1], direction=way), (spot[0],)), at, ways)
    centre = Pixel(x=picture.width // 2, y=picture.height // 2)
    if word == "ScrollAtCentre":
        middle = canonical_point(centre, *picture)
        return WAYS.map(lambda way: Move(Scroll(point=middle, direction=way), (centre,), (AT_CENTRE,)))
    if word == "SwipeTowards":
        return st.builds(lambda spot, way: _towards(spot, way, picture), at, WAYS)
    return _pointless(word).map(lambda action: Move(action))


def _towards(spot: tuple[Pixel, Point], way: str, picture: Picture) -> Move:
    across, down = picture.width // 3, picture.height // 3
    start, point = spot
    end = {
        "up": Pixel(x=start.x, y=max(start.y - -(-picture.height // 3), 0)),
        "down": Pixel(x=start.x, y=min(start.y + down, picture.height - 1)),
        "left": Pixel(x=max(start.x - -(-picture.width // 3), 0), y=start.y),
        "right": Pixel(x=min(start.x + across, picture.width - 1), y=start.y),
    }[way]
    return Move(Swipe(start=point, end=canonical_point(end, *picture)), (start, end))


def _pointless(word: str) -> st.SearchStrategy[Action]:
    texts: dict[str, st.SearchStrategy[Action]] = {
        "Type": TEXTS.map(lambda text: Type(content=text)),
        "Answer": TEXTS.map(lambda text: Answer(content=text)),
        "CallUser": TEXTS.map(lambda text: CallUser(content=text)),
        "Finished": TEXTS.map(lambda text: Finished(content=text)),
        "TakeNote": TEXTS.map(lambda text: TakeNote(content=text)),
        "Launch": TEXTS.map(lambda text: Launch(url=text)),
        "LaunchApp": TEXTS.map(lambda text: LaunchApp(app=text)),
        "Hotkey": HOTKEYS.map(lambda keys: Hotkey(keys=keys)),
        "KeyDown": HOTKEYS.map(lambda keys: KeyDown(keys=keys)),
        "KeyUp": HOTKEYS.map(lambda keys: KeyUp(keys=keys)),
        "SelectOption": st.integers(0, 500).map(lambda index: SelectOption(index=index)),
        "Done": st.sampled_from([Finished(), Finished(content="infeasible:")]),
        "Infeasible": st.just(Finished(content="infeasible:")),
    }
    bare: dict[str, Action] = {
        action.type: action
        for action in (
            AcceptDialog(),
            GetScreenshot(),
            GetUrl(),
            PressBack(),
            PressEnter(),
            PressHome(),
            PressRecent(),
            Wait(),
        )
    }
    return texts[word] if word in texts else st.just(bare[word])
