"""Scripted experts for the site `gitlab`: one small function a template, each a person's plain way through the site.

Projects and issues are always found the same way, by the search field of each page; the rest of a project by the links of its page. What an
expert is called with, and what it may see, is as in `shopping_experts`.
"""

from collections.abc import Callable

from wr1_utils.agent.experts import (
    ExpertError,
    cells,
    click,
    exit_with,
    find,
    find_all,
    hover,
    need,
    page_line,
    row_of,
    search,
    select,
    type_text,
    without_element,
)
from wr1_utils.web.observation import Observation

DONE = "done"                        # what an expert says at the end of a task that asks for no answer


# --- steps that the experts share ------------------------------------------------------------------------------------------------

def _page(observation: Observation) -> str:
    """The page's name: its title without the site's."""
    return observation.title.removeprefix("Pocket Git: ")


def _says(observation: Observation, text: str) -> bool:
    return find(observation, "text", text) is not None


def _done() -> str:
    return exit_with(DONE, DONE)


def _results(observation: Observation, words: str) -> bool:
    """Is this what the search for `words` found?"""
    return _page(observation) == f"Results for {words.lower()}"


def _search(observation: Observation, words: str) -> str:
    return search(need(observation, "textbox", "Search"), words)


def _to_project(project: str, observation: Observation) -> str | None:
    """The next step towards the project's page, or None when it is open."""
    if _page(observation) == project:
        return None
    if _results(observation, project):
        return click(need(observation, "link", contains=f"/ {project}"))
    return _search(observation, project)


def _to_part(part: str, filling: dict, observation: Observation) -> str | None:
    """The next step towards a page of the project ("Issues"), or None when it is open."""
    if _page(observation) == part:
        return None
    return _to_project(filling["project"], observation) or click(need(observation, "link", part))


def _to_issue(issue: str, observation: Observation) -> str | None:
    """The next step towards the issue's page, or None when it is open."""
    if _page(observation) == issue:
        return None
    if _results(observation, issue):
        return click(find(observation, "link", issue) or need(observation, "link", contains="Issues ("))
    return _search(observation, issue)


def _to_request(filling: dict, observation: Observation) -> str | None:
    """The next step towards the merge request's page, or None when it is open."""
    if _page(observation) == filling["request"]:
        return None
    return _to_part("Merge requests", filling, observation) or click(need(observation, "link", filling["request"]))


def _answer_from_row(observation: Observation, name: str) -> str:
    """Ends with the value in the row `name` of the page's facts."""
    line = page_line(observation, f"row {name} | ")
    return exit_with(cells(line)[1], line)


def _answer_from_list(observation: Observation, link: str, column: int) -> str:
    """Ends with a cell of the row in which `link` ends the link."""
    line = page_line(observation, f"{link} [")
    return exit_with(cells(line)[column], line)


def _fill(observation: Observation, button: str, fields: dict[str, str]) -> str:
    """The next step of filling in a form: the first field (label → value) that does not hold what it should, then the button."""
    for label, value in fields.items():
        choice = find(observation, "select", label)
        if choice and choice.value != value:
            return select(choice, value)
        box = choice or need(observation, "textbox", label)
        if box.value != value:
            return type_text(box, value)
    return click(need(observation, "button", button))


# --- questions -------------------------------------------------------------------------------------------------------------------

def _visibility(filling: dict, observation: Observation, memory: dict) -> str:
    return _answer_from_list(observation, f"/ {filling['project']}", 1)


def _stars(filling: dict, observation: Observation, memory: dict) -> str:
    project = filling["project"]
    return _answer_from_list(observation, f"/ {project}", 2) if _results(observation, project) else _search(observation, project)


