"""The task templates of the Pocket Arena's site `gitlab`.

Projects, issues and people are named as the site names them, each name once on the site (projects that were forked are left out).
"""

import random
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlencode

from wr1_utils.sites.gitlab_seed import ROLES, USER, slug_of
from wr1_utils.sites.gitlab_words import PROJECTS
from wr1_utils.sites.shopping_seed import LOOKS, PAGE_SIZE
from wr1_utils.tasks import gitlab_states as states
from wr1_utils.tasks.gitlab_states import STATES, Git, other_members, seed_git, settings_of
from wr1_utils.tasks.templates import Template, answer, url

PAGES = {"contributors": "graphs/main", "milestones": "milestones", "labels": "labels", "issues": "issues",
         "merge requests": "merge_requests", "members": "project_members"}
FILTERS = {"label": "label_name", "assignee": "assignee_username", "milestone": "milestone_title"}
ISSUE_TITLES = ("Button is too small", "Text is hard to read", "Menu closes too early", "Help page is missing", "Picture is upside down",
                "Wrong date in the footer", "Sound is too loud", "Add a dark theme")
REQUEST_TITLES = ("First try", "Draft for review", "Small cleanup", "New attempt", "Ready for comments", "Short experiment")
COMMIT_MESSAGES = ("Prepare a release", "Raise the version", "New version", "Next release")
MILESTONE_TITLES = ("Autumn release", "Beta test", "Code freeze", "Public launch", "Bug week")
LAST_WORDS = ("Fixed in the last release", "Solved by the new version", "This is a duplicate", "We will not do this", "No longer needed")
STATUSES = ("Out for lunch", "Back on Monday", "In a meeting", "Working from home", "Reading the manual", "Looking for bugs")
NEW_THINGS = ("Clock", "Radar", "Ledger", "Compass", "Notebook", "Signal")


# --- fillings --------------------------------------------------------------------------------------------------------------------

def _day(rng: random.Random) -> str:
    return f"2026-{rng.randint(4, 9):02d}-{rng.randint(1, 30):02d}"


def _projects(git, rng):
    return [{"project": project["name"]} for project in git.named()]


def _on_first_page(git, rng):
    own = sorted((p for p in git.projects if p["rank"]), key=lambda p: (p["name"], p["space"]))[:PAGE_SIZE]
    return [{"project": project["name"]} for project in own if project in git.named()]


def _authors(git, rng):
    return [{"person": name, "project": project["name"]} for project in git.named()
            for name in sorted({commit["name"] for commit in states.on_main(project)})]


def _people(git, rng):
    """Each person once, in one of their projects."""
    projects = {name: project["name"] for project in git.named() for name in other_members(git, project)}
    return [{"person": name, "project": projects[name]} for name in projects]


def _issues_with(field: str) -> Callable:
    return lambda git, rng: [{"issue": issue["title"]} for issue in git.issues() if issue[field]]


def _milestones(git, rng):
    return [{"milestone": milestone["title"], "project": project["name"]} for project in git.named() for milestone in project["milestones"]]


def _set_settings(git, rng):
    return [{"setting": key, "project": project["name"]} for project in git.named() for key in _main_settings(project)
            if len(settings_of(project)[key]) == 1]


def _unset_settings(git, rng):
    things = {project["name"]: PROJECTS[project["url"].removeprefix("/")][4] for project in git.named()}
    keys = [{"setting": thing.replace(" ", "_"), "project": name} for name in things for thing in things[name]]
    return [key for key in keys if key["setting"] not in settings_of(git.project(key["project"]))]


def _filters(git, rng):
    values = {project["name"]: {"label": project["labels"], "milestone": [m["title"] for m in project["milestones"]],
                                "assignee": [git.user["name"], *other_members(git, project)]} for project in git.named()}
    return [{"project": name, "filter": kind, "value": value} for name in values for kind in FILTERS for value in values[name][kind]]


def _branch_authors(git, rng):
    return [{"person": name, "branch": branch, "project": project["name"]} for project in git.named() for branch in project["branches"][1:]
            for name in sorted({commit["name"] for commit in project["commits"] if commit["branch"] in ("main", branch)})]


def _reviews(git, rng):
    """The projects of which just one merge request waits for the user."""
    waiting = Counter(project["name"] for project, _ in _waiting(git))
    return [{"project": name} for name in waiting if waiting[name] == 1]


def _files(git, rng):
    return [{"file": path, "project": project["name"]} for project in git.named() for branch, path in project["files"] if branch == "main"]


