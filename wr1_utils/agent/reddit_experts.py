"""Scripted experts for the site `reddit`: one small function a template, each a person's plain way through the site.

An expert sees the observed page and the task's filling, never the site's database; where it stands, it reads off the page. Posts and
forums are always found the same way: search for the name, click the name, act. What must outlive a page is written down as ``# Note:``.

An expert is called with (filling, observation, memory) and gives its reply to one page; `memory` is its own for one episode, {} at the
start. The steps without an underscore are also those of tasks over several sites.
"""

from collections.abc import Callable

from wr1_utils.agent.experts import (
    ExpertError,
    cells,
    click,
    exit_with,
    find,
    need,
    page_line,
    press_enter,
    scroll_up,
    search,
    select,
    type_text,
)
from wr1_utils.web.observation import Element, Observation

DONE = "done"                        # what an expert says at the end of a task that asks for no answer


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def page_name(observation: Observation) -> str:
    """The page's name: its title without the site's."""
    return observation.title.split(": ", 1)[1]


def says(observation: Observation, text: str) -> bool:
    return find(observation, "text", text) is not None


def done() -> str:
    return exit_with(DONE, DONE)


def to_found(title: str, link: str, observation: Observation, *notes: str) -> str | None:
    """The next step towards the page called `title`: search for it and click `link` in the results. None when it is open."""
    if page_name(observation) == title:
        return None
    if page_name(observation) == f"Results for {title}":
        return click(need(observation, "link", link))
    return search(need(observation, "textbox", "Search"), title, *notes)


def to_post(post: str, observation: Observation, *notes: str) -> str | None:
    return to_found(post, post, observation, *notes)


def _to_forum(forum: str, observation: Observation) -> str | None:
    return to_found(forum, f"f/{forum}", observation)


def _to_sorted_forum(forum: str, order: str, observation: Observation) -> str | None:
    """The next step towards the forum sorted by `order`, or None when it is open."""
    step = _to_forum(forum, observation)
    if step:
        return step
    tab = need(observation, "tab", order)
    return None if "selected" in tab.state else click(tab)


def _first_row(observation: Observation) -> Element:
    """The link of the first row in a list of posts."""
    found = next((e for e in observation.elements if e.role == "link" and e.row is not None), None)
    if found is None:
        raise ExpertError(f"no list on the page {observation.title!r} ({observation.url})")
    return found


def to_author(post: str, observation: Observation, memory: dict) -> str | None:
    """The next step towards the profile of the post's author, or None when it is open."""
    if page_name(observation) == memory.get("author"):
        return None
    step = to_post(post, observation)
    if step:
        return step
    by = next(i for i, e in enumerate(observation.elements) if e.role == "text" and e.label == "by")
    author = observation.elements[by + 1]
    memory["author"] = author.label
    return click(author)


def fill_in(observation: Observation, **values: str) -> str | None:
    """Types the first of the values that its field does not hold yet (``title`` goes to the field Title), or None."""
    for field, value in values.items():
        box = need(observation, "textbox", field.capitalize())
        if box.value != value:
            return type_text(box, value)
    return None


def press(observation: Observation, label: str) -> str:
    return click(need(observation, "button", label))


# --- questions -------------------------------------------------------------------------------------------------------------------

def _post_points(filling: dict, observation: Observation, memory: dict) -> str:
    if find(observation, "link", filling["post"]) is None:
        return search(need(observation, "textbox", "Search"), filling["post"])
    line = page_line(observation, f"link {filling['post']} [")
    return exit_with(cells(line)[0], line)


