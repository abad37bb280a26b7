"""The experts in a real browser, through the same grammar and pages as the agent: the fixtures `play` and `check_experts`.

`observed` makes pages by hand, for tests without a browser.
"""

import asyncio
import contextlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette

from wr1_utils.agent import pocket_experts
from wr1_utils.agent.experts import ExpertError, click, exit_with, need
from wr1_utils.settings import load_settings
from wr1_utils.sites.server import SITES, seeds
from wr1_utils.sites.world import World, Worlds
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.web.actions import parse_reply
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run
from wr1_utils.web.observation import Element, Observation, element_line, row_line

AT_ONCE = 8


@dataclass
class Played:
    score: float | None = None       # None: it did not come to an end
    fault: str = ""                  # what went wrong
    actions: list = field(default_factory=list)   # of each turn the action, None for one without
    page: int = 0                    # the longest, in characters
    reply: int = 0
    sent: Counter = field(default_factory=Counter)     # what its browser asked the sites to change: "shopping.localhost:8080/cart" → how often
    taken: Counter = field(default_factory=Counter)    # what its world was asked to change until all episodes were over


class OneWorld(Worlds):
    """Worlds switched off, to see that a test of isolation can fail: everyone who asks for a world gets the same one, and it stays."""

    def create(self) -> World:
        return next(iter(self._worlds.values()), None) or super().create()

    def discard(self, key: str) -> None:
        pass


def _watched(make_site: Callable[[], Starlette], taken: dict[str, Counter]) -> Callable[[], Starlette]:
    """The site, which notes of each world, by its key, what it is asked to change: every request but GET."""
    class Note:
        def __init__(self, app):
            self.app = app

        async def __call__(self, scope, receive, send):
            if scope["type"] == "http" and scope["method"] != "GET":
                taken[scope["state"]["world"].key][(dict(scope["headers"])[b"host"] + scope["raw_path"]).decode()] += 1
            await self.app(scope, receive, send)

    def make() -> Starlette:
        site = make_site()
        site.add_middleware(Note)
        return site

    return make


@contextlib.contextmanager
def _noting(context, sent: Counter):
    """Notes what the pages of a browser context ask the sites to change, until the end: the browser may keep the context for another episode."""
    def note(request) -> None:
        if request.method != "GET":
            address = urlsplit(request.url)
            sent[address.netloc + address.path] += 1

    context.on("request", note)
    try:
        yield
    finally:
        context.remove_listener("request", note)


async def _episode(browser, place, settings, task, parts, between, taken) -> Played:
    episode, played = Episode(browser, place, task, 0, settings), Played()
    try:
        observation = await episode.reset()
        played.taken = taken[episode._visit.key]
        with _noting(episode._context, played.sent):
            await _turns(episode, observation, list(parts), between, played)
    except ExpertError as error:
        played.fault = str(error)
    finally:
        await episode.close()
    return played


async def _turns(episode, observation, parts, between, played) -> None:
    memory = {}
    for _ in range(episode.limits.turn_limit * max(1, len(parts))):
        reply = pocket_experts.reply(parts[0], parts[0].intent, observation, memory) if parts else exit_with("done", "done")
        while len(parts) > 1 and parse_reply(reply).call == "exit":
            parts.pop(0)
            memory = {}
            reply = click(need(observation, "link", between)) if between else pocket_experts.reply(parts[0], parts[0].intent, observation, memory)
        played.actions.append(parse_reply(reply).action)
        played.page, played.reply = max(played.page, len(observation.text)), max(played.reply, len(reply))
        result = await episode.step(reply)
        if result.error:
            played.fault = result.error
            return
        if result.done:
            played.score = await episode.score()
            return
        observation = result.observation
    played.fault = "turn limit"


@pytest.fixture(scope="session")
def observed():
    """Makes an observation of (role, label, what else an Element has …) each, numbered but for texts, headings and images."""
    def make(*elements, **more):
        numbers = itertools.count()
        listed = tuple(Element(id=None if role in ("text", "heading", "image") else next(numbers), role=role, label=label, **dict(*rest))
                       for role, label, *rest in elements)
        text = "\n".join(row_line([element]) if element.row is not None else element_line(element) for element in listed)
        return Observation(**{"url": "", "title": "", "text": text, "elements": listed, "tabs": (), "tab": 0, "notices": ()} | more)

    return make


@pytest.fixture(scope="session")
def play():
    """Plays (task, what to do one after the other, as tasks) each, and gives what came of each, in their order.

    An episode is scored for its own task and ends with the last thing done, at once if there is none. `between`: the link to click between two.
    `at_once` episodes are in flight; with `one_world` all of them share one.
    """
    def episodes(pairs, between="", at_once=AT_ONCE, one_world=False):
        settings = load_settings("laptop")

        async def everyone():
            place, browser, some, taken = PocketArena(), Browser(settings.browser), asyncio.Semaphore(at_once), defaultdict(Counter)
            if one_world:
                place._server.worlds = OneWorld(seeds())
            with pytest.MonkeyPatch.context() as patch:
                for site, make_site in SITES.items():
                    patch.setitem(SITES, site, _watched(make_site, taken))
                place.start()

            async def in_turn(task, parts):
                async with some:
                    return await _episode(browser, place, settings, task, parts, between, taken)

            try:
                return await asyncio.gather(*(in_turn(task, parts) for task, parts in pairs))
            finally:
                await browser.stop()
                place.stop()

        return run(everyone())

    return episodes


@pytest.fixture(scope="session")
def check_experts(play):
    """Checks that the experts solve all the tasks, on pages and with replies of at most so many characters; gives what came of each.

    1 600 characters of a page are about 500 tokens, 340 of a reply about 96.
    """
    def check(tasks, page=1_600, reply=None):
        tasks = list(tasks)
        outcomes = play([(task, [task]) for task in tasks])
        assert not [(task.task_id, outcome) for task, outcome in zip(tasks, outcomes) if outcome.score != 1.0]
        assert max(outcome.page for outcome in outcomes) <= page
        assert reply is None or max(outcome.reply for outcome in outcomes) <= reply
        return outcomes

    return check
