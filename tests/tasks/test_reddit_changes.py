"""A change of state on the forum scores for just what was asked for, a near miss nothing. The changes are made by the sites' own forms."""

import random

import pytest

from wr1_utils.sites.shopping_seed import slug_of
from wr1_utils.tasks import multi_templates, reddit_templates
from wr1_utils.tasks.reddit_state import address, seed_forum
from wr1_utils.tasks.templates import make_tasks

TEMPLATES = {template.name: template for template in (*reddit_templates.TEMPLATES, *multi_templates.TEMPLATES)}
TASKS = {task.intent_template_id: task for tasks in make_tasks(TEMPLATES.values(), 0) for task in tasks}
CHANGING = [name for name, task in TASKS.items() if "program_html" in task.eval["eval_types"]]
MISS = "Something else"


def forms(name, filling):
    """The forms that do what a task asks for."""
    forum, name = seed_forum(), name.removeprefix("reddit_")
    post = forum.post(filling["post"]) if "post" in filling else None
    text = {"text": filling.get("text", "")}
    if name in ("comment", "multi_comment_price", "multi_comment_stars"):
        return [(f"{address(post)}/comment", text)]
    if name == "subscribe":
        return [(f"/f/{filling['forum']}/subscribe", {"subscribe": str(int(filling["action"] == "Subscribe to"))})]
    if name == "vote":
        up = filling["action"] == "Upvote" or post["mine"] == 1
        return [(f"{address(post)}/vote", {"vote": "up" if up else "down"})]
    if name in ("save", "save_newest"):
        return [(f"{address(post or forum.posts_in(filling['forum'])[0])}/save", {"save": str(int(filling.get("action") != "Unsave"))})]
    if name == "reply":
        parent = next(c for c in forum.comments_on(post) if c["author_name"] == filling["user"])
        return [(f"/comment/{parent['id']}/reply", text)]
    if name in ("edit_comment", "delete_comment"):
        return [(f"/comment/{forum.own_comment(filling['post'])['id']}/{name.split('_')[0]}", text)]
    if name == "bio":
        return [("/bio", {"bio": filling["text"]})]
    if name == "new_post":
        return [("/submit", {**filling, "link": ""})]
    if name == "new_forum":
        return [("/forums/new", filling)]
    if name == "new_forum_with_post":
        return [("/forums/new", filling), ("/submit", {**filling, "forum": filling["name"]})]
    if name == "send_draft":
        return [(f"/chat/{filling['user']}", {"text": forum.drafts[filling["user"]]})]
    if name == "leave_draft":
        return [(f"/chat/{filling['user']}/draft", text)]
    if name in ("answer_message", "message_author"):
        to = post["author_name"] if post else next(m["sender_name"] for m in forum.messages if filling["topic"] in m["text"])
        return [(f"/user/{to}/message", text)]
    place = filling["place"] if "place" in filling else multi_templates._town(filling["post"])
    return [(f"/place/{slug_of(place)}/favorite", {}, "map")]


def filled(name):
    """The filling of a task, with what the user must find out elsewhere."""
    task = TASKS[name]
    found = task.eval["program_html"][0]["required_contents"]["verbatim"].split(" | ")[-1] if "comment_" in name else ""
    return {**task.instantiation_dict, **({"text": found} if name in ("multi_comment_price", "multi_comment_stars") else {})}


def undo(name, right, filling):
    """The forms that take back what the right ones did, or something of it."""
    forum, (path, fields, *site) = seed_forum(), right[-1]
    new = len(forum.comments) + 1
    if "subscribe" in path or "save" in path:
        return [(path, {field: str(1 - int(value)) for field, value in fields.items()})]
    if path.endswith("/vote"):
        return right
    if path.endswith("/delete"):
        return [(f"{address(forum.post(filling['post']))}/comment", {"text": forum.own_comment(filling["post"])["text"]})]
    if path.endswith(("/comment", "/reply")):
        return [(f"/comment/{new}/delete", {})]
    if path.endswith("/edit"):
        return [(path, {"text": forum.own_comment(filling["post"])["text"]})]
    if path.startswith("/chat/"):                # the message goes back into the field, or the field is emptied; sent it stays
        return [(f"/chat/{filling['user']}/draft", {"text": "" if path.endswith("/draft") else fields["text"]})]
    if path == "/bio":
        return [(path, {"bio": forum.user("emma")["bio"]})]
    if path == "/submit":
        return [(f"/f/{filling.get('forum') or filling['name']}/{len(forum.posts) + 1}/delete", {})]
    if path == "/forums/new":
        return [(f"/f/{filling['name']}/subscribe", {"subscribe": "0"})]
    return [("/favorites/remove", {"item": "4"}, "map")] if site else right


