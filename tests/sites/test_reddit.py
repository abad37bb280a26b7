"""The forum does what its forms say, refuses what they must not hold, and never answers with a fault of its own."""

import random
import re

import httpx
import pytest

from wr1_utils.sites.reddit import SORTS
from wr1_utils.sites.reddit_seed import USER
from wr1_utils.sites.shopping_seed import TODAY


@pytest.fixture
def visit(visitor):
    return visitor("reddit")


def address_of(visit, post):
    return "/f/{}/{}".format(*visit.row("SELECT f.name, p.id FROM posts p JOIN forums f ON f.id = p.forum WHERE p.id = ?", post))


def score_of(visit, item, table="post_votes"):
    return visit.value(f"SELECT coalesce(sum(value), 0) FROM {table} WHERE item = ?", item)


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def listed(response):
    """Score and post of each row of a listing."""
    found = re.findall(r'<tr><td class="number">(-?\d+)</td><td><a href="/f/\w+/(\d+)"', response.text)
    return [(int(score), int(post)) for score, post in found]


OWN = "SELECT id FROM posts WHERE author = 1 ORDER BY id"
OTHERS = """SELECT p.id FROM posts p WHERE p.author <> 1 AND p.body <> ''
            AND NOT EXISTS (SELECT 1 FROM post_votes WHERE item = p.id AND user = 1)
            AND NOT EXISTS (SELECT 1 FROM saves WHERE post = p.id) ORDER BY p.id"""
OWN_COMMENT = "SELECT id FROM comments c WHERE author = 1 AND {} EXISTS (SELECT 1 FROM comments WHERE parent = c.id) ORDER BY id"


# --- looking around

def test_listings_are_sorted_and_paged(visit):
    top = listed(visit("/?sort=top"))
    assert len(top) == 10 and [score for score, _ in top] == sorted((score for score, _ in top), reverse=True)
    assert [post for _, post in listed(visit("/?sort=new"))] == list(range(156, 146, -1))
    assert listed(visit("/")) == listed(visit("/?sort=hot")) != top
    last = visit("/?sort=top&page=16")
    assert len(listed(last)) == 6 and "Page 16 of 16" in last.text and "Next page" not in last.text
    assert "?sort=top&amp;page=15" in last.text
    assert all(label in words(visit("/")) for label, _ in SORTS.values())


def test_scores_and_numbers_of_comments_are_those_of_the_database(visit):
    for _, post in listed(visit("/f/cooking")):
        response = visit(address_of(visit, post))
        score, count = score_of(visit, post), visit.value("SELECT count(*) FROM comments WHERE post = ?", post)
        assert f"{score} point" in words(response) and f"{count} comment" in words(response)
        assert response.text.count('id="comment-') == count


def test_a_forum_says_what_it_is_about(visit):
    text = words(visit("/f/gardening"))
    assert "Beds, balconies and window sills." in text and "Rules: Name the plant; No shop talk; Be patient with beginners" in text
    assert f"{visit.value('SELECT count(*) FROM subscriptions WHERE forum = 2')} members" in text


def test_the_list_of_forums(visit, visitor):
    assert visit("/forums").text.count("<tr><td>") == 10
    assert "science" in words(visit("/forums?page=2")) and "Create a forum" in visit("/forums").text
    assert "Create a forum" not in visitor("reddit", logged_in=False)("/forums").text


def test_a_post_shows_its_comments_as_threads(visit):
    post = visit.value("SELECT post FROM comments WHERE parent IS NOT NULL GROUP BY post ORDER BY count(*) DESC, post")
    html = visit(address_of(visit, post)).text
    for comment, parent in visit.db.execute("SELECT id, parent FROM comments WHERE post = ?", (post,)):
        assert html.count(f'id="comment-{comment}"') == 1
        if parent:
            assert html.index(f'id="comment-{parent}"') < html.index(f'id="comment-{comment}"')
    assert 'class="replies" hidden' in html and "data-replies=" in html and 'aria-expanded="false"' in html


def test_the_front_page_leads_to_the_other_sites_and_back_is_a_tab_away(visit, visitor):
    for response in (visit("/"), visitor("reddit", logged_in=False)("/?sort=top")):
        links = dict(re.findall(r'<a href="([^"]+)" target="_blank" rel="noopener">([^<]+)</a>', response.text))
        assert list(links.values()) == ["Pocket Shop", "Pocket Git", "Pocket Map", "Pocket Wiki"]
        for address, name in links.items():
            site = re.fullmatch(r"http://(\w+)\.localhost/", address)[1]
            assert f"<title>{name}: " in visitor(site)("/").text
    assert "Other sites" not in visit("/subscribed").text and "Other sites" not in visit("/f/books").text


