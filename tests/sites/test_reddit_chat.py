"""Chats of the forum: the last lines first, what Enter sends, and drafts."""

import re

import pytest

ODD = ["%", "'; DROP TABLE drafts; --", '"><script>alert(1)</script>', "{{7*7}}", "é\u202e漢😀", "a" * 10_000]


@pytest.fixture
def visit(visitor):
    return visitor("reddit")


def lines(response):
    return [re.findall(r"<td>([^<]*)</td>", row) for row in re.findall(r'<tr class="line">(.*?)</tr>', response.text)]


def field(response):
    return re.search(r'name="text" value="([^"]*)"', response.text)[1]


def test_a_chat_comes_in_parts_from_its_end(visit):
    count, shown, found = visit.value("SELECT count(*) FROM chat_lines WHERE other = (SELECT id FROM users WHERE name = 'gus')"), 0, []
    assert lines(visit("/chat/gus")) == lines(visit("/chat/gus/earlier?shown=0"))
    while part := lines(visit(f"/chat/gus/earlier?shown={shown}")):
        assert ("The chat begins here." in visit(f"/chat/gus/earlier?shown={shown}").text) == (shown + len(part) == count)
        found, shown = part + found, shown + len(part)
    assert len(found) == count > 16 and [line[2] for line in found] == sorted(line[2] for line in found)
    assert {line[0] for line in found} == {"gus", "emma"} and "<a " not in visit("/chat/gus/earlier?shown=8").text


def test_what_is_sent_is_the_last_line_and_no_draft_any_more(visit):
    assert len(field(visit("/chat/gus"))) > 100
    response = visit("/chat/gus", {"text": "I <3 tea"})
    assert "Your message was sent." in response.text and lines(response)[-1] == ["emma", "I &lt;3 tea", "2026-03-15"] and field(response) == ""
    assert visit("/chat/gus", {"text": " "}).status_code == 400


def test_a_draft_is_kept_until_it_is_changed(visit):
    before = visit.value("SELECT count(*) FROM chat_lines")
    for text in ("Half a sent", "Half a sentence.", ""):
        assert visit("/chat/clara/draft", {"text": text}).status_code == 204 and field(visit("/chat/clara")) == text
        cell = f"Draft: {text}" if text else ""
        assert f'/chat/clara">clara</a></td><td class="number">14</td><td>{cell}</td>' in visit("/chat").text
    assert visit.value("SELECT count(*) FROM chat_lines") == before


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_come_back_escaped(visit, text):
    visit("/chat/clara/draft", {"text": text})
    assert visit("/chat/clara").status_code == 200 and "<script>alert" not in visit("/chat/clara").text
    visit("/chat/clara", {"text": text})
    assert "<script>alert" not in visit("/chat/clara").text and visit.value("SELECT text FROM chat_lines ORDER BY id DESC") == text


def test_a_chat_needs_a_login_and_somebody_who_began_it(visitor):
    visit = visitor("reddit", logged_in=False)
    assert visit("/chat").url.path == visit("/chat/gus").url.path == visit("/chat/gus/draft", {"text": "x"}).url.path == "/login"
    visit.log_in()
    assert visit("/chat/nobody").status_code == 404 == visit("/chat/emma").status_code and visit("/chat/emma", {"text": "x"}).status_code == 404
