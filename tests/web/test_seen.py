"""What nobody can see on a page is not shown, what only looks as if it were hidden is, and what has a form of its own is called by its name."""

import pytest

from wr1_utils.web.loop import run

READERS = "position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)"  # the usual way to say something to screen readers only
IMAGE = "src='data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"100\"/>'"
MAP = f"<img alt=Map {IMAGE} width=200 height=100 usemap='#m'><map name=m>"


def play(browser, place, html, *actions):
    """The lines of the first observation below its title, and the results of (action, label), one after the other."""
    async def whole():
        episode = place.make(browser, "seen", html)
        try:
            seen = first = await episode.reset()
            results = []
            for action, label in actions:
                results.append(await episode.step(place.reply(action, place.element(seen, label).id)))
                seen = results[-1].observation
            return first.text.splitlines()[1:], results
        finally:
            await episode.close()
    return run(whole(), timeout=60)


@pytest.mark.parametrize("html", [
    "<p style='transform:scale(0)'>secret</p>",
    "<p style='scale:0'>secret</p>",
    "<ul style='transform:scaleY(0)'><li>secret<li><button>secret</button></ul>",
    *(f"<p style='clip-path:{path}'>secret</p>" for path in ("inset(50%)", "inset(100%)", "inset(0 100% 0 0)", "circle(0)", "circle(0 at 9px 9px)",
                                                               "ellipse(0 0)", "polygon(0 0, 0 0, 0 0)", "rect(0 0 0 0)")),
    "<p style='opacity:.01'>secret</p>",
    "<div style='opacity:.2'><p style='opacity:.2'>secret <button>secret</button></p></div>",
    "<p style='font-size:0'>secret</p>",
    "<p style='color:transparent'>secret</p>",
    "<p style='color:rgb(0 0 0 / .01)'>secret</p>",
    *(f"<p style='{colour}'>secret <b>text</b></p>" for colour in ("color:#fff", "background:navy;color:navy", "background:black",
                                                                   "background:red;color:#f00")),
    "<style>body{background:#eee} h2{color:#eee}</style><h2>secret</h2>",
    "<style>html{background:#eee} span{color:rgb(238 238 238)}</style><span>secret</span>",
    "<table bgcolor=red><tr><td><font color=red>secret</font><td><font color=red>more</font></table>",
    "<div style='background:navy'><i style='position:absolute;background:gold;left:300px;width:9px;height:9px'></i><p style='color:navy'>secret</p></div>",
    "<div style='height:3000px'></div><p style='color:white;margin-bottom:-3000px'>secret</p>",
    "<iframe srcdoc=\"<body style='background:white'><p style='color:white'>secret</p>\"></iframe>",
    "<p style='text-indent:-9999px'>secret</p>",
    "<iframe srcdoc=\"<p style='text-indent:-9999px'>secret</p>\"></iframe>",
    "<iframe style='position:absolute;left:-9999px' srcdoc='<p>secret</p>'></iframe><iframe width=0 height=0 srcdoc='<p>secret</p>'></iframe>",
    "<div style='position:relative;overflow:auto;height:90px'><p style='position:absolute;left:-9999px'>secret</p></div>",
    "<div style='position:relative;overflow:auto;height:90px'><p style='position:absolute;top:-500px'>secret</p></div>",
    "<div style='width:1px;height:1px;overflow:hidden'>secret</div>",
    "<div style='height:0;overflow:auto'>secret</div>",
    f"<h2 style='{READERS}'>secret</h2>",
    "<div style='position:fixed;left:100%'>secret</div>",
    "<div style='position:relative;overflow:hidden;height:50px'><p style='position:absolute;top:300px'>secret</p></div>",
    "<object type=text/html data=about:blank><p>secret</p><button>secret</button></object>",
], ids=lambda html: html[:60])
def test_what_nobody_can_see(browser, place, html):
    """Not even where the same text goes on with something that is seen."""
    lines, _ = play(browser, place, f"{html}<p>shown</p>")
    assert lines == ["text shown"]


@pytest.mark.parametrize("hiding", ["font-size:0", "color:white", "position:relative;left:-9999px", "display:inline-block;transform:scale(0)", "opacity:.01",
                                    READERS])