@pytest.mark.parametrize("query", ["page=0", "page=-1", "page=999", "page=99999999999", "page=x", "sort=nonsense",
                                   "page=%F0%9F%98%80", "sort=&page="])
def test_odd_queries_give_the_usual_page(visit, query):
    for path, pages in (("/", 16), ("/f/books", 2)):
        response = visit(f"{path}?{query}")
        assert response.status_code == 200 and f"Page 1 of {pages}" in response.text


def test_search_finds_posts_and_forums(visit):
    text = visit("/search?q=TOMATO+tired").text
    assert "<h1>Results for TOMATO tired</h1>" in text
    assert "What helps tired tomato plants?" in text and len(listed(visit("/search?q=TOMATO+tired"))) == 1
    response = visit("/search?q=book")
    assert 'href="/f/books">f/books<' in response.text and "?q=book&amp;sort=top" in response.text
    assert len(listed(response)) == len(listed(visit("/search?q=book&sort=top"))) > 1
    assert "No posts found." in visit("/search?q=zebra").text
    assert "Type a word" in visit("/search?q=+").text and "Type a word" in visit("/search").text


@pytest.mark.parametrize("text", ["%", "_", "'; DROP TABLE posts; --", '"><script>alert(1)</script>', "\\", "{{7*7}}", "é\u202e",
                                  "x" * 3000])
def test_search_takes_any_text_as_text(visit, text):
    for path in ("/search", "/suggest"):
        response = visit(f"{path}?{httpx.QueryParams({'q': text})}")
        assert response.status_code == 200 and "<script>alert" not in response.text
    assert visit.value("SELECT count(*) FROM posts") == 156


def test_forum_names_are_suggested(visit):
    assert visit("/suggest?q=C").json() == ["cooking", "crafts", "cycling", "music", "science"]
    assert visit("/suggest?q=gar").json() == ["gardening"]
    assert visit("/suggest?q=").json() == visit("/suggest").json() == visit("/suggest?q=zebra").json() == []


def test_a_link_stops_at_the_edge_of_the_forum(visit):
    post, link = visit.row("SELECT id, link FROM posts WHERE link <> ''")
    assert f'href="{address_of(visit, post)}/link">{link}<' in visit(address_of(visit, post)).text
    assert link in words(visit(f"{address_of(visit, post)}/link"))
    assert visit(f"{address_of(visit, visit.value(OTHERS))}/link").status_code == 404


# --- forums

def test_subscribe_and_unsubscribe(visit):
    assert "Unsubscribe" in visit("/f/books").text and "Unsubscribe" not in visit("/f/gardening").text
    members = visit.value("SELECT count(*) FROM subscriptions WHERE forum = 2")
    for _ in range(2):
        response = visit("/f/gardening/subscribe", {"subscribe": "1"})
        assert "You follow gardening now." in response.text and f"{members + 1} members" in response.text
    assert "Unsubscribe" in response.text
    assert f"{members} members" in visit("/f/gardening/subscribe", {"subscribe": "0"}).text


def test_the_subscribed_forums_have_a_page(visit):
    query = "SELECT f.name FROM forums f JOIN subscriptions ON forum = id WHERE user = 1"
    forums = {name for name, in visit.db.execute(query)}
    shown = set(re.findall(r'href="/f/(\w+)/', "".join(visit(f"/subscribed?page={n}").text for n in range(1, 7))))
    assert shown == forums and len(forums) == 4


def test_create_a_forum(visit):
    response = visit("/forums/new", {"name": "chess", "description": "Boards & <kings>", "rules": "No clocks; ; Be kind"})
    assert response.url.path == "/f/chess" and "The forum was created." in response.text and "1 member<" in response.text
    assert "Boards &amp; &lt;kings&gt;" in response.text and "Rules: No clocks; Be kind" in response.text
    assert "There are no posts yet." in response.text and "Unsubscribe" in response.text


@pytest.mark.parametrize("change, message", [
    ({"name": "books"}, "There is a forum books already."), ({"name": "Chess"}, "Name must be"), ({"name": "a b c"}, "Name must be"),
    ({"name": "ab"}, "Name must be"), ({"name": "x" * 21}, "Name must be"), ({"name": ""}, "Name must be"),
    ({"name": "../x"}, "Name must be"),
    ({"description": " "}, "Description must be"), ({"description": "x" * 101}, "Description must be")])
