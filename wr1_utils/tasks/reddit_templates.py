"""The task templates of the Pocket Arena's site `reddit`.

A change of state is compared with the whole post and its comments, with the listing that it could have changed beside it, and with how many rows of
every table have changed.
"""

from collections.abc import Callable

from wr1_utils.sites.reddit import SORTS
from wr1_utils.sites.reddit_seed import USER, USER_NAME
from wr1_utils.sites.reddit_words import UNUSED_FORUMS
from wr1_utils.sites.shopping_seed import PAGE_SIZE, TODAY
from wr1_utils.tasks import reddit_state as checks
from wr1_utils.tasks.reddit_state import Forum, seed_forum
from wr1_utils.tasks.templates import Template, answer, url

# What is written in tasks.
TEXTS = ("I will try this", "What a good idea", "See you on Friday", "Tell me more", "That helped a lot", "I like it", "It worked for me",
         "Not for me")
TITLES = ("A letter from my aunt", "Ten days without rain", "My first attempt", "An old photo", "A very small victory",
          "News from the attic")
BODIES = ("It took all weekend", "You would have laughed", "More of this tomorrow", "I am still surprised", "Ask me anything",
          "It was worth it")
BIOS = ("Paints small boats", "Sleeps until noon", "Collects old keys", "Sings in the rain", "Repairs radios", "Never in a hurry")
DESCRIPTIONS = ("All are welcome", "Questions and answers", "For beginners", "Stories and pictures", "Talk and advice")
TOPICS = ("red bicycle", "soup", "tripod", "reading circle", "comment", "vet", "green scarf", "hike", "plum cake")  # of one message each


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _posts(forum, rng):
    return [{"post": post["title"]} for post in forum.posts]


def _posts_seen_and_unseen(forum, rng):
    """As many from the front page as from elsewhere."""
    unseen = [post["title"] for post in forum.posts if post["title"] not in forum.front]
    return [{"post": title} for title in (*forum.front, *rng.sample(unseen, PAGE_SIZE))]


def posts_by_others(forum, rng):
    """The posts of anyone but the user."""
    return [{"post": post["title"]} for post in forum.posts if post["author"] != USER]


def _forum_names(forum, rng):
    return [{"forum": one["name"]} for one in forum.forums]


def _comments_shown(forum, rng):
    """Comments by others that stand on the page at once."""
    return [{"user": c["author_name"], "post": c["title"]} for c in forum.comments if not c["depth"] and c["author"] != USER]


def _messages(forum, rng):
    return [{"topic": topic} for topic in TOPICS]


def _unknown_forums(forum, rng):
    known = "; ".join(f"{post['title']} {post['body']}".lower() for post in forum.posts)
    questions = ("Who wrote the top post in", "What is the first rule of", "Who wrote the newest post in")
    return [{"question": question, "forum": name} for name in UNUSED_FORUMS if name not in known for question in questions]


def _votes(forum, rng):
    """Votes to give and votes to take back, about as many."""
    held = [{"action": "Take back my vote on", "post": post["title"]} for post in forum.posts if post["mine"]]
    free = [{"action": rng.choice(("Upvote", "Downvote")), "post": post["title"]}
            for post in forum.posts if not post["mine"] and post["author"] != USER]
    return held + rng.sample(free, 2 * len(held))


def _marks(forum, rng):
    free = rng.sample([post["title"] for post in forum.posts if not post["saved"]], 2 * len(forum.saves))
    return [{"action": "Save", "post": title} for title in free] + [{"action": "Unsave", "post": title} for title in forum.saves]


def _joinings(forum, rng):
    return [{"action": "Unsubscribe from" if one["subscribed"] else "Subscribe to", "forum": one["name"]} for one in forum.forums]


def _own_plain_comments(forum, rng):
    """Posts under which the user has a comment that stands on the page at once, without replies."""
    return [{"post": c["title"]} for c in forum.comments if c["author"] == USER and not c["depth"] and not c["replies"]]


def _with(fillings: Callable, **slots: tuple[str, ...]) -> Callable:
    """The fillings, each with a random text for each further slot."""
    return lambda forum, rng: [{**filling, **{slot: rng.choice(texts) for slot, texts in slots.items()}}
                               for filling in fillings(forum, rng)]