def test_a_hidden_piece_of_a_line(browser, place, hiding):
    piece = f"<span style='{hiding}'>secret</span>"
    assert play(browser, place, f"<p>{piece} goes on</p>")[0] == ["text goes on"]
    assert play(browser, place, f"<p>begins {piece}</p>")[0] == ["text begins"]


@pytest.mark.parametrize("html, expected", [
    ("<style>@keyframes in { from { opacity: 0 } }</style><p style='animation:in .01s both'>faded in</p><script>setTimeout(Date, 200)</script>",
     "text faded in"),
    ("<p style='opacity:.3'>pale</p>", "text pale"),
    ("<p style='clip-path:inset(1px)'>cut</p>", "text cut"),
    ("<p style='clip-path:circle(50%)'>round</p>", "text round"),
    ("<p style='background:linear-gradient(red, blue);background-clip:text;color:transparent'>many <b>colours</b></p>", "text many colours"),
    ("<p style='color:transparent;text-shadow:0 0 2px red'>blurred</p>", "text blurred"),
    ("<a href=#x style='font-size:0'><img alt=Home width=20 height=20></a>", "link Home [0]"),
    *((f"<style>{css}</style><div><section></section><p>white</p></div>", "text white") for css in (  # on something else than the white of the page
        "p{color:white} div{background:linear-gradient(navy, blue)}", "p{color:white} body{background:url(/dark.png) white}",
        "p{color:white} p{background:rgb(0 0 0/.5)}", "p{color:white;text-shadow:0 0 2px black}", "p{color:white;-webkit-text-stroke:1px black}", "p{color:white;mix-blend-mode:difference}",
        "div{color:white;filter:invert(1)} div{background:transparent}", "p{color:white;box-shadow:inset 0 0 0 99px navy}",
        "p{color:white;position:relative} section{position:absolute;inset:0;background:navy}",
        "p{color:white} section{position:absolute;inset:0;height:200px;background:navy;z-index:-1}",
        "p{color:white} section{height:60px;margin-bottom:-60px;background:navy}",
        "p{color:white;position:relative} p::before{content:'';position:absolute;inset:0;background:navy;z-index:-1}",
        "p{color:white} p::first-line{color:navy}", ":root{color-scheme:dark} p{color:white}",
        "body{background:navy} div{background:white;height:9px;position:relative} p{color:white;position:absolute;top:30px}",
        "html{background:navy} body{background:white;width:500px} p{color:white;position:absolute;left:600px}",
        "p{background:white;background-clip:text;color:white} body{background:navy}")),
    ("<img width=300 height=90 style='position:absolute;z-index:-1'><p style='color:white'>on a picture</p>", "text on a picture"),
    ("<svg width=300 height=90><rect width=300 height=90 fill=navy /><text y=40 style='color:white' fill=white>drawn</text></svg>", "text drawn"),
    ("<dialog style='background:none;color:white'>over a dark page</dialog><script>document.querySelector('dialog').showModal()</script>",
     "text over a dark page"),
    ("<div style='background:navy'><iframe srcdoc=\"<p style='color:white'>through a frame</p>\"></iframe></div>", "text through a frame"),
    ("<div contenteditable style='color:white'>being written</div>", 'textbox = "being written" [0]'),
    ("<a href=#x style='color:white'>Home</a>", "link Home [0]"),
    ("<div style='overflow:hidden;width:300px'><div style='display:flex;transform:translateX(-300px)'><div style='min-width:300px'>One</div>"
     "<div style='min-width:300px'>Two</div><div style='min-width:300px'><div style='overflow:hidden'>Three</div></div></div></div>", "text Two"),
    ("<div id=s style='overflow:auto;width:300px'><p style='width:2000px'>wide</p></div><script>s.scrollLeft = 1500</script>", "text wide"),
    ("<div style='overflow:auto;height:90px;display:flex;flex-direction:column-reverse'><p>newest</p><div style='min-height:500px'></div><p>oldest</p></div>",
     "text newest"),
    ("<div style='overflow:hidden;height:20px'><div style='position:absolute;top:300px'>menu of a low bar</div></div>", "text menu of a low bar"),
    ("<div style='transform:translate(0);height:2000px'><p style='position:fixed;top:1500px'>moves with its box</p></div>", "text moves with its box"),
    ("<style>body{overflow:hidden;margin:0}</style><div style='position:absolute'>a body without height</div>", "text a body without height"),
    ("<div style='content-visibility:auto'><div style='height:3000px'></div><p>far down</p></div>", "text far down"),
], ids=lambda value: value[:50])
def test_what_only_looks_hidden(browser, place, html, expected):
    assert play(browser, place, html)[0][0] == expected


