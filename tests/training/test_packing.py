"""Invariant: a token's log-probability and gradient in a tree row equal those of its turn alone, id for id."""

import copy
import json
import math
from dataclasses import replace

import pytest
import torch

from wr1_utils.agent.hf_engine import load_model
from wr1_utils.runs import fingerprint
from wr1_utils.settings import project_path
from wr1_utils.training.packing import (
    TREE_ATTENTION,
    PackingError,
    Sequence,
    build_row,
    forward_logprobs,
    sequences,
)
from wr1_utils.trajectory import Trajectory, Turn, read_trajectories

KINDS = ("qwen2", "llama", "window", "lora")
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"))]


def alone(model, row: Sequence) -> torch.Tensor:
    """Log-probs (reply,) of one turn by transformers' own attention, without any packing."""
    model.set_attn_implementation("sdpa")
    ids = torch.tensor([row.context_ids + row.reply_ids], device=model.device)
    logp = torch.log_softmax(model(input_ids=ids).logits[0, :-1].float(), -1)
    first = len(row.context_ids)
    return logp[first - 1 :].gather(1, ids[0, first:, None]).squeeze(1)


def packed(model, row) -> torch.Tensor:
    model.set_attn_implementation(TREE_ATTENTION)
    return forward_logprobs(model, row.to(model.device))[0]


def gradient(model, logp: torch.Tensor) -> torch.Tensor:
    """Of a sum of these log-probs with weights that differ, all trained parameters in one vector."""
    model.zero_grad()
    (logp * torch.linspace(-1, 1, len(logp), device=logp.device)).sum().backward()
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_row_equals_one_row_a_turn(kind, device, tiny, turns_of_a_group):
    """Log-probs to 1e-5 nats and gradients to 1e-4 of their norm: of the tree, and of one row a turn, against transformers' own attention."""
    model, rows = tiny(kind).to(device), turns_of_a_group()
    tree, apart = build_row(rows), build_row(rows, share=False)
    assert tree.input_ids.shape[1] < 0.75 * sum(len(r.context_ids) + len(r.reply_ids) for r in rows)
    expected = torch.cat([alone(model, row) for row in rows])
    wanted = gradient(model, expected)
    assert wanted.norm() > 1e-2
    for row in (tree, apart):
        logp = packed(model, row)
        assert (logp - expected).abs().max() < 1e-5
        assert (gradient(model, logp) - wanted).norm() / wanted.norm() < 1e-4


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["qwen2", "window"])
def test_in_bf16_a_tree_row_errs_no_more_than_one_row_a_turn(kind, device, tiny, turns_of_a_group):
    """Both against float32 on the same (rounded) weights."""
    model, rows = tiny(kind).to(device, torch.bfloat16), turns_of_a_group()
    exact = copy.deepcopy(model).float()
    truth = torch.cat([alone(exact, row) for row in rows]).detach()
    slope = gradient(exact, packed(exact, build_row(rows)))
    errors, slope_errors = [], []
    for logp in (packed(model, build_row(rows)), torch.cat([alone(model, row) for row in rows])):
        assert logp.dtype == torch.float32
        errors.append((logp - truth).abs().mean())
        slope_errors.append((gradient(model, logp).float() - slope).norm() / slope.norm())
    assert 0 < errors[0] < 1.3 * errors[1] and errors[0] < 0.02
    assert 0 < slope_errors[0] < 1.3 * slope_errors[1] and slope_errors[0] < 0.05


@pytest.mark.parametrize("kind", ["qwen2", "lora"])
def test_gradient_checkpointing_gives_the_same_gradient(kind, tiny, turns_of_a_group):
    model, rows = tiny(kind).train(), turns_of_a_group()
    grads = []
    for on in (False, True):
        if on:
            model.enable_input_require_grads() if kind == "lora" else None  # as TRL does where the embeddings are frozen
            model.activation_checkpointing_enable()
        grads.append(gradient(model, packed(model, build_row(rows))))
    assert torch.allclose(grads[0], grads[1], atol=1e-6)