def test_a_wrong_forum_is_not_created(visit, change, message):
    response = visit("/forums/new", {"name": "chess", "description": "Boards", **change})
    assert response.status_code == 400 and message in response.text
    assert visit.value("SELECT count(*) FROM forums") == 12


# --- posts

def test_submit_a_post(visit):
    assert '<option selected>books</option>' in visit("/submit?forum=books").text
    response = visit("/submit", {"title": "Is <b>this</b> new?", "body": 'A "quote" & more', "link": "", "forum": "books"})
    assert response.url.path == "/f/books/157" and "Your post was added." in response.text
    assert "Is &lt;b&gt;this&lt;/b&gt; new?" in response.text and "A &#34;quote&#34; &amp; more" in response.text
    assert "0 points" in response.text and f"on {TODAY}" in response.text and "0 comments" in response.text
    assert listed(visit("/f/books?sort=new"))[0] == (0, 157) and (0, 157) in listed(visit("/user/emma"))
    response = visit("/submit", {"title": "A link", "link": "http://a.test/?x=1&y=2", "forum": "books"})
    assert 'href="/f/books/158/link">http://a.test/?x=1&amp;y=2<' in response.text


@pytest.mark.parametrize("change, message", [
    ({"title": " "}, "Title must be"), ({"title": "x" * 101}, "Title must be"), ({"forum": ""}, "Forum must be chosen."),
    ({"forum": "chess"}, "Forum must be chosen."), ({"link": "a.test"}, "Link must begin"),
    ({"link": "javascript:alert(1)"}, "Link must begin"),
    ({"link": "https://a b"}, "Link must begin")])
def test_a_wrong_post_is_not_added(visit, change, message):
    response = visit("/submit", {"title": "New", "body": "Kept text", "link": "", "forum": "books", **change})
    assert response.status_code == 400 and message in response.text and "Kept text" in response.text
    assert visit("/submit", {}).status_code == 400
    assert visit.value("SELECT count(*) FROM posts") == 156


def test_edit_ones_own_post(visit):
    post = visit.value(OWN)
    address = address_of(visit, post)
    assert "Edit post" in visit(address).text and visit.value("SELECT title FROM posts WHERE id = ?", post) in visit(f"{address}/edit").text
    assert "Title must be" in visit(f"{address}/edit", {"title": "", "body": "x"}).text
    response = visit(f"{address}/edit", {"title": "Changed", "body": "Better"})
    assert response.url.path == address and "Your post was saved." in response.text and "Better" in response.text


def test_delete_ones_own_post_with_all_that_hangs_on_it(visit):
    post = visit.value(OWN)
    database = visit.db
    database.execute("INSERT INTO saves (user, post) VALUES (2, ?)", (post,))
    comments = [comment for comment, in database.execute("SELECT id FROM comments WHERE post = ?", (post,))]
    assert comments and f'action="{address_of(visit, post)}/delete" data-confirm="Delete this post?"' in visit(address_of(visit, post)).text
    address = address_of(visit, post)
    assert "Your post was deleted." in visit(f"{address}/delete", {}).text and visit(address).status_code == 404
    assert score_of(visit, post) == 0 and not any(score_of(visit, comment, "comment_votes") for comment in comments)
    assert not visit.value("SELECT (SELECT count(*) FROM comments WHERE post = ?1) + (SELECT count(*) FROM saves WHERE post = ?1)", post)


def test_what_belongs_to_others_cannot_be_changed(visit):
    post = visit.value(OTHERS)
    comment = visit.value("SELECT id FROM comments WHERE author <> 1")
    before = visit.db.serialize()
    for path in (f"{address_of(visit, post)}/edit", f"{address_of(visit, post)}/delete", f"/comment/{comment}/edit", f"/comment/{comment}/delete"):
        assert visit(path, {"title": "Mine", "text": "Mine"}).status_code == 404
    assert visit(f"{address_of(visit, post)}/edit").status_code == visit(f"/comment/{comment}/edit").status_code == 404
    assert visit.db.serialize() == before
    assert "Edit post" not in visit(address_of(visit, post)).text


def test_save_a_post(visit):
    post = visit.value(OTHERS)
    for _ in range(2):
        assert "Unsave post" in visit(f"{address_of(visit, post)}/save", {"save": "1"}).text
    assert listed(visit("/saved"))[0][1] == post and len(listed(visit("/saved"))) == 7
    assert "Unsave post" not in visit(f"{address_of(visit, post)}/save", {"save": "0"}).text
    assert len(listed(visit("/saved"))) == 6


# --- votes

