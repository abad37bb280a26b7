"""Kinds of pages that are known to deceive agents, beyond the shared cases: what each must show, and what acting on it must bring."""

import asyncio
import time

import pytest

from wr1_utils.web.loop import run


def play(browser, place, html, *actions, name="kind", **changes):
    """The first observation and the results of (action, label, argument), one after the other."""
    async def whole():
        episode = place.make(browser, name, html, **changes)
        try:
            seen = first = await episode.reset()
            results = []
            for action, label, argument in actions:
                reply = place.reply(action, place.element(seen, label).id if label else None, argument)
                results.append(await episode.step(f"<think></think><answer>{action}</answer>" if action.endswith("()") else reply))
                seen = results[-1].observation
            return first, results
        finally:
            await episode.close()
    return run(whole(), timeout=120)


def lines(seen):
    return seen.text.splitlines()[1:]


@pytest.mark.parametrize("html, expected", [
    ("<label>First <label>Inner <input name=a></label></label>", ['textbox First Inner = "" [0]']),
    ("<label>Found <input><label>Lost <input></label>", ['textbox Found = "" [0]', 'textbox Lost = "" [1]']),   # the first is never closed
    ("<label>From <input> to <input></label>", ['textbox From = "" [0]', 'textbox to = "" [1]']),
    ("<label for=q>One</label><input id=q><p></p><label for=q>Two</label><input id=q>", ['textbox One = "" [0]', 'textbox Two = "" [1]']),
    ("<label for=q>Street</label> <label for=q>and number</label> <input id=q>", ['textbox Street and number = "" [0]']),
    ("<label>Colour <select><option>Red<option>Blue</select></label>", ['select Colour = "Red" (Red | Blue) [0]']),
    ("<span id=a>Gift</span> <span id=b>note</span><textarea aria-labelledby='a b'></textarea>", 'textbox Gift note = "" [0]'),
    ("<input aria-label='Your name' placeholder='e.g. Kim'>", ['textbox Your name = "" [0]']),
    ("<div role=checkbox aria-checked=mixed tabindex=0>All</div>", ["checkbox All mixed [0]"]),
    ("<div role=combobox aria-expanded=false tabindex=0>Choose size</div>", ["button Choose size [0]"]),
    ("<div role=switch aria-checked=true tabindex=0 aria-label=Alerts></div>", ["checkbox Alerts checked [0]"]),
    ("<div role=slider tabindex=0 aria-label=Volume aria-valuenow=30 style='width:90px;height:9px'></div>", ['clickable Volume = "30" [0]']),
    ("<table><tr><td role=gridcell tabindex=-1>14<td role=gridcell tabindex=-1>15</table>", ["row clickable 14 [0] | clickable 15 [1]"]),
    ("<button aria-disabled=true>Pay</button>", ["button Pay disabled [0]"]),
    ("<fieldset disabled><input aria-label=Code></fieldset>", ['textbox Code = "" disabled [0]']),
    ("<input list=l aria-label=City><datalist id=l><option value=Oslo><option value=Rome></datalist>", ['textbox City = "" (Oslo | Rome) [0]']),
    ("<div style='content-visibility:auto'><div style='height:3000px'></div><button>Deep</button></div>", ["button Deep [0]"]),
    ("<details><summary>More</summary>bare text<p>and a paragraph</p></details>", ["button More [0]"]),
    ("<details open><summary>More</summary>bare text<p>and a paragraph</p></details>", ["button More expanded [0]", "text bare text", "text and a paragraph"]),
    ("<p dir=rtl>שלום <a href=/x>עולם</a> 12</p>", ["text שלום", "link עולם [0]", "text 12"]),
    ("<frameset cols='50%,50%'><frame src=\"data:text/html,<button>Left</button>\"><frame src='/right'></frameset>",
     ["button Left [0]", "text page /right"]),
], ids=lambda value: value[:50] if isinstance(value, str) else "")
def test_names_and_states(browser, place, html, expected):
    """What things are called, and in which state they are."""
    seen, _ = play(browser, place, html)
    assert lines(seen)[-len(expected):] == expected if isinstance(expected, list) else lines(seen)[-1] == expected


