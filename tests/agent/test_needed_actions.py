"""Each action of the grammar is needed: some template's expert takes it, and whatever else is tried in its place does not solve the task.

Search is Type and Enter in one turn, so it is needed where typing alone does nothing.
"""

from dataclasses import dataclass, field

import pytest

from wr1_utils.agent import pocket_experts
from wr1_utils.agent.experts import click, exit_with, hover, need, press_enter, right_click, scroll_down, scroll_up, search, type_text, wait
from wr1_utils.agent.experts import without_element as without
from wr1_utils.agent.needed_actions import NEEDED, action_table
from wr1_utils.analysis.tables import write_table
from wr1_utils.settings import load_settings, project_path
from wr1_utils.tasks.arena import make_arena
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.web.actions import ACTIONS, parse_reply
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run

TASKS = {task.intent_template_id: task for tasks in make_arena() for task in tasks}


def same(page, element):
    """The element on a later page."""
    return need(page, element.role, element.label)


# --- what is tried instead: generators that yield replies and are sent the pages that follow. `it` is what the expert would act on. ---

def no_click(page, it, filling):
    """A checkbox is not changed by keys, by pointing at it or by the other button; Enter sends its form as it is."""
    page = yield hover(it)
    page = yield right_click(same(page, it))
    page = yield type_text(same(page, it), "on")
    yield press_enter(same(page, it))


def no_right_click(page, it, filling):
    page = yield hover(it)
    page = yield press_enter(same(page, it))
    yield click(need(page, "link", "Favorites"))


def no_type(page, it, filling):
    page = yield press_enter(it)
    yield search(same(page, it), filling["text"])


def no_search(page, it, filling):
    yield type_text(it, filling["words"])


def no_hover(page, it, filling):
    page = yield right_click(it)
    page = yield press_enter(same(page, it))
    page = yield without("go_backward()")
    yield click(same(page, it))


def no_scroll_up(page, it, filling):
    page = yield scroll_down()
    page = yield click(need(page, "textbox", "Message"))
    page = yield wait(5)
    page = yield click(need(page, "link", "Inbox"))
    yield click(need(page, "link", "Chats"))


def no_scroll_down(page, it, filling):
    page = yield scroll_up()
    page = yield wait(5)
    page = yield click(need(page, "link", "Recent changes"))
    yield search(need(page, "textbox", "Search"), filling["article"])


def no_enter(page, it, filling):
    """The text that stands in the field cannot be read to its end, so it cannot be typed again."""
    shown = it.value[:79]
    page = yield click(it)
    page = yield type_text(same(page, it), shown)
    page = yield click(need(page, "link", "Inbox"))
    page = yield click(need(page, "link", "Chats"))
    page = yield click(need(page, "link", filling["user"]))
    yield search(same(page, it), shown)


def no_switch(page, it, filling):
    page = yield without("go_backward()")
    page = yield without("go_forward()")
    page = yield click(need(page, "link", "Home"))
    yield click(need(page, "link", "Explore"))


def no_select(page, it, filling):
    page = yield click(it)
    page = yield press_enter(same(page, it))
    page = yield type_text(same(page, it), filling["choice"])
    page = yield search(same(page, it), filling["choice"])
    yield click(need(page, "button", "Add to cart"))


def no_wait(page, it, filling):
    """However often the page is opened, it begins without figures."""
    yield without("go_backward()")
    yield without("go_forward()")
    yield without("go_backward()")
    yield without("go_forward()")


def no_way_back(page, it, filling):
    page = yield search(need(page, "textbox", "Code"), "0000")
    page = yield without("go_forward()")
    page = yield scroll_up()
    yield press_enter(need(page, "textbox", "Code"))


def no_way_forward(page, it, filling):
    """To ask once more gives another code."""
    code = page.text.split("Its code is ")[1][:4]
    page = yield type_text(need(page, "textbox", "New email"), filling["email"])
    page = yield click(need(page, "button", "Change email"))
    yield search(need(page, "textbox", "Code"), code)


