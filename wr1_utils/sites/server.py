"""One ASGI app for all sites, told apart by the host name, and the thread that serves it on 127.0.0.1.

Each request belongs to a world, named by the header `X-WR1-World`. A request that names no world, or one that does not exist, is
refused (403) and never served from another. Only with ``for_people=True`` does a request without the header belong to a world: the
one that all of them share, on all sites.
"""

import socket
import sqlite3
import threading
import time
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Host, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from wr1_utils.errors import WR1Error
from wr1_utils.sites import map as map_site
from wr1_utils.sites import (
    changes,
    gitlab,
    gitlab_base,
    gitlab_seed,
    map_seed,
    reddit,
    reddit_seed,
    reddit_users,
    shopping,
    shopping_admin,
    shopping_seed,
    wikipedia,
    wikipedia_seed,
)
from wr1_utils.sites.world import UnknownWorld, Worlds

WORLD_HEADER = "X-WR1-World"
SITES = {                                            # name → function that makes the site's own ASGI app
    "shopping": shopping.make_app,
    "shopping_admin": shopping_admin.make_app,
    "reddit": reddit.make_app,
    "gitlab": gitlab.make_app,
    "map": map_site.make_app,
    "wikipedia": wikipedia.make_app,
}
DATABASES = {"shopping_admin": "shopping"}           # a site that works on another's database → the other
SESSIONS = {                                         # a site that has a login → cookie and token of its main user, in every fresh world
    "shopping": (shopping.SESSION_COOKIE, shopping_seed.SESSION),
    "shopping_admin": (shopping_admin.SESSION_COOKIE, shopping_seed.ADMIN_SESSION),
    "reddit": (reddit_users.SESSION_COOKIE, reddit_seed.SESSION),
    "gitlab": (gitlab_base.SESSION_COOKIE, gitlab_seed.SESSION),
}


class SiteServerError(WR1Error):
    """The sites cannot be served."""


class _InWorld:
    """Puts the world's database of `site` into ``request.state.db``, or refuses the request. Without the header the world is `usual`.

    The address `changes.PATH` of every site says what has changed in the world.
    """

    def __init__(self, app: Starlette, site: str, worlds: Worlds, usual: str | None):
        self.app, self.worlds, self.usual = app, worlds, usual
        app.add_exception_handler(sqlite3.ProgrammingError, _database_closed)
        self.database = DATABASES.get(site, site)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = Headers(scope=scope).get(WORLD_HEADER, self.usual)
        try:
            if key is None:
                raise UnknownWorld
            world = self.worlds.get(key)
            database = world.database(self.database)
        except UnknownWorld:
            await _no_world(key)(scope, receive, send)
            return
        if scope["path"] == changes.PATH:
            await HTMLResponse(changes.as_page(world.changes(self.database)))(scope, receive, send)
            return
        scope.setdefault("state", {}).update(db=database, world=world)
        await self.app(scope, receive, send)


def _no_world(key: str | None) -> PlainTextResponse:
    reason = f"The header {WORLD_HEADER} is missing" if key is None else f"There is no world {key[:40]!r}"
    return PlainTextResponse(f"{reason}: every request must name a world that has been made and not yet discarded.\n", 403)


async def _database_closed(request: Request, fault: sqlite3.ProgrammingError) -> PlainTextResponse:
    """The world was discarded while the request was on its way; any other fault of the kind is raised."""
    if not request.state.world.closed:
        raise fault
    return _no_world(request.state.world.key)


def seeds() -> dict[str, bytes]:
    """The serialised seed database of each site that has one of its own."""
    return {
        "shopping": shopping_seed.seed_database(),
        "reddit": reddit_seed.seed_database(),
        "gitlab": gitlab_seed.seed_database(),
        "map": map_seed.seed_database(),
        "wikipedia": wikipedia_seed.seed_database(),
    }


def logins() -> dict[str, tuple[str, str]]:
    """Name and password of the main user of each site that has a login."""
    return {
        "shopping": shopping_seed.customer_login(),
        "shopping_admin": shopping_seed.ADMIN,
        "reddit": reddit_seed.user_login(),
        "gitlab": gitlab_seed.user_login(),
    }


def make_app(worlds: Worlds, for_people: bool = False) -> Starlette:
    """The ASGI app of all sites; ``shopping.localhost`` is served by the site `shopping`, and so on."""
    usual = worlds.create().key if for_people else None
    static = Mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    hosts = [Host(f"{site}.localhost", Starlette(routes=[static, Mount("/", _InWorld(make_site(), site, worlds, usual))]))
             for site, make_site in SITES.items()]

    async def elsewhere(request):
        port = f":{request.url.port}" if request.url.port else ""
        names = "\n".join(f"http://{site}.localhost{port}/" for site in SITES)
        return PlainTextResponse(f"No site has this host name. The sites are:\n{names}\n", 404)

    return Starlette(routes=[*hosts, Route("/{path:path}", elsewhere)])


class SiteServer:
    """Serves all sites on 127.0.0.1 from a daemon thread. `port` 0 takes a free one."""

    def __init__(self, port: int = 0, for_people: bool = False):
        self.worlds = Worlds(seeds())
        self.port = port
        self._for_people = for_people
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts serving; does nothing when it already serves. Raises SiteServerError when the port is in use."""
        if self._thread is not None and self._thread.is_alive():
            return
        # Named as TCP, or asyncio leaves Nagle's algorithm on and each answer waits 40 ms for the browser's acknowledgement.
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", self.port))
        except (OSError, OverflowError) as error:
            listener.close()
            raise SiteServerError(f"cannot serve the sites on 127.0.0.1 port {self.port} ({error}): stop what uses it, or take another port, or 0 for "
                                  "any free one (`wr1 serve --port`, or `sites.port` in a profile)") from None
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(make_app(self.worlds, self._for_people), log_level="error", access_log=False, lifespan="off",
                                loop="asyncio", timeout_keep_alive=30, timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, name="wr1-sites", daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 15
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                listener.close()
                raise SiteServerError(f"the sites did not start serving on 127.0.0.1 port {self.port}")
            time.sleep(0.005)

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(timeout=5)
        self._server = self._thread = None

    def url(self, site: str) -> str:
        """The address of a site, such as ``http://shopping.localhost:8080``."""
        return f"http://{site}.localhost:{self.port}"
