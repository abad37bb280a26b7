"""The page that `wr1 view` writes, opened in real Chromium without a network."""

import io
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from wr1_utils.analysis import viewer
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.analysis.viewer import write_view
from wr1_utils.settings import ROOT, load_settings
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories
from wr1_utils.web.browser import Browser
from wr1_utils.web.loop import run

PAGE = 'page Shop <b>\nlink Go [0]\nbutton Buy </script><script>document.title = "taken over"</script> [1]'
CLICK = '<think># Element: Buy [1]</think>\n<answer>do(action="Click", element="1")</answer>'


def turn(reply=CLICK, logprobs=(-0.01, -0.7), error="", screenshot="", box=None):
    return Turn("http://shop.test/a", "Shop", PAGE, [1], [2, 3][: len(logprobs) or 2], list(logprobs), reply, "", error, 0.1, 0.1, screenshot, box)


def trajectory(number, status, turns, **changes):
    fields = dict(run="r", task_id=f"pocket.x.{number}", benchmark="pocket", site="shopping", template="x", split="seen_template", intent=f"Buy mug {number}", group=number,
                  member=0, seed=0, policy="p", status=status, reward=None if status == "infrastructure" else float(status == "success"), answer=None, error="", seconds=1.0, turns=turns)
    return Trajectory(**{**fields, **changes})


@pytest.fixture
def folder(tmp_path):
    """A run of four: a success of two turns with pictures, two failures, and one lost to infrastructure."""
    made = tmp_path / "smoke" / "eval-bc-s0"
    picture = made / "screenshots" / "t" / "1.jpg"
    picture.parent.mkdir(parents=True)
    Image.new("RGB", (400, 200), "white").save(picture)
    shot = {"screenshot": "screenshots/t/1.jpg", "box": [100.0, 50.0, 80.0, 20.0]}
    write_trajectories(made / "trajectories.parquet", [
        trajectory(1, "success", [turn(**shot), turn('<think>so</think><answer>exit("42")</answer>', screenshot=shot["screenshot"])], answer="42"),
        trajectory(2, "failure", [turn("nothing to read", error="invalid reply (no answer): the reply has no <answer>")]),
        trajectory(3, "failure", [turn(logprobs=())]),
        trajectory(4, "infrastructure", [], error="the browser ended"),
    ])
    return made


@pytest.fixture(scope="module")
def browser():
    browser = Browser(load_settings("laptop").browser)
    run(browser.start())
    yield browser
    run(browser.stop())


TEXT = "() => Object.fromEntries([...document.querySelectorAll('[id]')].map(node => [node.id, node.textContent]))"
BOX = """() => { const [b, i] = ["box", "image"].map(id => document.getElementById(id)), at = b.getBoundingClientRect(), on = i.getBoundingClientRect();
  return b.hidden || i.hidden ? null : [(at.x - on.x) / on.width, (at.y - on.y) / on.height, at.width / on.width, at.height / on.height]; }"""


