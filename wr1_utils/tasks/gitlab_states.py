"""The seed state of the Pocket Arena's site `gitlab` as records, and the evaluation records of what its tasks change.

A change is compared with the whole issue and the list that it stands in, the whole merge request and its neighbours, all members, or
whatever else of its kind could have been changed, and with how many rows of every table have changed, and in which fields.
"""

import functools
from collections import Counter
from dataclasses import dataclass

from wr1_utils.sites import gitlab_issues, gitlab_merges, gitlab_seed
from wr1_utils.sites.gitlab_seed import ROLES, USER, slug_of
from wr1_utils.sites.gitlab_words import LABELS
from wr1_utils.sites.shopping_seed import PAGE_SIZE, TODAY
from wr1_utils.sites.world import open_database
from wr1_utils.tasks.templates import only_changed, state, url

# What a state is compared by: JavaScript that gives it as one line of text.
FACTS = '[...document.querySelectorAll("h1, #description, .facts td, tr.comment td")].map(e => e.innerText).join("; ")'
ROWS = '[...document.querySelectorAll("#count, .list td")].map(e => e.innerText).join("; ")'
MEMBERS = '[...document.querySelectorAll("tr.member")].map(e => e.dataset.item).join("; ")'
LABEL_ROWS = '[...document.querySelectorAll("tr.label")].map(e => [...e.cells].slice(0, 3).map(cell => cell.innerText).join(", ")).join("; ")'
FIELDS = '[...document.querySelectorAll("form.card input")].map(e => e.value).join("; ")'
EMAIL = '[...document.querySelectorAll(".facts td, #waiting")].map(e => e.innerText).join("; ")'
STATES = {"opened": "Open", "merged": "Merged", "closed": "Closed"}


@dataclass(frozen=True)
class Git:
    """The seed state of the site, as lists of records."""
    user: dict
    people: dict[str, str]           # name → user name
    projects: tuple[dict, ...]       # all that the user sees; each with its members, issues, merge requests, commits, files …
    jobs: dict[str, str]             # name → job
    groups: tuple[str, ...]          # "Mill Road Lab; Owner", as the user's list of groups shows them

    def named(self, role: str = "") -> list[dict]:
        """The projects whose name is theirs alone, and in which the user has at least this role ("": with or without one)."""
        names = Counter(project["name"] for project in self.projects)
        return [p for p in self.projects if names[p["name"]] == 1 and p["rank"] >= ROLES.get(role, 0)]

    def project(self, name: str) -> dict:
        return next(project for project in self.named() if project["name"] == name)

    def issue(self, title: str) -> tuple[dict, dict]:
        """The issue and its project."""
        return next((issue, project) for project in self.named() for issue in project["issues"] if issue["title"] == title)

    def issues(self) -> list[dict]:
        return [issue for project in self.named() for issue in project["issues"]]


