"""Episodes in real Chromium on MiniWoB++ pages: order, limits, and faults that are never scored as the agent's."""

import asyncio
import contextlib
import dataclasses
import gc
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
import torch
from playwright.async_api import Error as PlaywrightError

import wr1_utils.rollout as rollout_module
from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_tokenizer
from wr1_utils.agent.policy import Reply, Request
from wr1_utils.agent.prompt import reply_ids
from wr1_utils.rollout import Rollout, _Batcher, reply_seed
from wr1_utils.settings import load_settings
from wr1_utils.tasks.miniwob import PAGES, MiniWob, make_tasks
from wr1_utils.training.packing import TREE_ATTENTION, build_row, forward_logprobs, sequences
from wr1_utils.web.episode import InfrastructureError


@pytest.fixture(scope="module")
def settings():
    return load_settings("smoke", tasks={"benchmarks": ["miniwob"]}, episode={"turn_limit": 3, "context_tokens": 4000}, rollout={"retries": 1})


@pytest.fixture(scope="module")
def rollout(settings):
    with Rollout(settings) as rollout:
        yield rollout


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return load_tokenizer(tiny_model)


class Parrot:
    """Answers every context with one text (for unit tests of the loop; real policies are tested below)."""

    name = "parrot"

    def __init__(self, tokenizer, text):
        self.tokenizer, self.text, self.batches = tokenizer, text, []

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply]]:
        self.batches.append(len(new))
        ids = reply_ids(self.tokenizer, self.text)
        return [(key, Reply(ids, [-1.0] * len(ids), self.text)) for key, _ in new]

    def forget(self) -> None:
        pass


class Silent(Parrot):
    """Never ends a reply; `asked` is set once it has been asked for one."""

    def __init__(self, tokenizer):
        super().__init__(tokenizer, "")
        self.asked = threading.Event()

    def advance(self, new: list[tuple[int, Request]]) -> list[tuple[int, Reply]]:
        self.asked.set()
        time.sleep(0.05)
        return []


def click(number):
    return f'<think>t</think><answer>do(action="Click", element="{number}")</answer>'


def test_experts_succeed_and_come_back_in_order(rollout, tokenizer):
    tasks = make_tasks("train", 2, ["click-test-2", "enter-text", "choose-list"])
    trajectories = rollout.demonstrate(tasks, tokenizer, run="d")
    assert [t.task_id for t in trajectories] == [t.task_id for t in tasks]
    assert [t.status for t in trajectories] == ["success"] * 6
    enter = next(t for t in trajectories if t.template == "enter-text")
    assert enter.intent and enter.turns[0].context_ids and not enter.turns[0].logprobs
    assert tokenizer.decode(enter.turns[0].reply_ids[:-1]) == enter.turns[0].reply
    assert enter.intent in tokenizer.decode(enter.turns[0].context_ids)
    assert enter.turns[0].reply in tokenizer.decode(enter.turns[1].context_ids)
    assert enter.turns[0].observation not in tokenizer.decode(enter.turns[1].context_ids)


def test_members_of_a_group_and_limits(rollout, tokenizer):
    right, wrong = make_tasks("train", 1, ["click-test-2"]), make_tasks("train", 1, ["enter-text"])
    wanted = 0 if "button ONE [0]" in rollout.demonstrate(right, tokenizer)[0].turns[0].observation else 1
    for number, status in ((wanted, "success"), (1 - wanted, "failure")):
        members = rollout.run(right, Parrot(tokenizer, click(number)), group=3)
        assert [(t.group, t.member, t.status) for t in members] == [(0, m, status) for m in range(3)]
    cut = rollout.run(wrong, Parrot(tokenizer, "no call at all"), group=2)
    assert [(t.status, t.reward, len(t.turns), t.answer) for t in cut] == [("turn_limit", 0.0, 3, None)] * 2
    assert "invalid" in cut[0].turns[0].error and cut[0].turns[0].action == ""
    assert "invalid" in cut[0].turns[1].observation  # the agent is told


def test_a_context_that_is_full_ends_the_episode_with_its_turns_kept(settings, rollout, tokenizer, monkeypatch):
    monkeypatch.setattr(rollout, "settings", dataclasses.replace(settings, episode=dataclasses.replace(settings.episode, context_tokens=420)))
    trajectory = rollout.run(make_tasks("train", 1, ["enter-text"]), Parrot(tokenizer, "x" * 150))[0]
    assert trajectory.status == "token_limit" and trajectory.reward == 0.0 and trajectory.turns