def _chats(forum, rng):
    return [{"user": name} for name in forum.chats]


def _new_forums(forum, rng):
    return [{"name": name, "description": text} for name in UNUSED_FORUMS for text in DESCRIPTIONS]


# --- evaluations that take more than a line --------------------------------------------------------------------------------------

def _comment_points(forum: Forum, filling: dict) -> dict:
    comments = forum.comments_on(forum.post(filling["post"]))
    score = next(comment["score"] for comment in comments if comment["author_name"] == filling["user"])
    return answer(f"{score} |OR| {checks.points(score)}")


def _city(forum: Forum, post: dict) -> dict:
    return answer(forum.user(post["author_name"])["bio"].split("Lives in ")[1].rstrip("."))


def _subscribed(forum: Forum, filling: dict) -> dict:
    joining = filling["action"] == "Subscribe to"
    return checks.changed(checks.forum_list(forum, **{filling["forum"]: joining}), subscriptions=(int(not joining), int(joining)))


def _vote(forum: Forum, filling: dict) -> dict:
    post = forum.post(filling["post"])
    mine = {"Upvote": 1, "Downvote": -1}.get(filling["action"], 0)
    changed = {**post, "mine": mine, "score": post["score"] + mine - post["mine"]}
    return checks.changed(checks.whole_post(changed, forum.comments_on(post)), post_votes=(abs(post["mine"]), abs(mine), *["value"] * bool(post["mine"] and mine)))


def _marked(forum: Forum, filling: dict) -> dict:
    post, saving = forum.post(filling["post"]), filling["action"] == "Save"
    titles = [post["title"], *forum.saves] if saving else [title for title in forum.saves if title != post["title"]]
    return checks.changed(checks.whole_post({**post, "saved": saving}, forum.comments_on(post)), checks.saves(titles, forum),
                          saves=(int(not saving), int(saving)))


def said(forum: Forum, filling: dict) -> dict:
    """The user has said `text`: a comment on the post or, with a `user`, a reply to that user's comment."""
    post = forum.post(filling["post"])
    comments = forum.comments_on(post)
    parent = next((c for c in comments if c["author_name"] == filling.get("user")), None)
    new = {"id": len(forum.comments) + 1, "author": USER, "author_name": USER_NAME, "score": 0, "date": TODAY, "text": filling["text"],
           "title": post["title"], "depth": parent["depth"] + 1 if parent else 0, "answers": filling.get("user"), "mine": 0}
    return checks.changed(checks.whole_post(post, [*comments, new]), checks.own_comments(forum, lambda own: [*own, new]), comments=(0, 1))


def _own_comment_changed(forum: Forum, filling: dict) -> dict:
    """The user's comment on the post has another text or, without a `text`, is gone."""
    post, mine = forum.post(filling["post"]), forum.own_comment(filling["post"])
    new = [{**mine, "text": filling["text"]}] if "text" in filling else []

    def change(comments: list[dict]) -> list[dict]:
        return [kept for c in comments for kept in (new if c["id"] == mine["id"] else [c])]

    return checks.changed(checks.whole_post(post, change(forum.comments_on(post))), checks.own_comments(forum, change),
                          comments=(1, len(new), *["text"] * len(new)), comment_votes=(0 if new else mine["votes"], 0))


def _bio(forum: Forum, filling: dict) -> dict:
    user = forum.user(USER_NAME)
    account = "; ".join([user["email"], *(str(bool(user[switch])).lower() for switch in ("notify", "hide_votes"))])
    return checks.changed([(f"/user/{USER_NAME}", checks.BIO, filling["text"]), ("/settings", checks.ACCOUNT, account)],
                          users=(1, 1, "bio"))


def _new_post_checks(forum: Forum, filling: dict) -> list[checks.Check]:
    post = {"id": len(forum.posts) + 1, "author": USER, "forum_name": filling["forum"], "title": filling["title"], "body": filling["body"],
            "link": "", "score": 0, "comments": 0, "mine": 0, "saved": False}
    return [*checks.whole_post(post, []), *checks.own_posts(forum, post)]


