"""Every form that a user who is logged in can find on any site is sent odd values, field by field.

No form makes a fault, nothing comes back as markup, and what a form takes is kept to the last character: a form either refuses a value or keeps it.
"""

from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest
from starlette.routing import Match

from wr1_utils.sites.server import SESSIONS, SITES

MARKUP = "<script>odd()</script>"
VALUES = {
    "unicode": "Žluťoučký 漢字 ﷽ עברית 😀 e\u0301",
    "quotes": """'"`; DROP TABLE users; -- \\' %_ {{7*7}} ${x} &amp; </textarea>""",
    "markup": f'">{MARKUP}<b onclick="odd()">',
    "long": "lorem ipsum " * 833 + "end.",
}
TYPED = {"text", "search", "email", "password", "tel", "url", "textarea"}
PAGES = 4               # of each kind that are looked at
OWN = {                 # pages of what belongs to the user, where a site has so many pages that the first ones do not lead there
    "reddit": ("SELECT '/f/' || f.name || '/' || p.id FROM posts p JOIN forums f ON f.id = p.forum WHERE p.author = {user}",
               "SELECT '/f/' || f.name || '/' || p.id FROM comments c JOIN posts p ON p.id = c.post JOIN forums f ON f.id = p.forum WHERE c.author = {user}"),
    "gitlab": ("SELECT '/' || username FROM users WHERE id <> {user}",),
}
ASKED = {               # a form that is sent first in every world: its answer is a page that nothing else leads to
    "gitlab": ("/profile/email", {"email": "emma@elsewhere.test"}),
}
TAKEN = {"link": "", "forum": "books", "milestone": "", "due": "", "labels": "tests"}     # what a form takes in these fields beside another
UNSEEN = {
    "/{space}/{name}/-/merge_requests/{iid}/revoke",    # is there once the user has approved; has no field
    "/chat/{name}/draft",                               # sent by the page's script while one types; odd texts: test_reddit_chat
    "/place/{slug}/home",                               # in the menu of the right button; has no field
}


class Forms(HTMLParser):
    """The links and the forms of a page; a form: method, action, fields; a field: name → (type, value)."""

    def __init__(self, html):
        super().__init__()
        self.links, self.forms, self._form, self._open = [], [], None, None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "form":
            self._form = {"method": given.get("method", "get").lower(), "action": given.get("action", ""), "fields": {}}
            self.forms.append(self._form)
        elif self._form is None:
            return
        elif tag in ("input", "button") and given.get("name"):
            kind = given.get("type", "text" if tag == "input" else "submit")
            if kind not in ("checkbox", "radio") or "checked" in given or given["name"] not in self._form["fields"]:
                self._form["fields"][given["name"]] = (kind, given.get("value", "on" if kind == "checkbox" else ""))
        elif tag in ("select", "textarea") and given.get("name"):
            self._form["fields"][given["name"]] = (tag, "")
            self._open = given["name"]
        elif tag == "option" and self._open and ("selected" in given or not self._form["fields"][self._open][1]):
            self._form["fields"][self._open] = ("select", given.get("value", ""))

    def handle_endtag(self, tag):
        if tag == "form":
            self._form = None
        elif tag in ("select", "textarea"):
            self._open = None

    def handle_data(self, data):
        if self._form and self._open and self._form["fields"][self._open][0] == "textarea":
            self._form["fields"][self._open] = ("textarea", self._form["fields"][self._open][1] + data)


def route_of(routes, path, method="GET"):
    """The pattern of the site's route that answers, such as ``/product/{slug}``."""
    scope = {"type": "http", "path": path, "method": method, "root_path": ""}
    return next((route.path for route in routes if route.matches(scope)[0] == Match.FULL), None)


def enter(visit):
    """Logs in to a new world; gives the address of the page that a form of ASKED led to, in a list."""
    visit.world = visit.worlds.create()
    visit.log_in()
    return [visit(*ASKED[visit.site]).url.path] if visit.site in ASKED else []


def crawl(visit, routes):
    """The forms of the site by what is sent where: (method, route, names of the fields) → (page, form). A few pages of each kind are looked at."""
    user = visit.value("SELECT user FROM sessions WHERE token = ?", SESSIONS[visit.site][1]) if visit.site in OWN else None
    waiting = ["/", "/login", *enter(visit), *(visit.value(query.format(user=user)) for query in OWN.get(visit.site, ()))]
    seen, looked, forms = set(waiting), {}, {}
    while waiting:
        path = waiting.pop(0)
        kind = route_of(routes, urlsplit(path).path), tuple(name for name, _ in parse_qsl(urlsplit(path).query))
        looked[kind] = looked.get(kind, 0) + 1
        if kind[0] is None or looked[kind] > PAGES:
            continue
        answer = visit(path)
        assert answer.status_code < 500, path
        page = Forms(answer.text)
        for form in page.forms:
            target = urljoin(answer.url.raw_path.decode(), form["action"])
            name = form["method"], route_of(routes, urlsplit(target).path, form["method"].upper()), tuple(form["fields"])
            forms.setdefault(name, (path, {**form, "action": target}))
        for link in page.links:
            there = urljoin(f"http://{visit.site}.localhost{path}", link).split("#")[0]
            local = there.removeprefix(f"http://{visit.site}.localhost")
            if local.startswith("/") and local not in seen:
                seen.add(local)
                waiting.append(local)
    return forms


