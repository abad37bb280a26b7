"""Requests go to the site of their host name, in the world of their header, or nowhere."""

import re
import socket
import statistics
import time

import httpx
import pytest

from wr1_utils.sites.server import SESSIONS, SITES, WORLD_HEADER, SiteServer, SiteServerError, logins


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


@pytest.mark.parametrize("site", SITES)
def test_a_request_without_a_world_is_refused(server, site):
    response = get(server, host=f"{site}.localhost")
    assert response.status_code == 403 and WORLD_HEADER in response.text


@pytest.mark.parametrize("site", SITES)
def test_an_unknown_or_discarded_world_is_refused(server, site):
    world = server.worlds.create()
    assert get(server, world=world.key, host=f"{site}.localhost").status_code in (200, 303)
    server.worlds.discard(world.key)
    for key in (world.key, "nonsense", "", "<script>"):
        response = get(server, world=key, host=f"{site}.localhost")
        assert response.status_code == 403
        assert response.headers["content-type"].startswith("text/plain")


def test_a_world_discarded_while_a_request_comes_is_refused(server):
    world, body = server.worlds.create(), b"email=a&password=b"
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(f"POST /login HTTP/1.1\r\nHost: shopping.localhost\r\nConnection: close\r\n{WORLD_HEADER}: {world.key}\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n".encode() + body[:5])
        time.sleep(0.5)  # its handler waits for the rest
        server.worlds.discard(world.key)
        connection.sendall(body[5:])
        assert connection.recv(100).startswith(b"HTTP/1.1 403")


def test_worlds_do_not_see_each_other(server):
    one, other = server.worlds.create(), server.worlds.create()
    one.database("shopping").execute("DELETE FROM cart")
    cookies = dict([SESSIONS["shopping"]])
    assert "The cart is empty" in get(server, "/cart", world=one.key, cookies=cookies).text
    assert "The cart is empty" not in get(server, "/cart", world=other.key, cookies=cookies).text


def test_another_host_name_says_which_sites_there_are(server):
    response = get(server, host="nowhere.localhost", world=server.worlds.create().key)
    assert response.status_code == 404 and all(f"http://{site}.localhost:{server.port}/" in response.text for site in SITES)


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


def test_people_share_one_world_on_all_sites():
    """What one browser changes in the back office, another one sees in the shop."""
    server = SiteServer(for_people=True)
    server.start()
    try:
        cookie, token = SESSIONS["shopping_admin"]
        assert get(server, "/products", host="shopping_admin.localhost", cookies={cookie: token}).status_code == 200
        httpx.post(f"http://127.0.0.1:{server.port}/products/silver-silk-lamp", follow_redirects=False,
                   data={"name": "Silver Silk Lamp", "price": "1.25", "stock": "9", "status": "Enabled"},
                   headers={"Host": f"shopping_admin.localhost:{server.port}", "Cookie": f"{cookie}={token}"})
        assert "$1.25" in get(server, "/product/silver-silk-lamp").text and len(server.worlds) == 1
        assert get(server, world="nonsense").status_code == 403
    finally:
        server.stop()


@pytest.mark.parametrize("site", SESSIONS)
def test_the_main_user_logs_in_and_is_who_a_task_is_logged_in_as(site, visitor):
    """The login that is told to people opens the site as the same user as the session that tasks get."""
    with_session, by_hand = visitor(site), visitor(site, logged_in=False)
    pages = {"shopping": "/account", "shopping_admin": "/orders", "reddit": "/settings", "gitlab": "/profile"}
    assert by_hand(pages[site]).url.path == "/login"
    fields = re.findall(r'name="(\w+)" value="" autocomplete="off"', by_hand("/login").text)
    response = by_hand("/login", dict(zip((*fields, "password"), logins()[site])))
    assert response.status_code == 200 and response.url.path != "/login"
    assert by_hand(pages[site]).text == with_session(pages[site]).text


def test_only_sites_without_a_session_have_no_login(visitor):
    for site in SITES:
        assert visitor(site)("/login").status_code == (200 if site in SESSIONS else 404)
    assert set(SESSIONS) == set(logins())
