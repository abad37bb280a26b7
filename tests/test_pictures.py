"""The pictures of the sites' main pages: every site has three, each shows its page, and the sheet holds them all."""

import io

import pytest
from matplotlib.image import imread
from starlette.testclient import TestClient

from wr1_utils.pictures import MAIN_PAGES, VIEWPORT, draw_sheet, take_pictures
from wr1_utils.settings import load_settings
from wr1_utils.sites.server import SESSIONS, SITES, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds


def test_three_pages_of_every_site():
    assert list(MAIN_PAGES) == list(SITES) and all(len(set(pages)) == 3 for pages in MAIN_PAGES.values())


@pytest.mark.parametrize("site", MAIN_PAGES)
def test_every_page_is_there_for_the_main_user(site):
    worlds = Worlds(seeds())
    client = TestClient(make_app(worlds), base_url=f"http://{site}.localhost", headers={WORLD_HEADER: worlds.create().key},
                        cookies=dict([SESSIONS[site]]) if site in SESSIONS else None, follow_redirects=False)
    for path in MAIN_PAGES[site]:
        answer = client.get(path)
        assert answer.status_code == 200 and "role=\"alert\" hidden" in answer.text, path


def test_pictures_and_their_sheet():
    pages = {"shopping": ("/", "/cart"), "wikipedia": ("/wiki/Elmton",), "map": ("/place/elmton",)}
    pictures = take_pictures(load_settings("smoke"), pages)
    assert list(pictures) == ["shopping/", "shopping/cart", "wikipedia/wiki/Elmton", "map/place/elmton"]
    assert {imread(io.BytesIO(picture)).shape[:2] for picture in pictures.values()} == {VIEWPORT[::-1]}
    assert len(set(pictures.values())) == 4
    two, four = (imread(io.BytesIO(draw_sheet(dict(list(pictures.items())[:number]), columns=2))) for number in (2, 4))
    assert four.shape[0] == 2 * two.shape[0] and four.shape[1] == two.shape[1] and four.std() > 0.01