def _top_author(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_sorted_forum(filling["forum"], "Top", observation)
    if step:
        return step
    line = page_line(observation, f"link {_first_row(observation).label} [")
    return exit_with(cells(line)[2], line)


def _forum_members(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_forum(filling["forum"], observation)
    if step:
        return step
    line = page_line(observation, " member")
    return exit_with(line.split()[1], line)


def _forum_rule(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_forum(filling["forum"], observation)
    if step:
        return step
    line = page_line(observation, "text Rules: ")
    return exit_with(line.removeprefix("text Rules: ").split("; ")[0], line)


def _comment_points(filling: dict, observation: Observation, memory: dict) -> str:
    step = to_post(filling["post"], observation)
    if step:
        return step
    line = page_line(observation, f"row link {filling['user']} [")
    return exit_with(cells(line)[1].split()[0], line)


def author_city(filling: dict, observation: Observation, memory: dict) -> tuple[str | None, str]:
    """The next step towards the city of the post's author; when the profile is open, None and the line that says it."""
    step = to_author(filling["post"], observation, memory)
    return (step, "") if step else (None, page_line(observation, "Lives in "))


def city_in(line: str) -> str:
    return line.split("Lives in ")[-1].rstrip(".")


def _author_city(filling: dict, observation: Observation, memory: dict) -> str:
    step, line = author_city(filling, observation, memory)
    return step or exit_with(city_in(line), line)


def _top_author_city(filling: dict, observation: Observation, memory: dict) -> str:
    if "post" not in memory:
        step = _to_sorted_forum(filling["forum"], "Top", observation)
        if step:
            return step
        memory["post"] = _first_row(observation).label
        return click(_first_row(observation))
    return _author_city(memory, observation, memory)


def _message_sender(filling: dict, observation: Observation, memory: dict) -> str:
    if page_name(observation) != "Inbox":
        return click(need(observation, "link", "Inbox"))
    line = page_line(observation, need(observation, "link", contains=filling["topic"]).label)
    return exit_with(cells(line)[-2], line)


def _no_such_forum(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "No posts found."):
        return exit_with("N/A", page_line(observation, "No posts found."))
    return search(need(observation, "textbox", "Search"), filling["forum"])


def _to_chat(user: str, observation: Observation) -> str | None:
    """The next step towards the chat with the user, or None when it is open."""
    if page_name(observation) == f"Chat with {user}":
        return None
    if page_name(observation) == "Chats":
        return click(need(observation, "link", user))
    return click(find(observation, "link", "Chats") or need(observation, "link", "Inbox"))


def _first_message(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_chat(filling["user"], observation)
    if step:
        return step
    if not says(observation, "The chat begins here."):
        return scroll_up(page_line(observation, "Scroll the chat up"))
    first = next(line for line in observation.text.splitlines() if line.startswith(f"row {filling['user']} | "))
    return exit_with(cells(first)[1], first)


# --- navigation ------------------------------------------------------------------------------------------------------------------

def _open_sorted(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_sorted_forum(filling["forum"], filling["sort"], observation) or done()


def _to_newest_post(filling: dict, observation: Observation, memory: dict) -> str | None:
    if page_name(observation) == memory.get("post"):
        return None
    step = _to_sorted_forum(filling["forum"], "New", observation)
    if step:
        return step
    memory["post"] = _first_row(observation).label
    return click(_first_row(observation))


def _newest_post(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_newest_post(filling, observation, memory) or done()


def _author_comments(filling: dict, observation: Observation, memory: dict) -> str:
    step = to_author(filling["post"], observation, memory)
    if step:
        return step
    tab = need(observation, "tab", "Comments")
    return done() if "selected" in tab.state else click(tab)


# --- changes of state ------------------------------------------------------------------------------------------------------------

def _subscribe(filling: dict, observation: Observation, memory: dict) -> str:
    forum = filling["forum"]
    if says(observation, f"You follow {forum} now.") or says(observation, f"You no longer follow {forum}."):
        return done()
    return _to_forum(forum, observation) or press(observation, filling["action"].split()[0])


def _vote(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your vote was counted.") or says(observation, "Your vote was taken back."):
        return done()
    step = to_post(filling["post"], observation)
    if step:
        return step
    if filling["action"] in ("Upvote", "Downvote"):
        return press(observation, f"{filling['action']} post")
    held = next(e for e in observation.elements if e.label in ("Upvote post", "Downvote post") and "pressed" in e.state)
    return click(held)


def _save(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "The post was saved.") or says(observation, "The post is no longer saved."):
        return done()
    return to_post(filling["post"], observation) or press(observation, f"{filling['action']} post")


def _save_newest(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "The post was saved."):
        return done()
    return _to_newest_post(filling, observation, memory) or press(observation, "Save post")


def comment(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your comment was added."):
        return done()
    return to_post(filling["post"], observation) or fill_in(observation, comment=filling["text"]) or press(observation, "Add comment")


def _reply(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your comment was added."):
        return done()
    if page_name(observation) == f"Reply to {filling['user']}":
        return fill_in(observation, comment=filling["text"]) or press(observation, "Submit reply")
    return to_post(filling["post"], observation) or click(need(observation, "link", f"Reply to {filling['user']}"))


def _edit_comment(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your comment was saved."):
        return done()
    if page_name(observation) == "Edit comment":
        return fill_in(observation, comment=filling["text"]) or press(observation, "Save comment")
    return to_post(filling["post"], observation) or click(need(observation, "link", "Edit comment"))


def _delete_comment(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your comment was deleted."):
        return done()
    return to_post(filling["post"], observation) or press(observation, "Delete comment")


def _bio(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your bio was saved."):
        return done()
    if page_name(observation) == "Edit bio":
        return fill_in(observation, bio=filling["text"]) or press(observation, "Save bio")
    return click(find(observation, "link", "Edit bio") or need(observation, "link", "Profile"))


def _new_post(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your post was added."):
        return done()
    if page_name(observation) != "New post":
        return click(need(observation, "link", "Submit"))
    step = fill_in(observation, title=filling["title"], body=filling["body"])
    forum = need(observation, "select", "Forum")
    return step or (press(observation, "Submit post") if forum.value == filling["forum"] else select(forum, filling["forum"]))


def _to_new_forum(filling: dict, observation: Observation) -> str:
    if page_name(observation) != "Create a forum":
        return click(find(observation, "link", "Create a forum") or need(observation, "link", "Forums"))
    return fill_in(observation, name=filling["name"], description=filling["description"]) or press(observation, "Create forum")


def _new_forum(filling: dict, observation: Observation, memory: dict) -> str:
    return done() if says(observation, "The forum was created.") else _to_new_forum(filling, observation)


def _new_forum_with_post(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "The forum was created."):
        return click(need(observation, "link", "New post"))
    if page_name(observation) == "New post" or says(observation, "Your post was added."):
        return _new_post({**filling, "forum": filling["name"]}, observation, memory)
    return _to_new_forum(filling, observation)


def _answer_message(filling: dict, observation: Observation, memory: dict) -> str:
    if page_name(observation) == "Sent messages":
        return done()
    if page_name(observation) == "Inbox":
        return click(need(observation, "link", contains=filling["topic"]))
    if page_name(observation).startswith("Message from "):
        return fill_in(observation, reply=filling["text"]) or press(observation, "Send reply")
    return click(need(observation, "link", "Inbox"))


def _message_author(filling: dict, observation: Observation, memory: dict) -> str:
    if page_name(observation) == "Sent messages":
        return done()
    if page_name(observation).startswith("Message to "):
        return fill_in(observation, message=filling["text"]) or press(observation, "Send message")
    return to_author(filling["post"], observation, memory) or click(need(observation, "link", "Send a message"))


def _send_draft(filling: dict, observation: Observation, memory: dict) -> str:
    if says(observation, "Your message was sent."):
        return done()
    return _to_chat(filling["user"], observation) or press_enter(need(observation, "textbox", "Message"))


def _leave_draft(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_chat(filling["user"], observation) or fill_in(observation, message=filling["text"]) or done()


EXPERTS: dict[str, Callable[[dict, Observation, dict], str]] = {
    "reddit_post_points": _post_points, "reddit_top_author": _top_author, "reddit_forum_members": _forum_members,
    "reddit_forum_rule": _forum_rule, "reddit_comment_points": _comment_points, "reddit_author_city": _author_city,
    "reddit_message_sender": _message_sender, "reddit_no_such_forum": _no_such_forum, "reddit_top_author_city": _top_author_city,
    "reddit_open_sorted": _open_sorted, "reddit_newest_post": _newest_post, "reddit_author_comments": _author_comments,
    "reddit_subscribe": _subscribe, "reddit_vote": _vote, "reddit_save": _save, "reddit_save_newest": _save_newest,
    "reddit_comment": comment, "reddit_reply": _reply, "reddit_edit_comment": _edit_comment, "reddit_delete_comment": _delete_comment,
    "reddit_bio": _bio, "reddit_new_post": _new_post, "reddit_new_forum": _new_forum, "reddit_new_forum_with_post": _new_forum_with_post,
    "reddit_first_message": _first_message, "reddit_send_draft": _send_draft, "reddit_leave_draft": _leave_draft,
    "reddit_answer_message": _answer_message, "reddit_message_author": _message_author,
}