def look(browser, path, *keys, hash="", then=TEXT):
    """What `then` gives after the keys were pressed (["select", id, value] chooses); and the addresses that the page asked for."""
    async def inside():
        context = await browser.open()
        page, asked, faults = await context.new_page(), [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda fault: faults.append(str(fault)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        await page.goto(path.as_uri() + hash)
        for key in keys:
            await (page.keyboard.press(key) if isinstance(key, str) else page.select_option(f"#{key[1]}", key[2]))
        await page.evaluate("() => document.getElementById('image').complete || new Promise(done => { document.getElementById('image').onload = done; })")
        found = await page.evaluate(then)
        await context.close()
        assert faults == []
        return found, [url for url in asked if not url.startswith("data:")]
    return run(inside(), timeout=60)


def test_a_turn_shows_all_that_was_recorded_and_asks_for_nothing(browser, folder):
    made = write_view(folder)
    shown, asked = look(browser, made.path)
    assert asked == [made.path.as_uri()] and made.left_out == ""
    assert shown["run"] == "smoke/eval-bc-s0" and shown["intent"] == "Buy mug 1" and "success, reward 1" in shown["about"] and "answer “42”" in shown["about"]
    assert shown["think"] == "# Element: Buy [1]" and shown["action"] == 'do(action="Click", element="1")'
    assert shown["observation"] == PAGE.replace("\n", "") and shown["url"] == "http://shop.test/a"  # no text of a page becomes markup
    assert shown["tokens"] == "2 993 50" and "70.1 %" in shown["mean"]  # tokens 2 and 3 at 99 % and 50 %; exp(-0.71 / 2)
    assert shown["count"] == "4 of 4 trajectories"


def test_the_element_acted_on_is_outlined_in_the_picture_and_marked_in_the_text(browser, folder):
    path = write_view(folder).path
    assert look(browser, path, then=BOX)[0] == pytest.approx([0.25, 0.25, 0.2, 0.1], abs=0.01)
    marked = "() => [...document.querySelectorAll('#observation .acted')].map(line => line.textContent)"
    assert look(browser, path, then=marked)[0] == [PAGE.splitlines()[2]]
    assert look(browser, path, "ArrowRight", then=BOX)[0] is None  # exit acts on no element


def test_arrows_go_through_turns_and_trajectories_and_stop_at_the_ends(browser, folder):
    path = write_view(folder).path
    assert look(browser, path, "ArrowRight")[0]["think"] == "so"
    assert look(browser, path, *["ArrowRight"] * 3, "ArrowLeft")[0]["think"] == "# Element: Buy [1]"
    second = look(browser, path, "ArrowRight", "ArrowDown")[0]
    assert second["intent"] == "Buy mug 2" and "the reply has no <answer>" in second["error"] and "No screenshot" in second["no-image"]
    third = look(browser, path, "ArrowDown", "ArrowDown")[0]
    assert third["intent"] == "Buy mug 3" and "not recorded" in third["mean"]
    last = look(browser, path, *["ArrowDown"] * 9)[0]
    assert last["intent"] == "Buy mug 4" and "the browser ended" in last["about"]
    assert look(browser, path, *["ArrowDown"] * 9, "ArrowUp", "ArrowUp")[0]["intent"] == "Buy mug 2"


def test_statuses_and_causes_filter(browser, folder):
    path = write_view(folder).path
    failures = look(browser, path, ["select", "status", "failure"])[0]
    assert failures["count"] == "2 of 4 trajectories" and failures["intent"] == "Buy mug 2" and "failure (2)" in failures["status"]
    assert look(browser, path, ["select", "status", "failure"], "ArrowDown", "ArrowDown")[0]["intent"] == "Buy mug 3"
    assert look(browser, path, ["select", "cause", "wrong element"])[0]["intent"] == "Buy mug 3"
    assert look(browser, path, ["select", "status", "success"], ["select", "cause", "wrong element"])[0]["count"] == "0 of 4 trajectories"


def test_a_link_opens_its_turn(browser, folder):
    path = write_view(folder).path
    assert look(browser, path, hash="#pocket.x.1.1.0@2")[0]["think"] == "so"
    assert look(browser, path, hash="#pocket.x.3.3.0@1")[0]["intent"] == "Buy mug 3"
    assert "pocket.x.9 is not on this page" in look(browser, path, hash="#pocket.x.9@1")[0]["left-out"]


def test_what_was_left_out_is_said(browser, folder, monkeypatch):
    made = write_view(folder, limit=1)
    assert (made.trajectories, made.left_out) == (1, "Left out: 3 of 4 trajectories (--limit 1).")
    assert look(browser, made.path)[0]["left-out"] == made.left_out
    monkeypatch.setattr(viewer, "MOST_BYTES", viewer.PAGE.stat().st_size + 1800)
    small = write_view(folder)
    assert 0 < small.trajectories < 4 and "would be above" in small.left_out


def test_a_large_run_stays_below_50_mb_and_keeps_its_texts(tmp_path):
    """60 MB of pictures: the texts all stay, the pictures that do not fit are counted."""
    noise = Image.fromarray(np.random.default_rng(0).integers(0, 255, (700, 1000, 3), dtype=np.uint8))
    file = io.BytesIO()
    noise.save(file, "JPEG", quality=95)
    number = 60_000_000 // len(file.getvalue()) + 1
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots" / "1.jpg").write_bytes(file.getvalue())
    write_trajectories(tmp_path / "trajectories.parquet", [trajectory(n, "failure", [turn(screenshot="shots/1.jpg")]) for n in range(number)])
    made = write_view(tmp_path)
    assert made.trajectories == number and made.path.stat().st_size < 50_000_000
    left = int(re.fullmatch(r"Left out: (\d+) screenshots \(the page would be above 48 MB; a --limit makes room for them\)\.", made.left_out)[1])
    assert made.path.read_text().count("data:image/jpeg") == number - left > 0


def test_tokens_have_the_texts_of_the_runs_tokenizer(folder):
    (folder / "settings.toml").write_text('[model]\npath = "data/models/pocket-base"\n')
    write_view(folder)
    tokens = data_of(folder)["trajectories"][0]["turns"][0]["tokens"]
    assert len(tokens) == 2 and tokens != ["2 ", "3 "] and all(isinstance(text, str) for text in tokens)


def data_of(folder):
    return json.loads(re.search(r'id="data">(.*?)</script>', (folder / "view.html").read_text(encoding="utf-8"), re.DOTALL)[1])


def test_rollouts_of_an_rl_run_are_shown_step_by_step(tmp_path):
    for step in (1, 2):
        write_trajectories(tmp_path / "rollouts" / f"step-000{step}.parquet", [trajectory(1, "failure", [turn(screenshot="screenshots/gone.jpg")])])
    assert write_view(tmp_path).trajectories == 2
    shown = data_of(tmp_path)["trajectories"]
    assert [one["id"] for one in shown] == ["step-0001.pocket.x.1.1.0", "step-0002.pocket.x.1.1.0"]
    assert "gone.jpg is not there any more" in shown[0]["turns"][0]["no_image"]
    assert write_view(tmp_path / "rollouts" / "step-0001.parquet").path == tmp_path / "rollouts" / "view.html"


def test_the_command_says_where_the_page_is_and_wrong_runs_what_would_be_right(folder, capsys):
    from wr1_utils.cli import main

    assert main(["view", str(folder), "--limit", "2"]) == 0
    said = capsys.readouterr().out
    assert str(folder / "view.html") in said and "2 trajectories" in said and "Left out: 2 of 4" in said
    assert main(["view", str(folder), "--limit", "-1"]) == 2 and "--limit must be 0" in capsys.readouterr().err
    with pytest.raises(AnalysisError, match=r"no run 'demo/eval-r2-s0' \(did you mean 'demo/eval-(r1|bc)-s0'\?\)"):
        write_view("demo/eval-r2-s0")
    with pytest.raises(AnalysisError, match="holds no trajectories"):
        write_view(folder / "screenshots")
    shutil.rmtree(folder / "screenshots")
    write_trajectories(folder / "trajectories.parquet", [])
    with pytest.raises(AnalysisError, match="no trajectory yet"):
        write_view(folder)


def test_the_viewer_needs_no_model_and_no_browser():
    code = "import sys, wr1_utils.analysis.viewer; sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'playwright')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == 0
