"""An episode in a notebook: the widget's buttons lead from turn to turn, and the same turns stand in plain HTML beside it."""

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from wr1_utils.analysis.stepping import episode_html, episode_widget
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories

REPLIES = ("<think># Note: red <b>\n</think><answer>do(action=\"Click\", element=\"2\")</answer>", "nonsense", '<answer>exit(message="4 < 5")</answer>')


def turn(reply, **more):
    page = "heading Shop\nbutton Buy [1]\nlink Mugs & cups [2]"
    return Turn(url="http://shop/", title="Shop", observation=page, context_ids=[1], reply_ids=[2], logprobs=[], reply=reply, action="", error=more.pop("error", ""),
                seconds_model=0, seconds_browser=0, **more)


def episode(*turns, **more):
    given = dict(task_id="pocket.1", intent="Find a <mug>", status="failure", reward=0.0, answer=None, error="") | more
    return Trajectory(run="r", benchmark="pocket", site="shopping", template="t", split="seen_template", group=0, member=0, seed=0, policy="p", seconds=1.0,
                      turns=list(turns), **given)


def three():
    return episode(turn(REPLIES[0]), turn(REPLIES[1], error="invalid reply (form)"), turn(REPLIES[2]), answer="4 < 5")


def test_buttons_and_slider_lead_through_the_turns_and_stop_at_the_ends():
    head, controls, shown = episode_widget(three()).children
    back, slider, forth = controls.children
    assert "Find a &lt;mug&gt;" in head.value and "reward 0, answer “4 &lt; 5”, turns 3" in head.value
    assert back.disabled and not forth.disabled and "<mark>link Mugs &amp; cups [2]</mark>" in shown.value and "# Note: red &lt;b&gt;" in shown.value
    forth.click()
    assert slider.value == 2 and "invalid reply (form)" in shown.value and "<mark>" not in shown.value
    forth.click()
    assert forth.disabled and not back.disabled and "exit(message=&quot;4 &lt; 5&quot;)" in shown.value
    slider.value = 1
    assert back.disabled and "Thought" in shown.value


def test_one_turn_and_none():
    _, controls, _ = episode_widget(episode(turn(REPLIES[2]))).children
    assert all(one.disabled for one in controls.children)
    lost = episode(status="infrastructure", reward=None, error="the browser died")
    (head,) = episode_widget(lost).children
    assert "infrastructure, reward none, turns 0" in head.value and "the browser died" in episode_html(lost)


def test_a_screenshot_is_shown_where_it_is_there_with_a_frame_around_the_element(tmp_path):
    (tmp_path / "screenshots").mkdir()
    (tmp_path / "screenshots" / "1.jpg").write_bytes(b"jpeg")
    seen = episode(turn(REPLIES[0], screenshot="screenshots/1.jpg", box=[1, 2, 30.5, 4]), turn(REPLIES[2], screenshot="screenshots/gone.jpg"))
    page = episode_html(seen, tmp_path)
    assert page.count("<img") == 1 and "base64,anBlZw==" in page and "left: 1px; top: 2px; width: 30.5px; height: 4px" in page
    assert "<img" not in episode_html(seen)


def test_a_page_made_by_nbconvert_shows_every_turn_without_widgets(tmp_path):
    """The cell runs in a real kernel; where widgets cannot be had, the plain HTML stands in the output."""
    file = write_trajectories(tmp_path / "trajectories.parquet", [three()])
    code = f"import wr1_utils as wr1\nwr1.show_episode(wr1.read_trajectories({str(file)!r})[0])"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert set(output.data) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    notebook.metadata.pop("widgets")
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert all(text in page for text in ("Turn 1 of 3", "Turn 3 of 3", "invalid reply (form)", "<mark>link Mugs &amp; cups [2]</mark>"))
