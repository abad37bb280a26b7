"""What one RL step is made of and what is told of it: its minibatches and its row of metrics."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from wr1_utils.training.losses import k3_kl
from wr1_utils.training.packing import TreeRow
from wr1_utils.trajectory import Trajectory


@dataclass(frozen=True)
class Batch:
    """One packed row of M trained tokens with what the loss needs; advantages, weights, ref_logp and old_logp are (M,)."""

    row: TreeRow
    advantages: torch.Tensor
    weights: torch.Tensor
    ref_logp: torch.Tensor | None
    old_logp: torch.Tensor  # what the ratio is taken against


def deal(groups: list[list], parts: int, seed: int) -> list[list]:
    """Deals the members of groups into `parts` minibatches of nearly equal size, in a seeded order.

    Groups stay whole (their members share what they read) unless there are fewer groups than minibatches.
    """
    groups = list(groups)
    random.Random(seed).shuffle(groups)
    if len(groups) < parts:
        groups = [[member] for group in groups for member in group]
    dealt: list[list] = [[] for _ in range(parts)]
    for group in sorted(groups, key=len, reverse=True):
        min(dealt, key=len).extend(group)
    return dealt


@dataclass
class Tally:
    """Collects the figures of one RL step."""

    step: int
    trajectories: list[Trajectory]
    groups: int
    flat_groups: int
    refused: int
    seconds_rollout: float
    seconds_policy: float = 0.0
    sums: dict[str, float] = field(default_factory=dict)

    def add(self, batch: Batch, logp: torch.Tensor, entropy: torch.Tensor, loss: float, clip: float) -> None:
        """Takes in one row's update: logp and entropy are (M,)."""
        ratio = torch.exp(logp - batch.old_logp)
        clipped = torch.where(batch.advantages > 0, ratio > 1 + clip, ratio < 1 - clip)
        new = {"loss": loss, "tokens": len(logp), "row_tokens": batch.row.input_ids.numel(), "entropy": entropy.sum().item(), "clipped": clipped.sum().item()}
        if batch.ref_logp is not None:
            new["kl"] = k3_kl(logp, batch.ref_logp).sum().item()
        self._sum(new)

    def compare(self, row: TreeRow, logp: torch.Tensor) -> None:
        """Takes in log-probs (M,) that the policy which wrote a row's replies gives them now: whether training evaluates what was sampled."""
        recorded = row.logprobs
        self._sum({"compared": len(logp), "mismatch": (logp - recorded).abs().sum().item(), "mismatch_k3": k3_kl(recorded, logp).sum().item()})

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Adds what its block takes to the metric seconds_<part>: reference, forward, backward or optimizer."""
        started = time.monotonic()
        yield
        if torch.cuda.is_available():
            torch.cuda.synchronize()  # until then the GPU has only been asked
        self._sum({part: time.monotonic() - started})

    def _sum(self, new: dict[str, float]) -> None:
        for name, value in new.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def metrics(self, seconds_update: float) -> dict[str, float]:
        """The step's row of metrics.csv. Means over valid trajectories, turns, or trained tokens (nan where there is none); times in seconds.

        seconds_rollout and seconds_update add up to the step's; with `rl.overlap` the first is what was still to be waited for. Of the rollout
        seconds_policy is what the policy took for its replies (with overlap, in part beside the update before); in the rest every episode waits
        for its browser. The update consists of the four parts that `timed` names; in the rest of it rows are packed.
        """
        valid = [t for t in self.trajectories if t.valid]
        turns = [turn for t in valid for turn in t.turns]
        mean = lambda values: sum(values) / len(values) if values else float("nan")  # noqa: E731
        per_token = lambda name, of="tokens": self.sums[name] / self.sums[of] if name in self.sums else float("nan")  # noqa: E731
        benchmarks = sorted({t.benchmark for t in self.trajectories})
        seconds = self.seconds_rollout + seconds_update
        return {
            "reward": mean([t.reward for t in valid]),
            "success_rate": mean([t.status == "success" for t in valid]),
            **{f"success_rate_{b}": mean([t.status == "success" for t in valid if t.benchmark == b]) for b in benchmarks},
            "groups": self.groups,
            "flat_groups": self.flat_groups,
            "infrastructure": sum(not t.valid for t in self.trajectories),
            "refused": self.refused,
            "turns": mean([len(t.turns) for t in valid]),
            "trajectory_tokens": mean([t.reply_tokens for t in valid]),
            "reply_tokens": mean([len(turn.reply_ids) for turn in turns]),
            "error_turns": mean([bool(turn.error) for turn in turns]),
            "loss": self.sums.get("loss", 0.0),
            "kl": per_token("kl"),
            "clip_fraction": per_token("clipped"),
            "entropy": per_token("entropy"),
            "mismatch": per_token("mismatch", "compared"),
            "mismatch_k3": per_token("mismatch_k3", "compared"),
            "seconds_rollout": round(self.seconds_rollout, 2),
            "seconds_update": round(seconds_update, 2),
            "seconds_policy": round(self.seconds_policy, 2),
            **{f"seconds_{part}": round(self.sums.get(part, 0.0), 2) for part in ("reference", "forward", "backward", "optimizer")},
            "tokens_per_second": round((self.sums.get("row_tokens", 0) + sum(len(t.reply_ids) for t in turns)) / max(seconds, 1e-9), 1),
        }