CARD = """<div id=card style="cursor:pointer;width:300px">Ann<p>News of today</p><span class=icon title=bin>&nbsp;</span><span class=icon title=star>&nbsp;</span></div>
<script>card.addEventListener("click", () => document.title = "opened");
for (const icon of document.querySelectorAll(".icon")) {
  icon.style = "display:inline-block;width:20px;height:20px";
  icon.addEventListener("click", event => { document.title = icon.title; event.stopPropagation(); });
}</script>"""
LIST = """<ul id=list><li style="cursor:pointer">Chad<li style="cursor:pointer">Chile</ul>
<script>list.addEventListener("click", event => document.title = event.target.textContent)</script>"""


@pytest.mark.parametrize("html, seen, title", [
    (CARD, ["clickable Ann [0]", "text News of today", "clickable bin [1]", "clickable star [2]"], ("Ann", "opened")),
    (CARD, ["clickable Ann [0]", "text News of today", "clickable bin [1]", "clickable star [2]"], ("star", "star")),
    (LIST, ["clickable Chad [0]", "clickable Chile [1]"], ("Chile", "Chile"))])
def test_what_takes_clicks_of_its_own_within_something_clickable(browser, place, html, seen, title):
    """A card that opens holds icons that do something else; a list listens for its entries. Each is a thing of its own."""
    first, (result,) = play(browser, place, html, ("Click", title[0], None))
    assert lines(first) == seen and result.observation.title == title[1]


def test_select_of_several(browser, place):
    """Choosing adds to what is chosen; choosing a chosen one takes it back; a disabled twin of the wanted option is passed over."""
    html = "<label>Tags <select multiple><option>a<option selected>b<option disabled>c<option>c</select></label>"
    seen, (add, more, back) = play(browser, place, html, *[("Select Dropdown Option", "Tags", tag) for tag in "acb"])
    assert place.element(seen, "Tags").value == "b"
    assert place.element(add.observation, "Tags").value == "a, b" and not add.error
    assert place.element(more.observation, "Tags").value == "a, b, c"
    assert place.element(back.observation, "Tags").value == "a, c"


@pytest.mark.parametrize("html", [
    "<div contenteditable aria-label=Body>old text</div>",
    "<div contenteditable=plaintext-only aria-label=Body>old text</div>",
    "<iframe title=Body srcdoc='<body contenteditable><p>old <b>text</b></p>'></iframe>",
    "<iframe title=Body srcdoc='old text' onload=\"contentDocument.designMode = 'on'\"></iframe>",
    "<div contenteditable role=textbox aria-label=Body><p>old</p><p>text</p></div>",
])
def test_rich_text_editors(browser, place, html):
    """What stands in one is shown and replaced, line by line."""
    seen, (typed,) = play(browser, place, html, ("Type", "Body", "one\ntwo"))
    assert place.element(seen, "Body").value.split() == ["old", "text"]
    assert typed.error is None and place.element(typed.observation, "Body").value.split() == ["one", "two"]


def test_shadow_roots(browser, place):
    """Also closed ones, one in another, with slots; and a field's value in there is read back."""
    html = """<my-card><span slot=name>Mug</span></my-card><script>
      class Card extends HTMLElement { constructor() { super();
        const outer = this.attachShadow({mode: "closed"});
        outer.innerHTML = "<slot name=name></slot><div id=in></div>";
        const inner = outer.getElementById("in").attachShadow({mode: "open"});
        inner.innerHTML = "<label>Count <input value=1></label><button>Buy</button>";
        inner.querySelector("button").onclick = () => { document.title = "bought " + inner.querySelector("input").value; }; } }
      customElements.define("my-card", Card);</script>"""
    seen, (typed, bought) = play(browser, place, html, ("Type", "Count", "3"), ("Click", "Buy", None))
    assert lines(seen) == ["text Mug", 'textbox Count = "1" [0]', "button Buy [1]"]
    assert typed.error is None and bought.observation.title == "bought 3"


