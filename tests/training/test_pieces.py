"""Invariant: a row walked piece by piece has the log-probs and the gradient of the row as a whole, and holds one path at a time."""

import pytest
import torch

from wr1_utils.training.packing import TREE_ATTENTION, Sequence, build_row, forward_logprobs
from wr1_utils.training.pieces import Piece, evaluate, plan


@pytest.mark.parametrize("room", [1, 60, 1000])
@pytest.mark.parametrize("kind", ["qwen2", "llama", "window", "lora", "checkpointing"])
def test_pieces_equal_the_row_as_a_whole(kind, room, tiny, turns_of_a_group):
    model, row = tiny("qwen2" if kind == "checkpointing" else kind), build_row(turns_of_a_group())
    slope = torch.linspace(-1, 1, len(row.target))
    model.set_attn_implementation(TREE_ATTENTION)
    whole = forward_logprobs(model, row)[0]
    model.zero_grad()
    (whole * slope).sum().backward()
    wanted = [p.grad.clone() for p in model.parameters() if p.requires_grad]
    model.zero_grad()
    if kind == "checkpointing":
        model.train().activation_checkpointing_enable()
    logp, entropy, total = evaluate(model, row, 1.0, room, 0.0, lambda chosen, logp: (logp * slope[chosen]).sum())
    assert torch.allclose(logp, whole, atol=1e-5) and (entropy > 0).all() and not logp.requires_grad
    assert total.item() == pytest.approx((whole * slope).sum().item(), abs=1e-4)
    got = [p.grad for p in model.parameters() if p.requires_grad]
    assert sum((a - b).norm() ** 2 for a, b in zip(got, wanted)) ** 0.5 < 1e-4 * sum(b.norm() ** 2 for b in wanted) ** 0.5


def test_without_a_loss_there_is_no_gradient(tiny, turns_of_a_group):
    model, row = tiny("qwen2"), build_row(turns_of_a_group())
    model.set_attn_implementation(TREE_ATTENTION)
    logp, _, total = evaluate(model, row, 0.7, 1)
    assert all(p.grad is None for p in model.parameters()) and total == 0
    assert torch.allclose(logp, evaluate(model, row, 0.7, 1000)[0], atol=1e-5)


def test_a_plan_by_hand():
    """A root of 10 with three leaves of 5, 4 and 20, and a root of 3."""
    nodes = ((10, ()), (5, (0,)), (4, (0,)), (20, (0,)), (3, ()))
    sizes = [length for length, _ in nodes]
    kept, last = Piece(0, 1, True, 4), Piece(4, 5, False, 5)
    assert plan(nodes, sizes, 1) == [kept, Piece(1, 3, False, 3), Piece(3, 4, False, 4), last]  # the longest path has 30: 10 + 5 + 4 fit
    assert plan(nodes, sizes, 39) == [Piece(0, 4, False, 4), last]
    assert plan(nodes, sizes, 42) == [Piece(0, 5, False, 5)]
    assert plan(nodes, [10, 15, 10, 20, 3], 1) == [kept, Piece(1, 2, False, 2), Piece(2, 3, False, 3), Piece(3, 4, False, 4), last]


def test_what_is_held_at_a_time_is_the_longest_turn():
    """Of many random groups: kept nodes and the piece below them never have more tokens than the longest turn, and every node comes once."""
    for seed in range(20):
        draw = torch.Generator().manual_seed(seed)
        number = lambda n: int(torch.randint(1, n, (1,), generator=draw))  # noqa: B023, E731
        rows = [Sequence([1] * number(9) + [2] * number(9) + [3] * number(5), [4] * number(6), [], i, 0) for i in range(30)]
        row = build_row(rows)
        pieces = plan(row.nodes, [length for length, _ in row.nodes], 1)
        assert [i for piece in pieces for i in range(piece.first, piece.last)] == list(range(len(row.nodes)))
        for piece in pieces:
            above = {a for i in range(piece.first, piece.last) for a in row.nodes[i][1] if a < piece.first}
            assert all(any(p.kept and p.first == a for p in pieces) for a in above)
            held = sum(row.nodes[i][0] for i in [*above, *range(piece.first, piece.last)])
            assert held <= max(len(r.context_ids) + len(r.reply_ids) for r in rows)