def test_an_infrastructure_fault_is_tried_again_and_never_scored(rollout, tokenizer, monkeypatch):
    tries = []

    async def lost(self, page, task, visit):
        if task.task_id.endswith(".1"):
            tries.append(task.task_id)
            raise InfrastructureError("the site went away")
        return await begin(self, page, task, visit)

    begin = MiniWob.begin
    monkeypatch.setattr(MiniWob, "begin", lost)
    trajectories = rollout.demonstrate(make_tasks("train", 2, ["click-test-2"]), tokenizer)
    assert [(t.status, t.reward) for t in trajectories] == [("success", 1.0), ("infrastructure", None)]
    assert "went away" in trajectories[1].error and len(tries) == 2


def test_without_compression_every_page_stays_and_what_was_recorded_is_recomputed(settings, rollout, tiny_model, monkeypatch):
    """Each context begins with the whole turn before; recorded and recomputed log-probs agree, in a tree row and in a row a turn."""
    monkeypatch.setattr(rollout, "settings", dataclasses.replace(settings, episode=dataclasses.replace(settings.episode, compress=False, reply_tokens=16)))
    policy = HFPolicy(*load_model(tiny_model), "tiny")
    trajectories = rollout.run(make_tasks("train", 1, ["enter-text", "focus-text-2"]), policy, seed=5)
    for trajectory in trajectories:
        for before, after in itertools.pairwise(trajectory.turns):
            assert after.context_ids[: len(before.context_ids) + len(before.reply_ids)] == before.context_ids + before.reply_ids
            assert before.observation in policy.tokenizer.decode(after.context_ids)
    assert [len(t.turns) for t in trajectories] == [3, 3]
    policy.model.set_attn_implementation(TREE_ATTENTION)
    for share in (True, False):
        row = build_row(sequences(trajectories), share)
        with torch.no_grad():
            assert (forward_logprobs(policy.model, row)[0] - row.logprobs).abs().max() < 1e-3


def test_a_real_policy_is_recorded_as_the_engine_produced_it(rollout, tiny_model):
    """Same seed, same ids, with another number of episodes in flight; log-probs one a token."""
    tasks = make_tasks("train", 2, ["click-test-2", "focus-text-2"])
    policy = HFPolicy(*load_model(tiny_model), "tiny")
    first = rollout.run(tasks, policy, group=2, seed=7)
    again = rollout.run(tasks[:1], policy, group=2, seed=7)
    ids = lambda ts: [[turn.reply_ids for turn in t.turns] for t in ts]  # noqa: E731
    assert ids(again) == ids(first[:2]) and ids(first[:1]) != ids(first[1:2])
    assert all(len(turn.logprobs) == len(turn.reply_ids) > 0 for t in first for turn in t.turns)


def test_requests_that_wait_are_answered_in_one_batch_and_a_broken_policy_stops_the_run(tokenizer):
    policy = Parrot(tokenizer, "x")
    request = Request([1], 1, 1.0, 0)

    async def ten():
        batcher = _Batcher(policy, 8)
        replies = await asyncio.gather(*(batcher.reply(request) for _ in range(10)))
        batcher.close()
        return replies

    assert [r.text for r in asyncio.run(ten())] == ["x"] * 10
    assert sum(policy.batches) == 10 and max(policy.batches) == 8
    policy.text = None  # cannot be tokenised
    with pytest.raises((TypeError, ValueError)):
        asyncio.run(ten())


def test_seeds_differ_by_task_member_turn_and_run():
    seeds = {reply_seed(s, t, m, n) for s in (0, 1) for t in ("a", "b") for m in (0, 1) for n in (0, 1)}
    assert len(seeds) == 16 and all(0 <= s < 2**63 for s in seeds)


FAULTS = {
    "crash": lambda page: page.goto("chrome://crash"),
    "hang": lambda page: page.evaluate("() => { setTimeout(() => { while (true); }, 0); }"),
    "kill": lambda page: kill_browsers(),
}
ADDRESSES = {"missing": "/no-such-page", "slow": "?slow"}  # the first attempt is sent there
SLOW_S = 8.0  # longer than the episode's limit of a wait in the tests that use it


def process_tree():
    """This process and all that it has started."""
    children, found = {}, [os.getpid()]
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = Path(f"/proc/{entry}/stat").read_text()
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry))
    for pid in found:
        found += children.get(pid, [])
    return found