def _new_post(forum: Forum, filling: dict) -> dict:
    return checks.changed(_new_post_checks(forum, filling), posts=(0, 1))


def _new_forum_checks(forum: Forum, filling: dict) -> list[checks.Check]:
    new = {"name": filling["name"], "members": 1, "posts": int("title" in filling), "subscribed": 1}
    page = f"{new['name']}; {filling['description']}; 1 member; Unsubscribe"
    return [(f"/f/{new['name']}", checks.FORUM, page), *checks.forum_list(forum, new)]


def _new_forum(forum: Forum, filling: dict) -> dict:
    return checks.changed(_new_forum_checks(forum, filling), forums=(0, 1), subscriptions=(0, 1))


def _new_forum_with_post(forum: Forum, filling: dict) -> dict:
    post = _new_post_checks(forum, {**filling, "forum": filling["name"]})
    return checks.changed(_new_forum_checks(forum, filling), post, forums=(0, 1), subscriptions=(0, 1), posts=(0, 1))


def _save_newest(forum: Forum, filling: dict) -> dict:
    post = forum.posts_in(filling["forum"])[0]
    return checks.at(checks.address(post), _marked(forum, {"post": post["title"], "action": "Save"}))


def _message_to_sender(forum: Forum, filling: dict) -> dict:
    return checks.sent(filling["text"], _about(forum, filling["topic"])["sender_name"])


def _about(forum: Forum, topic: str) -> dict:
    return next(message for message in forum.messages if topic in message["text"])


def _reddit(name: str, phrasings: tuple[str, ...], fillings: Callable, evaluation: Callable[[Forum, dict], dict],
            train: int, test: int) -> Template:
    return Template(f"reddit_{name}", phrasings, lambda rng: fillings(seed_forum(), rng), lambda filling: evaluation(seed_forum(), filling),
                    train, test, sites=("reddit",))


