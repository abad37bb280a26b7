"""The losses as pure functions of log-probabilities: behaviour cloning and M-GRPO (paper, equations of section 3).

Deviations from the paper
- A trajectory lost to infrastructure is no member of its group; a group with fewer than two valid members, or whose
  rewards are all equal, has advantage 0 and is not trained on.
- `normalizer="constant"` replaces 1/|τ_i| by 1/k (AsyncWebRL, arXiv 2606.05597); `"paper"` is the default.
"""

from __future__ import annotations

import math

import torch

from wr1_utils.errors import WR1Error


def group_advantages(rewards: list[float | None], eps: float = 1e-6) -> list[float]:
    """A_i = (r_i − mean r) / (std r + ε) over the valid members of one group (paper, M-GRPO).

    `rewards` holds None for a member lost to infrastructure, which gets advantage 0. std is the group's own
    (population) standard deviation. All advantages are 0 where fewer than two members are valid or all rewards agree.
    """
    valid = [r for r in rewards if r is not None]
    if len(valid) < 2 or max(valid) == min(valid):
        return [0.0] * len(rewards)
    mean = sum(valid) / len(valid)
    std = (sum((r - mean) ** 2 for r in valid) / len(valid)) ** 0.5
    return [0.0 if r is None else (r - mean) / (std + eps) for r in rewards]


def k3_kl(logp: torch.Tensor, ref_logp: torch.Tensor) -> torch.Tensor:
    """Per-token estimate of KL(π ‖ π_ref): exp(d) − d − 1 with d = log π_ref − log π. (M,), (M,) → (M,), ≥ 0."""
    d = ref_logp - logp
    return torch.exp(d) - d - 1


def token_weights(
    trajectory: torch.Tensor, turn: torch.Tensor, trajectories: int, normalizer: str = "paper", k: int = 1
) -> torch.Tensor:
    """Weight of each trained token in the three-fold mean: 1/G · 1/|τ_i| · 1/|a_ij| (paper, M-GRPO).

    trajectory, turn: (M,) numbers of each token's trajectory and turn. trajectories: G, over how many the mean is taken.
    normalizer: "paper" (1/|τ_i|, the number of turns) or "constant" (1/k). Returns (M,) float32.
    """
    assert trajectory.shape == turn.shape and trajectory.ndim == 1
    if normalizer not in ("paper", "constant"):
        raise WR1Error(f'normalizer is "paper" or "constant", not {normalizer!r}')
    key = trajectory.long() * (int(turn.max()) + 1) + turn.long()
    unique, index, tokens = torch.unique(key, return_inverse=True, return_counts=True)  # one entry a turn
    owner = unique // (int(turn.max()) + 1)
    _, owner_index, turns = torch.unique(owner, return_inverse=True, return_counts=True)
    per_trajectory = turns[owner_index] if normalizer == "paper" else torch.full_like(tokens, k)
    return (1.0 / (trajectories * per_trajectory * tokens).float())[index]


def m_grpo_loss(
    logp: torch.Tensor,
    old_logp: torch.Tensor,
    advantages: torch.Tensor,
    weights: torch.Tensor,
    clip: float,
    beta: float = 0.0,
    ref_logp: torch.Tensor | None = None,
) -> torch.Tensor:
    """Σ_t w_t [ −min(ρ_t A_t, clip(ρ_t, 1−ε, 1+ε) A_t) + β k3_t ], ρ_t = exp(logp − old_logp) (paper, M-GRPO).

    logp, old_logp, ref_logp: (M,) nats, now, at rollout, of the reference policy. advantages: (M,) of each token's
    trajectory. weights: (M,) from `token_weights`. Returns a scalar.
    """
    assert logp.shape == old_logp.shape == advantages.shape == weights.shape and logp.ndim == 1
    ratio = torch.exp(logp - old_logp)
    loss = -torch.minimum(ratio * advantages, torch.clamp(ratio, 1 - clip, 1 + clip) * advantages)
    if beta:
        loss = loss + beta * k3_kl(logp, ref_logp)
    return (weights * loss).sum()


def bc_loss(logp: torch.Tensor, weights: torch.Tensor | None = None) -> torch.Tensor:
    """Behaviour cloning: the mean of −w_t log π(a_t | what was seen) over the trained tokens. logp, weights: (M,) → scalar.

    Without weights w is 1: the mean negative log-likelihood.
    """
    assert logp.ndim == 1 and (weights is None or weights.shape == logp.shape)
    return -(logp if weights is None else weights * logp).mean()


def awr_weights(rewards: list[float], temperature: float, largest: float = 20.0) -> list[float]:
    """w_i = min(exp((r_i − mean r) / λ), largest) for the trajectories of one group (advantage-weighted regression, arXiv 1910.00177, eq. 7).

    The group's mean reward stands for the value of the task, so no value network is trained.
    """
    if temperature <= 0:
        raise WR1Error(f"the temperature of the weights must be above 0, not {temperature}")
    mean = sum(rewards) / len(rewards)
    return [min(math.exp(min((r - mean) / temperature, 700.0)), largest) for r in rewards]
