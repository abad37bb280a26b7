"""What computes in bfloat16 keeps its trained weights in float32, and a copy of rounded weights is the same function."""

import copy

import pytest
import torch

from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_trainable
from wr1_utils.agent.policy import Request
from wr1_utils.agent.precision import autocast, compute_dtype, round_weights
from wr1_utils.settings import load_settings
from wr1_utils.training.packing import TREE_ATTENTION, Sequence, build_row, forward_logprobs


def trainable(folder, **model):
    """The tiny model to be trained, computing in bfloat16."""
    torch.manual_seed(0)
    return load_trainable(load_settings("smoke", model={"path": str(folder), "dtype": "bfloat16", **model}), folder)


def played(policy, temperature=0.7):
    """A row of five replies as the policy recorded them."""
    asked = [Request(list(range(5, 9 + 7 * i)), 12, temperature, seed=i) for i in range(5)]
    return build_row([Sequence(q.context_ids, r.ids, r.logprobs, 0, i) for i, (q, r) in enumerate(zip(asked, policy.generate(asked)))])


def again(model, row, temperature=0.7):
    model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        return forward_logprobs(model, row, temperature)[0]


def test_an_update_of_a_millionth_moves_a_weight(tiny_model):
    """In float32 it does, in the bfloat16 that the model computes in it would be lost."""
    model, _ = trainable(tiny_model)
    weight = model.model.layers[0].mlp.up_proj.weight
    before = weight.detach().clone()
    row = build_row([Sequence([5, 6, 7], [8, 9], [-1.0] * 2, 0, 0)])
    model.set_attn_implementation(TREE_ATTENTION)
    forward_logprobs(model, row)[0].sum().backward()
    assert weight.dtype == weight.grad.dtype == torch.float32 and compute_dtype(model) == torch.bfloat16
    torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.0).step()
    moved = weight.detach() - before
    assert (moved[weight.grad.abs() > 1e-5].abs() - 1e-6).abs().max() < 1e-7
    assert (weight.bfloat16() == before.bfloat16()).float().mean() > 0.95


@pytest.mark.parametrize("adapters", [False, True])
def test_what_is_recorded_is_what_training_computes(tiny_model, adapters):
    model, tokenizer = trainable(tiny_model, **(dict(lora_rank=4, train_embeddings=False) if adapters else {}))
    for p in model.parameters():  # as training leaves them: adapters that do something, weights that are not on bfloat16's grid
        if p.requires_grad:
            p.data.add_(0.05 * torch.randn_like(p))
    row = played(HFPolicy(model, tokenizer, "tiny"))
    difference = again(model, row) - row.logprobs
    assert (difference.exp() - difference - 1).mean() < 1e-5  # far below the 1e-3 that runs are held to
    pure, _ = load_model(tiny_model)
    assert (again(pure, row) - row.logprobs).abs().max() > 1e-3  # that it sees what differs
    model.set_attn_implementation("sdpa")
    with autocast(model):
        assert model(torch.tensor([[5, 6]])).logits.dtype == torch.bfloat16


def test_rounded_weights_change_no_bit_and_share_what_is_frozen(tiny_model):
    model, tokenizer = trainable(tiny_model, train_embeddings=False)
    frozen = {id(p): p for p in model.parameters() if not p.requires_grad}
    other = copy.deepcopy(model, frozen)
    round_weights(other)
    assert other.model.layers[0].mlp.up_proj.weight.dtype == torch.bfloat16 and model.model.layers[0].mlp.up_proj.weight.dtype == torch.float32
    assert other.get_input_embeddings().weight is model.get_input_embeddings().weight
    row = played(HFPolicy(model, tokenizer, "tiny"))
    assert torch.equal(played(HFPolicy(other, tokenizer, "tiny")).logprobs, row.logprobs)
    assert torch.equal(again(other, row), again(model, row))


def test_in_float32_nothing_is_cast(tiny_model):
    model, _ = load_trainable(load_settings("smoke", model={"path": str(tiny_model)}), tiny_model)
    with autocast(model):
        assert not torch.is_autocast_enabled("cpu") and compute_dtype(model) == torch.float32
