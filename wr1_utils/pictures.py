"""The main pages of the Pocket Arena's sites as people see them: screenshots, and all of them on one sheet."""

from __future__ import annotations

import io
from collections.abc import Mapping

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

from wr1_utils.settings import Settings
from wr1_utils.sites.server import SESSIONS, WORLD_HEADER, SiteServer
from wr1_utils.web.browser import Browser, limited
from wr1_utils.web.loop import run

MAIN_PAGES = {                                   # site → addresses
    "shopping": ("/", "/category/lighting", "/product/silver-silk-lamp"),
    "shopping_admin": ("/", "/orders", "/products/silver-silk-lamp"),
    "reddit": ("/", "/forums", "/f/books/80"),
    "gitlab": ("/", "/northford-transit/bus-timetable", "/northford-transit/bus-timetable/-/issues"),
    "map": ("/", "/place/elmton", "/directions?from=Elmton&to=Milford&mode=car"),
    "wikipedia": ("/", "/wiki/Elmton", "/wiki/List_of_towns"),
}
VIEWPORT = (1280, 720)
PAGE_S = 30.0  # limit of opening a page and taking its picture


def take_pictures(settings: Settings, pages: Mapping[str, tuple[str, ...]] = MAIN_PAGES) -> dict[str, bytes]:
    """Address → PNG of what a window shows, for these pages of fresh sites, logged in as each site's main user.

    Raises InfrastructureError where the browser fails or a page does not come.
    """
    server, browser = SiteServer(), Browser(settings.browser)
    server.start()
    try:
        return run(_take(server, browser, pages))
    finally:
        run(browser.stop())
        server.stop()


async def _take(server: SiteServer, browser: Browser, pages: Mapping[str, tuple[str, ...]]) -> dict[str, bytes]:
    cookies = [{"name": name, "value": token, "url": server.url(site)} for site, (name, token) in SESSIONS.items()]
    context = await browser.open(headers={WORLD_HEADER: server.worlds.create().key}, cookies=cookies, viewport=VIEWPORT)
    try:
        page, pictures = await limited(context.new_page(), PAGE_S, "opening a page"), {}
        for site, addresses in pages.items():
            for address in addresses:
                await limited(page.goto(server.url(site) + address), PAGE_S, f"opening {site}{address}")
                pictures[site + address] = await limited(page.screenshot(), PAGE_S, f"taking the picture of {site}{address}")
        return pictures
    finally:
        await browser.close(context)


def draw_sheet(pictures: Mapping[str, bytes], columns: int = 3) -> bytes:
    """All pictures in a grid, each under its address, as one PNG."""
    rows = -(-len(pictures) // columns)
    figure = Figure(figsize=(5 * columns, 3.1 * rows), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid:
        axes.set_axis_off()
    for axes, (address, picture) in zip(grid, pictures.items()):
        axes.imshow(imread(io.BytesIO(picture)))
        axes.set_title(address, fontsize=9, loc="left")
    sheet = io.BytesIO()
    FigureCanvasAgg(figure).print_png(sheet)
    return sheet.getvalue()
