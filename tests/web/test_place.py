"""That each benchmark's place is what an episode asks of one."""

import inspect

import pytest

from wr1_utils.tasks.miniwob import MiniWob
from wr1_utils.tasks.pocket import PocketArena
from wr1_utils.tasks.webarena import WebArena
from wr1_utils.web.place import Place


@pytest.mark.parametrize("kind", [MiniWob, PocketArena, WebArena])
def test_each_benchmark_is_a_place(kind):
    """It has every method of one, with as many parameters, and says what is hidden from the agent and how large its screen is."""
    methods = {name: method for name, method in vars(Place).items() if inspect.isfunction(method) and not name.startswith("_")}
    assert {"start", "enter", "begin", "finished", "score", "leave", "stop"} <= set(methods)
    for name, method in methods.items():
        assert len(inspect.signature(getattr(kind, name)).parameters) == len(inspect.signature(method).parameters), name
    assert isinstance(kind.hidden, tuple) and len(kind.viewport) == 2
