"""Plain calls to async code, also from inside a running event loop (as in a notebook)."""

import asyncio

import pytest

from wr1_utils.web.loop import run


async def double(number):
    await asyncio.sleep(0)
    return 2 * number


def test_result_and_exception():
    async def fail():
        raise KeyError("x")

    assert run(double(4)) == 8
    with pytest.raises(KeyError):
        run(fail())


def test_inside_a_running_loop():
    """A notebook's kernel runs a loop already; the library's own loop is another one."""
    async def kernel():
        return run(double(3))
    assert asyncio.run(kernel()) == 6


def test_timeout_lets_the_coroutine_clean_up():
    cleaned = []

    async def slow():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            cleaned.append(True)

    with pytest.raises(TimeoutError):
        run(slow(), timeout=0.1)
    assert cleaned


def test_refused_from_its_own_loop():
    async def nested():
        return run(double(1))
    with pytest.raises(RuntimeError, match="await"):
        run(nested(), timeout=5)