@functools.cache
def seed_git() -> Git:
    database = open_database(gitlab_seed.seed_database())

    def records(query: str, *values) -> list[dict]:
        return [dict(row) for row in database.execute(query, values)]

    def with_comments(kind: str, found: list[dict]) -> list[dict]:
        for record in found:
            record["comments"] = records("SELECT u.name, c.date, c.text FROM comments c JOIN users u ON u.id = c.author "
                                         "WHERE kind = ? AND holder = ? ORDER BY c.id", kind, record["id"])
        return found

    users = records("SELECT * FROM users ORDER BY id")
    user = next(user for user in users if user["id"] == USER)
    projects = records(f"""SELECT p.*, (SELECT count(*) FROM stars WHERE project = p.id) AS stars,
                                  EXISTS (SELECT 1 FROM stars WHERE project = p.id AND user = {USER}) AS starred
                           FROM projects p ORDER BY p.name, p.space""")
    for project in projects:
        key = project["id"]
        project["url"] = f"/{project['space']}/{project['path']}"
        project["members"] = records("""SELECT m.kind, m.role, u.name, u.username FROM members m JOIN users u ON u.id = m.user
            WHERE (m.kind = 'project' AND m.holder = ?) OR (m.kind = 'group' AND m.holder = (SELECT id FROM groups WHERE path = ?))
            ORDER BY m.kind DESC, u.name""", key, project["space"])
        project["rank"] = max((ROLES[m["role"]] for m in project["members"] if m["username"] == user["username"]), default=0)
        project["labels"] = [row["name"] for row in records("SELECT name FROM labels WHERE project = ? ORDER BY name", key)]
        project["milestones"] = records("""SELECT title, due, state, (SELECT count(*) FROM issues WHERE milestone = m.id) AS every,
            (SELECT count(*) FROM issues WHERE milestone = m.id AND state = 'closed') AS closed FROM milestones m WHERE project = ?""", key)
        project["issues"] = with_comments("issue", records(f"{gitlab_issues.LISTED} WHERE i.project = ? ORDER BY i.iid", key))
        project["merges"] = with_comments("merge", records(f"{gitlab_merges.LISTED} WHERE r.project = ? ORDER BY r.iid", key))
        for merge in project["merges"]:
            merge["approvals"] = [row["name"] for row in records("SELECT u.name FROM approvals a JOIN users u ON u.id = a.user "
                                                                 "WHERE merge_request = ? ORDER BY u.name", merge["id"])]
        project["commits"] = records("SELECT c.*, u.name, u.username FROM commits c JOIN users u ON u.id = c.author WHERE project = ? "
                                     "ORDER BY c.date DESC, c.id DESC", key)
        for commit in project["commits"]:
            commit["paths"] = [row["path"] for row in records("SELECT path FROM changes WHERE commit_id = ?", commit["id"])]
        project["branches"] = [row["name"] for row in records("SELECT name FROM branches WHERE project = ? ORDER BY id", key)]
        project["files"] = {(row["branch"], row["path"]): row["text"] for row in records("SELECT * FROM files WHERE project = ?", key)}
    groups = records("SELECT g.name, m.role FROM groups g JOIN members m ON m.kind = 'group' AND m.holder = g.id WHERE m.user = ?", USER)
    database.close()
    names = {row["name"]: row["username"] for row in users}
    return Git(user, names, tuple(projects), {row["name"]: row["job"] for row in users}, tuple(f"{g['name']}; {g['role']}" for g in groups))


def on_main(project: dict) -> list[dict]:
    """The commits on main, newest first."""
    return [commit for commit in project["commits"] if commit["branch"] == "main"]


def settings_of(project: dict) -> dict[str, set[str]]:
    """Each key of settings.ini with its values on all branches."""
    lines = [line.split(" = ") for (_, path), text in project["files"].items() if path == "settings.ini" for line in text.split("\n")]
    return {key: {value for name, value in lines if name == key} for key, _ in lines}


def other_members(git: Git, project: dict) -> list[str]:
    """The names of the members, group and all, without the user's."""
    return sorted({member["name"] for member in project["members"]} - {git.user["name"]})


# --- parts of evaluation records -------------------------------------------------------------------------------------------------

def _state(*checks: tuple[str, str, list], **changed: tuple) -> dict:
    """What these pages show, and what of each table has changed, as `only_changed` takes it."""
    return state("gitlab", *((path, locator, "; ".join(map(str, wanted))) for path, locator, wanted in checks), only_changed(**changed))


def _told(git: Git, person: str | None) -> tuple[int, int]:
    """The rows of `todos` gone and new when something is assigned to this person: others than the user are told of it."""
    return 0, int(person not in (None, git.user["name"]))


def both(first: dict, second: dict) -> dict:
    """Both records must hold: an answer or a state, and the address."""
    return {**first, "eval_types": first["eval_types"] + second["eval_types"], "reference_url": second["reference_url"],
            "url_note": second["url_note"]}


def _facts(record: dict, sign: str, *own: str) -> list:
    """What the page of an issue or a merge request shows: its own facts stand between its author and its comments."""
    comments = [text for comment in record["comments"] for text in comment.values()]
    return [record["title"], record["description"], f"{sign}{record['iid']}", STATES[record["state"]],
            f"{record['author_name']}, {record['created']}", *own, *comments]


