import math
import random

import pytest
import torch
from transformers import AutoModelForCausalLM

from wr1_utils.agent.pocket_model import build_model
from wr1_utils.training import pocket_tasks, pretrain
from wr1_utils.training.pretrain import Pretraining, PretrainingError

TINY = Pretraining(tokens=9_000, tokens_per_step=700, sequence_steps=4, most_lines=20, warmup_steps=2, tokenizer_samples=60, save_every_s=0.0)


@pytest.fixture(scope="module")
def tokenizer():
    return pretrain.make_tokenizer(TINY)


def test_rows_are_the_agents_context_and_only_replies_are_trained(tokenizer):
    """Tokenised piece by piece, a sample is id for id the rendered chat; the trained tokens are the last reply and its <|im_end|>."""
    for sample in pretrain_samples(20):
        ids, trained = pretrain.encode(tokenizer, sample)
        assert ids == tokenizer(tokenizer.apply_chat_template(sample.messages, tokenize=False).removesuffix("\n")).input_ids
        reply = tokenizer.decode([token for token, counts in zip(ids, trained) if counts])
        assert reply == sample.messages[-1]["content"] + "<|im_end|>"


def pretrain_samples(number: int) -> list[pocket_tasks.Sample]:
    rng = random.Random(0)
    return [pocket_tasks.deployment(rng, 12) for _ in range(number)]


def test_batches_depend_on_the_step_alone_and_are_padded_on_the_right(tokenizer):
    for step in (0, 50):
        ids, trained = pretrain.make_batch(TINY, tokenizer, step, done=0.5)
        again, _ = pretrain.make_batch(TINY, tokenizer, step, done=0.5)
        assert torch.equal(ids, again) and ids.shape == trained.shape
    assert not trained[ids == tokenizer.pad_token_id].any()
    assert not torch.equal(ids[:, :50], pretrain.make_batch(TINY, tokenizer, step + 1, done=0.5)[0][:len(ids), :50])


def test_padding_on_the_right_without_a_mask_changes_nothing(tokenizer):
    """A causal model never sees padding behind a token, so the loss of a padded batch is that of its rows."""
    model = build_model(tokenizer, 0).eval()
    ids, trained = pretrain.make_batch(TINY, tokenizer, 60, done=0.1)
    longer = torch.full((len(ids), ids.shape[1] + 30), tokenizer.pad_token_id)
    longer[:, :ids.shape[1]] = ids
    mask = torch.zeros_like(longer, dtype=torch.bool)
    mask[:, :ids.shape[1]] = trained
    with torch.no_grad():
        assert pretrain.reply_loss(model, ids, trained)[0].item() == pytest.approx(pretrain.reply_loss(model, longer, mask)[0].item(), rel=2e-2)


def test_primed_model_learns_repetition_within_few_steps(tokenizer):
    """Chance is log(vocabulary), 9.1 here: the primed circuit starts below it, untrained, and forty small steps halve the loss at least (5.4 to 1.6)."""
    config = Pretraining(tokens_per_step=1_024, sequence_steps=100)
    model = build_model(tokenizer, 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    for step in range(40):
        loss = pretrain.reply_loss(model, *pretrain.make_batch(config, tokenizer, step, 0.0))[0]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    assert losses[0] < 0.8 * math.log(len(tokenizer))
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5]), losses


def test_an_interrupted_run_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    whole = pretrain.pretrain(TINY, tmp_path / "whole", progress=lambda line: None)
    make = pretrain.make_batch

    def interrupted(config, tokenizer, step, *rest):
        if step == 7:
            raise KeyboardInterrupt
        return make(config, tokenizer, step, *rest)
    monkeypatch.setattr(pretrain, "make_batch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pretrain.pretrain(TINY, tmp_path / "parts", tmp_path / "checkpoint.pt", progress=lambda line: None)
    monkeypatch.setattr(pretrain, "make_batch", make)
    said = []
    parts = pretrain.pretrain(TINY, tmp_path / "parts", tmp_path / "checkpoint.pt", progress=said.append)
    assert said[0].startswith("continues at step 7")
    for one, two in zip(whole.parameters(), parts.parameters()):
        assert torch.equal(one, two)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path / "parts")
    assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), parts.parameters()))


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    pretrain.pretrain(TINY, tmp_path / "model", tmp_path / "checkpoint.pt", progress=lambda line: None)
    with pytest.raises(PretrainingError, match="other settings"):
        pretrain.pretrain(Pretraining(tokens=9_000, tokenizer_samples=60, learning_rate=1e-3), tmp_path / "model", tmp_path / "checkpoint.pt")
