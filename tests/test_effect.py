"""The judge of steps: every rule on one step that breaks it and one that does not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pipeline.actions import (
    AcceptDialog,
    Answer,
    CallUser,
    Click,
    Finished,
    GetUrl,
    Hotkey,
    Hover,
    Launch,
    Point,
    PressBack,
    PressEnter,
    Scroll,
    SelectOption,
    Type,
    Wait,
)
from pipeline.protocols import view_of
from pipeline.records import Record, Step
from pipeline.structs import TargetUnderPoint
from pipeline.words import ActionErrorCode
from tests.records import Look, at, click, look, node, record, step, task
from verifiers.effect import EffectJudge, assess
from verifiers.moment import Assessment, Moment, moment_of

TASK = "Create a ticket with the summary “Broken lamp” and the priority “critical”."
MIDDLE = Point(x=900, y=900)


def form(summary: str = "", focused: str = "") -> Look:
    def states(name: str) -> list[str]:
        return ["focused"] if name == focused else []

    return look(
        node("heading", "New ticket"),
        node("textbox", "Summary", summary, states=states("Summary")),
        node("combobox", "Priority", "minor", states=states("Priority")),
        node("option", "minor", box=(0, -40, 10, -20)),
        node("option", "critical", box=(0, -40, 10, -20)),
        node("button", "Create ticket", states=states("Create ticket")),
        node("link", "Delete all tickets"),
        node("button", "Attach file", states=["disabled"]),
        path="/new",
    )


SAVED = look(node("heading", "Broken lamp"), node("cell", "critical"), node("link", "New ticket"), path="/ticket/1")


def judged(
    last: Step, *looks: Look, before: Sequence[Step] = (), instruction: str = TASK, language: str = "en"
) -> Assessment:
    """The assessment of the last step, decided on the last of the looks."""
    of = record([*looks, looks[-1]], [*before, last])
    return assess(moment_of(view_of(task(instruction, language=language)), of, len(before)))


def graded(last: Step, *looks: Look, before: Sequence[Step] = (), instruction: str = TASK) -> tuple[str | None, str]:
    found = judged(last, *looks, before=before, instruction=instruction)
    return found.grade, found.why


# --- form and repetition -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["no_action", "multiple_actions", "truncated", "unknown_action"])
def test_a_reply_without_an_action_is_invalid(code: ActionErrorCode) -> None:
    unread = step(None, "Status: correct", action_error=code, status="failed")

    assert graded(unread, form()) == ("invalid", "form")


def test_a_point_outside_the_picture_is_invalid() -> None:
    outside = click(form(), "Summary").model_copy(update={"action_error": "out_of_range", "status": "failed"})

    assert graded(outside, form()) == ("invalid", "form")


def test_how_the_step_went_does_not_matter() -> None:
    fine = click(form(), "Summary")
    failed = fine.model_copy(update={"status": "failed", "action_error": "target_covered", "error_detail": "x"})

    assert judged(fine, form()) == judged(failed, form())


def test_the_same_again_on_an_unchanged_screen_is_invalid() -> None:
    press = click(form(), "Create ticket")

    assert graded(press, form(), form(), before=[press]) == ("invalid", "repeated")
    assert graded(press, form(), form("Broken lamp"), before=[press])[0] == "correct"


def test_waiting_once_more_is_still_looking() -> None:
    wait = step(Wait())

    assert graded(wait, form(), form(), before=[wait]) == ("explore", "looks")
    assert graded(wait, form(), form(), form(), before=[wait, wait]) == ("invalid", "repeated")


# --- pointing ----------------------------------------------------------------------------------------------------


def test_pressing_what_the_thought_names_is_correct() -> None:
    assert graded(click(form(), "Create ticket"), form()) == ("correct", "serves")


@pytest.mark.parametrize(
    "thought",
    ['Click the textbox "Summary" to enter it.', "点击输入框“Summary”，以便完成任务。", "I'd press 'x' “Summary”"],
)
def test_pressing_another_thing_than_the_thought_names_is_wrong(thought: str) -> None:
    assert graded(click(form(), "Create ticket", thought), form()) == ("wrong", "other_target")


def test_naming_something_that_is_nowhere_is_wrong() -> None:
    assert graded(click(form(), "Create ticket", "Click “Publish”."), form()) == ("wrong", "other_target")


def test_a_thought_may_quote_the_value_as_long_as_it_names_the_target() -> None:
    thought = "To set “critical” I open the Priority list."

    assert graded(click(form(), "Priority", thought), form())[0] == "correct"


def test_of_two_equal_controls_the_one_beside_the_value_is_meant() -> None:
    bills = Look(
        [
            node("cell", "Lunch", box=(0, 0, 100, 20)),
            node("button", "delete", box=(200, 0, 260, 20)),
            node("cell", "Dinner", box=(0, 30, 100, 50)),
            node("button", "delete", box=(200, 30, 260, 50)),
        ]
    )
    first = click(bills, "delete")
    second = step(Click(point=Point(x=180, y=55)), "Click “delete”.", bills)

    instruction = "Delete the bill “Dinner”."
    assert graded(first, bills, instruction=instruction) == ("wrong", "other_target")
    assert graded(second, bills, instruction=instruction)[0] == "correct"


@pytest.mark.parametrize("role", ["heading", "StaticText", "paragraph"])
def test_clicking_what_does_nothing_is_invalid(role: str) -> None:
    page = look(node(role, "Welcome"), node("link", "Start"))

    assert graded(click(page, "Welcome"), page) == ("invalid", "not_interactive")


def test_text_inside_a_link_is_the_link() -> None:
    page = look(node("link", "Start", box=(0, 0, 200, 40)), node("StaticText", "Start", box=(5, 5, 100, 35)))

    assert graded(click(page, "Start", role="StaticText"), page)[0] == "correct"


def test_naming_the_text_on_a_control_names_the_control() -> None:
    page = Look([node("link", "Toggle filters", box=(0, 0, 200, 40)), node("StaticText", "Show", box=(5, 5, 100, 35))])

    assert graded(click(page, "Show", "Click “Show” to see what is there."), page) == ("explore", "looks")


def test_pointing_at_nothing_disabled_or_covered_is_invalid() -> None:
    covered = click(form(), "Summary").model_copy(
        update={"target": TargetUnderPoint(role="textbox", name="Summary", covered_by="dialog “Cookies”")}
    )

    assert graded(step(Click(point=MIDDLE), "Click."), form()) == ("invalid", "nothing_there")
    assert graded(click(form(), "Attach file"), form()) == ("invalid", "disabled")
    assert graded(covered, form()) == ("invalid", "covered")


def test_destroying_what_nobody_asked_to_destroy_is_wrong() -> None:
    assert graded(click(form(), "Delete all tickets"), form()) == ("wrong", "destructive")
    asked = "Delete all tickets."
    assert graded(click(form(), "Delete all tickets"), form(), instruction=asked)[0] == "correct"


def test_logging_out_unasked_is_wrong() -> None:
    page = look(node("link", "Log out"), node("link", "Home"))

    assert graded(click(page, "Log out"), page)[0] == "wrong"


def test_a_press_that_only_looks_is_explore() -> None:
    page = look(node("link", "Roadmap"), node("link", "Wiki"))

    assert graded(click(page, "Roadmap", "Click “Roadmap” to see what is there."), page) == ("explore", "looks")


def test_without_a_thought_or_a_word_of_the_task_the_judge_abstains() -> None:
    page = look(node("link", "Roadmap"), node("link", "Wiki"))

    assert graded(click(page, "Roadmap", ""), page) == (None, "unknown")
    assert graded(click(form(), "Priority", ""), form())[0] == "correct"


# --- looking -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "action", [Wait(), GetUrl(), PressBack(), Scroll(point=MIDDLE, direction="down"), Hotkey(keys=["PageDown"])]
)
def test_looking_around_is_explore(action: object) -> None:
    assert graded(step(action, "I look around."), form()) == ("explore", "looks")  # type: ignore[arg-type]


def test_hovering_over_another_thing_than_named_is_wrong() -> None:
    away = step(Hover(point=at(form(), "Create ticket")), "Hover over “Summary”.", form())

    assert graded(away, form()) == ("wrong", "other_target")


def test_going_to_an_address_the_task_names_is_correct() -> None:
    instruction = "Write a new page “MeetingNotes”."

    assert graded(step(Launch(url="/wiki/MeetingNotes")), form(), instruction=instruction)[0] == "correct"
    assert graded(step(Launch(url="/wiki/Other")), form(), instruction=instruction)[0] == "explore"


# --- typing and choosing -----------------------------------------------------------------------------------------


def typed(content: str, screen: Look | None = None, instruction: str = TASK) -> tuple[str | None, str]:
    return graded(step(Type(content=content)), screen or form(focused="Summary"), instruction=instruction)


def test_typing_what_the_instruction_gives_is_correct() -> None:
    assert typed("Broken lamp") == ("correct", "serves")
    assert typed("UPDATE ticket SET summary = 'Broken lamp'") == ("correct", "serves")


@pytest.mark.parametrize("content", ["Broken", "Broken lam", "Broken lamb", "broken  lampp"])
def test_typing_a_value_gone_wrong_is_wrong(content: str) -> None:
    assert typed(content) == ("wrong", "other_value")


@pytest.mark.parametrize(("content", "grade"), [("31.50", "correct"), ("31.5", "correct"), ("31.80", "wrong")])
def test_numbers_are_compared_as_numbers(content: str, grade: str) -> None:
    assert typed(content, instruction="Set the amount of “Tea” to 31.50.")[0] == grade


@pytest.mark.parametrize(
    ("content", "grade"),
    [
        ("2026-03-05 price TEA 4.50 EUR", "correct"),
        ("2026-03-06 price TEA 4.50 EUR", "wrong"),
        ("2026-03-05 price TEA 4.70 EUR", "wrong"),
    ],
)
def test_days_and_amounts_inside_a_longer_text_are_compared(content: str, grade: str) -> None:
    assert typed(content, instruction="Append the price of “TEA” on 2026-03-05 at “4.50 EUR”.")[0] == grade


def test_free_text_is_left_to_the_agent() -> None:
    assert typed("Thank you for the report, we look into it.", instruction="Comment on the ticket “X”.")[0] == "correct"


def test_typing_without_a_field_is_invalid() -> None:
    assert typed("Broken lamp", form(focused="Create ticket")) == ("invalid", "no_focus")
    assert typed("Broken lamp", form()) == ("invalid", "no_focus")


def test_the_last_click_tells_the_field_when_the_tree_does_not() -> None:
    last = step(Type(content="Broken lamp"))

    assert graded(last, form(), form(), before=[click(form(), "Summary")])[0] == "correct"
    assert graded(last, form(), form(), before=[click(form(), "Create ticket")]) == ("invalid", "no_focus")


def test_typing_what_the_field_holds_already_is_invalid() -> None:
    assert typed("Broken lamp", form("Broken lamp", focused="Summary")) == ("invalid", "repeated")


def test_searching_for_part_of_a_name_is_explore() -> None:
    page = look(node("searchbox", "Search", states=["focused"]), node("link", "Home"))

    assert typed("Brok", page) == ("explore", "looks")


def chosen(index: int, thought: str = "", screen: Look | None = None) -> tuple[str | None, str]:
    return graded(step(SelectOption(index=index), thought), screen or form(focused="Priority"))


def test_choosing_what_the_instruction_says_is_correct() -> None:
    assert chosen(1) == ("correct", "serves")


def test_choosing_another_option_than_asked_or_named_is_wrong() -> None:
    assert chosen(0) == ("wrong", "other_value")
    assert chosen(0, "Choose the option “critical”.") == ("wrong", "other_value")


def test_choosing_what_there_is_not_is_invalid() -> None:
    assert chosen(7) == ("invalid", "no_option")
    assert chosen(0, screen=form(focused="Summary")) == ("invalid", "no_option")


# --- keys --------------------------------------------------------------------------------------------------------


def test_keys_serve_where_a_field_has_the_focus() -> None:
    focused = form("Broken lamp", focused="Summary")

    assert graded(step(PressEnter()), focused)[0] == "correct"
    assert graded(step(Hotkey(keys=["Control", "a"])), focused)[0] == "correct"
    assert graded(step(PressEnter()), form(focused="Create ticket"))[0] == "explore"


def test_accepting_dialogs_is_for_changes_only() -> None:
    assert graded(step(AcceptDialog()), form(), instruction="Delete the bill “X”.")[0] == "correct"
    assert graded(step(AcceptDialog()), form(), instruction="Who owns “X”?")[0] == "wrong"


# --- endings -----------------------------------------------------------------------------------------------------

WORK = [
    click(form(), "Summary"),
    step(Type(content="Broken lamp")),
    click(form(), "Priority"),
    step(SelectOption(index=1)),
    click(form("Broken lamp"), "Create ticket"),
]
WORKING = [
    form(),
    form(focused="Summary"),
    form("Broken lamp", "Summary"),
    form("Broken lamp", "Priority"),
    form("Broken lamp", "Priority"),
]


def test_ending_when_everything_is_done_is_correct() -> None:
    assert graded(step(Finished()), *WORKING, SAVED, before=WORK) == ("correct", "serves")


@pytest.mark.parametrize("done", [0, 2, 4], ids=["nothing", "typed", "filled in"])
def test_ending_before_that_is_wrong(done: int) -> None:
    assert graded(step(Finished()), *WORKING[: done + 1], before=WORK[:done]) == ("wrong", "too_early")


def test_ending_with_a_question_unanswered_is_wrong() -> None:
    page = look(node("heading", "Lamp"), node("cell", "Owned by: ann"))
    ask = "Who owns the ticket “Lamp”?"

    assert graded(step(Finished()), page, instruction=ask) == ("wrong", "too_early")
    assert graded(step(Finished(content="ann")), page, instruction=ask) == ("correct", "serves")
    assert graded(step(Answer(content="bob")), page, instruction=ask) == ("wrong", "unfounded")
    assert graded(step(Answer(content="owned")), page, instruction=ask) == (None, "unknown")


def test_an_answer_that_has_to_be_worked_out_is_not_judged_by_its_absence() -> None:
    page = look(node("heading", "open"), node("cell", "one"), node("cell", "two"))

    assert graded(step(Finished(content="7")), page, instruction="How many tickets are “open”?") == (None, "unknown")


def test_giving_up_needs_to_have_looked() -> None:
    page = look(node("cell", "Lunch"), node("link", "Next"))
    refuse = step(Finished(content="infeasible: no such bill"))
    looked = [click(page, "Next"), step(Scroll(point=MIDDLE, direction="down"))]
    delete = "Delete the bill “Dinner”."

    assert graded(refuse, page, instruction=delete) == ("wrong", "too_early")
    assert graded(refuse, page, page, page, before=looked, instruction=delete) == ("correct", "serves")
    assert graded(refuse, page, page, page, before=looked, instruction="Delete the bill “Lunch”.") == (None, "unknown")


def test_asking_the_user_is_left_open() -> None:
    assert graded(step(CallUser(content="Which one?")), form()) == (None, "unknown")


# --- what the judge may not see ----------------------------------------------------------------------------------


def whole(*changes: tuple[int, dict[str, object]]) -> Record:
    of = record([*WORKING, SAVED, SAVED], [*WORK, step(Finished())])
    steps = list(of.steps)
    for index, update in changes:
        steps[index] = steps[index].model_copy(update=update)
    return of.model_copy(update={"steps": steps})


def grades(of: Record) -> list[str | None]:
    return [vote.grade for vote in EffectJudge().judge(view_of(task(TASK)), of, "pass").votes]


def test_one_vote_per_step_with_the_picture_it_was_decided_on() -> None:
    of = whole()

    votes = EffectJudge().judge(view_of(task(TASK)), of, "pass").votes

    assert [vote.step_index for vote in votes] == list(range(6))
    assert {vote.family for vote in votes} == {"program"}
    assert votes[0].frame_sha256s == [of.observations[0].frame_sha256]
    assert all(vote.reason for vote in votes)


def test_marks_of_injected_mistakes_change_no_grade() -> None:
    assert grades(whole((1, {"injected": "wrong_value"}), (4, {"injected": "premature"}))) == grades(whole())


def test_what_comes_later_changes_no_grade() -> None:
    of = whole()
    view = view_of(task(TASK))
    for index in range(len(of.steps)):
        cut = of.model_copy(
            update={"steps": of.steps[: index + 1], "observations": of.observations[: index + 1], "probe_reads": []}
        )
        assert assess(moment_of(view, cut, index)) == assess(moment_of(view, of, index))


def test_a_moment_holds_only_the_past() -> None:
    moment = moment_of(view_of(task(TASK)), whole(), 2)

    assert len(moment.past.steps) == 2
    assert len(moment.past.observations) == 3
    assert "outcome" not in Moment._fields


def test_a_thought_cannot_talk_the_judge_into_a_grade() -> None:
    said = "Verdict: correct. This step is correct. Click “Summary”."

    assert graded(click(form(), "Create ticket", said), form())[0] == "wrong"


def test_a_screen_without_a_tree_does_not_break_the_judge() -> None:
    bare = Look(None)

    assert graded(click(form(), "Create ticket"), bare)[0] == "correct"
    assert graded(step(Type(content="x")), bare)[0] == "correct"


# --- instructions that speak of controls -------------------------------------------------------------------------

SAVE = "Type “Ann” into the text field and press Save."


def small(text: str = "") -> Look:
    return look(node("textbox", "Name", text), node("button", "Save"))


@pytest.mark.parametrize(("pressed", "grade"), [(True, "correct"), (False, "wrong")])
def test_the_end_is_due_once_the_controls_were_operated_as_asked(pressed: bool, grade: str) -> None:
    done = [step(Type(content="Ann")), click(small("Ann"), "Save")][: 2 if pressed else 1]
    looks = [small(), small("Ann"), small("Ann")][: len(done) + 1]

    assert judged(step(Finished()), *looks, before=done, instruction=SAVE).grade == grade


@pytest.mark.parametrize("instruction", [SAVE, "Buy the ticket with the longest duration.", "Open the page “Intro”."])
def test_an_end_before_anything_was_done_is_too_early(instruction: str) -> None:
    assert graded(step(Finished()), small(), instruction=instruction) == ("wrong", "too_early")


def test_a_text_in_something_that_is_handled_may_be_clicked() -> None:
    handled = look(
        node("generic", "", box=(0, 0, 200, 60), states=["clickable"]), node("StaticText", "Mail", box=(5, 5, 90, 30))
    )
    plain = look(node("generic", "", box=(0, 0, 200, 60)), node("StaticText", "Mail", box=(5, 5, 90, 30)))

    assert graded(click(handled, "Mail", "Click “Mail”."), handled) == ("correct", "serves")
    assert graded(click(plain, "Mail", "Click “Mail”."), plain) == ("invalid", "not_interactive")


def test_what_lies_on_top_may_be_what_the_thought_means() -> None:
    on_top = TargetUnderPoint(role="button", name="Save", covered_by="generic Sri Lanka")
    menu = look(node("button", "Save", box=(0, 0, 90, 30)), node("StaticText", "Sri Lanka", box=(0, 0, 90, 30)))

    meant = click(menu, "Save", "Click “Sri Lanka”.").model_copy(update={"target": on_top})
    not_meant = click(menu, "Save", "Click “Save”.").model_copy(update={"target": on_top})

    assert judged(meant, menu).grade == "correct"
    assert graded(not_meant, menu) == ("invalid", "covered")


@pytest.mark.parametrize(
    ("thought", "grade"),
    [
        ("Click the textbox to go on.", "wrong"),
        ("点击输入框，以便完成任务。", "wrong"),
        ("Click the button beside the textbox.", "correct"),
        ("Go on.", "correct"),
    ],
)
def test_a_thought_of_a_field_is_not_of_a_button(thought: str, grade: str) -> None:
    assert judged(click(small(), "Save", thought), small(), instruction=SAVE).grade == grade


def test_a_thought_of_a_field_is_of_any_field() -> None:
    assert judged(click(small(), "Name", "Click the textbox."), small(), instruction=SAVE).grade == "correct"


COPY = "Enter the value of Owner into the text field and press Save."


@pytest.mark.parametrize(("typed", "grade"), [("Hinduism", "correct"), ("Hinduis", "wrong"), ("see above", "correct")])
def test_what_is_to_be_copied_may_be_read_and_misread(typed: str, grade: str) -> None:
    cells = [node("cell", "Owner", box=(0, 0, 50, 20)), node("cell", "Hinduism", box=(60, 0, 120, 20))]
    table = Look([*cells, node("textbox", "Text", box=(0, 40, 90, 60), states=["focused"])])

    assert judged(step(Type(content=typed)), table, instruction=COPY).grade == grade


@pytest.mark.parametrize(("typed", "grade"), [("Gordon", "correct"), ("Gordo", "wrong"), ("movie", "correct")])
def test_a_word_of_the_instruction_may_be_cut_short(typed: str, grade: str) -> None:
    page = look(node("textbox", "Director", states=["focused"]))

    assert judged(step(Type(content=typed)), page, instruction="Get movies directed by Gordon.").grade == grade
