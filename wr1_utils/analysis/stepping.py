"""One episode turn by turn inside a notebook: buttons where widgets run, all turns below one another where they do not.

Both forms are in one output. JupyterLab shows the widget; what cannot run one (a page made by nbconvert, GitHub, an editor) shows the HTML.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from wr1_utils.analysis.turns import element_row, split_reply
from wr1_utils.trajectory import Trajectory, Turn, describe

_PAGE = "max-height: 26em; overflow: auto; border: 1px solid; padding: 6px; white-space: pre-wrap"


def show_episode(trajectory: Trajectory, folder: str | Path = "") -> None:
    """Shows the episode in the cell's output. `folder` is that of the trajectory file: pictures are named from there; without it none are shown."""
    from IPython.display import display

    display({**episode_widget(trajectory, folder)._repr_mimebundle_(), "text/html": episode_html(trajectory, folder), "text/plain": describe(trajectory)}, raw=True)


def episode_widget(trajectory: Trajectory, folder: str | Path = ""):
    """An ipywidgets box: the episode's head, `Previous`, a slider and `Next`, and the turn chosen. An episode without a turn has its head alone."""
    from ipywidgets import HTML, Button, HBox, IntSlider, VBox

    head, turns = HTML(_head(trajectory)), trajectory.turns
    if not turns:
        return VBox([head])
    shown, slider = HTML(), IntSlider(value=1, min=1, max=max(2, len(turns)), description="Turn", disabled=len(turns) == 1)
    back, forth = Button(description="Previous"), Button(description="Next")

    def show(_=None) -> None:
        back.disabled, forth.disabled = slider.value == 1, slider.value == len(turns)
        shown.value = _turn(turns[slider.value - 1], folder)

    def move(by: int) -> None:
        slider.value += by

    back.on_click(lambda _: move(-1))
    forth.on_click(lambda _: move(1))
    slider.observe(show, "value")
    show()
    return VBox([head, HBox([back, slider, forth]), shown])


def episode_html(trajectory: Trajectory, folder: str | Path = "") -> str:
    """The whole episode as HTML that needs no script: its head, then every turn, to be folded and unfolded."""
    turns = [f"<details{' open' if number == 1 else ''}><summary>Turn {number} of {len(trajectory.turns)}: <code>{escape(split_reply(turn.reply)[1])}</code></summary>"
             f"{_turn(turn, folder)}</details>" for number, turn in enumerate(trajectory.turns, 1)]
    return _head(trajectory) + "".join(turns)


def _head(trajectory: Trajectory) -> str:
    reward = "none" if trajectory.reward is None else f"{trajectory.reward:g}"
    answer = "" if trajectory.answer is None else f", answer “{escape(trajectory.answer)}”"
    error = f"<div><b>Error:</b> {escape(trajectory.error)}</div>" if trajectory.error else ""
    return (f"<div><b>{escape(trajectory.intent)}</b></div><div>{escape(trajectory.task_id)}: {trajectory.status}, reward {reward}{answer}, "
            f"turns {len(trajectory.turns)}</div>{error}")


def _turn(turn: Turn, folder: str | Path) -> str:
    thought, call = split_reply(turn.reply)
    parts = [f"<div><code>{escape(turn.url)}</code> {escape(turn.title)}</div>", _picture(turn, folder), f'<pre style="{_PAGE}">{_page(turn)}</pre>']
    parts += [f'<div><b>Thought:</b></div><pre style="white-space: pre-wrap">{escape(thought)}</pre>'] if thought else []
    parts += [f"<div><b>Action:</b> <code>{escape(call)}</code></div>"]
    parts += [f"<div><b>Error:</b> {escape(turn.error)}</div>"] if turn.error else []
    return "".join(parts)


def _page(turn: Turn) -> str:
    """The observation, with the line of the element acted on marked."""
    row = element_row(turn)
    lines = [escape(line) for line in turn.observation.splitlines()]
    return "\n".join(f"<mark>{line}</mark>" if number == row else line for number, line in enumerate(lines))


def _picture(turn: Turn, folder: str | Path) -> str:
    """The screenshot with a frame around the element acted on; "" where there is none."""
    file = Path(folder) / turn.screenshot
    if not folder or not turn.screenshot or not file.is_file():
        return ""
    image = f'<img alt="Screenshot" style="display: block" src="data:image/jpeg;base64,{base64.b64encode(file.read_bytes()).decode()}">'
    frame = ""
    if turn.box:
        left, top, width, height = turn.box
        place = f"left: {left:g}px; top: {top:g}px; width: {width:g}px; height: {height:g}px"
        frame = f'<div style="position: absolute; outline: 3px solid #d55e00; {place}"></div>'
    return f'<div style="position: relative; overflow: auto">{image}{frame}</div>'
