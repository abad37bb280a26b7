"""Generated broken pages: whatever a page is made of, it is observed, and each id can be clicked or the agent is told why not."""

import random

import pytest

from wr1_utils.web.execution import Hands
from wr1_utils.web.loop import run

TAGS = ("a", "button", "input", "label", "div", "span", "p", "table", "tr", "td", "ul", "li", "b", "h2", "summary", "form", "fieldset", "select", "option",
        "textarea", "details", "progress", "dialog", "iframe", "svg", "math", "template", "slot", "object", "canvas", "img", "b", "frameset", "x-own", "body", "html",
        "optgroup", "datalist", "area", "map", "video", "nobr", "marquee", "center", "noscript")
ATTRIBUTES = ("href=#x", "href='javascript:void 0'", "href", "onclick='this.remove()'", "onclick=\"document.title+='!'\"", "onclick='alert(1)'", "role=button",
              "role=option", "role=''", "role=tab aria-selected=true", "aria-label='Nämé \"q\"'", "aria-labelledby='id1 id2 none'", "id=id1", "id=id2",
              "for=id1", "for=none", "disabled", "readonly", "hidden", "inert", "contenteditable", "contenteditable=false", "tabindex=0", "type=checkbox",
              "type=radio", "type=date", "type=file", "type=color", "type=bogus", "type=hidden", "multiple", "open", "checked", "value='a\"b'", "value",
              "placeholder=…", "maxlength=-1", "style='position:fixed;inset:0'", "style='display:contents'", "style='opacity:0'", "style='display:none'",
              "style='transform:rotate(40deg) scale(.1)'", "style='position:absolute;left:-9999px'", "style='overflow:hidden;height:0'",
              "style='content-visibility:hidden'", "style='pointer-events:none'", "style='visibility:hidden'", "style='float:left;width:1e9px'",
              "style='writing-mode:vertical-rl'", "style='cursor:pointer'", "dir=rtl", "srcdoc='<button>in</button>'", "srcdoc='<p<'", "src=about:blank",
              "src='data:text/html,<a href=x>data'", "popover", "slot=s", "colspan=0", "rowspan=99999", "list=id1", "form=none", "'", "<", "=", "\x00=1")
TEXTS = ("word", "two words", "ünï", "مرحبا", "👩‍👩‍👧", "\x00", "&amp;&nbsp;&#xD800;&bogus;", "<", "</", "<!", "<!--", "-->", "<![CDATA[", "]]>", "<?php", "\u202e", "\ufeff",
         "x" * 500, " ", "\n", "\u2028", "\"'`", "$1,234.50")
SCRIPTS = ("document.body.append(document.body.cloneNode(true))", "document.querySelectorAll('*').forEach(e => e.onclick = () => 1)",
           "document.body.attachShadow({mode: 'open'}).innerHTML = '<button>shadow</button><slot>'", "document.title = '\\ud800'",
           "const d = document.createElement('div'); d.attachShadow({mode: 'closed'}).innerHTML = '<input>'; document.body.append(d)",
           "document.body.append('\\ud83d')", "document.documentElement.style.direction = 'rtl'", "document.querySelectorAll('dialog').forEach(d => d.showModal())",
           "throw 1", "history.pushState(0, '', '#a')", "document.open(); document.write('<button>written')", "document.body.remove()",
           "Array.prototype.toJSON = String.prototype.toJSON = () => 'mine'", "Array.prototype.extra = 1; Object.prototype.more = () => 2")


HIDING = ("hidden", "opacity:0", "display:none", "-9999px", "overflow:hidden", "content-visibility", "visibility:hidden", "type=hidden")
COMMON = 15  # of TAGS, the first: these come four times as often
SWALLOWED = "</textarea></select></template></noscript></object></svg></math></dialog>"  # ends what would hide all that follows


def fragment(rng: random.Random) -> str:
    """Random pieces: tags opened and not closed, closed and not opened, cut in the middle, with attributes that contradict one another."""
    html = ""
    for _ in range(rng.randint(2, 10)):
        kind = rng.random()
        if kind < 0.5:
            attributes = [rng.choice(ATTRIBUTES) for _ in range(rng.choice([0, 0, 1, 1, 2, 4]))]
            attributes = [each for each in attributes if rng.random() < 0.3 or not any(word in each for word in HIDING)]
            tag = rng.choice(TAGS[:COMMON] if rng.random() < 0.8 else TAGS)
            attributes += ["href=#y"] * (tag == "a" and rng.random() < 0.8)
            html += f"<{tag} {' '.join(attributes)}" + rng.choice([">"] * 8 + ["/>", ""])
        elif kind < 0.7:
            html += f"</{rng.choice(TAGS)}>"
        else:
            html += rng.choice(TEXTS)
    return html


def broken_page(rng: random.Random) -> str:
    html = rng.choice(["", "<!doctype html>", "<html><head><title>t", "<body>"])
    for _ in range(rng.randint(1, 8)):
        html += fragment(rng) + rng.choice(["", SWALLOWED, SWALLOWED])
    if rng.random() < 0.4:
        html += f"{SWALLOWED}<script>{rng.choice(SCRIPTS)}</script>"
    return html[:rng.choice([len(html)] * 6 + [rng.randint(1, len(html))])]


async def look(browser, place, seed: int) -> int:
    """Observes one page and asks for each of its ids where to click; then clicks one. The number of ids."""
    rng = random.Random(seed)
    html = broken_page(rng)
    episode = place.make(browser, "broken", html, **{"episode.page_tokens": 3_000})
    try:
        seen = await episode.reset()
        assert seen.text.encode() and len(seen.text.splitlines()) <= len(seen.elements) + 8, html
        hands = Hands(episode._tab.page, episode._view, episode._generation, episode._realms, episode._places)
        for number in range(len(episode._view.nodes)):
            where = await hands.locate(episode._view.nodes[number])
            assert where.get("error") or (0 <= where["x"] <= 1280 and 0 <= where["y"] <= 720), html
        if episode._view.nodes:
            result = await episode.step(place.reply("Click", rng.randrange(len(episode._view.nodes))))
            assert result.observation.text.encode(), html
        return len(episode._view.nodes)
    finally:
        await episode.close()


def test_twenty_broken_pages(browser, place):
    async def whole():
        return [await look(browser, place, seed) for seed in range(20)]
    assert sum(run(whole(), timeout=600)) > 20


@pytest.mark.slow
def test_five_hundred_broken_pages(browser, place):
    async def whole():
        return [await look(browser, place, seed) for seed in range(1000, 1500)]
    assert sum(run(whole(), timeout=3600)) > 500