def test_a_vote_counts_turns_and_can_be_taken_back(visit):
    post = visit.value(OTHERS)
    address, score = address_of(visit, post), score_of(visit, post)
    counted, back = "was counted", "was taken back"
    for vote, change, message in (("up", 1, counted), ("down", -1, counted), ("down", 0, back), ("down", -1, counted), ("up", 1, counted),
                                  ("up", 0, back)):
        response = visit(f"{address}/vote", {"vote": vote})
        assert message in response.text and f'<p id="score">{score + change} point' in response.text
        pressed = re.findall(r'aria-label="(Up|Down)vote post" aria-pressed="true"', response.text)
        assert pressed == {1: ["Up"], -1: ["Down"], 0: []}[change]


def test_votes_on_comments(visit):
    comment, post = visit.row("""SELECT c.id, post FROM comments c WHERE author <> 1
                                 AND NOT EXISTS (SELECT 1 FROM comment_votes WHERE item = c.id AND user = 1)""")
    score = score_of(visit, comment, "comment_votes")
    response = visit(f"/comment/{comment}/vote", {"vote": "down"})
    assert response.url.path == address_of(visit, post) and score_of(visit, comment, "comment_votes") == score - 1
    visit(f"/comment/{comment}/vote", {"vote": "down"})
    assert score_of(visit, comment, "comment_votes") == score


def test_no_vote_on_ones_own_things_and_no_odd_votes(visit):
    own, comment, other = visit.value(OWN), visit.value(OWN_COMMENT.format("")), visit.value(OTHERS)
    before = visit.value("SELECT (SELECT count(*) FROM post_votes) + (SELECT count(*) FROM comment_votes)")
    assert "You cannot vote on what you wrote." in visit(f"{address_of(visit, own)}/vote", {"vote": "up"}).text
    assert "You cannot vote on what you wrote." in visit(f"/comment/{comment}/vote", {"vote": "up"}).text
    assert "Upvote post" not in visit(address_of(visit, own)).text
    for data in ({}, {"vote": ""}, {"vote": "2"}, {"vote": "UP"}):
        assert "Vote must be up or down." in visit(f"{address_of(visit, other)}/vote", data).text
    assert before == visit.value("SELECT (SELECT count(*) FROM post_votes) + (SELECT count(*) FROM comment_votes)")


# --- comments

def test_comment_and_reply(visit):
    post = visit.value(OTHERS)
    address, count = address_of(visit, post), visit.value("SELECT count(*) FROM comments WHERE post = ?", post)
    response = visit(f"{address}/comment", {"text": "<i>First</i> & last"})
    new = visit.value("SELECT max(id) FROM comments")
    assert response.url.path == address and response.url.fragment == f"comment-{new}" and "Your comment was added." in response.text
    assert f"{count + 1} comment" in response.text and "&lt;i&gt;First&lt;/i&gt; &amp; last" in response.text
    above, author = visit.row("SELECT c.id, u.name FROM comments c JOIN users u ON u.id = author WHERE post = ? AND author <> 1", post)
    assert f"Reply to {author}" in visit(f"/comment/{above}/reply").text
    response = visit(f"/comment/{above}/reply", {"text": "I agree"})
    assert visit.value("SELECT parent FROM comments WHERE text = 'I agree'") == above and f"{count + 2} comments" in response.text
    assert "I agree" in visit("/user/emma/comments").text


@pytest.mark.parametrize("text", ["", "   ", "\x00\x01"])
def test_an_empty_comment_is_refused(visit, text):
    post = visit.value(OTHERS)
    comment, count = visit.row("SELECT id, (SELECT count(*) FROM comments) FROM comments WHERE author <> 1")
    for path in (f"{address_of(visit, post)}/comment", f"/comment/{comment}/reply"):
        response = visit(path, {"text": text})
        assert response.status_code == 400 and "Comment must not be empty." in response.text
    assert visit.value("SELECT count(*) FROM comments") == count


def test_edit_and_delete_ones_own_comment(visit):
    comment, post = visit.row(OWN_COMMENT.format("NOT").replace("SELECT id", "SELECT id, post", 1))
    count = visit.value("SELECT count(*) FROM comments WHERE post = ?", post)
    assert "Comment must not be empty." in visit(f"/comment/{comment}/edit", {"text": ""}).text
    assert "Better now" in visit(f"/comment/{comment}/edit", {"text": "Better now"}).text
    assert f'action="/comment/{comment}/delete" data-confirm="Delete this comment?"' in visit(address_of(visit, post)).text
    response = visit(f"/comment/{comment}/delete", {})
    assert "Your comment was deleted." in response.text and "Better now" not in response.text
    assert f"{count - 1} comment" in response.text and visit(f"/comment/{comment}/reply").status_code == 404


