"""What mouse and keyboard do in a page, beyond the shared cases."""

import pytest

from wr1_utils.web.loop import run


def acted(browser, place, html, *actions, **changes):
    """The results of (action, label, argument) one after the other."""
    async def whole():
        episode = place.make(browser, "page", html, **changes)
        try:
            seen, results = await episode.reset(), []
            for action, label, argument in actions:
                results.append(await episode.step(place.reply(action, place.element(seen, label).id if label else None, argument)))
                seen = results[-1].observation
            return results
        finally:
            await episode.close()
    return run(whole(), timeout=30)


def test_search_submits(browser, place):
    (result,) = acted(browser, place, "<form action=/found><label>Find <input name=q value=old></label></form>", ("Search", "Find", "red mug"))
    assert result.observation.url.endswith("/found?q=red+mug")


def test_form_button_navigates(browser, place):
    (result,) = acted(browser, place, "<form action=/sent><button>Send</button></form>", ("Click", "Send", None))
    assert "/sent" in result.observation.url


@pytest.mark.parametrize("slow", ["/slow?s=0.2", "/slow-body?s=0.2"])
def test_answer_of_a_request_is_waited_for(browser, place, slow):
    """Head and body of it: the second comes some time after the first."""
    html = f"<button onclick=\"fetch('{slow}').then(r => r.text()).then(t => document.title = 'came')\">Load</button>"
    (result,) = acted(browser, place, html, ("Click", "Load", None), **{"episode.settle_ms": 8_000})  # slow machines need more than 500
    assert result.observation.title == "came"


def test_covered_button_is_not_clicked_through(browser, place):
    html = ("<button onclick='document.title=1'>Buy</button><div style='position:fixed;inset:0;background:white' "
            "onclick='this.remove()'>Subscribe now</div>")
    results = acted(browser, place, html, ("Click", "Buy", None), ("Click", "Subscribe", None), ("Click", "Buy", None))
    assert "covered" in results[0].error and "Subscribe now" in results[0].error
    assert results[2].error is None and results[2].observation.title == "1"


def test_far_button_is_scrolled_to(browser, place):
    (result,) = acted(browser, place, "<div style='height:5000px'>top</div><button onclick='document.title=2'>Deep</button>", ("Click", "Deep", None))
    assert result.observation.title == "2"


def test_node_that_left_the_page_is_not_replaced_by_its_neighbour(browser, place):
    """The button goes away after the observation: the click is refused, and the other button stays unclicked."""
    html = "<button id=a>First</button><button onclick='document.title=3'>Second</button>"

    async def whole():
        episode = place.make(browser, "page", html)
        try:
            seen = await episode.reset()
            number = place.element(seen, "First").id
            await episode._tab.page.evaluate("() => document.getElementById('a').remove()")
            result = await episode.step(place.reply("Click", number))
            assert "no longer" in result.error and result.observation.title != "3"
        finally:
            await episode.close()
    run(whole(), timeout=30)


@pytest.mark.parametrize("kind, text, value", [("date", "October 21, 2022", "2022-10-21"), ("time", "3:30 PM", "15:30"), ("number", "12.5", "12.5")])
def test_typed_inputs(browser, place, kind, text, value):
    (result,) = acted(browser, place, f"<label>Field <input type={kind} step=any></label>", ("Type", "Field", text))
    assert result.error is None and place.element(result.observation, "Field").value == value


def test_bad_date_is_told(browser, place):
    (result,) = acted(browser, place, "<label>Field <input type=date></label>", ("Type", "Field", "soon"))
    assert "2022-10-21" in result.error


def test_long_text_with_lines(browser, place):
    text = "first line\n" + "x" * 150
    (result,) = acted(browser, place, "<label>Note <textarea></textarea></label>", ("Type", "Note", text))
    assert result.error is None and place.element(result.observation, "Note").value == text


def test_long_page_by_scrolling(browser, place):
    """Scroll Down goes on where the page's text ended, Scroll Up comes back, and at the end the agent is told."""
    html = "".join(f"<p><a href=/p>Product number {i}</a></p>" for i in range(60))
    results = acted(browser, place, html, *[("Scroll Down", None, None)] * 4, ("Scroll Up", None, None), **{"episode.page_tokens": 150})
    numbers = [[int(e.label.split()[-1]) for e in result.observation.elements] for result in results]
    assert numbers[1][0] == numbers[0][-1] + 1 and numbers[3][-1] == 59
    assert "does not go on" in results[3].error
    assert numbers[4][0] < numbers[3][0] - 1 <= numbers[4][-1]