def test_frames_of_other_origins(browser, place):
    """Read and acted on like the page's own: far down in a frame that is itself below the screen, in a frame of a frame, and typed into."""
    port = place.server.server_address[1]
    place.html["other-inner"] = "<p>Innermost</p><button onclick=\"this.textContent = 'Pressed'\">Press</button>"
    place.html["other"] = (f"<label>Card number <input></label><iframe src='http://inner.localhost:{port}/other-inner' width=300 height=100></iframe>"
                           "<div style='height:1500px'></div><a href='/other-next'>Onward</a>")
    place.html["other-next"] = "<p>Arrived</p>"
    html = (f"<h1>Shop</h1><div style='height:1000px'></div><iframe title=Payment src='http://other.localhost:{port}/other' width=500 height=400 "
            "style='border:7px solid; padding:5px'></iframe><button onclick='document.title = 8'>After</button>")
    seen, results = play(browser, place, html, ("Type", "Card number", "4242"), ("Click", "Press", None), ("Click", "After", None),
                         ("Click", "Onward", None))
    assert lines(seen) == ["heading Shop", 'textbox Card number = "" [0]', "text Innermost", "button Press [1]", "link Onward [2]", "button After [3]"]
    typed, pressed, after, onward = results
    assert not any(result.error for result in results)
    assert place.element(typed.observation, "Card number").value == "4242"
    assert "button Pressed" in pressed.observation.text
    assert after.observation.title == "8"
    assert "text Arrived" in onward.observation.text and "link Onward" not in onward.observation.text


def test_a_frame_that_is_sandboxed_or_covered(browser, place):
    html = ("<iframe sandbox src=\"data:text/html,<p>Boxed</p><a href='%23x'>Go on</a>\"></iframe>"
            "<div style='position:fixed;inset:0;background:white'>Overlay</div>")
    seen, (result,) = play(browser, place, html, ("Click", "Go on", None))
    assert "text Boxed" in seen.text and 'covered by "Overlay"' in result.error


def test_file_field(browser, place):
    seen, (click, typed) = play(browser, place, "<label>Photo <input type=file></label>", ("Click", "Photo", None), ("Type", "Photo", "a.png"))
    assert "no files to choose" in click.error and "no files to choose" in typed.error


@pytest.mark.parametrize("kind, text, value", [("color", "#FF8800", "#ff8800"), ("color", "orange-ish", None), ("week", "2022-W42", "2022-W42"),
                                               ("number", "twelve", None), ("datetime-local", "2022-10-21 15:30", "2022-10-21T15:30"),
                                               ("month", "October 2022", "2022-10"), ("range", "70", "70"), ("range", "700", None)])
def test_typed_fields(browser, place, kind, text, value):
    """The value comes to stand there, or the agent is told what stands there instead."""
    _, (result,) = play(browser, place, f"<label>Field <input type={kind}></label>", ("Type", "Field", text))
    if value is None:
        assert "now holds" in result.error
    else:
        assert result.error is None and place.element(result.observation, "Field").value == value


@pytest.mark.parametrize("html", ["<input aria-label=Day readonly value=1>", "<textarea aria-label=Day readonly></textarea>"])
def test_readonly(browser, place, html):
    _, (result,) = play(browser, place, html, ("Type", "Day", "2"))
    assert "readonly" in result.error and "readonly" in result.observation.text


def test_autocompletion_that_moves_everything(browser, place):
    """Suggestions come in above the button while the agent types: the next id means what the latest observation says."""
    html = """<label>City <input oninput="found.innerHTML = '<button>Oslo</button><button>Rome</button>'"></label><div id=found></div>
              <button onclick="document.title = 'sent'">Send</button>"""
    seen, (typed, sent) = play(browser, place, html, ("Type", "City", "o"), ("Click", "Send", None))
    assert place.element(seen, "Send").id == 1 and place.element(typed.observation, "Send").id == 3 and sent.observation.title == "sent"


def test_closing_a_tab_goes_back_to_the_one_that_opened_it(browser, place):
    """Three tabs; the middle one, opened by the first, closes: the first is current, not the last. Going back to an opener waits for nothing."""
    place.html["one"] = "<title>One</title><a href=/two target=_blank>Two</a><a href=/three target=_blank>Three</a>"
    place.html["two"] = "<title>Two</title><button onclick='window.close()'>Close</button>"
    place.html["three"] = "<title>Three</title>"
    _, results = play(browser, place, place.html["one"], ("Click", "Two", None), ("Switch Tab", None, "0"), ("Click", "Three", None),
                      ("Switch Tab", None, "1"), ("Click", "Close", None), name="one")
    assert results[2].observation.tabs == ("One", "Two", "Three") and results[2].observation.tab == 2
    assert results[4].observation.title == "One" and results[4].observation.tabs == ("One", "Three")
    assert all(result.seconds < 14 for result in results)