def _stars(git, rng):
    return [{"do": "Unstar" if project["starred"] else "Star", "project": project["name"]} for project in git.named()]


def _new_issues(git, rng):
    projects = [rng.choice(git.named("Reporter")) for _ in range(40)]
    return [{"title": rng.choice(ISSUE_TITLES), "project": project["name"], "label": rng.choice(project["labels"]),
             "person": rng.choice(other_members(git, project)), "date": _day(rng)} for project in projects]


def _open_issues(git: Git) -> list[tuple[dict, dict]]:
    """The open issues that the user may change, each after its project."""
    return [(project, issue) for project in git.named("Reporter") for issue in project["issues"] if issue["state"] == "opened"]


def _assignments(git, rng):
    return [{"issue": issue["title"], "person": rng.choice(sorted(set(other_members(git, project)) - {issue["assignee_name"]}))}
            for project, issue in _open_issues(git)]


def _more_labels(git, rng):
    return [{"label": rng.choice(sorted(set(project["labels"]) - set(issue["label_names"].split(", ")))), "issue": issue["title"]}
            for project, issue in _open_issues(git)]


def _last_words(git, rng):
    return [{"text": rng.choice(LAST_WORDS), "issue": issue["title"]} for _, issue in _open_issues(git)]


def _requests(git, rng):
    """The open merge requests of others."""
    return [{"request": merge["title"], "project": project["name"]} for project in git.named("Developer") for merge in project["merges"]
            if merge["state"] == "opened" and merge["author"] != USER]


def _new_requests(git, rng):
    taken = {(merge["project"], merge["source"]) for project in git.projects for merge in project["merges"] if merge["state"] == "opened"}
    return [{"title": rng.choice(REQUEST_TITLES), "branch": branch, "project": project["name"], "person": person}
            for project in git.named("Developer") for branch in project["branches"][1:] if (project["id"], branch) not in taken
            for person in other_members(git, project)]


def _invitations(git, rng):
    return [{"person": person, "project": project["name"], "role": rng.choice(("Reporter", "Developer", "Maintainer"))}
            for project in git.named("Maintainer") for person in git.people if person not in {m["name"] for m in project["members"]}]


def _members(git, rng):
    """The members of a project alone, whom the user may change."""
    counts = {project["name"]: Counter(member["name"] for member in project["members"]) for project in git.named("Maintainer")}
    return [{"person": member["name"], "project": project["name"], "role": member["role"]} for project in git.named("Maintainer")
            for member in project["members"] if member["kind"] == "project" and counts[project["name"]][member["name"]] == 1
            and member["name"] != git.user["name"] and ROLES[member["role"]] <= project["rank"]]


def _other_roles(git, rng):
    return [{**member, "role": rng.choice([role for role in ROLES if role not in (member["role"], "Owner")])}
            for member in _members(git, rng)]


def _versions(git, rng):
    return [{"project": project["name"], "version": f"{rng.randint(1, 9)}.{rng.randint(0, 9)}.{rng.randint(1, 9)}", "message": message}
            for project in git.named("Developer") for message in COMMIT_MESSAGES]


def _new_names(git, rng):
    names = [f"{look} {thing}" for look in LOOKS for thing in NEW_THINGS]
    return [{"visibility": rng.choice(("private", "internal", "public")), "kind": rng.choice(("project", "group")), "name": name}
            for name in names]


def _new_milestones(git, rng):
    return [{"title": title, "project": project["name"], "date": _day(rng)}
            for project in git.named("Developer") for title in MILESTONE_TITLES]


# --- answers and addresses -------------------------------------------------------------------------------------------------------

def _main_settings(project: dict) -> dict[str, str]:
    return dict(line.split(" = ") for line in project["files"]["main", "settings.ini"].split("\n"))


def _waiting(git: Git) -> list[tuple[dict, dict]]:
    """The open merge requests that wait for the user's review, each after its project."""
    return [(project, merge) for project in git.projects for merge in project["merges"]
            if merge["state"] == "opened" and merge["reviewer"] == USER]


def _review(git: Git, filling: dict) -> dict:
    project, merge = next(pair for pair in _waiting(git) if pair[0]["name"] == filling["project"])
    return url("gitlab", f"{project['url']}/-/merge_requests/{merge['iid']}")


def _counts(git: Git, filling: dict) -> Counter:
    return Counter(commit["name"] for commit in states.on_main(git.project(filling["project"])))


def _label_count(git: Git, filling: dict) -> dict:
    issues = git.project(filling["project"])["issues"]
    return answer(str(sum(i["state"] == "opened" and filling["label"] in i["label_names"].split(", ") for i in issues)))


