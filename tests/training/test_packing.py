"""Invariant: a token's log-probability and gradient in a tree row equal those of its turn alone, id for id."""

import math

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from wr1_utils.training.packing import (
    TREE_ATTENTION,
    PackingError,
    Sequence,
    build_row,
    forward_logprobs,
    pack,
    sequences,
)
from wr1_utils.trajectory import Trajectory, Turn

SHAPE = dict(
    vocab_size=97, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256,
)  # fmt: skip


def tiny(kind: str):
    torch.manual_seed(0)
    if kind == "llama":
        return LlamaForCausalLM(LlamaConfig(**SHAPE)).eval()
    window = dict(use_sliding_window=True, sliding_window=11, max_window_layers=1) if kind == "window" else {}
    return Qwen2ForCausalLM(Qwen2Config(**SHAPE, **window)).eval()


def turns_of_a_group(members: int = 3, turns: int = 3) -> list[Sequence]:
    """Members of one group: shared prompt and first page, own replies, earlier pages replaced by a placeholder."""
    draw = torch.Generator().manual_seed(1)
    ids = lambda n: torch.randint(1, 97, (n,), generator=draw).tolist()  # noqa: E731
    prompt, placeholder, first_page = ids(9), [5, 6], ids(14)
    rows = []
    for member in range(members):
        trunk = list(prompt)
        for turn in range(turns):
            page, reply = first_page if turn == 0 else ids(12), ids(6)
            rows.append(Sequence(trunk + page, reply, [-1.0] * 6, member, turn))
            trunk = trunk + placeholder + reply
    return rows


def alone(model, row: Sequence) -> torch.Tensor:
    """Log-probs (reply,) of one turn by transformers' own attention, without any packing."""
    model.set_attn_implementation("sdpa")
    ids = torch.tensor([row.context_ids + row.reply_ids])
    logp = torch.log_softmax(model(input_ids=ids).logits[0, :-1], -1)
    first = len(row.context_ids)
    return logp[first - 1 :].gather(1, ids[0, first:, None]).squeeze(1)


def packed(model, row) -> torch.Tensor:
    model.set_attn_implementation(TREE_ATTENTION)
    return forward_logprobs(model, row)[0]


@pytest.mark.parametrize("kind", ["qwen2", "llama", "window"])
def test_a_tree_row_equals_one_row_a_turn(kind):
    model, rows = tiny(kind), turns_of_a_group()
    tree = build_row(rows)
    assert tree.input_ids.shape[1] < 0.75 * sum(len(r.context_ids) + len(r.reply_ids) for r in rows)
    expected = torch.cat([alone(model, row) for row in rows])
    assert torch.allclose(packed(model, tree), expected, atol=1e-5)
    assert torch.allclose(packed(model, build_row(rows, share=False)), expected, atol=1e-5)


def test_gradients_equal_those_of_the_turns_alone():
    model, rows = tiny("qwen2"), turns_of_a_group()
    grads = []
    for loss in (lambda: packed(model, build_row(rows)).sum(), lambda: torch.cat([alone(model, r) for r in rows]).sum()):
        model.zero_grad()
        loss().backward()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert (grads[0] - grads[1]).norm() / grads[1].norm() < 1e-5


def test_gradient_checkpointing_gives_the_same_gradient():
    model, rows = tiny("qwen2").train(), turns_of_a_group()
    grads = []
    for on in (False, True):
        model.activation_checkpointing_enable() if on else model.activation_checkpointing_disable()
        model.zero_grad()
        packed(model, build_row(rows)).sum().backward()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert torch.allclose(grads[0], grads[1], atol=1e-6)


def test_a_leaked_page_or_a_shifted_position_is_noticed():
    """Negative controls: the equality above is not blind."""
    model, rows = tiny("qwen2"), turns_of_a_group()
    tree = build_row(rows)
    honest = packed(model, tree)
    leaked = [Sequence(r.context_ids[:20] + [7] + r.context_ids[20:], *list(vars(r).values())[1:]) for r in rows]
    assert (packed(model, build_row(leaked)) - honest).abs().max() > 1e-4
    tree.position_ids[:, 10:] += 1
    assert (packed(model, tree) - honest).abs().max() > 1e-4


def test_splitting_into_rows_keeps_every_turn():
    model, rows = tiny("qwen2"), turns_of_a_group()
    many = pack(rows, row_tokens=60)
    assert len(many) > 2
    assert torch.allclose(torch.cat([packed(model, r) for r in many]), packed(model, build_row(rows)), atol=1e-5)
    assert torch.cat([r.turn for r in many]).tolist() == build_row(rows).turn.tolist()


def test_turns_that_cannot_be_trained_are_refused_with_a_reason():
    turn = dict(url="", title="", observation="", reply="", action="", error="", seconds_model=0, seconds_browser=0)
    about = dict(
        run="r", benchmark="pocket", site="shopping", template="t", split="train", intent="", group=0, member=0, seed=0,
        policy="p", status="failure", reward=0.0, answer=None, error="", seconds=0.0,
    )  # fmt: skip
    for bad, why in [
        (dict(context_ids=[1], reply_ids=[], logprobs=[]), "empty"),
        (dict(context_ids=[], reply_ids=[1], logprobs=[]), "no context"),
        (dict(context_ids=[1], reply_ids=[1, 2], logprobs=[0.0]), "1 log-probs for 2"),
    ]:
        with pytest.raises(PackingError, match=why):
            sequences([Trajectory(task_id="7", **about, turns=[Turn(**turn, **bad)])])
    assert math.isnan(build_row([Sequence([1], [2], [], 0, 0)]).logprobs[0])
