"""The tasks of the forum: well-formed, nothing of the test set in the training set, and what they want stands on the site's pages."""

import html
import re
from collections import Counter

import pytest
from starlette.testclient import TestClient

from wr1_utils.sites.reddit_words import UNUSED_FORUMS
from wr1_utils.sites.server import SESSIONS, WORLD_HEADER, make_app, seeds
from wr1_utils.sites.world import Worlds
from wr1_utils.tasks.reddit_state import seed_forum
from wr1_utils.tasks.reddit_templates import TEMPLATES
from wr1_utils.tasks.templates import make_tasks

TRAIN, TEST = make_tasks(TEMPLATES, 0)


@pytest.fixture(scope="module")
def read():
    """Gives the HTML of a page in a fresh world, as the main user sees it."""
    worlds = Worlds(seeds())
    client = TestClient(make_app(worlds), base_url="http://reddit.localhost", cookies=dict([SESSIONS["reddit"]]),
                        headers={WORLD_HEADER: worlds.create().key})

    def get(path, **query):
        response = client.get(path, params=query or None)
        assert response.status_code == 200, path
        return html.unescape(response.text)
    return get


def tasks_of(*templates):
    return [task for task in TRAIN + TEST if task.intent_template_id.removeprefix("reddit_") in templates]


def rows(page):
    """The cells of each row of a list, without markup."""
    return [[re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
            for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S)]


def wanted(task):
    return task.eval["reference_answers"]["exact_match"].split(" |OR| ")[0]


def address(read, title):
    return re.search(rf'<a href="(/f/\w+/\d+)">{re.escape(title)}</a>', read("/search", q=title))[1]


def author(read, title):
    return re.search(r'by <a\s+href="/user/(\w+)"', read(address(read, title)))[1]


def city(read, name):
    return re.search(r"Lives in (\w+)\.", read(f"/user/{name}"))[1]


def test_sizes_and_splits():
    assert (len(TRAIN), len(TEST)) == (75, 19) and len(TEMPLATES) >= 12
    trained = {task.intent_template_id for task in TRAIN}
    for task in TEST:
        assert task.split == ("seen_template" if task.intent_template_id in trained else "unseen_template")
    assert {task.split for task in TRAIN} == {"train"}
    assert sum(task.split == "unseen_template" for task in TEST) == 5
    assert all(task.sites == ("reddit",) and task.start_url == "__REDDIT__/" and task.require_login for task in TRAIN + TEST)
    for tasks in (TRAIN, TEST):
        kinds = Counter(kind for task in tasks for kind in task.eval["eval_types"])
        assert all(share - 0.08 <= kinds[kind] / len(tasks) <= share + 0.08
                   for kind, share in (("string_match", 0.45), ("program_html", 0.4), ("url_match", 0.2))), kinds


def test_no_intent_and_no_filling_is_in_both_sets():
    assert len({task.intent for task in TRAIN + TEST}) == len(TRAIN + TEST)

    def filled(tasks):
        return {(task.intent_template_id, frozenset(map(str, task.instantiation_dict.values()))) for task in tasks}

    assert not filled(TRAIN) & filled(TEST)


def test_another_seed_gives_other_tasks():
    assert {task.intent for task in TRAIN} != {task.intent for task in make_tasks(TEMPLATES, 1)[0]}
    assert make_tasks(TEMPLATES, 0) == (TRAIN, TEST)


def test_every_intent_is_filled_and_short():
    for task in TRAIN + TEST:
        assert "{{" not in task.intent and len(task.intent) <= 140, task.intent
        for slot, value in task.instantiation_dict.items():
            assert value in task.intent, slot


def test_every_name_is_found_where_the_experts_look(read):
    """A title is on the first page of its results, once; a forum has its link there."""
    for post in seed_forum().posts:
        assert read("/search", q=post["title"]).count(f">{post['title']}</a>") == 1
    for forum in seed_forum().forums:
        assert f">f/{forum['name']}</a>" in read("/search", q=forum["name"])


