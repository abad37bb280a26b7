"""A browser without scripts for the tests of the site `gitlab`: the fixtures `git` and `git_as`."""

import asyncio

import httpx
import pytest

from wr1_utils.sites.gitlab import SESSION_COOKIE
from wr1_utils.sites.gitlab_seed import SESSION
from wr1_utils.sites.server import WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds


class GitVisitor:
    """A browser without scripts: keeps cookies, follows redirects."""

    def __init__(self, user="emma"):
        self.worlds = Worlds(seeds())
        self.world = self.worlds.create()
        self.app = make_app(self.worlds)
        self.log_in(user)

    def log_in(self, user):
        self.db = self.world.database("gitlab")
        self.db.execute("INSERT OR IGNORE INTO sessions SELECT username || '-session', id FROM users")
        self.cookies = {SESSION_COOKIE: SESSION if user == "emma" else f"{user}-session"} if user else {}

    def __call__(self, path, data=None):
        return asyncio.run(self._send(path, data))

    async def _send(self, path, data):
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://gitlab.localhost", cookies=self.cookies,
                                     headers={WORLD_HEADER: self.world.key}, follow_redirects=True) as client:
            response = await (client.get(path) if data is None else client.post(path, data=data))
            self.cookies = {cookie.name: cookie.value for cookie in client.cookies.jar}
            return response

    def value(self, query, *values):
        return self.db.execute(query, values).fetchone()[0]


@pytest.fixture
def git_as():
    """Makes a visitor with a world of their own: ``git_as("quinn")``, ``git_as(None)``."""
    return GitVisitor


@pytest.fixture
def git():
    """The main user in a fresh world."""
    return GitVisitor()