TEMPLATES = (
    # questions
    _reddit("post_points", ('How many points does the post "{{post}}" have?',), _posts_seen_and_unseen,
            lambda forum, f: answer(str(forum.post(f["post"])["score"])), 4, 1),
    _reddit("top_author", ("Who wrote the top post in the forum {{forum}}?",), _forum_names,
            lambda forum, f: answer(forum.best(f["forum"])["author_name"]), 3, 0),
    _reddit("forum_members", ("How many members does the forum {{forum}} have?", "How many people follow the forum {{forum}}?"),
            _forum_names, lambda forum, f: answer("{0} |OR| {0} members".format(forum.forum(f["forum"])["members"])), 3, 1),
    _reddit("forum_rule", ("What is the first rule of the forum {{forum}}?",), _forum_names,
            lambda forum, f: answer(forum.forum(f["forum"])["rules"].split("; ")[0]), 3, 0),
    _reddit("comment_points", ('How many points does the comment by {{user}} on "{{post}}" have?',), _comments_shown,
            _comment_points, 4, 1),
    _reddit("author_city", ('In which city does the author of "{{post}}" live?', 'Where does the author of "{{post}}" live?'),
            posts_by_others, lambda forum, f: _city(forum, forum.post(f["post"])), 4, 1),
    _reddit("message_sender", ("Who sent me the message about the {{topic}}?", "Who wrote to me about the {{topic}}?"), _messages,
            lambda forum, f: answer(_about(forum, f["topic"])["sender_name"]), 4, 1),
    _reddit("no_such_forum", ("{{question}} the forum {{forum}}?",), _unknown_forums, lambda forum, f: answer("N/A"), 4, 1),
    # navigation
    _reddit("open_sorted", ("Open the forum {{forum}} sorted by {{sort}}.", "Show the forum {{forum}} sorted by {{sort}}."),
            lambda forum, rng: [{**f, "sort": SORTS[sort][0]} for f in _forum_names(forum, rng) for sort in ("new", "top")],
            lambda forum, f: url("reddit", f"/f/{f['forum']}?sort={f['sort'].lower()}"), 5, 1),
    _reddit("newest_post", ("Open the newest post in the forum {{forum}}.", "Show me the newest post in the forum {{forum}}."),
            _forum_names, lambda forum, f: url("reddit", checks.address(forum.posts_in(f["forum"])[0])), 3, 0),
    _reddit("author_comments", ('Open the comments of the author of "{{post}}".', 'Show all comments by the author of "{{post}}".'),
            posts_by_others, lambda forum, f: url("reddit", f"/user/{forum.post(f['post'])['author_name']}/comments"), 4, 1),
    # needed: Scroll Up (the first messages of a chat come when one scrolls up)
    _reddit("first_message", ("Open my chat with {{user}} and tell me its first message.", "Show my chat with {{user}}. How did it begin?"),
            _chats,
            lambda forum, f: checks.at(f"/chat/{f['user']}", answer(forum.chats[f["user"]][0]["text"])), 3, 1),
    # changes of state
    _reddit("subscribe", ("{{action}} the forum {{forum}}.",), _joinings, _subscribed, 3, 0),
    _reddit("vote", ('{{action}} the post "{{post}}".',), _votes, _vote, 3, 1),
    _reddit("save", ('{{action}} the post "{{post}}".',), _marks, _marked, 3, 0),
    _reddit("comment", ('Comment "{{text}}" on the post "{{post}}".', 'Add the comment "{{text}}" to the post "{{post}}".'),
            _with(_posts, text=TEXTS), said, 3, 1),
    _reddit("reply", ('Reply "{{text}}" to {{user}} on the post "{{post}}".',), _with(_comments_shown, text=TEXTS), said, 3, 0),
    _reddit("edit_comment", ('Change my comment on "{{post}}" to "{{text}}".',), _with(_own_plain_comments, text=TEXTS),
            _own_comment_changed, 2, 0),
    _reddit("delete_comment", ('Delete my comment on "{{post}}".',), _own_plain_comments, _own_comment_changed, 2, 0),
    _reddit("bio", ('Change my bio to "{{text}}".',), lambda forum, rng: [{"text": text} for text in BIOS], _bio, 2, 0),
    _reddit("new_post", ('Post "{{title}}" with the body "{{body}}" in the forum {{forum}}.',),
            _with(_forum_names, title=TITLES, body=BODIES), _new_post, 3, 1),
    _reddit("new_forum", ('Create the forum {{name}} with the description "{{description}}".',), _new_forums, _new_forum, 2, 1),
    _reddit("answer_message", ('Answer the message about the {{topic}} with "{{text}}".',), _with(_messages, text=TEXTS),
            _message_to_sender, 2, 0),
    # needed: Press Enter (the field holds more than the page shows of it, and nothing else sends it)
    _reddit("send_draft", ("Send {{user}} the message that I have begun in our chat.", "Send the draft in my chat with {{user}} as it is."),
            lambda forum, rng: [{"user": name} for name in forum.drafts],
            lambda forum, f: checks.chatted(forum, f["user"], forum.drafts[f["user"]]), 3, 1),
    # never trained on: skills that other templates teach, put together
    _reddit("top_author_city", ("In which city does the author of the top post in the forum {{forum}} live?",), _forum_names,
            lambda forum, f: _city(forum, forum.best(f["forum"])), 0, 1),
    _reddit("save_newest", ("Open the newest post in the forum {{forum}} and save it.",), _forum_names, _save_newest, 0, 1),
    _reddit("message_author", ('Send the message "{{text}}" to the author of "{{post}}".',), _with(posts_by_others, text=TEXTS),
            lambda forum, f: checks.sent(f["text"], forum.post(f["post"])["author_name"]), 0, 1),
    _reddit("new_forum_with_post",
            ('Create the forum {{name}} with the description "{{description}}" and post "{{title}}" with the body "{{body}}" in it.',),
            _with(_new_forums, title=TITLES, body=BODIES), _new_forum_with_post, 0, 1),
    # needed: Type (Enter, and so Search, would send it)
    _reddit("leave_draft", ('Leave "{{text}}" as a draft in my chat with {{user}}.',), _with(_chats, text=TEXTS),
            lambda forum, f: checks.chatted(forum, f["user"], draft=f["text"]), 0, 1),
)