def _issues_state(project: dict, issue: dict, issues: list[dict], /, **changed) -> dict:
    """The page of the issue, and the list of all open ones: number, title, labels, assignee."""
    facts = _facts(issue, "#", *(issue[field] or "None" for field in ("assignee_name", "label_names", "milestone_title", "due")))
    listed = sorted((i for i in issues if i["state"] == "opened"), key=lambda i: (i["title"], i["id"]))
    cells = [(f"#{i['iid']}", i["title"], i["label_names"] or "", i["assignee_name"] or "", i["created"]) for i in listed]
    pages = [(f"{project['url']}/-/issues?sort=title_asc&page={start // PAGE_SIZE + 1}", ROWS,
              [f"{len(listed)} issues", *sum(cells[start:start + PAGE_SIZE], ())]) for start in range(0, len(cells), PAGE_SIZE)]
    return _state((f"{project['url']}/-/issues/{issue['iid']}", FACTS, facts), *pages, **changed)


def issue_changed(git: Git, title: str, **changes) -> dict:
    """The issue with these fields changed, and nothing else."""
    issue, project = git.issue(title)
    changed, own = {**issue, **changes}, [name.removesuffix("_name") for name in ("assignee_name", "state") if name in changes]
    return _issues_state(project, changed, [changed if i is issue else i for i in project["issues"]], issues=(int(bool(own)), int(bool(own)), *own),
                         todos=_told(git, changes.get("assignee_name")), issue_labels=(0, int("label_names" in changes)),
                         comments=(0, int("comments" in changes)))


def _merges_state(project: dict, merge: dict, merges: list[dict], /, **changed) -> dict:
    """The page of the merge request, the list of all, and the pages of the other open ones."""
    def page(one: dict) -> tuple[str, str, list]:
        facts = _facts(one, "!", f"{one['source']} into {one['target']}", one["assignee_name"] or "None", one["reviewer_name"] or "None",
                       ", ".join(one["approvals"]) or "Nobody")
        return f"{project['url']}/-/merge_requests/{one['iid']}", FACTS, facts

    cells = [(f"!{m['iid']}", m["title"], m["author_name"], m["state"], m["created"]) for m in sorted(merges, key=lambda m: -m["iid"])]
    rows = [f"{len(merges)} merge requests", *sum(cells[:PAGE_SIZE], ())]
    others = [page(other) for other in merges if other is not merge and other["state"] == "opened"]
    return _state(page(merge), (f"{project['url']}/-/merge_requests?state=all", ROWS, rows), *others, **changed)


def merge_changed(git: Git, filling: dict, **changes) -> dict:
    """The open merge request with these fields changed, and nothing else."""
    project = git.project(filling["project"])
    merge = next(m for m in project["merges"] if m["title"] == filling["request"] and m["state"] == "opened")
    changed, own = {**merge, **changes}, int("state" in changes)
    brought = _merged(project, merge["source"]) if changed["state"] == "merged" else {}
    return _merges_state(project, changed, [changed if m is merge else m for m in project["merges"]], merge_requests=(own, own, "state"),
                         approvals=(0, int("approvals" in changes)), **brought)


def _merged(project: dict, source: str) -> dict[str, tuple]:
    """What a merge changes beside its request: the branch goes with its files, and main has its commits and what they changed."""
    commits = [commit for commit in project["commits"] if commit["branch"] == source]
    paths = {path for commit in commits for path in commit["paths"]}
    kept = sum(("main", path) in project["files"] for path in paths)
    own = sum(branch == source for branch, _ in project["files"])
    return {"branches": (1, 0), "commits": (len(commits), len(commits), "branch"), "merged_commits": (0, len(commits)),
            "files": (own + kept, len(paths), *["text"] * bool(kept))}


def _members_state(project: dict, members: list[dict], *changed: int | str) -> dict:
    members = sorted(members, key=lambda m: (m["kind"] == "group", m["name"]))
    return _state((f"{project['url']}/-/project_members", MEMBERS, [f"{m['username']}: {m['role']}" for m in members]), members=changed)


