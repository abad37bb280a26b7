"""Requests go to the site of their host name, in the world of their header, or nowhere."""

import socket
import statistics
import time

import httpx
import pytest

from wr1_utils.sites.server import WORLD_HEADER, SiteServer, SiteServerError
from wr1_utils.sites.shopping import SESSION_COOKIE
from wr1_utils.sites.shopping_seed import SESSION


@pytest.fixture(scope="module")
def server():
    server = SiteServer()
    server.start()
    yield server
    server.stop()


def get(server, path="/", *, world=None, host="shopping.localhost", cookies=None):
    headers = {"Host": f"{host}:{server.port}"}
    if world is not None:
        headers[WORLD_HEADER] = world
    if cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return httpx.get(f"http://127.0.0.1:{server.port}{path}", headers=headers)


def test_a_world_is_served(server):
    response = get(server, world=server.worlds.create().key)
    assert response.status_code == 200 and "Lighting" in response.text


def test_a_request_without_a_world_is_refused(server):
    response = get(server)
    assert response.status_code == 403 and WORLD_HEADER in response.text


def test_an_unknown_or_discarded_world_is_refused(server):
    world = server.worlds.create()
    server.worlds.discard(world.key)
    for key in (world.key, "nonsense", "", "<script>"):
        response = get(server, world=key)
        assert response.status_code == 403
        assert response.headers["content-type"].startswith("text/plain")


def test_worlds_do_not_see_each_other(server):
    one, other = server.worlds.create(), server.worlds.create()
    one.database("shopping").execute("DELETE FROM cart")
    cookies = {SESSION_COOKIE: SESSION}
    assert "The cart is empty" in get(server, "/cart", world=one.key, cookies=cookies).text
    assert "The cart is empty" not in get(server, "/cart", world=other.key, cookies=cookies).text


def test_another_host_name_says_which_sites_there_are(server):
    response = get(server, host="nowhere.localhost", world=server.worlds.create().key)
    assert response.status_code == 404 and f"http://shopping.localhost:{server.port}/" in response.text


def test_the_stylesheet_needs_no_world(server):
    assert "--accent" in get(server, "/static/style.css").text


def test_it_listens_on_this_machine_alone_and_starts_once(server):
    port = server.port
    server.start()
    assert server.port == port
    assert all(address[0].startswith("127.") for address in [sock.getsockname() for s in server._server.servers for sock in s.sockets])


def test_a_page_takes_milliseconds(server):
    """Over a kept connection, as a browser holds it: no answer waits for an acknowledgement."""
    headers = {"Host": f"shopping.localhost:{server.port}", WORLD_HEADER: server.worlds.create().key}
    seconds = []
    with httpx.Client(headers=headers) as client:
        for _ in range(20):
            start = time.perf_counter()
            client.get(f"http://127.0.0.1:{server.port}/category/toys")
            seconds.append(time.perf_counter() - start)
    assert statistics.median(seconds) < 0.015


def test_a_port_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SiteServerError, match=f"port {taken.getsockname()[1]} .*another port"):
            SiteServer(taken.getsockname()[1]).start()


def test_people_get_a_world_by_cookie_and_keep_it():
    server = SiteServer(for_people=True)
    server.start()
    try:
        first = get(server)
        key = first.cookies["wr1_world"]
        assert first.status_code == 200 and len(server.worlds) == 1
        again = get(server, cookies={"wr1_world": key})
        assert again.status_code == 200 and "wr1_world" not in again.cookies and len(server.worlds) == 1
        assert get(server, cookies={"wr1_world": "gone"}).cookies["wr1_world"] != key
        assert get(server, world="nonsense").status_code == 403
    finally:
        server.stop()
