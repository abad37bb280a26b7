"""A browser without scripts for the tests of every site: the fixture `visitor`, and `git` and `git_as` for the site `gitlab`."""

import asyncio
import statistics
import time

import httpx
import pytest

from wr1_utils.sites.server import DATABASES, SESSIONS, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds


class Visitor:
    """A browser without scripts, at home on one site and in one world: keeps each site's cookies, follows redirects."""

    def __init__(self, site, logged_in=True, worlds=None):
        self.site = site
        self.worlds = worlds or Worlds(seeds())
        self.world = self.worlds.create()
        self.app = make_app(self.worlds)
        self.cookies = {}
        if logged_in:
            self.log_in()

    def log_in(self):
        """As the main user of every site."""
        self.cookies = {site: {cookie: token} for site, (cookie, token) in SESSIONS.items()}

    def __call__(self, path, data=None, site=None, **query):
        return asyncio.run(self._send(f"{path}?{httpx.QueryParams(query)}" if query else path, data, site or self.site))

    def milliseconds(self, path):
        """The median time that the process computes for the page, of seven times; what else the machine does is not in it."""
        taken = []
        for _ in range(7):
            start = time.process_time()
            self(path)
            taken.append(1000 * (time.process_time() - start))
        return statistics.median(taken)

    async def _send(self, path, data, site):
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{site}.localhost", cookies=self.cookies.get(site),
                                     headers={WORLD_HEADER: self.world.key}, follow_redirects=True) as client:
            response = await (client.get(path) if data is None else client.post(path, data=data))
            self.cookies[site] = {cookie.name: cookie.value for cookie in client.cookies.jar}
            return response

    @property
    def db(self):
        return self.world.database(DATABASES.get(self.site, self.site))

    def row(self, query, *values):
        return self.db.execute(query, values).fetchone()

    def value(self, query, *values):
        return self.row(query, *values)[0]


class GitVisitor(Visitor):
    """A visitor of the site `gitlab` who is any of its users, or None."""

    def __init__(self, user="emma"):
        super().__init__("gitlab", logged_in=False)
        self.log_in(user)

    def log_in(self, user="emma"):
        self.db.execute("INSERT OR IGNORE INTO sessions SELECT username || '-session', id FROM users")
        self.cookies = {"gitlab": {SESSIONS["gitlab"][0]: f"{user}-session"}} if user else {}


@pytest.fixture
def visitor():
    """Makes a visitor with a world of their own: ``visitor("shopping")``, ``visitor("reddit", logged_in=False)``."""
    return Visitor


@pytest.fixture
def git_as():
    """Makes a visitor with a world of their own: ``git_as("quinn")``, ``git_as(None)``."""
    return GitVisitor


@pytest.fixture
def git():
    """The main user in a fresh world."""
    return GitVisitor()
