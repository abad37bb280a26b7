"""The engine's replies depend on the request alone, and its log-probs are those that training recomputes."""

import pytest
import torch

from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_policy
from wr1_utils.agent.policy import ModelError, Request
from wr1_utils.settings import load_settings
from wr1_utils.training.packing import TREE_ATTENTION, Sequence, build_row, forward_logprobs


@pytest.fixture(scope="module")
def policy(tiny_model):
    return HFPolicy(*load_model(tiny_model), "tiny")


def requests(temperature=1.0):
    return [Request(list(range(5, 9 + 7 * i)), 12, temperature, seed=i) for i in range(5)]


def test_a_seeded_reply_does_not_depend_on_its_batch(policy):
    together = policy.generate(requests())
    alone = [policy.generate([r])[0] for r in reversed(requests())][::-1]
    assert [r.ids for r in together] == [r.ids for r in alone]
    assert [r.ids for r in policy.generate([requests()[0], requests()[1]])] == [r.ids for r in together[:2]]
    assert len({tuple(r.ids) for r in together}) == 5


def test_recorded_logprobs_equal_those_of_training(policy):
    asked = requests(0.7)
    replies = policy.generate(asked)
    row = build_row([Sequence(q.context_ids, r.ids, r.logprobs, 0, i) for i, (q, r) in enumerate(zip(asked, replies))])
    policy.model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        again, entropy = forward_logprobs(policy.model, row, 0.7)
    assert (again - row.logprobs).abs().max() < 1e-4
    assert (entropy > 0).all()


def test_sampling_follows_the_distribution(policy):
    """Frequencies of the first token over many seeds agree with its probability (3 standard errors)."""
    context, n = [5, 6, 7], 400
    replies = policy.generate([Request(context, 1, 0.1, seed) for seed in range(n)])
    with torch.no_grad():
        policy.model.set_attn_implementation("sdpa")
        p = torch.softmax(policy.model(torch.tensor([context])).logits[0, -1] / 0.1, -1)
    top = int(p.argmax())
    share = sum(r.ids[0] == top for r in replies) / n
    assert 0.02 < p[top] < 0.98
    assert abs(share - p[top]) < 3 * (p[top] * (1 - p[top]) / n) ** 0.5


def test_greedy_takes_the_most_likely_and_limits_hold(policy):
    short, long = policy.generate([Request([5, 6], 3, 0.0, 0), Request([5, 6], 9, 0.0, 1)])
    assert len(short.ids) == len(short.logprobs) == 3 and long.ids[:3] == short.ids


def test_a_missing_or_foreign_model_folder_is_named(tmp_path):
    with pytest.raises(ModelError, match="no model folder .*nowhere"):
        load_model(tmp_path / "nowhere")
    (tmp_path / "w.gguf").touch()
    with pytest.raises(ModelError, match="w.gguf: name it in model.gguf_file"):
        load_model(tmp_path)
    with pytest.raises(ModelError, match="no file x.gguf"):
        load_model(tmp_path, "x.gguf")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(tmp_path)


def test_weights_that_are_not_made_yet_name_the_notebook(tmp_path):
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path))
    with pytest.raises(ModelError, match="02_bc_warmup"):
        load_policy(settings, "bc")
    with pytest.raises(ModelError, match="03_rl_training"):
        load_policy(settings, "r1")