def test_answers_about_posts_stand_on_their_pages(read):
    for task in tasks_of("post_points"):
        found = [row for row in rows(read("/search", q=task.instantiation_dict["post"])) if task.instantiation_dict["post"] in row]
        assert [row[0] for row in found] == [wanted(task)]
    for task in tasks_of("comment_points"):
        user, page = task.instantiation_dict["user"], read(address(read, task.instantiation_dict["post"]))
        page = re.sub(r'<tbody id="replies.*?</tbody>', "", page, flags=re.S)
        assert re.findall(rf'href="/user/{user}">{user}</a>\s*<span\s*>(-?\d+) points?,', page)[-1] == wanted(task)
    for task in tasks_of("author_city"):
        assert city(read, author(read, task.instantiation_dict["post"])) == wanted(task)


def test_answers_about_forums_stand_on_their_pages(read):
    for task in tasks_of("top_author", "top_author_city"):
        top = rows(read(f"/f/{task.instantiation_dict['forum']}", sort="top"))[1]
        assert (top[2] if "city" not in task.intent else city(read, top[2])) == wanted(task)
    for task in tasks_of("forum_members"):
        assert f">{wanted(task)} members</p>" in read(f"/f/{task.instantiation_dict['forum']}")
    for task in tasks_of("forum_rule"):
        assert re.search(rf">Rules: {re.escape(wanted(task))}[;<]", read(f"/f/{task.instantiation_dict['forum']}"))


def test_answers_about_messages_stand_in_the_inbox(read):
    for task in tasks_of("message_sender", "answer_message"):
        found = [row for row in rows(read("/inbox")) if row and task.instantiation_dict["topic"] in row[1]]
        assert len(found) == 1
        assert found[0][2] == (wanted(task) if "message_sender" in task.task_id else re.search(r"\| (\w+) \| 2026", str(task.eval))[1])


def test_the_first_message_of_a_chat_is_the_last_that_scrolling_up_brings(read):
    for task in tasks_of("first_message"):
        user, shown, found = task.instantiation_dict["user"], 0, []
        assert task.eval["reference_url"] == f"__REDDIT__/chat/{user}" and wanted(task) not in read(f"/chat/{user}")
        while lines := [row for row in rows(read(f"/chat/{user}/earlier", shown=shown)) if row]:
            found, shown = lines, shown + len(lines)
        assert found[0][1] == "The chat begins here." and found[1][:2] == [user, wanted(task)]


def test_no_draft_to_be_sent_is_shown_as_a_whole(read):
    """An observation shows 80 characters of what a field holds."""
    for task in tasks_of("send_draft"):
        draft = seed_forum().drafts[task.instantiation_dict["user"]]
        assert len(draft) > 100 and f'value="{draft}"' in read(f"/chat/{task.instantiation_dict['user']}")


def test_what_is_asked_for_in_vain_does_not_exist(read):
    for task in tasks_of("no_such_forum"):
        name = task.instantiation_dict["forum"]
        assert wanted(task) == "N/A" and "No posts found." in read("/search", q=name) and f"/f/{name}" not in read("/search", q=name)
    assert not set(UNUSED_FORUMS) & {forum["name"] for forum in seed_forum().forums}


def test_addresses_are_those_that_the_pages_lead_to(read):
    for task in tasks_of("open_sorted"):
        path = task.eval["reference_url"].removeprefix("__REDDIT__")
        assert re.search(rf'aria-selected="true"\s*href="\?sort=\w+">{task.instantiation_dict["sort"]}</a>', read(path))
    for task in tasks_of("newest_post", "save_newest"):
        forum = task.instantiation_dict["forum"]
        assert f"__REDDIT__{re.findall(rf'/f/{forum}/[0-9]+', read(f'/f/{forum}', sort='new'))[0]}" == task.eval["reference_url"]
    for task in tasks_of("author_comments"):
        assert task.eval["reference_url"] == f"__REDDIT__/user/{author(read, task.instantiation_dict['post'])}/comments"


def test_what_is_to_be_changed_is_not_so_yet():
    forum = seed_forum()
    for task in tasks_of("vote"):
        assert bool(forum.post(task.instantiation_dict["post"])["mine"]) == (task.instantiation_dict["action"] == "Take back my vote on")
    for task in tasks_of("save", "save_newest"):
        title = task.instantiation_dict.get("post") or forum.posts_in(task.instantiation_dict["forum"])[0]["title"]
        assert (title in forum.saves) == (task.instantiation_dict.get("action") == "Unsave")