def send(visit, form, values):
    if form["method"] == "post":
        return visit(form["action"], values)
    return visit(urlsplit(form["action"]).path, **values)


def kept(visit):
    """All texts of the world's database."""
    names = [name for name, in visit.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {value for name in names for row in visit.db.execute(f"SELECT * FROM {name}") for value in row if isinstance(value, str)}


@pytest.mark.parametrize("site", SITES)
def test_odd_values_in_every_field_of_every_form(visitor, site):
    visit = visitor(site)
    routes = SITES[site]().routes
    forms = crawl(visit, routes)
    lost = []
    assert forms
    for (method, route, names), (page, form) in forms.items():
        usual = {name: value or "x" for name, (kind, value) in form["fields"].items()}
        for field, (kind, _) in form["fields"].items():
            for label, value in VALUES.items():
                enter(visit)
                answer = send(visit, form, {**usual, field: value})
                where = f"{method} {route} from {page}, field {field}, {label}"
                assert answer.status_code < 500, where
                assert MARKUP not in answer.text and "odd()\">" not in answer.text, where
                taken = method == "post" and kind in TYPED and answer.status_code < 400
                if taken and value not in kept(visit):
                    lost.append(where)
                visit.worlds.discard(visit.world.key)
    never = {route.path for route in routes if "POST" in (route.methods or ())} - {route for method, route, _ in forms if method == "post"}
    assert (lost, never - UNSEEN - {"/logout"}) == ([], set())


@pytest.mark.parametrize("label", VALUES)
@pytest.mark.parametrize("site, path, usual, field, shown", [
    ("shopping", "/product/silver-silk-lamp/review", {"stars": "4"}, "text", "/product/silver-silk-lamp"),
    ("shopping_admin", "/orders/{order}/comment", {}, "comment", "/orders/{order}"),
    ("reddit", "{post}/comment", {}, "text", "{post}"),
    ("gitlab", "/northford-transit/bus-timetable/-/issues/new", {}, "title", "/northford-transit/bus-timetable/-/issues"),
    ("map", "/place/elmton/note", {}, "note", "/place/elmton"),
    ("wikipedia", "/search", None, "q", "/search"),
])
def test_what_was_written_is_shown_whole(visitor, site, path, usual, field, shown, label):
    visit, value = visitor(site), VALUES[label]
    known = {"order": visit.value("SELECT max(id) FROM orders")} if site == "shopping_admin" else {
        "post": visit.value("SELECT '/f/' || f.name || '/' || p.id FROM posts p JOIN forums f ON f.id = p.forum")} if site == "reddit" else {}
    if usual is None:
        answer = visit(path, **{field: value})
    else:
        assert visit(path.format(**known), {**usual, field: value}).status_code == 200
        answer = visit(shown.format(**known))
    whole = value[:80].strip() if usual is None else value        # a search box says that it takes 80 characters
    assert whole in unescape(answer.text) and MARKUP not in answer.text


@pytest.mark.parametrize("site", ["reddit", "gitlab"])
def test_the_line_breaks_of_every_textarea_are_kept(visitor, site):
    visit = visitor(site)
    found = [(form, usual, field) for form, usual, field, kind in fields_of(crawl(visit, SITES[site]().routes)) if kind == "textarea"]
    assert len(found) >= 4
    for form, usual, field in found:
        enter(visit)
        usual |= {name: value for name, value in TAKEN.items() if name in usual}
        if form["action"].endswith("merge_requests/new"):
            visit.db.execute("DELETE FROM merge_requests")         # so that no branch waits already
        assert send(visit, form, {**usual, field: "One\r\n\r\ntwo\r\n  three"}).status_code < 400
        assert "One\n\ntwo\n  three" in kept(visit), (form["action"], field)
        visit.worlds.discard(visit.world.key)


@pytest.mark.parametrize("site", ["shopping", "shopping_admin", "reddit", "gitlab", "map"])
def test_no_form_cuts_a_text_that_is_too_long(visitor, site):
    visit = visitor(site)
    for form, usual, field, kind in fields_of(crawl(visit, SITES[site]().routes)):
        if kind in TYPED:
            enter(visit)
            before = kept(visit)
            answer = send(visit, form, {**usual, field: "x" * 20_001})
            assert answer.status_code == 413 and "at most 20,000 characters" in answer.text and kept(visit) == before, (form["action"], field)
            visit.worlds.discard(visit.world.key)


def fields_of(forms):
    """Each field of each form that changes something: (form, what is sent else, field, kind)."""
    for (method, _, _), (_, form) in forms.items():
        if method == "post":
            usual = {name: value or "x" for name, (_, value) in form["fields"].items()}
            yield from ((form, usual, field, kind) for field, (kind, _) in form["fields"].items())


def test_lines_are_shown_as_lines(visitor):
    visit = visitor("reddit")
    post = visit.value("SELECT '/f/' || f.name || '/' || p.id FROM posts p JOIN forums f ON f.id = p.forum")
    visit(f"{post}/comment", {"text": "One\r\ntwo"}), visit("/bio", {"bio": "Three\nfour"})
    assert '<div class="text">One\ntwo</div>' in visit(post).text and 'class="text">Three\nfour<' in visit("/user/emma").text
    assert ".forum .text, .quote { white-space: pre-wrap;" in visit("/static/style.css").text
