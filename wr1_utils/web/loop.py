"""The library's own event loop, in a thread: plain calls to async code from scripts and from notebooks (which run a loop already)."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
from collections.abc import Coroutine

CLEANUP_S = 15.0  # what an interrupted coroutine gets to close its pages

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="wr1-loop", daemon=True).start()
            atexit.register(_stop, _loop)
        return _loop


def run(coro: Coroutine, timeout: float | None = None):
    """Run a coroutine on the library's loop and return its result; its exception is raised here.

    Ctrl-C and the timeout (seconds) cancel it, wait until it has cleaned up, and raise KeyboardInterrupt or TimeoutError.
    Raises RuntimeError when called from the loop's own thread, where it would wait for itself.
    """
    loop = _running_loop()
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if inside:
        coro.close()
        raise RuntimeError("run() was called from a coroutine of the library's own loop; await the coroutine there instead")
    ended = threading.Event()

    async def whole():
        try:
            return await coro
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(whole(), loop)
    try:
        return future.result(timeout)
    except (concurrent.futures.TimeoutError, KeyboardInterrupt):
        if not future.done():
            future.cancel()
            ended.wait(CLEANUP_S)
        raise


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    async def cancel_all():
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=2) if tasks else None

    try:
        asyncio.run_coroutine_threadsafe(cancel_all(), loop).result(3)
    except concurrent.futures.TimeoutError:
        pass
    loop.call_soon_threadsafe(loop.stop)