def tree_megabytes():
    """Memory of the process tree; what several processes share counts once."""
    kilobytes = 0
    for pid in process_tree():
        with contextlib.suppress(OSError):
            kilobytes += int(re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)[1])
    return kilobytes / 1024


async def kill_browsers():
    """Kills every browser that this process has started."""
    for pid in process_tree()[1:]:
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"--remote-debugging-pipe" in command and b"--type=" not in command:
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def faulty(monkeypatch):
    """Task id → name of a fault, to be filled: makes the first attempt at these tasks break, and holds those that have not broken yet."""
    begin, enter, get, left = MiniWob.begin, MiniWob.enter, SimpleHTTPRequestHandler.do_GET, {}

    async def broken(self, page, task, visit):
        asked = await begin(self, page, task, visit)
        fault = left.pop(task.task_id, None)
        if fault:
            with contextlib.suppress(PlaywrightError):
                await FAULTS[fault](page)
        return asked

    def misled(self, task, seed):
        visit = enter(self, task, seed)
        if left.get(task.task_id) in ADDRESSES:
            visit = dataclasses.replace(visit, start_url=visit.start_url + ADDRESSES[left.pop(task.task_id)])
        return visit

    def late(self):
        if self.path.endswith("?slow"):
            time.sleep(SLOW_S)
        with contextlib.suppress(ConnectionError):  # nobody waits any more
            get(self)

    monkeypatch.setattr(MiniWob, "begin", broken)
    monkeypatch.setattr(MiniWob, "enter", misled)
    monkeypatch.setattr(SimpleHTTPRequestHandler, "do_GET", late)
    return left


@pytest.mark.parametrize("fault", [*FAULTS, "missing"])
def test_an_episode_that_breaks_is_tried_again_in_a_fresh_page(rollout, tokenizer, faulty, fault):
    """A crashed page, a hung one, a killed browser, a page that is not there: the episode, and those that shared the browser, are made again, and none is lost."""
    tasks = make_tasks("train", 3, ["click-test-2", "enter-text"])
    faulty[tasks[0].task_id] = fault
    assert [t.status for t in rollout.demonstrate(tasks, tokenizer)] == ["success"] * 6


def test_without_a_further_try_it_is_infrastructure_and_the_others_go_on(settings, tokenizer, faulty):
    once = dataclasses.replace(settings, rollout=dataclasses.replace(settings.rollout, retries=0))
    tasks = make_tasks("train", 4, ["click-test-2"])
    faulty |= {tasks[0].task_id: "crash", tasks[2].task_id: "hang"}
    with Rollout(once) as rollout:
        first = rollout.demonstrate(tasks, tokenizer)
        faulty[tasks[0].task_id] = "kill"
        alone = rollout.demonstrate(tasks[:1], tokenizer)
        after = rollout.demonstrate(tasks, tokenizer)
    assert [(t.status, t.reward) for t in first] == [("infrastructure", None), ("success", 1.0)] * 2
    assert alone[0].status == "infrastructure" and alone[0].error
    assert [t.status for t in after] == ["success"] * 4


EPISODES, AT_ONCE, EACH = 1_000, 100, 20  # how many, how many between two measurements of memory, and every which one breaks