def test_a_tab_that_closes_by_itself_leaves_the_current_one(browser, place):
    place.html["closes"] = "<title>Closes</title><script>setTimeout(close, 1500)</script>"
    _, results = play(browser, place, "<title>Home</title><a href=/closes target=_blank>Ad</a>", ("Click", "Ad", None), ("Switch Tab", None, "0"),
                      ("Wait", None, "2"))
    assert results[-1].observation.tabs == ("Home",) and any("closed" in notice for notice in results[-1].observation.notices)


def test_a_tab_for_a_download_comes_and_goes(browser, place):
    _, (result,) = play(browser, place, "<title>Home</title><a href=/file target=_blank>File</a>", ("Click", "File", None))
    assert result.observation.title == "Home" and result.observation.tabs == ("Home",)


def test_two_tabs_at_once(browser, place):
    html = "<title>Home</title><button onclick=\"window.open('/a-tab'); window.open('/b-tab')\">Both</button>"
    _, (result,) = play(browser, place, html, ("Click", "Both", None))
    told = [notice for notice in result.observation.notices if "opened" in notice]
    assert len(result.observation.tabs) == 1 + len(told) >= 2 and result.observation.tab == len(told)  # a browser may allow only the first


@pytest.mark.parametrize("script, told, title", [
    ("alert('Saved')", 'dialog alert "Saved" accepted', "old"),
    ("document.title = confirm('Sure?')", 'dialog confirm "Sure?" accepted', "true"),
    ("document.title = prompt('Name?', 'Kim')", 'dialog prompt "Name?" accepted', "Kim"),
    ("for (let i = 0; i < 40; i++) alert(i)", "35 more dialogs accepted", "old"),
])
def test_dialogs(browser, place, script, told, title):
    _, (result,) = play(browser, place, f"<title>old</title><button onclick=\"{script}\">Go</button>", ("Click", "Go", None))
    assert told in result.observation.notices and len(result.observation.notices) <= 6 and result.observation.title == title


def test_dialog_while_the_page_loads(browser, place):
    seen, _ = play(browser, place, "<script>alert('Welcome')</script><p>Inside</p>")
    assert "Inside" in seen.text and 'dialog alert "Welcome" accepted' in seen.notices


def test_beforeunload_never_keeps_the_agent(browser, place):
    """By history too, and after something was typed (browsers ask only then)."""
    place.html["unload"] = "<script>onbeforeunload = event => { event.preventDefault(); return 'stay' }</script><input aria-label=Note>"
    _, results = play(browser, place, "<title>Home</title><a href=/unload>Form</a>", ("Click", "Form", None), ("Type", "Note", "x"),
                      ("go_backward()", None, None))
    assert results[-1].observation.title == "Home" and results[-1].error is None


def test_history_within_one_document(browser, place):
    """pushState and the Navigation API: back and forward work, nothing is waited for that does not come, and typed text is still there."""
    html = """<title>List</title><label>Filter <input></label><button onclick="history.pushState(1, '', '/item'); document.title = 'Item'">Item</button>
      <a href=/intercepted>App link</a><a href=/prevented onclick='event.preventDefault()'>Dead link</a><a href='mailto:a@example.org'>Mail</a>
      <script>onpopstate = event => { document.title = event.state ? 'Item' : 'List'; };
      navigation.addEventListener("navigate", event => { if (event.destination.url.endsWith("/intercepted"))
        event.intercept({handler: async () => { document.title = "App"; }}); });</script>"""
    _, results = play(browser, place, html, ("Type", "Filter", "red"), ("Click", "Item", None), ("go_backward()", None, None),
                      ("go_forward()", None, None), ("Click", "App link", None), ("Click", "Dead link", None), ("Click", "Mail", None))
    assert [result.observation.title for result in results[1:5]] == ["Item", "List", "Item", "App"]
    assert results[1].observation.url.endswith("/item") and results[2].observation.url.endswith("/kind")
    assert all(place.element(result.observation, "Filter").value == "red" for result in results)
    assert all(result.seconds < 12 and not result.error for result in results)