def test_a_menu_that_grows_when_pointed_at(browser, place):
    """It is not there before, and can be clicked then."""
    html = """<style>#menu { transform: scale(0) } #top:hover #menu { transform: none }</style>
      <div id=top><button>Menu</button><div id=menu><button onclick="document.title = 'out'">Log out</button></div></div>"""
    lines, results = play(browser, place, html, ("Hover", "Menu"), ("Click", "Log out"))
    assert lines == ["button Menu [0]"] and results[1].observation.title == "out"


@pytest.mark.parametrize("html, expected", [
    (f"<label style='{READERS}' for=q><span>Search</span></label><input id=q placeholder=…>", 'textbox Search = "" [0]'),
    (f"<label><span style='{READERS}'>Quantity</span><input></label>", 'textbox Quantity = "" [0]'),
    (f"<button>× <span style='{READERS}'>Close</span></button>", "button × Close [0]"),
    (f"<a href=#x><span style='{READERS}'>Basket</span></a>", "link Basket [0]"),
    (f"<button>Remove <span style='{READERS}'>Blue Mug</span></button>", "button Remove Blue Mug [0]"),
    ("<div onclick='1' style='font-size:0;width:40px;height:60px;border:1px solid'><span>seven of hearts</span></div>", "clickable [0]"),
    ("<button>Save <span style='position:absolute;transform:scale(0)'>the whole file</span></button>", "button Save [0]"),
])
def test_names_for_screen_readers(browser, place, html, expected):
    """They name a control, also one that has only a sign to be seen. A tip that is not open does not, nor the hidden side of a card."""
    assert play(browser, place, html)[0] == [expected]


@pytest.mark.parametrize("box", ["opacity:0;position:absolute", "opacity:.01", READERS, "position:absolute;left:-9999px", "display:none"])
def test_a_drawn_checkbox(browser, place, box):
    """The real one is hidden and its label drawn instead: around it, or behind it. There is one checkbox, and a click on it checks it."""
    for html in (f"<label><input type=checkbox style='{box}'>Gift</label>", f"<input type=checkbox id=c style='{box}'><label for=c>Gift</label>"):
        lines, (result,) = play(browser, place, html, ("Click", "Gift"))
        assert lines == ["checkbox Gift [0]"] and result.error is None and "checkbox Gift checked [0]" in result.observation.text


def test_a_drawn_checkbox_under_a_pointer(browser, place):
    """The pointer that its label shows is that of the checkbox: what stands in the label is nothing else to click."""
    html = "<label style='cursor:pointer'><input type=checkbox style='opacity:0;position:absolute'><span>Gift</span> <b>wrap</b></label>"
    assert play(browser, place, html)[0] == ["checkbox Gift wrap [0]"]


def test_fields_that_lie_over_what_is_drawn(browser, place):
    """Without a label: the boxes that people click are seen as what they are; a text field that nobody sees is none of them."""
    over = "style='opacity:0;position:absolute;inset:0;width:60px;height:20px'"
    html = (f"<div style='position:relative'>Dark<input type=checkbox aria-label='Dark mode' {over}></div>"
            f"<div style='position:relative'>Upload<input type=file aria-label=Photo {over}></div>"
            f"<div style='position:relative;pointer-events:none'>Off<input type=checkbox aria-label=Off {over}></div><input aria-label=Trap style='opacity:0'>")
    lines, (result,) = play(browser, place, html, ("Click", "Dark mode"))
    assert lines == ["text Dark", "checkbox Dark mode [0]", "text Upload", 'button Photo = "" [1]', "text Off"]
    assert result.error is None and "checkbox Dark mode checked [0]" in result.observation.text


