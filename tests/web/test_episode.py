"""Every page of the shared cases, seen and acted on in real Chromium, through the Episode alone."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from wr1_utils.web.episode import InfrastructureError
from wr1_utils.web.loop import run

CASES = {case["id"]: case for case in json.loads((Path(__file__).parents[1] / "cases" / "pages.json").read_text(encoding="utf-8"))}


async def play(browser, place, case):
    """One case: what the page shows and hides, then its steps with what each must bring."""
    episode = place.make(browser, case["id"], case["html"])
    try:
        observation = await episode.reset()
        for text in case["shows"]:
            assert text in observation.text
        for text in case["hides"]:
            assert text not in observation.text
        for step in case["steps"]:
            observation = await play_step(place, episode, observation, step)
    finally:
        await episode.close()


async def play_step(place, episode, observation, step):
    number = place.element(observation, step["on"]).id if "on" in step else None
    url, started = observation.url, time.monotonic()
    try:
        result = await episode.step(place.reply(step["do"], number, step.get("argument")))
    except InfrastructureError:
        assert step.get("infrastructure_or_error") and time.monotonic() - started < step["within_s"]
        return observation
    assert "within_s" not in step or time.monotonic() - started < step["within_s"]
    seen = result.observation
    wants_error = "error" in step or "error_names" in step
    assert bool(result.error) == wants_error, result.error
    for text in step.get("error_names", [step["error"]] if "error" in step else []):
        assert text in result.error and text in seen.text
    for text in step.get("then_shows", []):
        assert text in seen.text
    for text in step.get("then_hides", []):
        assert text not in seen.text
    if "then_value" in step:
        assert place.element(seen, step["on"]).value == step["then_value"]
    if "then_title" in step:
        assert seen.title == step["then_title"]
    if "then_tabs" in step:
        assert len(seen.tabs) == step["then_tabs"] and any("tab" in notice for notice in seen.notices)
    if "then_url_ends" in step:
        assert seen.url.endswith(step["then_url_ends"])
    if step.get("then_same_url"):
        assert seen.url == url
    if step.get("then_scrolled"):
        assert await episode._tab.page.evaluate("() => [...document.querySelectorAll('*')].some(e => e.scrollTop > 0)")
    return seen


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("busy-loop", "late-navigation")])
def test_shared_case(browser, place, name):
    started = time.monotonic()
    run(play(browser, place, CASES[name]), timeout=30)
    assert name != "endless-polling" or time.monotonic() - started < 2


def test_late_navigation_is_caught_every_time(browser, place):
    """A navigation begun by a 50 ms timer is waited for, twenty times of twenty."""
    async def all_of_them():
        await asyncio.gather(*(play(browser, place, CASES["late-navigation"]) for _ in range(20)))
    run(all_of_them(), timeout=60)


FADING = """<button onclick="fade()">Go</button><script>
window.jQuery = {timers: []};
function fade() {
  jQuery.timers.push(1);
  let ticks = 0;
  const clock = setInterval(() => {
    if (++ticks < 12) return;
    clearInterval(clock);
    jQuery.timers.pop();
    document.title = "faded";
  }, 25);
}
</script>"""


def test_a_fade_by_jquery_is_waited_for(browser, place):
    """It ticks by an interval, which is not waited for otherwise; what is observed is the page after it (300 ms, of 500 at most)."""
    async def whole():
        episode = place.make(browser, "fading", FADING)
        try:
            seen = await episode.reset()
            assert (await episode.step(place.reply("Click", place.element(seen, "Go").id))).observation.title == "faded"
        finally:
            await episode.close()
    run(whole(), timeout=30)


def test_a_hung_page_is_infrastructure_and_the_others_go_on(browser, place):
    """A click that never returns ends its own episode within its limit; another one steps meanwhile, and the context closes."""
    async def both():
        hung = place.make(browser, "busy-loop", CASES["busy-loop"]["html"])
        other = place.make(browser, "counter", '<button onclick="document.title = 1 + +document.title">Add</button>')
        try:
            seen = await hung.reset()
            await other.reset()
            hanging = asyncio.ensure_future(play_step(place, hung, seen, CASES["busy-loop"]["steps"][0]))
            await asyncio.sleep(0.3)
            for count in range(1, 6):
                result = await other.step(place.reply("Click", 0))
                assert result.observation.title == str(count) and not hanging.done()
            await hanging
            started = time.monotonic()
            await hung.close()
            assert time.monotonic() - started < 10
        finally:
            await hung.close()
            await other.close()
    run(both(), timeout=60)


def test_invalid_replies_and_exit(browser, place):
    """An invalid reply costs a turn and is told; exit ends the episode with its message as the answer, which is scored."""
    async def whole():
        episode = place.make(browser, "plain", "<p>hello</p><button>Go</button>", seed=7)
        try:
            await episode.reset()
            assert episode.intent == "do it"
            result = await episode.step("<think>t</think>")
            assert result.action is None and not result.done and "no answer" in result.observation.text
            result = await episode.step(place.reply("Click", 99))
            assert "no element [99]" in result.error and "error" in result.observation.notices[0]
            result = await episode.step('<think>t</think><answer>exit(message="right")</answer>')
            assert result.done and result.observation is None and episode.answer == "right" and episode.steps == 3
            assert await episode.score() == 1.0
        finally:
            await episode.close()
        assert ("/plain", "w7") in [(path, headers.get("X-World")) for path, headers in place.requests]
    run(whole(), timeout=30)


def test_history_tabs_and_downloads(browser, place):
    """Back and forward, switching tabs, a download that is refused without waiting, a tab that closes itself."""
    async def whole():
        episode = place.make(browser, "start", '<title>Start</title><a href="/next">Next</a><a href="/file">File</a>'
                       '<a href="/closing" target=_blank>Tab</a>')
        place.html["closing"] = "<title>Second</title><button onclick='window.close()'>Close</button>"
        try:
            seen = await episode.reset()
            result = await episode.step("<think></think><answer>go_backward()</answer>")
            assert "no earlier page" in result.error and result.observation.title == "Start"
            result = await episode.step(place.reply("Click", place.element(seen, "Next").id))
            assert result.observation.url.endswith("/next")
            result = await episode.step("<think></think><answer>go_backward()</answer>")
            assert result.observation.title == "Start" and not result.error
            result = await episode.step("<think></think><answer>go_forward()</answer>")
            assert result.observation.url.endswith("/next")
            seen = (await episode.step("<think></think><answer>go_backward()</answer>")).observation
            started = time.monotonic()
            result = await episode.step(place.reply("Click", place.element(seen, "File").id))
            assert result.observation.title == "Start" and time.monotonic() - started < 5
            result = await episode.step(place.reply("Click", place.element(result.observation, "Tab").id))
            assert result.observation.tabs == ("Start", "Second") and result.observation.tab == 1
            result = await episode.step(place.reply("Switch Tab", argument="5"))
            assert "no tab 5" in result.error
            result = await episode.step(place.reply("Switch Tab", argument="0"))
            assert result.observation.title == "Start"
            seen = (await episode.step(place.reply("Switch Tab", argument="1"))).observation
            result = await episode.step(place.reply("Click", place.element(seen, "Close").id))
            assert result.observation.tabs == ("Start",)
        finally:
            await episode.close()
    run(whole(), timeout=60)


def test_missing_site_is_infrastructure(browser, place):
    async def whole():
        nowhere = type(place)()
        nowhere.start()
        nowhere.stop()
        episode = nowhere.make(browser, "x")
        with pytest.raises(InfrastructureError, match="opening http"):
            await episode.reset()
        await episode.close()
    run(whole(), timeout=30)


def test_going_back_from_the_first_page_leaves_it_as_it_is(browser, place):
    """What the agent has typed, opened or made to be shown is still there; there is no later page either."""
    async def whole():
        episode = place.make(browser, "first", '<div contenteditable aria-label=Note></div><details><summary>More</summary>inner</details>'
                             '<button onclick="said.textContent = \'made by a click\'">Say</button><p id=said></p>')
        try:
            seen = await episode.reset()
            for action, label, text in (("Type", "Note", "kept"), ("Click", "More", None), ("Click", "Say", None)):
                seen = (await episode.step(place.reply(action, place.element(seen, label).id, text))).observation
            for call, word in (("go_backward", "earlier"), ("go_forward", "later")):
                result = await episode.step(f"<think></think><answer>{call}()</answer>")
                assert result.error == f"there is no {word} page" and result.observation.elements == seen.elements
                assert all(text in result.observation.text for text in ("kept", "inner", "made by a click"))
        finally:
            await episode.close()
    run(whole(), timeout=30)


def click_link(browser, place, address, **changes):
    """What a link to `address` brings, as (the step's result or the error it raised, seconds)."""
    async def whole():
        episode = place.make(browser, "linked", f'<title>Linked</title><a href="{address}">Link</a>', **changes)
        try:
            await episode.reset()
            started = time.monotonic()
            try:
                result = await episode.step(place.reply("Click", 0))
            except InfrastructureError as error:
                result = error
            return result, time.monotonic() - started
        finally:
            await episode.close()
    return run(whole(), timeout=90)


@pytest.mark.parametrize("address, timeout_s, title, notices", [
    ("/slow?s=3", 1, "Linked", ("the next page did not answer in time",)),
    ("/slow?s=5", 20, "/slow", ()),  # longer than a script may take
    ("/status-204", 15, "Linked", ()),
    ("/slow-body?s=2", 15, "/slow-body", ()),  # its head comes at once
    ("/endless", 2, "/endless", ()),  # seen as far as it has come
])
def test_a_next_page_is_waited_for_as_long_as_the_settings_say(browser, place, monkeypatch, address, timeout_s, title, notices):
    """One that comes later is given up, and the page stays; an answer without a page needs no wait."""
    monkeypatch.setattr("wr1_utils.web.episode.ANSWER_S", 3.0)
    monkeypatch.setitem(place.html, "endless", "<title>/endless</title>")
    result, seconds = click_link(browser, place, address, **{"episode.timeout_s": timeout_s})
    assert (result.observation.title, result.observation.notices) == (title, notices)
    assert seconds < 10


def test_a_page_that_cannot_be_reached(browser, place):
    """A link to nowhere is told and can be gone back from; a site that is gone in the middle of an episode is infrastructure."""
    async def whole():
        gone = type(place)()
        gone.start()
        dead = place.make(browser, "dead", f'<a href="http://127.0.0.1:{gone.server.server_address[1]}/x">Dead</a>')
        site = gone.make(browser, "site", "<a href=/y>Next</a>")
        try:
            await dead.reset()
            await site.reset()
            gone.stop()
            seen = (await dead.step(place.reply("Click", 0))).observation
            assert len(seen.notices) == 1 and seen.notices[0].startswith("the page http://127.0.0.1:") and seen.notices[0].endswith("/x could not be reached")
            seen = (await dead.step("<think></think><answer>go_backward()</answer>")).observation
            assert place.element(seen, "Dead") and not seen.notices
            with pytest.raises(InfrastructureError, match="/y could not be reached"):
                await site.step(place.reply("Click", 0))
        finally:
            await dead.close()
            await site.close()
    run(whole(), timeout=60)


def test_a_tab_closed_by_another_tab_is_gone_at_once(browser, place):
    async def whole():
        episode = place.make(browser, "opener", '<title>Opener</title><button onclick="w = window.open(\'/opened\')">Open</button>'
                             '<button onclick="w.close()">Close</button>')
        try:
            seen = await episode.reset()
            await episode.step(place.reply("Click", place.element(seen, "Open").id))
            seen = (await episode.step(place.reply("Switch Tab", argument="0"))).observation
            assert len(seen.tabs) == 2
            seen = (await episode.step(place.reply("Click", place.element(seen, "Close").id))).observation
            assert seen.tabs == ("Opener",) and seen.notices == ("a tab was closed",)
        finally:
            await episode.close()
    run(whole(), timeout=30)
