"""How fast an update is on tree rows, against one row a turn (`wr1 bench training`).

Work is counted in tokens of the reference: every turn's context and reply once. Both ways do the same work, so the ratio
of their tokens a second is the ratio of their times.
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import replace

import torch

from wr1_utils.training.losses import m_grpo_loss, token_weights
from wr1_utils.training.packing import TREE_ATTENTION, Sequence, forward_logprobs, pack, sequences
from wr1_utils.trajectory import Trajectory


def with_prompt(rows: list[Sequence], tokens: int, vocabulary: int, seed: int = 0) -> list[Sequence]:
    """The same turns after a prompt of so many random tokens, the same for all."""
    draw = random.Random(seed)
    prompt = [draw.randrange(vocabulary) for _ in range(tokens)]
    return [replace(row, context_ids=prompt + row.context_ids) for row in rows]


def work(rows: list[Sequence]) -> int:
    """The tokens of one row a turn."""
    return sum(len(row.context_ids) + len(row.reply_ids) for row in rows)


def update_seconds(model, rows: list[Sequence], share: bool, row_tokens: int) -> float:
    """Seconds for the forward and backward passes of one M-GRPO update on these turns, packing included; gradients are dropped."""
    model.set_attn_implementation(TREE_ATTENTION)
    model.zero_grad(set_to_none=True)
    started = time.perf_counter()
    trajectories = max(row.trajectory for row in rows) + 1
    for row in pack(rows, row_tokens, share):
        row = row.to(model.device)
        logp, _ = forward_logprobs(model, row)
        weights = token_weights(row.trajectory, row.turn, trajectories)
        advantages = torch.where(row.trajectory % 2 == 0, 1.0, -1.0)
        m_grpo_loss(logp, logp.detach(), advantages, weights, clip=0.2, beta=0.1, ref_logp=logp.detach()).backward()
    seconds = time.perf_counter() - started
    model.zero_grad(set_to_none=True)
    return seconds


def compare(model, trajectories: list[Trajectory], repeats: int, prompt_tokens: int = 0, row_tokens: int = 8192) -> tuple[float, float]:
    """(tokens of work a second on tree rows, on one row a turn): medians of `repeats` updates after one that warms up."""
    rows = sequences(trajectories)
    if prompt_tokens:
        rows = with_prompt(rows, prompt_tokens, model.config.vocab_size)
    speeds = []
    for share in (True, False):
        update_seconds(model, rows, share, row_tokens)
        taken = [update_seconds(model, rows, share, row_tokens) for _ in range(repeats)]
        speeds.append(work(rows) / statistics.median(taken))
    return speeds[0], speeds[1]
