"""What belongs to people in the forum: profiles, settings, messages, log in and out."""

import re

import httpx
import pytest

from wr1_utils.sites.reddit_seed import user_login


@pytest.fixture
def visit(visitor):
    return visitor("reddit")


def address_of(visit, post):
    return "/f/{}/{}".format(*visit.row("SELECT f.name, p.id FROM posts p JOIN forums f ON f.id = p.forum WHERE p.id = ?", post))


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def listed(response):
    """Score and post of each row of a listing."""
    found = re.findall(r'<tr><td class="number">(-?\d+)</td><td><a href="/f/\w+/(\d+)"', response.text)
    return [(int(score), int(post)) for score, post in found]


OTHERS = """SELECT p.id FROM posts p WHERE p.author <> 1 AND p.body <> ''
            AND NOT EXISTS (SELECT 1 FROM post_votes WHERE item = p.id AND user = 1)
            AND NOT EXISTS (SELECT 1 FROM saves WHERE post = p.id) ORDER BY p.id"""


# --- people -----------------------------------------------------------------------------------------------------------------------

def test_profiles_show_posts_and_comments(visit):
    name, posts, comments = visit.row("""SELECT name, (SELECT count(*) FROM posts WHERE author = u.id) AS p, (SELECT count(*) FROM comments
                                         WHERE author = u.id) AS c FROM users u WHERE id <> 1 ORDER BY p DESC""")
    response = visit(f"/user/{name}")
    assert len(listed(response)) == min(posts, 10) and "Lives in" in response.text and "Member since 202" in response.text
    assert "Edit bio" not in response.text and "Send a message" in response.text
    assert visit(f"/user/{name}/comments").text.count("#comment-") == min(comments, 10)
    assert "Edit bio" in visit("/user/emma").text and "Send a message" not in visit("/user/emma").text


def test_edit_the_bio(visit):
    response = visit("/bio", {"bio": "I <3 tea"})
    assert response.url.path == "/user/emma" and "I &lt;3 tea" in response.text
    assert "No bio yet." in visit("/bio", {}).text


def test_settings_are_saved_or_refused_as_a_whole(visit):
    assert "Email must be" in visit("/settings", {"email": "nonsense", "hide_votes": "on"}).text
    assert tuple(visit.row("SELECT email, notify, hide_votes FROM users WHERE id = 1")) == ("emma@forum.test", 1, 0)
    assert "Your settings were saved." in visit("/settings", {"email": "lane@forum.test", "hide_votes": "on"}).text
    assert tuple(visit.row("SELECT email, notify, hide_votes FROM users WHERE id = 1")) == ("lane@forum.test", 0, 1)


def test_hidden_votes_are_shown_nowhere(visit):
    post = visit.value(OTHERS)
    visit("/settings", {"email": "emma@forum.test", "hide_votes": "on"})
    for path in ("/", "/f/books", "/saved", "/user/emma", "/user/emma/comments", "/search?q=book", address_of(visit, post)):
        response = visit(path)
        assert "hidden" in words(response) and not listed(response) and not re.search(r"-?\d+ points?\b", words(response)), path


def test_read_and_answer_messages(visit):
    inbox = visit("/inbox")
    assert inbox.text.count('class="unread"') == 3 and "Mark all as read" in inbox.text
    number, sender, text = visit.row("SELECT m.id, u.name, text FROM messages m JOIN users u ON u.id = sender ORDER BY m.id DESC")
    response = visit(f"/inbox/{number}")
    assert text in response.text and f'action="/user/{sender}/message"' in response.text
    assert visit("/inbox").text.count('class="unread"') == 2
    response = visit(f"/user/{sender}/message", {"text": "Yes, <gladly>"})
    assert response.url.path == "/inbox/sent" and "Yes, &lt;gladly&gt;" in response.text and f"to {sender} was sent" in response.text
    assert "Yes, &lt;gladly&gt;" in visit("/inbox/10").text and 'class="write"' not in visit("/inbox/10").text
    response = visit("/inbox/read", {})
    assert 'class="unread"' not in response.text and "Mark all as read" not in response.text
    assert "Message must not be empty." in visit(f"/user/{sender}/message", {"text": " "}).text
    assert visit.value("SELECT count(*) FROM messages") == 10


def test_messages_of_others_are_private(visit):
    visit.db.execute("UPDATE messages SET recipient = 3, sender = 2 WHERE id = 1")
    assert visit("/inbox/1").status_code == 404 and visit("/inbox/99").status_code == visit("/inbox/read").status_code == 404


# --- login ------------------------------------------------------------------------------------------------------------------------

def test_taking_part_needs_a_login(visitor):
    visit = visitor("reddit", logged_in=False)
    post, comment = visit.value(OTHERS), visit.value("SELECT id FROM comments")
    address = address_of(visit, post)
    before = visit.db.serialize()
    for path in ("/submit", "/saved", "/subscribed", "/settings", "/inbox", "/inbox/1", "/inbox/sent", "/bio", "/forums/new",
                 "/user/nora/message",
                 f"{address}/edit", f"/comment/{comment}/reply", f"/comment/{comment}/edit"):
        response = visit(path)
        assert response.url.path == "/login" and response.url.params["next"] == path
    for path in (f"{address}/vote", f"{address}/save", f"{address}/delete", f"{address}/comment", f"/comment/{comment}/vote",
                 "/f/books/subscribe", f"/comment/{comment}/delete", f"/comment/{comment}/reply", "/submit", "/bio",
                 "/settings", "/inbox/read", "/forums/new"):
        assert visit(path, {"vote": "up", "text": "x"}).url.path == "/login"
    assert visit.db.serialize() == before
    assert "Add comment" not in visit(address).text and "Upvote" not in visit(address).text and "Log in" in visit(address).text


def test_log_in_and_out(visitor):
    visit = visitor("reddit", logged_in=False)
    name, password = user_login()
    assert "is wrong" in visit("/login", {"name": name, "password": "guess"}).text and "is wrong" in visit("/login", {}).text
    response = visit("/login?next=/saved", {"name": name, "password": password})
    assert response.url.path == "/saved" and "You are logged in." in response.text
    assert visit("/logout", {}).url.path == "/login"
    assert visit("/saved").url.path == "/login"


def test_log_in_never_leads_to_another_host(visitor):
    visit = visitor("reddit", logged_in=False)
    name, password = user_login()
    for target in ("//evil.example", "http://evil.example", "/\\evil.example"):
        assert visit(f"/login?{httpx.QueryParams({'next': target})}", {"name": name, "password": password}).url.host == "reddit.localhost"
