"""What a benchmark is for an episode: a place that runs, lets an episode in, begins its task, and judges it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from playwright.async_api import BrowserContext, Page


@dataclass(frozen=True)
class Visit:
    """One episode's entry to a place."""
    start_url: str
    headers: dict = field(default_factory=dict)  # sent with every request of the context
    cookies: list = field(default_factory=list)  # as Playwright's add_cookies takes them
    key: str = ""  # names the episode's world
    further_urls: tuple[str, ...] = ()  # opened in tabs behind the first
    geolocation: dict | None = None  # where the browser says that it is, as Playwright's set_geolocation takes it


class Place(Protocol):
    """A running benchmark."""
    name: str
    hidden: tuple[str, ...]  # CSS selectors of what the agent must not see
    viewport: tuple[int, int]  # width, height in CSS pixels
    same_files: bool  # does every episode get the same from its server? Then what the browser has cached may stay for the next one
    scoring: str  # which rules its scores are made by: a variant of tasks/evaluator.py, or "page" where the page gives them

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def enter(self, task, seed: int) -> Visit: ...  # or a coroutine that gives one, where it may have to wait
    async def begin(self, page: Page, task, visit: Visit) -> str: ...
    async def finished(self, page: Page, task, visit: Visit) -> bool: ...
    async def score(self, page: Page, context: BrowserContext, task, visit: Visit, answer: str | None) -> float | None: ...
    def leave(self, visit: Visit) -> None: ...
