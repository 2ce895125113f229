"""Small programs that solve MiniWoB++ pages from what is asked and what the screen's tree shows.

Each yields one step at a time, to be grounded on the screen as it is then, and is told the screen that came of it. The
pages are those whose text and tree are enough to solve them: nothing is drawn, dragged, timed or told by a picture.
"""

from __future__ import annotations

import re

from bench.miniwob_moves import SUBMIT, Plan, Screen, Solver, listed, ordinals, places, press, quoted, shows, write
from pipeline.tasks import ProcedureStep

_MOST_PAGES = 12

# --- pressing ----------------------------------------------------------------------------------------------------


def _the_button(asked: str, _: Screen) -> Plan:
    yield press(quoted(asked)[0], "button")


def _only_button(_: str, __: Screen) -> Plan:
    yield press(role="button")


def _the_link(asked: str, _: Screen) -> Plan:
    yield press(quoted(asked)[0], "StaticText")


def _the_tab(asked: str, _: Screen) -> Plan:
    found = re.search(r"Tab #\d", asked)
    yield press(found[0] if found else None, "link")


def _the_dialog_button(asked: str, _: Screen) -> Plan:
    name = quoted(asked)[0]
    yield press("Close" if name == "x" else name, "button")


def _the_widget(asked: str, screen: Screen) -> Plan:
    kind = quoted(asked)[0]
    fields = places(screen, "textbox")
    tall = [node.box is not None and node.box.bottom - node.box.top > 30 for node in fields]
    if kind in ("text", "textarea"):
        yield press(role="textbox", nth=tall.index(kind == "textarea"))
    else:
        yield press(role=kind)


def _the_field(asked: str, _: Screen) -> Plan:
    yield press(role="textbox", nth=([*ordinals(asked), 1])[0] - 1)


def _the_ticket(asked: str, screen: Screen) -> Plan:
    texts = [node.name for node in screen]
    spans = [re.fullmatch(r"(\d+)h (\d+)m", text) for text in texts]
    minutes = [int(span[1]) * 60 + int(span[2]) for span in spans if span]
    prices = [int(text.partition("$")[2]) for text in texts if text.startswith("Book for $")]
    figures = minutes if "duration" in asked else prices
    best = max(figures) if "longest" in asked or "most" in asked else min(figures)
    yield press(role="button", nth=figures.index(best))


def _a_number(asked: str, screen: Screen) -> Plan:
    bound = int((re.findall(r"\d+", asked) or ["0"])[0])
    while True:
        shown = [node.name for node in screen if re.fullmatch(r"\d+", node.name)]
        value = int(shown[0]) if shown else None
        if value is not None and _fits(value, asked, bound):
            break
        screen = yield press("Generate", "button")
    yield SUBMIT


def _fits(value: int, asked: str, bound: int) -> bool:
    if "even" in asked or "odd" in asked:
        return value % 2 == (0 if "even" in asked else 1)
    return value > bound if "greater" in asked else value < bound


def _odd_or_even(_: str, screen: Screen) -> Plan:
    numbers = [int(node.name) for node in screen if re.fullmatch(r"-?\d+", node.name)]
    for place, number in enumerate(numbers):
        yield press("Even" if number % 2 == 0 else "Odd", "button", nth=place)
    yield SUBMIT


# --- choosing ----------------------------------------------------------------------------------------------------


def _boxes(asked: str, _: Screen) -> Plan:
    for name in listed(asked):
        yield press(name, "checkbox")
    yield SUBMIT


def _one_of_several(asked: str, _: Screen) -> Plan:
    yield press(listed(asked)[0], "radio")
    yield SUBMIT


def _from_a_list(asked: str, _: Screen) -> Plan:
    yield ProcedureStep(action="SelectOption", role="combobox", content=listed(asked)[0])
    yield SUBMIT


# --- writing -----------------------------------------------------------------------------------------------------


def _a_text(asked: str, _: Screen) -> Plan:
    text = quoted(asked)[0]
    yield write(text.upper() if "upper case" in asked else text.lower() if "lower case" in asked else text)
    yield SUBMIT


def _the_password_twice(asked: str, _: Screen) -> Plan:
    yield write(quoted(asked)[0])
    yield write(quoted(asked)[0], nth=1)
    yield SUBMIT


def _name_and_password(asked: str, _: Screen) -> Plan:
    name, password = quoted(asked)
    yield write(name)
    yield write(password, nth=1)
    yield press("Login", "button")


def _the_shown_text(_: str, screen: Screen) -> Plan:
    letters = [node for node in screen if node.role == "StaticText" and node.box is not None]
    yield write("".join(node.name for node in sorted(letters, key=lambda node: node.box.left if node.box else 0)))
    yield SUBMIT