def leaking(row, node: int, into: int):
    """The row with one mistake: the nodes below and of number `into` also see the first token of node `node`, which is no ancestor of theirs."""
    nodes = []
    for number, (length, ancestors) in enumerate(row.nodes):
        ancestors = tuple(x for a in ancestors for x in ((node, node + 1) if a == node else (a + (a > node),)))
        if number == node:
            nodes += [(1, ancestors), (length - 1, (*ancestors, node))]
        else:
            nodes.append((length, tuple(sorted({*ancestors, node})) if number == into else ancestors))
    return replace(row, nodes=tuple(nodes))


def test_one_leaked_page_token_or_one_shifted_position_is_noticed(tiny, turns_of_a_group):
    """Negative controls: the equality above is not blind. Each breaks one thing, and moves what it touches by more than ten times the tolerance."""
    model, rows = tiny("qwen2"), turns_of_a_group(members=1)
    tree = build_row(rows)
    honest = packed(model, tree)
    leaves = [number for number in range(len(tree.nodes)) if not any(number in ancestors for _, ancestors in tree.nodes)]
    page, later = leaves[0], leaves[-1]  # the branches [page_1 a_1] and [page_3 a_3]
    assert torch.allclose(packed(model, leaking(tree, page, into=page)), honest, atol=1e-6)  # parting a node alone is no mistake
    leaked = packed(model, leaking(tree, page, into=later))
    touched = tree.turn == 2
    assert (leaked - honest)[touched].abs().min() > 1e-5 and (leaked - honest)[touched].abs().max() > 1e-4
    assert torch.allclose(leaked[~touched], honest[~touched], atol=1e-6)
    shifted = tree.position_ids.clone()
    shifted[:, 9] += 1  # the first token of the first page
    moved = packed(model, replace(tree, position_ids=shifted))
    assert (moved - honest)[tree.turn == 0].abs().max() > 1e-4
    assert torch.allclose(moved[tree.turn > 0], honest[tree.turn > 0], atol=1e-6)


def test_what_a_browser_episode_recorded_is_what_training_computes():
    """Real rollouts of the `hf` engine, those committed of the base model: its log-probs, recomputed on rows of either kind, are those recorded."""
    run = project_path("results/laptop/eval-base-s0")
    folder = project_path("data/models/pocket-base")
    assert json.loads((run / "environment.json").read_text())["model"] == fingerprint(folder), "the base model is not the one of the committed run"
    model, _ = load_model(folder)
    episodes = sorted(read_trajectories(run / "trajectories.parquet"), key=lambda t: -len(t.turns))[::10][:6]  # long ones among them
    rows = sequences([t for t in episodes if t.turns])
    tree, apart = build_row(rows), build_row(rows, share=False)
    model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        logp, reference = forward_logprobs(model, tree)[0], forward_logprobs(model, apart)[0]
    assert len(rows) > 20 and tree.input_ids.numel() < 0.9 * apart.input_ids.numel()
    assert (logp - reference).abs().max() < 1e-4  # sums over thousands of keys in float32
    assert (logp - tree.logprobs).abs().mean() < 1e-3


def test_turns_that_cannot_be_trained_are_refused_with_a_reason():
    turn = dict(url="", title="", observation="", reply="", action="", error="", seconds_model=0, seconds_browser=0)
    about = dict(
        run="r", benchmark="pocket", site="shopping", template="t", split="train", intent="", group=0, member=0, seed=0,
        policy="p", status="failure", reward=0.0, answer=None, error="", seconds=0.0,
    )  # fmt: skip
    for bad, why in [
        (dict(context_ids=[1], reply_ids=[], logprobs=[]), "empty"),
        (dict(context_ids=[], reply_ids=[1], logprobs=[]), "no token ids were recorded"),
        (dict(context_ids=[1], reply_ids=[1, 2], logprobs=[0.0]), "1 log-probs for 2"),
    ]:
        with pytest.raises(PackingError, match=why):
            sequences([Trajectory(task_id="7", **about, turns=[Turn(**turn, **bad)])])
    assert math.isnan(build_row([Sequence([1], [2], [], 0, 0)]).logprobs[0])