def _project_rows(projects: list[dict]) -> list:
    return [cell for p in sorted(projects, key=lambda p: (p["name"], p["space"]))[:PAGE_SIZE]
            for cell in (f"{p['space']} / {p['name']}", p["visibility"], p["stars"])]


def _own_project(git: Git, name: str, description: str, visibility: str, commits: list[dict], files: int, *source: str) -> dict:
    """The page of a new project of the user's, the list of all that are theirs, and what it begins with: commits, the user alone, labels, the number of files."""
    space, path = git.user["username"], slug_of(name)
    clone = [f"git@gitlab.localhost:{space}/{path}.git", f"http://gitlab.localhost/{space}/{path}.git"]
    made = {"space": space, "name": name, "visibility": visibility, "stars": 0}
    cells = [cell for commit in commits[:PAGE_SIZE] for cell in (commit["title"], commit["name"], commit["date"])]
    return _state((f"/{space}/{path}", FACTS, [name, description, f"{space}/{path}", visibility, 0, 0, *source, *clone]),
                  (f"/{space}", ROWS, _project_rows([*(p for p in git.projects if p["space"] == space), made])),
                  (f"/{space}/{path}/-/commits/main", ROWS, [f"{len(commits)} commit{'s' * (len(commits) != 1)}", *cells]),
                  (f"/{space}/{path}/-/project_members", MEMBERS, [f"{space}: Owner"]),
                  (f"/{space}/{path}/-/labels", LABEL_ROWS, [f"{label}, {', '.join(LABELS[label])}" for label in sorted(LABELS)]),
                  projects=(0, 1), members=(0, 1), branches=(0, 1), labels=(0, len(LABELS)), files=(0, files), commits=(0, len(commits)),
                  changes=(0, sum(len(commit["paths"]) for commit in commits)))


def starred(git: Git, name: str, starred: bool) -> dict:
    """The list of starred projects after one was starred, or its star removed."""
    projects = [{**p, "starred": starred, "stars": p["stars"] + (1 if starred else -1)} if p["name"] == name else p for p in git.projects]
    return _state(("/dashboard/starred", ROWS, _project_rows([p for p in projects if p["starred"]])),
                  stars=(0, 1) if starred else (1, 0))


# --- what the tasks change -------------------------------------------------------------------------------------------------------

def new_issue(git: Git, filling: dict) -> dict:
    """A new issue with one label, an assignee and a due date."""
    project = git.project(filling["project"])
    issue = {"id": 10_000, "iid": len(project["issues"]) + 1, "title": filling["title"], "description": "", "state": "opened",
             "author_name": git.user["name"], "created": TODAY, "assignee_name": filling["person"], "label_names": filling["label"],
             "milestone_title": "", "due": filling["date"], "comments": []}
    return _issues_state(project, issue, [*project["issues"], issue], issues=(0, 1), issue_labels=(0, 1),
                         todos=_told(git, filling["person"]))


def add_label(git: Git, filling: dict) -> dict:
    """One label more."""
    labels = git.issue(filling["issue"])[0]["label_names"].split(", ")
    return issue_changed(git, filling["issue"], label_names=", ".join(sorted([*labels, filling["label"]])))


def comment_close(git: Git, filling: dict) -> dict:
    """A closed issue whose last comment is the user's."""
    comments = git.issue(filling["issue"])[0]["comments"]
    mine = {"name": git.user["name"], "date": TODAY, "text": filling["text"]}
    return issue_changed(git, filling["issue"], state="closed", comments=[*comments, mine])


def request(git: Git, filling: dict) -> dict:
    """A merge request that was approved, merged or closed."""
    changes = {"Approve": {"approvals": [git.user["name"]]}, "Merge": {"state": "merged"}, "Close": {"state": "closed"}}
    return merge_changed(git, filling, **changes[filling["do"]])


def new_request(git: Git, filling: dict) -> dict:
    """A new merge request with a reviewer."""
    project = git.project(filling["project"])
    merge = {"iid": len(project["merges"]) + 1, "title": filling["title"], "description": "", "state": "opened",
             "source": filling["branch"], "target": "main", "author_name": git.user["name"], "created": TODAY, "assignee_name": None,
             "reviewer_name": filling["person"], "approvals": [], "comments": []}
    return _merges_state(project, merge, [*project["merges"], merge], merge_requests=(0, 1),
                         todos=_told(git, filling["person"]))