def test_back_to_a_page_with_a_filled_form(browser, place):
    _, results = play(browser, place, "<form><label>Name <input name=n></label></form><a href=/next>Next</a>", ("Type", "Name", "Kim"),
                      ("Click", "Next", None), ("go_backward()", None, None))
    assert place.element(results[2].observation, "Name").value == "Kim"


@pytest.mark.parametrize("html", [
    "<p>ready</p><script>(function again() { requestAnimationFrame(again); document.body.dataset.n = Math.random() })()</script>",
    "<p>ready</p><script>setInterval(() => history.replaceState(0, '', '#' + Math.random()), 50)</script>",
    "<p>ready</p><script>(function again() { setTimeout(again, 10) })(); new EventSource('/slow?s=60')</script>",
    "<p>ready</p><img src='/slow?s=60'><iframe src='/slow?s=60'></iframe>",
    "<p>ready</p><script>fetch('/slow?s=60')</script>",
])
def test_pages_that_never_settle(browser, place, html):
    """Seen after settle_ms, not after a limit of the browser."""
    async def whole():
        episode = place.make(browser, "restless", html)
        try:
            await episode.reset()
            started = time.monotonic()
            result = await episode.step(place.reply("Wait", argument="0"))
            assert "ready" in result.observation.text and time.monotonic() - started < 5
        finally:
            await episode.close()
    run(whole(), timeout=60)


def test_a_page_whose_html_never_ends_is_seen_as_it_is(browser, place):
    place.html["endless"] = "<title>Endless</title><button onclick='document.title = 1'>Works</button>" + " " * 5000
    seen, (result,) = play(browser, place, None, ("Click", "Works", None), name="endless", **{"episode.timeout_s": 3.0})
    assert seen.title == "Endless" and result.observation.title == "1"


def test_infinite_scroll(browser, place):
    """Each Scroll Down loads more, and the agent comes to what was not there at first."""
    html = """<div id=list></div><script>let n = 0;
      const more = () => { for (let i = 0; i < 20; i++) list.insertAdjacentHTML('beforeend', `<p style="height:60px">Item ${n++}</p>`) };
      more(); onscroll = () => { if (scrollY + innerHeight > document.body.scrollHeight - 300) more() };</script>"""
    seen, results = play(browser, place, html, *[("Scroll Down", None, None)] * 4)
    assert "Item 25" not in seen.text and "Item 25" in results[-1].observation.text and not any(result.error for result in results)


def test_scroller_inside_a_frame_or_a_shadow_root(browser, place):
    for html in ("<style>html,body{overflow:hidden}</style><iframe width=400 height=300 srcdoc=\"<div style='height:3000px'>tall</div>\"></iframe>",
                 """<style>html,body{overflow:hidden}</style><div id=h></div><script>h.attachShadow({mode: "open"}).innerHTML =
                    "<div style='height:300px;overflow:auto'><div style='height:3000px'>tall</div></div>"</script>"""):
        _, (down, up) = play(browser, place, html, ("Scroll Down", None, None), ("Scroll Up", None, None))
        assert down.error is None and up.error is None


def test_huge_page(browser, place):
    """10 000 rows, a text of 5 million characters, a list of 10 000 options: read within the budget, and the last button is found by scrolling."""
    html = """<div id=all></div><script>
      document.body.insertAdjacentHTML("afterbegin", "<select>" + "<option>choice".repeat(10000) + "</select><p>" + "word ".repeat(1e6) + "</p>");
      all.innerHTML = Array.from({length: 10000}, (_, i) => `<p>Row ${i} <button>Buy ${i}</button></p>`).join("");</script>"""
    seen, (down,) = play(browser, place, html, ("Scroll Down", None, None))
    assert len(seen.text) / 4 <= 700 and len(down.observation.text) / 4 <= 700 and down.observation.text != seen.text
    assert max(len(element.label) for element in seen.elements) < 20_000


