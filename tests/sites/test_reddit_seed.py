"""The forum's seed state is the same everywhere, consistent, and such that questions about it have one answer."""

import re
from collections import Counter

from wr1_utils.sites.reddit_seed import USER, seed_database, user_login
from wr1_utils.sites.reddit_words import FORUMS, UNUSED_FORUMS
from wr1_utils.sites.shopping_seed import TODAY
from wr1_utils.sites.world import open_database

TABLES = ("users", "forums", "subscriptions", "posts", "comments", "post_votes", "comment_votes", "saves", "messages")


def rows(query):
    return [tuple(row) for row in open_database(seed_database()).execute(query)]


def test_the_same_seed_gives_the_same_small_state():
    first = [rows(f"SELECT * FROM {table}") for table in TABLES]
    seed_database.cache_clear()
    assert first == [rows(f"SELECT * FROM {table}") for table in TABLES]
    assert len(seed_database()) < 300_000


def test_there_is_enough_of_everything():
    counts = {table: rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}
    assert counts["forums"] == len(FORUMS) == 12 and counts["users"] == 40
    assert counts["posts"] >= 150 and counts["comments"] >= 500 and counts["messages"] == 9


def test_titles_and_names_are_unique_and_none_is_part_of_another():
    for query in ("SELECT title FROM posts", "SELECT name FROM forums", "SELECT name FROM users"):
        names = [name for name, in rows(query)]
        assert len(names) == len(set(names))
        assert not [(one, other) for one in names for other in names if one != other and one in other]
    assert not set(UNUSED_FORUMS) & set(FORUMS)


def test_scores_differ_within_a_forum_and_within_a_post():
    for count, distinct in rows("""SELECT count(*), count(DISTINCT score) FROM
            (SELECT forum, (SELECT coalesce(sum(value), 0) FROM post_votes WHERE item = p.id) AS score FROM posts p) GROUP BY forum"""):
        assert count == distinct
    for count, distinct in rows("""SELECT count(*), count(DISTINCT coalesce(score, 0)) FROM
            (SELECT post, (SELECT sum(value) FROM comment_votes WHERE item = c.id) AS score FROM comments c) GROUP BY post"""):
        assert count == distinct
    best = rows("""SELECT max(score) FROM (SELECT forum, (SELECT sum(value) FROM post_votes WHERE item = p.id) AS score FROM posts p)
                   GROUP BY forum""")
    assert len(set(best)) == 12
    assert len(set(rows("SELECT count(*) FROM subscriptions GROUP BY forum"))) == 12


def test_one_post_of_each_forum_is_discussed_most():
    counts = rows("SELECT p.forum, count(*) AS n FROM comments c JOIN posts p ON p.id = c.post GROUP BY p.id")
    for forum in range(1, 13):
        most = sorted((n for number, n in counts if number == forum), reverse=True)
        assert most[0] == 8 and most[1] < 8


def test_people_comment_once_on_a_post_and_never_say_the_same_twice():
    assert not rows("SELECT 1 FROM comments GROUP BY post, author HAVING count(*) > 1")
    assert not rows("SELECT 1 FROM comments GROUP BY author, text HAVING count(*) > 1")
    assert not rows("SELECT 1 FROM comments GROUP BY post, text HAVING count(*) > 1")


def test_replies_follow_what_they_answer():
    assert not rows("""SELECT 1 FROM comments c JOIN comments b ON b.id = c.parent
                       WHERE b.post <> c.post OR b.id >= c.id OR b.date > c.date""")
    assert not rows("SELECT 1 FROM comments c JOIN posts p ON p.id = c.post WHERE c.date < p.date")
    assert all(rows(f"SELECT max(date) FROM {table}") < [(TODAY,)] for table in ("posts", "comments", "messages"))
    assert max(Counter(post for post, in rows("SELECT post FROM comments WHERE parent IS NULL")).values()) <= 8


def test_nobody_votes_on_what_is_theirs():
    assert not rows("SELECT 1 FROM post_votes v JOIN posts p ON p.id = v.item WHERE p.author = v.user")
    assert not rows("SELECT 1 FROM comment_votes v JOIN comments c ON c.id = v.item WHERE c.author = v.user")


def test_the_user_has_a_past_and_much_left_to_do():
    assert user_login()[0] == "emma"
    for table, column, least, most in (("posts", "author", 4, 8), ("comments", "author", 10, 25), ("saves", "user", 6, 6),
                                       ("subscriptions", "user", 4, 4), ("post_votes", "user", 8, 40), ("comment_votes", "user", 20, 90)):
        assert least <= rows(f"SELECT count(*) FROM {table} WHERE {column} = {USER}")[0][0] <= most
    assert rows(f"SELECT count(*) FROM messages WHERE recipient = {USER} AND unread") == [(3,)]


def test_links_lead_to_invented_places():
    links = [link for link, in rows("SELECT link FROM posts WHERE link <> ''")]
    assert len(links) == 12 and all(re.fullmatch(r"https://gazette\.test/[a-z-]+", link) for link in links)
    assert not rows("SELECT 1 FROM posts WHERE (body = '') = (link = '')")
