"""Losses on numbers worked out by hand."""

import math

import pytest
import torch

from wr1_utils.errors import WR1Error
from wr1_utils.training.losses import awr_weights, bc_loss, group_advantages, k3_kl, m_grpo_loss, token_weights


def test_advantages_of_one_success_in_four():
    # mean 1/4, std sqrt(3)/4: (3/4)/(sqrt(3)/4) = sqrt(3), (-1/4)/(sqrt(3)/4) = -1/sqrt(3)
    assert group_advantages([1, 0, 0, 0]) == pytest.approx([math.sqrt(3)] + [-1 / math.sqrt(3)] * 3, rel=1e-4)


def test_infrastructure_is_no_member():
    assert group_advantages([1, None, 0]) == pytest.approx([1, 0, -1], rel=1e-4)


@pytest.mark.parametrize("rewards", [[1, 1, 1], [0, 0], [1, None, None], [None, None], [1]])
def test_flat_or_lonely_groups_give_no_gradient(rewards):
    assert group_advantages(rewards) == [0.0] * len(rewards)


def test_k3_by_hand():
    # d = ln 2: 2 - ln 2 - 1
    assert k3_kl(torch.tensor([0.0]), torch.tensor([math.log(2)])).item() == pytest.approx(1 - math.log(2))
    assert k3_kl(torch.tensor([-1.0]), torch.tensor([-1.0])).item() == 0


def test_weights_are_the_three_fold_mean():
    # trajectory 0: turns of 2 and 1 tokens; trajectory 1: one turn of 3 tokens; G = 2
    trajectory, turn = torch.tensor([0, 0, 0, 1, 1, 1]), torch.tensor([0, 0, 1, 0, 0, 0])
    paper = token_weights(trajectory, turn, 2)
    assert paper.tolist() == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 6, 1 / 6, 1 / 6])
    assert paper.sum().item() == pytest.approx(1)
    constant = token_weights(trajectory, turn, 2, "constant", k=4)
    assert constant.tolist() == pytest.approx([1 / 16, 1 / 16, 1 / 8, 1 / 24, 1 / 24, 1 / 24])
    with pytest.raises(WR1Error, match="normalizer"):
        token_weights(trajectory, turn, 2, "mean")


def test_the_clip_holds_on_both_sides():
    # ratios 1.5 with A = 1 (clipped to 1.2) and 0.5 with A = -1 (clipped to 0.8: max(0.5, 0.8))
    logp, old = torch.log(torch.tensor([1.5, 0.5])), torch.zeros(2)
    loss = m_grpo_loss(logp, old, torch.tensor([1.0, -1.0]), torch.tensor([0.5, 0.5]), clip=0.2)
    assert loss.item() == pytest.approx(-0.5 * 1.2 + 0.5 * 0.8)


def test_kl_is_added_with_its_weight():
    zero = torch.zeros(1)
    loss = m_grpo_loss(zero, zero, torch.ones(1), torch.ones(1), clip=0.2, beta=0.1, ref_logp=torch.tensor([math.log(2)]))
    assert loss.item() == pytest.approx(-1 + 0.1 * (1 - math.log(2)))


def test_gradient_at_ratio_one_is_minus_the_weighted_advantage():
    logp = torch.tensor([-0.3, -2.0], requires_grad=True)
    m_grpo_loss(logp, logp.detach(), torch.tensor([2.0, -1.0]), torch.tensor([0.25, 0.75]), clip=0.2).backward()
    assert logp.grad.tolist() == pytest.approx([-0.5, 0.75])


def test_bc_is_the_mean_negative_log_likelihood():
    assert bc_loss(torch.tensor([-1.0, -3.0])).item() == 2


def test_weighted_cloning_by_hand():
    # (0.5 · 1 + 2 · 3) / 2
    assert bc_loss(torch.tensor([-1.0, -3.0]), torch.tensor([0.5, 2.0])).item() == 3.25


def test_awr_weights_of_one_success_in_four():
    # A = 3/4 and -1/4, λ = 1/4: e^3 is cut at 20, e^-1 is not
    assert awr_weights([1, 0, 0, 0], 0.25) == pytest.approx([20.0] + [math.exp(-1)] * 3)
    assert awr_weights([1, 0], 1e-6) == [20.0, 0.0]
    assert awr_weights([1, 1], 0.2) == [1.0, 1.0]
    with pytest.raises(WR1Error, match="above 0, not 0"):
        awr_weights([1, 0], 0)