CASES = {                            # action → what is tried instead, what then stands on no page (for a question it is the answer)
    "Click": (no_click, "Newsletter checked"), "Right Click": (no_right_click, "Set as home"), "Type": (no_type, ""),
    "Search": (no_search, "heading Results"), "Hover": (no_hover, ""), "Scroll Up": (no_scroll_up, ""), "Scroll Down": (no_scroll_down, ""),
    "Press Enter": (no_enter, ""), "Switch Tab": (no_switch, "page Pocket Forum"),
    "Select Dropdown Option": (no_select, "page Pocket Shop: Cart"), "Wait": (no_wait, ""), "go_backward": (no_way_back, "Its code is"),
    "go_forward": (no_way_forward, "Your email was changed."),
}


@dataclass
class Seen:
    score: float | None
    calls: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)                # the texts of the pages from where the action was left out


async def _episode(browser, place, task, needed="", instead=None) -> Seen:
    """The expert's episode; with `instead`, that is done where the expert would take the action for the first time, and then the episode ends."""
    episode, memory, seen, steps = Episode(browser, place, task, 0, load_settings("laptop")), {}, Seen(None), None
    try:
        page = await episode.reset()
        while True:
            if steps is None:
                reply = pocket_experts.reply(task, task.intent, page, memory)
                action = parse_reply(reply)
                seen.calls.append(action.action or action.call)
                if instead and seen.calls[-1] == needed:
                    it = next((e for e in page.elements if e.id is not None and str(e.id) == action.element), None)
                    steps = instead(page, it, task.instantiation_dict)
                    seen.after.append(page.text)
                    reply = next(steps)
            else:
                seen.after.append(page.text)
                try:
                    reply = steps.send(page)
                except StopIteration:
                    reply = exit_with("done", "done")
            result = await episode.step(reply)
            if result.done:
                seen.score = await episode.score()
                return seen
            page = result.observation
    finally:
        await episode.close()


@pytest.fixture(scope="module")
def played():
    """Plays one episode: task, needed, instead."""
    place, browser = PocketArena(), Browser(load_settings("laptop").browser)
    place.start()
    yield lambda *how: run(_episode(browser, place, *how))
    run(browser.stop())
    place.stop()


def test_every_action_has_its_case():
    assert set(CASES) | {"exit"} == set(NEEDED) == {*ACTIONS, "go_backward", "go_forward", "exit"}         # exit has a test of its own


def test_the_committed_table_is_what_the_tasks_give(tmp_path):
    write_table(action_table(), tmp_path / "actions")
    for name in ("actions.csv", "actions.md"):
        assert (tmp_path / name).read_text(encoding="utf-8") == project_path(f"results/arena/needed_actions/{name}").read_text(encoding="utf-8")
    assert len(action_table()) == 14 and action_table().example.all()


@pytest.mark.parametrize("needed", CASES)
def test_the_expert_solves_its_task_by_the_action(needed, played):
    seen = played(TASKS[NEEDED[needed][0]])
    assert seen.score == 1.0 and needed in seen.calls


@pytest.mark.parametrize("needed", CASES)
def test_without_the_action_the_task_is_not_solved(needed, played):
    template, (instead, never) = NEEDED[needed][0], CASES[needed]
    answers = TASKS[template].eval["reference_answers"]
    seen = played(TASKS[template], needed, instead)
    assert seen.score == 0.0 and len(seen.after) > 1
    never = never or (answers and f"{answers['exact_match']}")
    assert not never or not [text for text in seen.after if never in text]


def test_an_answer_needs_exit(played):
    """An episode that ends in another way has said nothing."""
    task = TASKS[NEEDED["exit"][0]]
    assert played(task).score == 1.0

    async def nothing_said():
        place, browser = PocketArena(), Browser(load_settings("laptop").browser)
        place.start()
        episode = Episode(browser, place, task, 0, load_settings("laptop"))
        try:
            await episode.reset()
            await episode.step(scroll_down())
            return await episode.score()
        finally:
            await episode.close()
            await browser.stop()
            place.stop()

    assert run(nothing_said()) == 0.0