def _clone(git: Git, filling: dict) -> dict:
    project, start = git.project(filling["project"]), {"SSH": "git@gitlab.localhost:", "HTTP": "http://gitlab.localhost/"}
    return answer(f"{start[filling['way']]}{project['space']}/{project['path']}.git")


def _milestone_due(git: Git, filling: dict) -> dict:
    return answer(next(m["due"] for m in git.project(filling["project"])["milestones"] if m["title"] == filling["milestone"]))


def _in_project(git: Git, filling: dict, path: str, **query: str) -> dict:
    return url("gitlab", f"{git.project(filling['project'])['url']}/-/{path}" + (f"?{urlencode(query)}" if query else ""))


def _filtered(git: Git, filling: dict) -> dict:
    return _in_project(git, filling, "issues", **{FILTERS[filling["filter"]]: git.people.get(filling["value"], filling["value"])})


def _issue_state(git: Git, filling: dict) -> dict:
    issue, project = git.issue(filling["issue"])
    return states.both(answer(STATES[issue["state"]]), url("gitlab", f"{project['url']}/-/issues/{issue['iid']}"))


def _git(name: str, phrasings: tuple[str, ...], fillings: Callable[[Git, random.Random], list[dict]],
         evaluation: Callable[[Git, dict], dict], train: int, test: int) -> Template:
    return Template(f"gitlab_{name}", phrasings, lambda rng: fillings(seed_git(), rng), lambda filling: evaluation(seed_git(), filling),
                    train, test, sites=("gitlab",))