def _a_copy(asked: str, screen: Screen) -> Plan:
    fields = places(screen, "textbox")
    filled = [place for place, field in enumerate(fields) if field.value]
    wanted = fields[filled[ordinals(asked)[0] - 1 if ordinals(asked) else 0]]
    empty = next(place for place in range(len(fields)) if place not in filled)
    yield write(wanted.value, nth=empty)
    yield SUBMIT


def _the_nth_word(asked: str, screen: Screen) -> Plan:
    words = " ".join(node.name for node in places(screen, "StaticText")).split()
    yield write(words[ordinals(asked)[0] - 1].strip(".,"))
    yield SUBMIT


def _from_a_table(_: str, screen: Screen) -> Plan:
    cells = [node.name for node in places(screen, "cell")]
    for label in [node.name.rstrip(":") for node in places(screen, "StaticText") if node.name.endswith(":")]:
        yield write(cells[cells.index(label) + 1], near=f"{label}:")
    yield SUBMIT


def _one_value_of_a_table(asked: str, screen: Screen) -> Plan:
    found = re.search(r"value of (.*?) into", asked)
    cells = [node.name for node in places(screen, "cell")]
    yield write(cells[cells.index(found[1] if found else "") + 1])
    yield SUBMIT


def _the_unknown(_: str, screen: Screen) -> Plan:
    text = next(node.name for node in screen if node.role == "StaticText" and " = " in node.name)
    left, sign, right, _equals, total = text.split()
    known = int(right) if left == "x" else int(left)
    answers = {"+": int(total) - known, "-": int(total) + known if left == "x" else known - int(total)}
    yield write(str(answers[sign]))
    yield SUBMIT


def _the_sum(_: str, screen: Screen) -> Plan:
    text = next(node.name for node in screen if node.role == "StaticText" and "=" in node.name)
    left, sign, right, *_rest = text.split()
    one, other = int(left), int(right)
    yield write(str(one + other if sign == "+" else one - other if sign == "-" else one * other))
    yield SUBMIT


def _three_criteria(asked: str, screen: Screen) -> Plan:
    found = re.match(r"Search for (.*) movies directed by (.*) from year (\d+)", asked)
    values = dict(zip(("genre", "director", "year|date"), found.groups(), strict=True)) if found else {}
    names = [node.name for node in screen]
    for label in names:
        for words, value in values.items():
            if re.search(words, label, re.IGNORECASE):
                yield write(value, near=label)
    plain = [name for name in names if name in ("Submit", "Search", "Go!")]
    yield press(plain[-1] if plain else None, None if plain else "button")


def _a_spun_number(asked: str, _: Screen) -> Plan:
    number = int(re.findall(r"-?\d+", asked)[0])
    yield press(role="spinbutton")
    for _step in range(abs(number)):
        yield ProcedureStep(action="Hotkey", content="ArrowUp" if number > 0 else "ArrowDown")
    yield SUBMIT


def _an_item(asked: str, screen: Screen) -> Plan:
    beginning, *ending = quoted(asked)
    screen = yield write(beginning)
    for _ in range(3):
        items = [node.name for node in screen if node.role in ("menuitem", "option", "StaticText")]
        fitting = [name for name in items if name.startswith(beginning) and name.endswith(ending[0] if ending else "")]
        if fitting:
            yield press(fitting[0])
            yield SUBMIT
            return
        screen = yield ProcedureStep(action="Wait")


def _a_guess(_: str, __: Screen) -> Plan:
    low, high = 0, 9
    while low <= high:
        guess = (low + high) // 2
        yield press(role="spinbutton")
        yield ProcedureStep(action="Hotkey", content="control+a")
        yield ProcedureStep(action="Type", content=str(guess))
        screen = yield SUBMIT
        told = " ".join(node.name for node in screen)
        if "lower than" in told:
            high = guess - 1
        elif "higher than" in told:
            low = guess + 1
        else:
            return


def _a_form(asked: str, _: Screen) -> Plan:
    kind = "radio" if "radio" in asked else "checkbox"
    first, second = ordinals(asked)
    yield press(role=kind, nth=first - 1)
    yield write(quoted(asked)[0], nth=second - 1)
    yield SUBMIT


# --- finding -----------------------------------------------------------------------------------------------------


def _in_sections(asked: str, screen: Screen) -> Plan:
    name = quoted(asked)[0]
    for section in [node.name for node in places(screen, "tab")]:
        screen = yield press(section, "tab")
        if shows(screen, name):
            yield press(name, "StaticText")
            return