def _commit_count(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_part("Contributors", filling, observation) or _answer_from_list(observation, f"link {filling['person']}", 1)


def _top_author(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_part("Contributors", filling, observation)
    if step:
        return step
    first = next(e for e in observation.elements if e.role == "link" and e.row is not None)
    return exit_with(first.label, page_line(observation, f"link {first.label} ["))


def _issue_fact(row: str) -> Callable:
    return lambda filling, observation, memory: _to_issue(filling["issue"], observation) or _answer_from_row(observation, row)


def _label_count(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_part("Labels", filling, observation) or _answer_from_list(observation, f"link {filling['label']}", 3)


def _clone_address(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_project(filling["project"], observation) or _answer_from_row(observation, f"Clone with {filling['way']}")


def _milestone_due(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_part("Milestones", filling, observation) or _answer_from_list(observation, f"link {filling['milestone']}", 1)


def _setting(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) != "settings.ini":
        return _to_part("Files", filling, observation) or click(need(observation, "link", "settings.ini"))
    start = f"{filling['setting']} = "
    if not any(e.label.startswith(start) for e in find_all(observation, "text")):
        return exit_with("N/A", "N/A")
    line = page_line(observation, f" | {start}")
    return exit_with(cells(line)[1].removeprefix(start), line)


def _feed_token(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_profile(observation) or _answer_from_row(observation, "Feed token")


def _job(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_part("Members", filling, observation)
    if step:
        return step
    job = find(observation, "text", contains="Job: ")
    if job is None:
        return hover(need(observation, "link", filling["person"]))
    return exit_with(job.label.removeprefix("Job: "), page_line(observation, job.label))


# --- navigation ------------------------------------------------------------------------------------------------------------------

def _filter_issues(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_part("Issues", filling, observation)
    if step:
        return step
    choice = need(observation, "select", filling["filter"].capitalize())
    return _done() if choice.value == filling["value"] else select(choice, filling["value"])


def _branch_commits(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_part("Commits", filling, observation)
    if step:
        return step
    branch, author = need(observation, "select", "Branch"), need(observation, "select", "Author")
    if branch.value != filling["branch"]:
        return select(branch, filling["branch"])
    return _done() if author.value == filling["person"] else select(author, filling["person"])


def _open_review(filling: dict, observation: Observation, memory: dict) -> str:
    if _page(observation) == "My merge requests":
        return click(need(observation, "link", row=row_of(observation, filling["project"])))
    return _done() if _says(observation, "Merge request") else click(need(observation, "link", "My merge requests"))


def _open_file(filling: dict, observation: Observation, memory: dict) -> str:
    folder, _, name = filling["file"].rpartition("/")
    if _page(observation) == filling["file"]:
        return _done()
    if folder and _page(observation) == folder:
        return click(need(observation, "link", name))
    return _to_part("Files", filling, observation) or click(need(observation, "link", folder or name))


# --- changes of state ------------------------------------------------------------------------------------------------------------

def _star(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_project(filling["project"], observation)
    if step:
        return step
    button = find(observation, "button", filling["do"])
    return click(button) if button else _done()


def _star_open(filling: dict, observation: Observation, memory: dict) -> str:
    part = filling["page"].capitalize()
    if _page(observation) == part:
        return _done()
    step = _to_project(filling["project"], observation)
    return step or click(find(observation, "button", "Star") or need(observation, "link", part))


def _fork(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, f"You forked {filling['project']}."):
        return _done()
    return _to_project(filling["project"], observation) or click(need(observation, "button", "Fork"))


def _new_issue(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "The issue was created."):
        return _done()
    if _page(observation) == "New issue":
        return _fill(observation, "Create issue", {"Title": filling["title"], "Labels": filling["label"], "Assignee": filling["person"],
                                                    "Due date": filling["date"]})
    return _to_part("Issues", filling, observation) or click(need(observation, "link", "New issue"))


def _to_edit_issue(filling: dict, observation: Observation) -> str | None:
    """The next step towards the form of the issue; the end, where it was saved; None when the form is open."""
    if _says(observation, "The issue was saved."):
        return _done()
    if _page(observation).startswith("Edit issue"):
        return None
    return _to_issue(filling["issue"], observation) or click(need(observation, "link", "Edit issue"))


def _assign_issue(filling: dict, observation: Observation, memory: dict) -> str:
    return _to_edit_issue(filling, observation) or _fill(observation, "Save changes", {"Assignee": filling["person"]})


def _label_issue(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_edit_issue(filling, observation)
    if step:
        return step
    box = need(observation, "checkbox", filling["label"])
    return click(need(observation, "button", "Save changes") if "checked" in box.state else box)


def _comment_close(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "The issue was closed."):
        return _done()
    if _says(observation, "Your comment was added."):
        return click(need(observation, "button", "Close issue"))
    return _to_issue(filling["issue"], observation) or _fill(observation, "Comment", {"Comment text": filling["text"]})


def _request(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_request(filling, observation)
    if step:
        return step
    button = find(observation, "button", filling["do"])
    return click(button) if button else _done()


def _approve_merge(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_request(filling, observation)
    if step:
        return step
    button = find(observation, "button", "Approve") or find(observation, "button", "Merge")
    return click(button) if button else _done()


def _new_request(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "The merge request was created."):
        return _done()
    if _page(observation) == "New merge request":
        return _fill(observation, "Create merge request", {"Source branch": filling["branch"], "Title": filling["title"],
                                                            "Reviewer": filling["person"]})
    return _to_part("Merge requests", filling, observation) or click(need(observation, "link", "New merge request"))


def _invite(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, f"{filling['person']} was added as {filling['role']}."):
        return _done()
    step = _to_part("Members", filling, observation)
    return step or _fill(observation, "Invite", {"User name": filling["person"], "Role": filling["role"]})


def _change_role(filling: dict, observation: Observation, memory: dict) -> str:
    step = _to_part("Members", filling, observation)
    if step:
        return step
    role = need(observation, "select", f"Role of {filling['person']}")
    return _done() if role.value == filling["role"] else select(role, filling["role"])


def _remove_member(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, f"{filling['person']} was removed."):
        return _done()
    return _to_part("Members", filling, observation) or click(need(observation, "button", f"Remove {filling['person']}"))


def _edit_file(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "Your change was committed."):
        return _done()
    if _page(observation) == "Edit VERSION":
        return _fill(observation, "Commit changes", {"Content": filling["version"], "Commit message": filling["message"]})
    if _page(observation) == "VERSION":
        return click(need(observation, "link", "Edit file"))
    return _to_part("Files", filling, observation) or click(need(observation, "link", "VERSION"))


def _create(filling: dict, observation: Observation, memory: dict) -> str:
    kind = filling["kind"]
    if _says(observation, f"The {kind} was created."):
        return _done()
    if _page(observation) != f"New {kind}":
        return click(need(observation, "link", f"New {kind}"))
    box, radio = need(observation, "textbox", "Name"), need(observation, "radio", contains=f"{filling['visibility'].capitalize()}: ")
    if box.value != filling["name"]:
        return type_text(box, filling["name"])
    return click(need(observation, "button", f"Create {kind}") if "checked" in radio.state else radio)


def _to_profile(observation: Observation) -> str | None:
    """The next step towards the form of one's own profile, or None when it is open."""
    if _page(observation) == "Edit profile":
        return None
    return click(find(observation, "link", "Edit profile") or need(observation, "link", "Profile"))


def _status(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "Your profile was saved."):
        return _done()
    return _to_profile(observation) or _fill(observation, "Update profile", {"Status message": filling["status"]})


def _email(filling: dict, observation: Observation, memory: dict) -> str:
    """Asks for the email; then back from the page that wants the code to the one that shows it, and forward again."""
    if _says(observation, "Your email was changed."):
        return _done()
    if _page(observation) == "Confirm your new email":
        return _fill(observation, "Confirm", {"Code": memory["code"]}) if "code" in memory else without_element(
            "go_backward()", page_line(observation, "The code is now shown"))
    if _page(observation) != "Email":
        return click(find(observation, "link", "Email") or need(observation, "link", "Profile"))
    if "asked" in memory:
        line = page_line(observation, "Its code is ")
        memory["code"] = line.split("Its code is ")[1].rstrip(".")
        return without_element("go_forward()", line)
    box = need(observation, "textbox", "New email")
    if box.value != filling["email"]:
        return type_text(box, filling["email"])
    memory["asked"] = True
    return click(need(observation, "button", "Change email"))


def _new_milestone(filling: dict, observation: Observation, memory: dict) -> str:
    if _says(observation, "The milestone was created."):
        return _done()
    if _page(observation) == "New milestone":
        return _fill(observation, "Create milestone", {"Title": filling["title"], "Due date": filling["date"]})
    return _to_part("Milestones", filling, observation) or click(need(observation, "link", "New milestone"))


EXPERTS = {
    "gitlab_visibility": _visibility, "gitlab_stars": _stars, "gitlab_commit_count": _commit_count, "gitlab_top_author": _top_author,
    "gitlab_issue_assignee": _issue_fact("Assignee"), "gitlab_issue_state": _issue_fact("State"),
    "gitlab_issue_due": _issue_fact("Due date"),
    "gitlab_label_count": _label_count, "gitlab_clone_address": _clone_address, "gitlab_milestone_due": _milestone_due,
    "gitlab_setting": _setting, "gitlab_no_such_setting": _setting, "gitlab_feed_token": _feed_token, "gitlab_job": _job, "gitlab_email": _email,
    "gitlab_filter_issues": _filter_issues, "gitlab_branch_commits": _branch_commits, "gitlab_open_review": _open_review,
    "gitlab_open_file": _open_file,
    "gitlab_star": _star, "gitlab_star_open": _star_open, "gitlab_fork": _fork, "gitlab_new_issue": _new_issue,
    "gitlab_assign_issue": _assign_issue, "gitlab_label_issue": _label_issue, "gitlab_comment_close": _comment_close,
    "gitlab_request": _request, "gitlab_approve_merge": _approve_merge, "gitlab_new_request": _new_request,
    "gitlab_invite": _invite, "gitlab_change_role": _change_role, "gitlab_remove_member": _remove_member,
    "gitlab_edit_file": _edit_file, "gitlab_create": _create, "gitlab_status": _status, "gitlab_new_milestone": _new_milestone,
}
