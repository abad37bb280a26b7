"""How fast an update is on tree rows, against one row a turn, and how much memory it takes (`wr1 bench training`).

Work is counted in tokens of the reference: every turn's context and reply once. Both ways do the same work, so the ratio
of their tokens a second is the ratio of their times.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import torch

from wr1_utils.agent.hf_engine import load_trainable
from wr1_utils.settings import Settings, project_path
from wr1_utils.training.losses import m_grpo_loss, token_weights
from wr1_utils.training.packing import TREE_ATTENTION, Sequence, build_row
from wr1_utils.training.pieces import evaluate, logits_weight
from wr1_utils.training.rl import ROOM
from wr1_utils.trajectory import Trajectory


def group_of_policies(runs: list[list[Trajectory]], tasks: int, seed: int = 0) -> list[Trajectory]:
    """The episodes that several policies made of the same drawn tasks, those of a task side by side, as the members of a group are in RL."""
    played: dict[str, list[Trajectory]] = {}
    for trajectory in (t for run in runs for t in run if t.turns):
        played.setdefault(trajectory.task_id, []).append(trajectory)
    return [t for task in random.Random(seed).sample(sorted(played), tasks) for t in played[task]]


def with_prompt(rows: list[Sequence], tokens: int, vocabulary: int, seed: int = 0) -> list[Sequence]:
    """The same turns after a prompt of so many random tokens, the same for all."""
    draw = random.Random(seed)
    prompt = [draw.randrange(vocabulary) for _ in range(tokens)]
    return [replace(row, context_ids=prompt + row.context_ids) for row in rows]


def work(rows: list[Sequence]) -> int:
    """The tokens of one row a turn."""
    return sum(len(row.context_ids) + len(row.reply_ids) for row in rows)


def update_seconds(model, rows: list[Sequence], share: bool) -> float:
    """Seconds for the forward and backward passes of one M-GRPO update on these turns, packing included; gradients are dropped."""
    model.set_attn_implementation(TREE_ATTENTION)
    model.zero_grad(set_to_none=True)
    started = time.perf_counter()
    row = build_row(rows, share).to(model.device)
    weights = token_weights(row.trajectory, row.turn, max(row.trajectory for row in rows) + 1)
    advantages = torch.where(row.trajectory % 2 == 0, 1.0, -1.0)

    def loss(chosen: torch.Tensor, logp: torch.Tensor) -> torch.Tensor:
        return m_grpo_loss(logp, logp.detach(), advantages[chosen], weights[chosen], clip=0.2, beta=0.1, ref_logp=logp.detach())

    evaluate(model, row, 1.0, ROOM, logits_weight(model), loss)
    seconds = time.perf_counter() - started
    model.zero_grad(set_to_none=True)
    return seconds


def compare(model, rows: list[Sequence], repeats: int) -> tuple[float, float]:
    """(tokens of work a second on tree rows, on one row a turn): medians of `repeats` updates after one that warms up."""
    speeds = []
    for share in (True, False):
        update_seconds(model, rows, share)
        taken = [update_seconds(model, rows, share) for _ in range(repeats)]
        speeds.append(work(rows) / statistics.median(taken))
    return speeds[0], speeds[1]


def update_megabytes(settings: Settings, rows: list[Sequence]) -> float:
    """By how much the memory of a process grows at most during one update of the base model on tree rows of these turns.

    It is measured in a process of its own (Linux): memory that this one has freed before would hide some of it.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_growth, settings, rows).result() / 1e3


def longest(rows: list[Sequence]) -> Sequence:
    """The turn with the longest context and reply."""
    return max(rows, key=lambda row: len(row.context_ids) + len(row.reply_ids))


def _growth(settings: Settings, rows: list[Sequence]) -> int:
    """kB"""
    model, _ = load_trainable(settings, project_path(settings.model.path))
    update_seconds(model, [Sequence([1, 2], [3], [-1.0], 0, 0)], True)  # what the libraries themselves take
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = _status("VmRSS")
    update_seconds(model, rows, True)
    return _status("VmHWM") - before


def _status(name: str) -> int:
    return int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