@pytest.mark.parametrize("charset, text", [("iso-8859-1", "Größe façade"), ("shift_jis", "東京タワー"), ("windows-1251", "Привет мир"),
                                           ("utf-16-le", "Ωmega ✓"), ("big5", "繁體中文"), ("gb18030", "简体中文"), ("windows-1256", "مرحبا")])
def test_charsets(browser, place, charset, text):
    """Declared in the page alone, or by its byte order mark; typed text keeps its letters."""
    html = f"<meta charset={charset}><title>{text}</title><label>{text} <input></label>"
    data = html.encode(charset) if not charset.startswith("utf-16") else b"\xff\xfe" + html.encode(charset)
    seen, (typed,) = play(browser, place, data, ("Type", text, text), name="charset")
    assert seen.title == text and typed.error is None and place.element(typed.observation, text).value == text


def test_text_that_no_file_could_hold(browser, place):
    """Halves of characters, control characters and line breaks in names neither break a line of the observation nor its encoding."""
    html = r"""<button id=b></button><script>document.title = "t\ud83d"; b.textContent = "A\ud800\u2028B\u0007\nC";</script>"""
    seen, _ = play(browser, place, html)
    assert seen.text.encode() and seen.title.encode() and len(lines(seen)) == 1 and "button A" in seen.text


def test_page_that_is_read_from_right_to_left(browser, place):
    """What overflows such a page to the left is a part of it, and can be clicked; on others it is out of reach and not shown."""
    far = "<div style='width:3000px;display:flex;justify-content:space-between'><b>start</b><button onclick='document.title = 9'>far</button></div>"
    seen, (clicked,) = play(browser, place, f"<html dir=rtl><body>{far}", ("Click", "far", None))
    assert "button far" in seen.text and clicked.observation.title == "9"
    seen, _ = play(browser, place, "<button style='position:absolute;left:-500px'>hidden</button><p>shown</p>")
    assert lines(seen) == ["text shown"]


@pytest.mark.parametrize("html", [
    "<table><form><tr><input aria-label=Q><td>cell</form></table><button onclick='document.title = 1'>Ok",
    "<ul><li><a href=#>one<li><a href=#>two</ul></a></a><button onclick='document.title = 1'>Ok</b></i></div>",
    "<p><div><p><h1><button onclick='document.title = 1'><b>Ok</p></h1>",
    "<!doctype htm<><body onload=\"x('\"><button onclick='document.title = 1'>Ok</button><div class='unclosed",
    "<button onclick='document.title = 1'>Ok</button><svg><a><foreignObject><math><mtext><table><td></svg><select><select>",
])
def test_broken_html(browser, place, html):
    _, (result,) = play(browser, place, html, ("Click", "Ok", None))
    assert result.observation.title == "1"


def test_missing_start_page_is_infrastructure(browser, place):
    from wr1_utils.web.episode import InfrastructureError

    async def whole():
        episode = place.make(browser, "status-404")
        try:
            with pytest.raises(InfrastructureError, match="answered 404"):
                await episode.reset()
        finally:
            await episode.close()
    run(asyncio.wait_for(whole(), 60))


ENDLESS = """<title>Feed</title><div id=feed></div><script>
const more = () => { for (let i = 0; i < 20; i++) feed.insertAdjacentHTML("beforeend", `<p>Entry number ${feed.children.length}</p>`); };
more();
more();
let waiting = false;
onscroll = () => {
  if (waiting || innerHeight + scrollY < document.documentElement.scrollHeight - 300 || feed.children.length > 90) return;
  waiting = true;
  setTimeout(() => { more(); waiting = false; }, 100);
};
</script>"""


def test_a_page_that_loads_more_at_its_end_goes_on(browser, place):
    """It is not said to end while it has more; when it has no more, it is."""
    _, results = play(browser, place, ENDLESS, *[("Scroll Down", None, None)] * 12, **{"episode.page_tokens": 150})
    for result in results:
        assert not (result.error and "scroll down for more" in result.observation.text), result.observation.text
    assert any("Entry number 99" in result.observation.text for result in results)
    assert results[-1].error == "the page does not go on further down"