def _in_tabs(asked: str, screen: Screen) -> Plan:
    name = quoted(asked)[0]
    for tab in [node.name for node in places(screen, "tab")]:
        if not shows(screen, name):
            screen = yield press(tab, "link")
    yield press(name, "StaticText")


def _one_section(_: str, screen: Screen) -> Plan:
    yield press(places(screen, "tab")[0].name, "tab")
    yield SUBMIT


def _the_nth_result(asked: str, _: Screen) -> Plan:
    yield write(quoted(asked)[0])
    yield press("Search", "button")
    place = ordinals(asked)[0]
    results = 3
    for _page in range((place - 1) // results):
        yield press(">", "link")
    yield press(role="link", nth=(place - 1) % results)


def _a_contact(asked: str, screen: Screen) -> Plan:
    found = re.match(r"Find (.*) in the contact book and click on their (\w+)", asked)
    name, kind = found.groups() if found else ("", "")
    for _ in range(_MOST_PAGES):
        if shows(screen, name):
            break
        screen = yield press(">", "link")
    names = [node.name for node in screen]
    yield press(names[names.index(f"{kind.capitalize()}:") + 2], "StaticText")


def _a_file(asked: str, screen: Screen) -> Plan:
    """Open folder after folder; what is no folder shows nothing new."""
    name, tried = quoted(asked)[0], set[str]()
    while not shows(screen, name):
        others = [node.name for node in places(screen, "StaticText") if node.name not in tried]
        if not others:
            return
        tried.add(others[0])
        screen = yield press(others[0], "StaticText")
    yield press(name, "StaticText")


def _a_mail(asked: str, _: Screen) -> Plan:
    sender = re.search(r"(?:by|from) (\w+)", asked)
    screen = yield press(sender[1] if sender else None, "StaticText")
    if "star" in asked or "important" in asked:
        yield press("", "generic", nth=2)
    elif "delete" in asked:
        yield press("", "generic", nth=1)
    elif "forward" in asked:
        to = re.search(r"to (\w+)\.$", asked)
        yield press("Forward", "StaticText")
        screen = yield write(to[1] if to else "")
        yield press("", "generic", nth=_sending(screen))
    else:
        yield press("Reply", "StaticText")
        screen = yield write(quoted(asked)[0], nth=-1)
        yield press("", "generic", nth=_sending(screen))


def _sending(screen: Screen) -> int:
    """The place of the sign that sends among those without a name: the rightmost in the top row."""
    signs = [node.box for node in screen if node.role == "generic" and not node.name and node.box]
    return max(range(len(signs)), key=lambda place: (-(signs[place].top // 20), signs[place].right))


SOLVERS: dict[str, Solver] = {
    "buy-ticket": _the_ticket,
    "choose-list": _from_a_list,
    "click-button": _the_button,
    "click-checkboxes": _boxes,
    "click-checkboxes-large": _boxes,
    "click-checkboxes-transfer": _boxes,
    "click-collapsible": _one_section,
    "click-collapsible-2": _in_sections,
    "click-dialog": _the_dialog_button,
    "click-dialog-2": _the_dialog_button,
    "click-link": _the_link,
    "click-option": _one_of_several,
    "click-tab": _the_tab,
    "click-tab-2": _in_tabs,
    "click-tab-2-easy": _in_tabs,
    "click-tab-2-hard": _in_tabs,
    "click-tab-2-medium": _in_tabs,
    "click-test": _only_button,
    "click-widget": _the_widget,
    "copy-paste": _a_copy,
    "copy-paste-2": _a_copy,
    "email-inbox": _a_mail,
    "email-inbox-delete": _a_mail,
    "email-inbox-forward": _a_mail,
    "email-inbox-important": _a_mail,
    "email-inbox-reply": _a_mail,
    "enter-password": _the_password_twice,
    "enter-text": _a_text,
    "enter-text-2": _a_text,
    "enter-text-dynamic": _a_text,
    "find-word": _the_nth_word,
    "focus-text": _the_field,
    "focus-text-2": _the_field,
    "form-sequence-2": _a_form,
    "generate-number": _a_number,
    "guess-number": _a_guess,
    "login-user": _name_and_password,
    "multi-layouts": _three_criteria,
    "multi-orderings": _three_criteria,
    "navigate-tree": _a_file,
    "odd-or-even": _odd_or_even,
    "phone-book": _a_contact,
    "read-table": _one_value_of_a_table,
    "read-table-2": _from_a_table,
    "search-engine": _the_nth_result,
    "simple-algebra": _the_unknown,
    "simple-arithmetic": _the_sum,
    "text-transform": _the_shown_text,
    "use-autocomplete": _an_item,
    "use-spinner": _a_spun_number,
}
"""Every page that can be solved so, sorted."""