@pytest.mark.slow
def test_a_thousand_episodes_that_break_here_and_there_lose_none_and_keep_no_memory(settings, tokenizer, faulty):
    """Ten times each: a crashed page, a hung one, a killed browser, an address that is not there, a server that is too slow.

    Every fault happens in the first attempt at a task; the killed browser is that of all others in flight too. At the end the process tree
    holds at most 15 % more than after the first hundred episodes.
    """
    patient = dataclasses.replace(settings, episode=dataclasses.replace(settings.episode, timeout_s=5.0, turn_limit=10),
                                  rollout=dataclasses.replace(settings.rollout, retries=3))
    tasks = sorted(make_tasks("train", EPISODES // len(PAGES)), key=lambda task: task.instantiation_dict["seed"])
    kinds = itertools.cycle([*FAULTS, *ADDRESSES])
    faulty |= {task.task_id: next(kinds) for task in tasks[EACH // 2::EACH]}
    assert len(faulty) == EPISODES // EACH
    statuses, memory = [], []
    with Rollout(patient) as rollout:
        for first in range(0, EPISODES, AT_ONCE):
            statuses += [(one.status, one.error) for one in rollout.demonstrate(tasks[first:first + AT_ONCE], tokenizer)]
            gc.collect()
            memory.append(tree_megabytes())
    assert len(statuses) == EPISODES and not faulty
    assert [status for status in statuses if status[0] != "success"] == []
    assert memory[-1] <= 1.15 * memory[0], [round(megabytes) for megabytes in memory]


def test_a_policy_that_hangs_stops_the_run_and_says_so(tokenizer, monkeypatch):
    monkeypatch.setattr(rollout_module, "POLICY_S", 0.2)
    woken = threading.Event()

    class Asleep(Parrot):
        def advance(self, new):
            woken.wait(30)
            return []

    async def one():
        batcher = _Batcher(Asleep(tokenizer, "x"), 8)
        try:
            await batcher.reply(Request([1], 1, 1.0, 0))
        finally:
            batcher.close()
            woken.set()

    with pytest.raises(RuntimeError, match="parrot gave no reply"):
        asyncio.run(one())


@pytest.mark.parametrize("wanted, kept", [("none", []), ("failures", ["enter-text"]), ("all", ["click-test-2", "enter-text"])])
def test_pictures_are_kept_of_the_episodes_that_the_setting_names(rollout, settings, tokenizer, monkeypatch, tmp_path, wanted, kept):
    """One a turn, beside the trajectory file, with the box of the element acted on."""
    monkeypatch.setattr(rollout, "settings", dataclasses.replace(settings, rollout=dataclasses.replace(settings.rollout, screenshots=wanted)))
    tasks = make_tasks("train", 1, ["click-test-2", "enter-text"])

    def script(task, intent, observation, memory):
        return click(next(e.id for e in observation.elements if e.label == "ONE")) if "click-test-2" in task.task_id else click(0)

    played = rollout.play(tasks, script, "script", tokenizer, beside=tmp_path / "trajectories.parquet")
    assert [t.status for t in played] == ["success", "turn_limit"]
    assert [t.template for t in played if t.turns[0].screenshot] == kept
    for trajectory in played:
        for number, turn in enumerate(trajectory.turns, 1):
            if trajectory.template in kept:
                assert turn.screenshot == f"screenshots/trajectories/{trajectory.task_id}.{trajectory.group}.0.{number}.jpg"
                assert (tmp_path / turn.screenshot).read_bytes().startswith(b"\xff\xd8") and turn.box[2] > 0
    assert len(list(tmp_path.rglob("*.jpg"))) == sum(len(t.turns) for t in played if t.template in kept)


def test_a_picture_that_cannot_be_taken_costs_nothing_but_itself(rollout, settings, tokenizer, monkeypatch, tmp_path):
    async def fails(self, reply):
        raise InfrastructureError("taking a screenshot took more than 5 s")

    monkeypatch.setattr(rollout_module.Episode, "picture", fails)
    monkeypatch.setattr(rollout, "settings", dataclasses.replace(settings, rollout=dataclasses.replace(settings.rollout, screenshots="all")))
    done = rollout.demonstrate(make_tasks("train", 1, ["click-test-2"]), tokenizer, beside=tmp_path / "t.parquet")[0]
    assert (done.status, done.turns[0].screenshot, done.turns[0].box) == ("success", "", None)


HUNG = """
import threading
from wr1_utils import rollout
from wr1_utils.agent.policy import Request
from wr1_utils.web.loop import run

class Hung:
    name = "hung"
    def advance(self, new):
        print("asked", flush=True)
        threading.Event().wait()
    def forget(self):
        print("forgotten")

rollout.STOP_S = 0.2
batcher = rollout._Batcher(Hung(), 1)
try:
    run(batcher.reply(Request([1], 1, 1.0, 0)))
finally:
    batcher.close()
"""


def test_ctrl_c_ends_the_process_though_the_policy_hangs():
    """Nobody waits for the thread of a policy that never answers, and nobody touches what that thread still uses."""
    process = subprocess.Popen([sys.executable, "-c", HUNG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode != 0 and "KeyboardInterrupt" in error and "forgotten" not in out


def test_what_another_thread_rolls_out_ends_with_the_rollout(settings, tokenizer):
    """As when training stops in a step while the next one is rolled out beside it: nothing waits, and no browser is started again."""
    policy = Silent(tokenizer)
    with ThreadPoolExecutor(1) as thread, Rollout(settings) as rollout:
        going = thread.submit(rollout.run, make_tasks("train", 1, ["click-test-2"]), policy)
        assert policy.asked.wait(60)
    with pytest.raises(CancelledError):
        going.result(0)