TEMPLATES = (
    # questions
    _git("visibility", ("What is the visibility of {{project}}?",), _on_first_page,
         lambda git, f: answer(git.project(f["project"])["visibility"]), 3, 1),
    _git("stars", ("How many stars does {{project}} have?",), _projects,
         lambda git, f: answer(str(git.project(f["project"])["stars"])), 4, 0),
    _git("commit_count", ("How many commits to main of {{project}} did {{person}} make?",
                          "How many commits on main of {{project}} are by {{person}}?"), _authors,
         lambda git, f: answer(str(_counts(git, f)[f["person"]])), 5, 1),
    _git("top_author", ("Who made the most commits to main of {{project}}?",), _projects,
         lambda git, f: answer(_counts(git, f).most_common(1)[0][0]), 3, 1),
    _git("issue_assignee", ("Who is assigned to the issue {{issue}}?", "Who is the assignee of the issue {{issue}}?"),
         _issues_with("assignee_name"), lambda git, f: answer(git.issue(f["issue"])[0]["assignee_name"]), 5, 1),
    _git("label_count", ("How many open issues of {{project}} have the label {{label}}?",),
         lambda git, rng: [{"project": p["name"], "label": label} for p in git.named() for label in p["labels"]], _label_count, 4, 1),
    _git("clone_address", ("What is the {{way}} clone address of {{project}}?", "Give me the {{way}} clone address of {{project}}."),
         lambda git, rng: [{"way": way, **filling} for way in ("SSH", "HTTP") for filling in _projects(git, rng)], _clone, 4, 1),
    _git("milestone_due", ("When is the {{milestone}} of {{project}} due?", "What is the due date of the {{milestone}} of {{project}}?"),
         _milestones, _milestone_due, 5, 1),
    _git("setting", ("What is {{setting}} in settings.ini of {{project}}?",), _set_settings,
         lambda git, f: answer(_main_settings(git.project(f["project"]))[f["setting"]]), 5, 1),
    _git("no_such_setting", ("What is {{setting}} in settings.ini of {{project}}?",), _unset_settings, lambda git, f: answer("N/A"), 6, 1),
    # needed: Hover (only what is shown while one points at a name tells the job)
    _git("job", ("What is the job of {{person}}, a member of {{project}}?",), _people,
         lambda git, f: answer(git.jobs[f["person"]]), 4, 1),
    # a question, and the page that it is about is to be left open
    _git("issue_state", ("Open the issue {{issue}}. Is it open or closed?", "Show the issue {{issue}}. Is it open or closed?"),
         _issues_with("title"), _issue_state, 5, 1),
    # navigation
    _git("filter_issues", ("Show the issues of {{project}} with the {{filter}} {{value}}.",), _filters, _filtered, 4, 0),
    _git("branch_commits", ("Show the commits of {{person}} on the branch {{branch}} of {{project}}.",), _branch_authors,
         lambda git, f: _in_project(git, f, f"commits/{f['branch']}", author=git.people[f["person"]]), 5, 1),
    _git("open_review", ("Open the merge request of {{project}} that waits for my review.",), _reviews, _review, 2, 1),
    _git("open_file", ("Open the file {{file}} of {{project}}.", "Show me {{file}} of {{project}}."), _files,
         lambda git, f: _in_project(git, f, f"blob/main/{f['file']}"), 4, 1),
    # changes of state
    _git("star", ("{{do}} {{project}}.", "{{do}} the project {{project}}."), _stars,
         lambda git, f: states.starred(git, f["project"], f["do"] == "Star"), 4, 1),
    _git("fork", ("Fork {{project}} and show the fork.",),
         lambda git, rng: [{"project": p["name"]} for p in git.named() if p["space"] != git.user["username"]], states.fork, 4, 1),
    _git("new_issue", ("Create the issue {{title}} in {{project}} with the label {{label}}, the assignee {{person}} and the due date "
                       "{{date}}.",), _new_issues, states.new_issue, 4, 1),
    _git("assign_issue", ("Assign the issue {{issue}} to {{person}}.",), _assignments,
         lambda git, f: states.issue_changed(git, f["issue"], assignee_name=f["person"]), 3, 1),
    _git("label_issue", ("Add the label {{label}} to the issue {{issue}}.",), _more_labels, states.add_label, 2, 0),
    _git("comment_close", ("Comment {{text}} on the issue {{issue}} and close it.",), _last_words, states.comment_close, 3, 1),
    _git("request", ("{{do}} the merge request {{request}} of {{project}}.",),
         lambda git, rng: [{"do": do, **filling} for filling in _requests(git, rng) for do in ("Approve", "Merge", "Close")],
         states.request, 4, 0),
    _git("new_request", ("Create the merge request {{title}} from the branch {{branch}} of {{project}} with the reviewer {{person}}.",),
         _new_requests, states.new_request, 3, 1),
    _git("invite", ("Invite {{person}} to {{project}} as {{role}}.", "Add {{person}} to {{project}} as {{role}}."), _invitations,
         states.invite, 3, 1),
    _git("change_role", ("Change the role of {{person}} in {{project}} to {{role}}.", "Make {{person}} a {{role}} of {{project}}."),
         _other_roles, states.change_role, 3, 0),
    _git("remove_member", ("Remove {{person}} from {{project}}.", "Remove the member {{person}} from {{project}}."),
         lambda git, rng: [{"person": m["person"], "project": m["project"]} for m in _members(git, rng)], states.remove_member, 3, 0),
    _git("edit_file", ("Change VERSION of {{project}} to {{version}} with the commit message {{message}}.",), _versions,
         states.edit_file, 3, 1),
    _git("create", ("Create the {{visibility}} {{kind}} {{name}}.", "Make a new {{visibility}} {{kind}} with the name {{name}}."),
         _new_names, states.create, 4, 1),
    _git("status", ("Set my status message to {{status}}.", "Change my status message to {{status}}."),
         lambda git, rng: [{"status": text} for text in STATUSES], states.status, 2, 0),
    _git("new_milestone", ("Create the milestone {{title}} in {{project}} with the due date {{date}}.",), _new_milestones,
         states.new_milestone, 2, 0),
    # needed: go_backward and go_forward (the page that asks for a code has no links; the one before it shows the code; none leads there again)
    _git("email", ("Change my email to {{email}}.", "Set my email to {{email}}."),
         lambda git, rng: [{"email": f"{word.lower()}{rng.randint(2, 99)}@git.test"} for word in LOOKS], states.new_email, 3, 1),
    # never trained on: skills that other templates teach, put together or turned to something else
    _git("issue_due", ("When is the issue {{issue}} due?", "What is the due date of the issue {{issue}}?"), _issues_with("due"),
         lambda git, f: answer(git.issue(f["issue"])[0]["due"]), 0, 2),
    _git("feed_token", ("What is my feed token?",), lambda git, rng: [{}], lambda git, f: answer(git.user["token"]), 0, 1),
    _git("star_open", ("Star {{project}} and show its {{page}}.",),
         lambda git, rng: [{"project": p["name"], "page": page} for p in git.named() if not p["starred"] for page in PAGES],
         lambda git, f: states.star_and_open(git, f, PAGES[f["page"]]), 0, 2),
    _git("approve_merge", ("Approve the merge request {{request}} of {{project}} and merge it.",), _requests,
         lambda git, f: states.merge_changed(git, f, state="merged", approvals=[git.user["name"]]), 0, 1),
)
