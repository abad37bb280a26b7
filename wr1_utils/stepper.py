"""One episode by hand, with plain calls: for notebooks and scripts, where a person plays the policy."""

from __future__ import annotations

from wr1_utils.settings import Settings
from wr1_utils.tasks import open_place
from wr1_utils.tasks.task import Task
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode, StepResult
from wr1_utils.web.loop import run
from wr1_utils.web.observation import Observation


class Stepper:
    """An `Episode` whose methods are plain calls, with a browser and a place of its own; use as a context manager or call `close`.

    Each method raises what the episode's method of that name raises.
    """

    def __init__(self, settings: Settings, task: Task):
        self.place = open_place(settings, task.benchmark)
        self.browser = Browser(settings.browser)
        self.episode = Episode(self.browser, self.place, task, settings.seed, settings)
        self.place.start()

    @property
    def intent(self) -> str:
        return self.episode.intent

    def reset(self) -> Observation:
        return run(self.episode.reset())

    def step(self, reply: str) -> StepResult:
        return run(self.episode.step(reply))

    def score(self) -> float | None:
        return run(self.episode.score())

    def screenshot(self) -> bytes:
        return run(self.episode.screenshot())

    def close(self) -> None:
        """Ends the episode, its browser and its place; doing it twice does no harm."""
        run(self.episode.close())
        run(self.browser.stop())
        self.place.stop()

    def __enter__(self) -> Stepper:
        return self

    def __exit__(self, *_) -> None:
        self.close()