def test_a_deleted_comment_with_replies_leaves_a_mark(visit):
    comment, post = visit.row(OWN_COMMENT.format("").replace("SELECT id", "SELECT id, post", 1))
    count = visit.value("SELECT count(*) FROM comments WHERE post = ?", post)
    response = visit(f"/comment/{comment}/delete", {})
    assert "[deleted]" in response.text and f"{count} comment" in response.text and score_of(visit, comment, "comment_votes") == 0
    for path in ("reply", "edit", "vote", "delete"):
        assert visit(f"/comment/{comment}/{path}", {"text": "x", "vote": "up"}).status_code == 404
    assert "[deleted]" not in visit("/user/emma/comments").text


def test_many_and_deep_replies_are_no_fault(visit):
    post = visit.value(OTHERS)
    visit(f"{address_of(visit, post)}/comment", {"text": "Deep"})
    parent = visit.value("SELECT max(id) FROM comments")
    visit.db.executemany("INSERT INTO comments VALUES (?,?,?,1,?,'x')",
                                               [(number + 1, post, number, TODAY) for number in range(parent, parent + 1500)])
    assert "1500 replies to emma" in visit(address_of(visit, post)).text
    for number in range(12):
        visit(f"{address_of(visit, post)}/comment", {"text": f"Number {number}"})
    assert "Page 1 of 2" in visit(address_of(visit, post)).text and visit(f"{address_of(visit, post)}?page=2").status_code == 200


# --- robustness

def test_worlds_do_not_see_each_other(visit, visitor):
    other, count = visitor("reddit", worlds=visit.worlds), visit.value("SELECT count(*) FROM comments")
    visit(f"{address_of(visit, visit.value(OTHERS))}/comment", {"text": "Only here"})
    visit("/f/gardening/subscribe", {"subscribe": "1"})
    assert other.value("SELECT count(*) FROM comments") == count
    assert "Unsubscribe" not in other("/f/gardening").text and "Only here" not in other("/user/emma/comments").text


def test_pages_that_do_not_exist_say_so(visit):
    for path in ("/nowhere", "/f/nothing", "/f/books/99999", "/f/books/x", "/f/books/0", "/f/books/999999999999", "/user/nobody",
                 "/user/nobody/comments", "/user/nobody/message", "/comment/99999/reply", "/comment/x/edit", "/f/<b>", "/f/'"):
        response = visit(path)
        assert response.status_code == 404 and "There is no such page." in response.text, path
    post = visit.value("SELECT id FROM posts WHERE forum = 2")
    assert visit(f"/f/books/{post}").status_code == 404


def test_pages_are_never_kept(visit):
    for path in ("/", "/suggest?q=b", "/nowhere"):
        assert visit(path).headers["cache-control"] == "no-store"


def test_no_form_makes_a_fault(visit):
    """Random fields and values in every form: an answer below 500, whatever was sent."""
    rng = random.Random(0)
    post, own = visit.value(OTHERS), visit.value(OWN)
    comment, mine = visit.value("SELECT id FROM comments"), visit.value(OWN_COMMENT.format(""))
    paths = ["/submit", "/forums/new", "/f/books/subscribe", "/f/none/subscribe", "/bio", "/settings", "/inbox/read", "/user/nora/message",
             "/login", "/logout", f"/comment/{comment}/reply", f"/comment/{comment}/vote", f"/comment/{mine}/edit",
             f"/comment/{mine}/delete",
             f"{address_of(visit, own)}/edit", *(f"{address_of(visit, post)}/{action}" for action in ("vote", "save", "comment", "delete"))]
    fields = ["title", "body", "link", "forum", "name", "description", "rules", "subscribe", "bio", "email", "notify", "hide_votes", "text",
              "vote", "save", "password", "q"]
    values = ["", "1", "-5", "9" * 40, "a" * 5000, "\x00\x01", "'\";--", "<b>", "é漢😀", "up", "books", "https://a.test", "a@b.c",
              "None"]
    for _ in range(150):
        data = {rng.choice(fields): rng.choice(values) for _ in range(rng.randint(0, 6))}
        visit.log_in()
        assert visit(rng.choice(paths), data).status_code < 500
    assert visit.value("SELECT count(*) FROM users WHERE id = ?", USER) == 1


def test_pages_are_served_within_milliseconds(visit):
    """Each kind of page, the app alone."""
    for path in ("/", "/?sort=top", "/f/books", "/search?q=o", address_of(visit, visit.value(OTHERS)), "/user/emma/comments", "/saved",
                 "/forums", "/inbox"):
        assert visit.milliseconds(path) < 25, path