@pytest.mark.parametrize("area, top", [("coords='10,10,50,50'", 0), ("shape=circle coords='100,50,20'", 0), ("shape=poly coords='100,10,150,10,125,60'", 0),
                                       ("shape=default", 0), ("coords='10,10,50,50'", 3000)])
def test_areas_of_an_image(browser, place, area, top):
    """Each is a link of its own, with a box in the image, and is clicked there, also far down the page; one without an address is none."""
    html = f"<div style='height:{top}px'></div>{MAP}<area alt=North href='/north' {area}><area alt=Nowhere coords='1,1,2,2'></map>"
    lines, (result,) = play(browser, place, html, ("Click", "North"))
    assert lines == ["image Map", "link North [0]"]
    assert result.error is None and result.observation.url.endswith("/north")


def test_an_area_of_no_image(browser, place):
    assert play(browser, place, "<map name=lost><area alt=North href=/x coords='1,1,9,9'></map><p>shown</p>")[0] == ["text shown"]


def test_objects_and_embeds(browser, place):
    """A document of this origin or another is read like a frame, and clicked in; what an object says instead of what cannot be shown is text."""
    place.html["inner"] = "<p>Inner page</p><button onclick=\"this.textContent = 'Pressed'\">Press</button>"
    port = place.server.server_address[1]
    for holder in ("<object type=text/html data=/inner></object>", "<embed type=text/html src=/inner>",
                   f"<object type=text/html data='http://other.localhost:{port}/inner'></object>"):
        lines, (result,) = play(browser, place, holder, ("Click", "Press"))
        assert lines == ["text Inner page", "button Press [0]"] and "button Pressed [0]" in result.observation.text, holder
    lines, (result,) = play(browser, place, "<object data='data:no/thing,x'><p>No viewer</p><button>Download</button></object>", ("Click", "Download"))
    assert lines == ["text No viewer", "button Download [0]"] and result.error is None


def test_links_of_a_drawing_on_a_long_page(browser, place):
    """Their address is an object; where the page is cut, links are compared by their addresses."""
    link = "<a role=link href='#x'><text y=20>Drawn</text></a>"
    lines, _ = play(browser, place, f"<svg width=90 height=40>{link}{link}</svg>" + "<p>words and more words</p>" * 500)
    assert lines[:2] == ["link Drawn [0]", "link Drawn [1]"] and lines[-1].startswith("scroll down for more")


@pytest.mark.parametrize("html, expected", [
    ("<label>Upload <progress value=40 max=100>old browsers</progress></label>", 'progress Upload = "40%"'),
    ("<p>Disk <meter min=10 max=20 value=16>6 of 10</meter></p>", 'meter Disk = "60%"'),
    ("<progress aria-label=Loading></progress>", "progress Loading"),
    ("<div role=progressbar aria-label=Sync aria-valuenow=25 style='width:90px;height:9px'></div>", 'progress Sync = "25%"'),
    ("<div role=meter aria-label=Fuel aria-valuenow=2 aria-valuemax=8 aria-valuetext='a quarter' style='width:90px;height:9px'></div>",
     'meter Fuel = "a quarter"'),
    ("<div role=progressbar aria-valuenow=25>25 of 100 files</div>", "text 25 of 100 files"),
])
def test_bars(browser, place, html, expected):
    assert play(browser, place, html)[0] == [expected]


def test_a_closed_shadow_root_that_the_html_declares(browser, place):
    """It is seen where its element asks for it, as one has to that does anything with it."""
    html = """<p>Mug</p><x-card><template shadowrootmode=closed><button>Buy</button></template></x-card><script>
      customElements.define("x-card", class extends HTMLElement { constructor() { super();
        this.attachInternals().shadowRoot.querySelector("button").onclick = () => { document.title = "bought"; }; } });</script>"""
    lines, (result,) = play(browser, place, html, ("Click", "Buy"))
    assert lines == ["text Mug", "button Buy [0]"] and result.observation.title == "bought"
