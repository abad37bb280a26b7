"""The seed state of the code hosting site is the same everywhere, believable, and such that questions about it have one answer."""

from collections import Counter

from wr1_utils.sites.gitlab_seed import SESSION, USER, commit_sha, seed_database, slug_of, user_login
from wr1_utils.sites.gitlab_words import PROJECTS
from wr1_utils.sites.shopping_seed import TODAY
from wr1_utils.sites.world import open_database


def rows(query):
    return [tuple(row) for row in open_database(seed_database()).execute(query)]


def test_the_same_seed_gives_the_same_state():
    tables = ("users", "projects", "members", "files", "commits", "changes", "issues", "issue_labels", "merge_requests",
              "comments", "todos")
    first = [rows(f"SELECT * FROM {table}") for table in tables]
    seed_database.cache_clear()
    assert first == [rows(f"SELECT * FROM {table}") for table in tables]


def test_it_is_small_and_about_as_large_as_it_should_be():
    assert len(seed_database()) < 600_000
    (users,), (projects,), (issues,), (merges,), (commits,) = (
        rows(f"SELECT count(*) FROM {table}")[0] for table in ("users", "projects", "issues", "merge_requests", "commits"))
    assert users == 31 and projects == len(PROJECTS) + 4 == 18 and issues == 252 and 55 <= merges <= 65 and 380 <= commits <= 520


def test_titles_are_unique_within_a_project():
    for table in ("issues", "merge_requests", "commits"):
        assert not rows(f"SELECT title FROM {table} WHERE title NOT LIKE 'Release%' GROUP BY project, title HAVING count(*) > 1"), table
    assert not rows("SELECT sha FROM commits GROUP BY project, sha HAVING count(*) > 1")


def test_issues_of_a_project_have_a_date_of_their_own():
    assert not rows("SELECT created FROM issues GROUP BY project, created HAVING count(*) > 1")
    assert not rows("SELECT due FROM issues WHERE due <> '' GROUP BY project, due HAVING count(*) > 1")


def test_nothing_is_later_than_today():
    for table, column in (("issues", "created"), ("commits", "date"), ("merge_requests", "created"), ("comments", "date"),
                          ("projects", "created")):
        assert rows(f"SELECT max({column}) FROM {table}")[0][0] <= TODAY, table


def test_one_person_has_the_most_commits_of_each_project():
    for (project,) in rows("SELECT id FROM projects"):
        counts = rows(f"SELECT count(*) FROM commits WHERE project = {project} AND branch = 'main' GROUP BY author ORDER BY 1 DESC")
        assert len(counts) == 1 or counts[0] > counts[1], project


def test_the_files_are_what_the_commits_say():
    """Each file of main is the sum of its commits; each line that a commit replaces was there."""
    for (project,) in rows("SELECT id FROM projects WHERE forked_from IS NULL"):
        lines: dict[str, list[str]] = {}
        for path, old, new in rows(f"SELECT path, old, new FROM changes x JOIN commits c ON c.id = x.commit_id "
                                   f"WHERE project = {project} AND branch = 'main' ORDER BY x.id"):
            file = lines.setdefault(path, [])
            if old:
                file[file.index(old)] = new
            else:
                file += new.split("\n")
        assert {path: "\n".join(text) for path, text in lines.items()} == dict(
            rows(f"SELECT path, text FROM files WHERE project = {project} AND branch = 'main'"))


def test_files_are_short():
    assert max(text.count("\n") for text, in rows("SELECT text FROM files")) < 15


def test_every_open_merge_request_has_its_branch_and_commits():
    for project, source in rows("SELECT project, source FROM merge_requests WHERE state = 'opened'"):
        assert rows(f"SELECT 1 FROM branches WHERE project = {project} AND name = '{source}'")
        assert rows(f"SELECT 1 FROM commits WHERE project = {project} AND branch = '{source}'")


def test_people_who_are_given_work_are_members_who_may_do_it():
    wrong = rows("""SELECT i.id FROM issues i JOIN projects p ON p.id = i.project WHERE assignee IS NOT NULL AND NOT EXISTS
                    (SELECT 1 FROM members m WHERE m.user = i.assignee AND m.role IN ('Developer', 'Maintainer', 'Owner') AND
                       ((m.kind = 'project' AND m.holder = p.id) OR
                        (m.kind = 'group' AND m.holder = (SELECT id FROM groups WHERE path = p.space))))""")
    assert not wrong


def test_private_projects_are_touched_by_members_alone():
    for table, column in (("stars", "user"), ("issues", "author")):
        assert not rows(f"""SELECT 1 FROM {table} t JOIN projects p ON p.id = t.project WHERE p.visibility = 'Private' AND NOT EXISTS
                            (SELECT 1 FROM members m WHERE m.user = t.{column} AND ((m.kind = 'project' AND m.holder = p.id) OR
                               (m.kind = 'group' AND m.holder = (SELECT id FROM groups WHERE path = p.space))))"""), table


def test_public_projects_have_different_numbers_of_stars():
    counts = Counter(count for count, in rows("SELECT count(s.user) FROM projects p JOIN stars s ON s.project = p.id "
                                              "WHERE p.visibility <> 'Private' GROUP BY p.id"))
    assert max(counts.values()) == 1


def test_the_main_user_has_things_to_do():
    assert rows("SELECT username, name FROM users WHERE id = 1") == [("emma", "Emma Lane")] and user_login()[0] == "emma"
    assert rows("SELECT token, user FROM sessions") == [(SESSION, USER)]
    assert {action for action, in rows("SELECT action FROM todos WHERE user = 1")} == {"Assigned", "Review requested"}
    assert len(rows("SELECT 1 FROM issues WHERE assignee = 1 AND state = 'opened'")) > 10


def test_slugs_and_ids_of_commits():
    assert slug_of(" Frost & warning: 3! ") == "frost-warning-3"
    assert commit_sha(1, 2, "x") == commit_sha(1, 2, "x") != commit_sha(1, 3, "x") and len(commit_sha(1, 2, "x")) == 8


def test_milestones_of_each_project_have_days_of_their_own():
    assert not rows("SELECT title FROM milestones GROUP BY title, due HAVING count(*) > 1")
    assert not rows(f"SELECT title FROM milestones WHERE (state = 'closed') <> (due < '{TODAY}')")