def more(name, filling):
    """One thing more than was asked for, beside it."""
    forum = seed_forum()
    if "map" in TASKS[name].sites:
        return [("/place/milford/note", {"note": MISS}, "map")]
    if "message" in name:
        return [("/user/nora/message", {"text": "Hello"})]
    if "draft" in name:
        return [(f"/chat/{filling['user']}", {"text": MISS})]
    if name == "reddit_bio":
        return [("/settings", {"email": "emma@forum.test"})]
    if name == "reddit_subscribe" or "new_forum" in name:
        return [(f"/f/{name}/subscribe", {"subscribe": str(int(name == "elmton"))}) for name in ("elmton", "books", "music")]
    if name == "reddit_new_post":
        return [(f"/f/{filling['forum']}/{len(forum.posts) + 1}/comment", {"text": MISS})]
    post = forum.post(filling["post"]) if "post" in filling else forum.posts_in(filling["forum"])[0]
    if "save" in name:
        return [(f"{address(post)}/comment", {"text": MISS})]
    return [(f"{address(post)}/save", {"save": str(int(not post["saved"]))})]


def vote_elsewhere(name):
    """A vote on another's comment on a post that the task does not name."""
    comment = next(c for c in seed_forum().comments if c["author_name"] != "emma" and not c["mine"] and c["title"] != TASKS[name].instantiation_dict.get("post"))
    return f"/comment/{comment['id']}/vote", {"vote": "up"}, "reddit"


def nearly(text):
    """Another text, the text with an invisible character in it, and in another case, where it has letters."""
    return {MISS, f"{text[:1]}\u200b{text[1:]}", text.swapcase()} - {text}


def others(name):
    """Another filling on another record, and near ones: one slot each is another's or another text."""
    filling, template = filled(name), TEMPLATES[name]
    drawn = [one for one in template.fillings(random.Random(5))
             if all(one[slot] != filling[slot] for slot in one if slot not in ("action", "text") or len(one) == 1)]
    if name == "reddit_vote":                 # a post in another forum
        same = seed_forum().post(filling["post"])["forum_name"]
        drawn = [one for one in drawn if seed_forum().post(one["post"])["forum_name"] != same]
    other = {**filling, **drawn[0]}
    near = [{**filling, slot: text} for slot in ("text", "title", "body", "description", "bio") if slot in filling for text in nearly(filling[slot])]
    near += [{**filling, "forum": other["forum"]}] if name == "reddit_new_post" else []
    return other, near


def test_every_kind_of_change_is_tried():
    assert len(CHANGING) == 16 + 4 and {name.split("_")[0] for name in CHANGING} == {"reddit", "multi"}


QUICK = ("reddit_subscribe", "reddit_vote", "reddit_comment", "reddit_delete_comment", "reddit_send_draft")  # the other templates are played in the slow tier


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in CHANGING])
def test_just_what_was_asked_for(scores, name):
    task, filling = TASKS[name], filled(name)
    right, (other, near) = forms(name, filling), others(name)
    misses = {
        "nothing": [], "undone": [*right, *undo(name, right, filling)], "one thing more": [*right, *more(name, filling)],
        "another record": forms(name, other), "another record too": [*right, *forms(name, other)],
        **({"a vote elsewhere too": [*right, vote_elsewhere(name)]} if "reddit" in TASKS[name].sites else {}),
        **{f"nearly {miss}": forms(name, miss) for miss in near},
    }
    found = scores(task, right, *misses.values())
    assert dict(zip(["right", *misses], found)) == {"right": 1.0, **dict.fromkeys(misses, 0.0)}


def test_a_vote_the_other_way_and_another_comments_vote_score_nothing(scores):
    task = TASKS["reddit_vote"]
    post = seed_forum().post(task.instantiation_dict["post"])
    comment = next(c for c in seed_forum().comments_on(post) if c["author_name"] != "emma")
    right = forms("vote", task.instantiation_dict)
    other = "down" if right[0][1]["vote"] == "up" else "up"
    ways = [(right[0][0], {"vote": other})], [*right, (f"/comment/{comment['id']}/vote", {"vote": "up"})]
    assert scores(task, *ways) == [0, 0]


def test_a_comment_is_no_reply_and_a_reply_no_comment(scores):
    task, comment = TASKS["reddit_reply"], TASKS["reddit_comment"]
    assert scores(task, forms("comment", task.instantiation_dict)) == [0]
    first = seed_forum().comments_on(seed_forum().post(comment.instantiation_dict["post"]))[0]
    filling = {**comment.instantiation_dict, "user": first["author_name"]}
    assert scores(comment, forms("reply", filling)) == [0]


@pytest.mark.parametrize("name", ["reddit_send_draft", "reddit_leave_draft"])
def test_a_draft_that_is_not_sent_as_it_is_or_not_kept_unsent_scores_nothing(scores, name):
    task, user = TASKS[name], TASKS[name].instantiation_dict["user"]
    text = task.instantiation_dict.get("text") or seed_forum().drafts[user][:79]
    assert scores(task, [(f"/chat/{user}", {"text": text})], [(f"/chat/{user}", {"text": text}), *forms(name, filled(name))]) == [0, 0]