def invite(git: Git, filling: dict) -> dict:
    """One member more."""
    project, name = git.project(filling["project"]), filling["person"]
    member = {"kind": "project", "role": filling["role"], "name": name, "username": git.people[name]}
    return _members_state(project, [*project["members"], member], 0, 1)


def change_role(git: Git, filling: dict) -> dict:
    """The same members, one with another role."""
    project = git.project(filling["project"])
    return _members_state(project, [{**m, "role": filling["role"]} if m["name"] == filling["person"] else m for m in project["members"]],
                          1, 1, "role")


def remove_member(git: Git, filling: dict) -> dict:
    """One member less."""
    project = git.project(filling["project"])
    return _members_state(project, [m for m in project["members"] if m["name"] != filling["person"]], 1, 0)


def edit_file(git: Git, filling: dict) -> dict:
    """Another text in VERSION, and the commit that brought it."""
    project = git.project(filling["project"])
    commits = [{"title": filling["message"], "name": git.user["name"], "date": TODAY}, *on_main(project)]
    cells = [cell for commit in commits[:PAGE_SIZE] for cell in (commit["title"], commit["name"], commit["date"])]
    return _state((f"{project['url']}/-/blob/main/VERSION", ROWS, [1, filling["version"]]),
                  (f"{project['url']}/-/commits/main", ROWS, [f"{len(commits)} commits", *cells]),
                  files=(1, 1, "text"), commits=(0, 1), changes=(0, 1))


def create(git: Git, filling: dict) -> dict:
    """A new project or group of the user's, and the list of all that are theirs."""
    name, visibility = filling["name"], filling["visibility"].capitalize()
    if filling["kind"] == "project":
        return _own_project(git, name, "", visibility, [{"title": "Initial commit", "name": git.user["name"], "date": TODAY, "paths": ["README.md"]}], 1)
    return _state((f"/{slug_of(name)}", FACTS, [name, "", slug_of(name), visibility]),
                  ("/dashboard/groups", ROWS, sorted([*git.groups, f"{name}; Owner"])), groups=(0, 1), members=(0, 1))


def new_milestone(git: Git, filling: dict) -> dict:
    """One milestone more."""
    project = git.project(filling["project"])
    made = {"title": filling["title"], "due": filling["date"], "state": "active", "every": 0, "closed": 0}
    cells = [(m["title"], m["due"], m["state"], f"{m['closed']} of {m['every']}")
             for m in sorted([*project["milestones"], made], key=lambda m: m["due"])]
    return _state((f"{project['url']}/-/milestones", ROWS, list(sum(cells, ()))), milestones=(0, 1))


def fork(git: Git, filling: dict) -> dict:
    """The copy of a project, which is also where the episode must end."""
    source = git.project(filling["project"])
    files = sum(branch == "main" for branch, _ in source["files"])
    done = _own_project(git, source["name"], source["description"], source["visibility"], on_main(source), files,
                        f"{source['space']} / {source['name']}")
    return both(done, url("gitlab", f"/{git.user['username']}/{source['path']}"))


def status(git: Git, filling: dict) -> dict:
    """The profile with another status message."""
    return _state(("/profile", FIELDS, [git.user["name"], filling["status"], git.user["bio"], git.user["location"]]), users=(1, 1, "status"))


def new_email(git: Git, filling: dict) -> dict:
    """The profile with another email, whose page is also where the episode must end."""
    done = _state(("/profile/email", EMAIL, [filling["email"]]),
                  ("/profile", FIELDS, [git.user[field] for field in ("name", "status", "bio", "location")]),
                  users=(1, 1, "email", "email_requests"))
    return both(done, url("gitlab", "/profile/email"))


def star_and_open(git: Git, filling: dict, path: str) -> dict:
    """A starred project, at one of whose pages the episode must end."""
    return both(starred(git, filling["project"], True), url("gitlab", f"{git.project(filling['project'])['url']}/-/{path}"))
