"""A reply does not depend on who shares the batch, when it came in, or which of the two ways of sampling wrote it."""

import pytest
import torch

from wr1_utils.agent.decoding import Decoder
from wr1_utils.agent.hf_engine import HFPolicy, load_model
from wr1_utils.agent.policy import Request

REQUESTS = [Request(list(range(5, 9 + 7 * i)), 4 + 5 * (i % 3), 1.0, seed=i) for i in range(6)]


@pytest.fixture(scope="module")
def loaded(tiny_model):
    return load_model(tiny_model)


def run(decoder, arrivals):
    """Feeds requests at given steps; returns key → (ids, log-probs)."""
    ended, step = {}, 0
    while len(ended) < sum(len(keys) for keys in arrivals.values()):
        new = [(key, REQUESTS[key]) for key in arrivals.get(step, [])]
        ended |= {key: (ids, logprobs) for key, ids, logprobs in decoder.advance(new)}
        step += 1
    return ended


def test_arrival_in_the_middle_of_others_changes_nothing(loaded):
    model, tokenizer = loaded
    model.set_attn_implementation("sdpa")
    with torch.inference_mode():
        alone = {k: run(Decoder(model, [tokenizer.eos_token_id]), {0: [k]})[k] for k in range(6)}
        mixed = run(Decoder(model, [tokenizer.eos_token_id]), {0: [4, 0], 2: [5], 3: [1, 3], 9: [2]})
    for key in range(6):
        assert mixed[key][0] == alone[key][0]
        assert mixed[key][1] == pytest.approx(alone[key][1], abs=1e-4)
        assert len(alone[key][0]) <= REQUESTS[key].max_new_tokens


def test_equal_contexts_are_read_once(loaded, monkeypatch):
    model, tokenizer = loaded
    read = []
    forward = model.forward
    monkeypatch.setattr(model, "forward", lambda *a, **k: read.append(tuple(k["input_ids"].shape)) or forward(*a, **k))
    with torch.inference_mode():
        Decoder(model, [tokenizer.eos_token_id]).advance([(i, Request([5, 6, 7], 2, 1.0, i)) for i in range(4)])
    assert read == [(1, 3)]


def test_both_ways_of_sampling_write_the_same(loaded):
    policy = HFPolicy(*loaded, "tiny")
    kept = policy.generate(REQUESTS)
    policy._decoder = None  # as for an architecture with sliding windows
    plain = policy.generate(REQUESTS)
    assert [r.ids for r in plain] == [r.ids for r in kept]
    for a, b in zip(plain, kept):
        assert a.logprobs == pytest.approx(b.logprobs, abs=1e-4)


def test_an_interrupted_batch_can_be_forgotten(loaded):
    model, tokenizer = loaded
    policy = HFPolicy(model, tokenizer, "tiny")
    model.train()
    assert policy.advance([(0, Request([5, 6], 400, 1.0, 0))]) == []
    assert not model.training
    policy.forget()
    assert model.training
    model.eval()
    assert [r.ids for r in policy.generate(REQUESTS[:2])] == [r.ids for r in HFPolicy(model, tokenizer, "t").generate(REQUESTS[:2])]
