"""The authors' flat rows, re-created: earlier pages are missing, so only a trajectory of one turn is trained exactly."""

import pytest
import torch

from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_tokenizer
from wr1_utils.agent.policy import Request
from wr1_utils.agent.prompt import context_ids
from wr1_utils.training.flat import flat_sequences
from wr1_utils.training.packing import TREE_ATTENTION, PackingError, build_row, forward_logprobs, sequences
from wr1_utils.trajectory import Trajectory, Turn


class Letters:
    """A tokenizer of one id a character: 's' begins a message and 'e' ends it; a page is a capital letter and the placeholder 'p'."""

    chat_template, eos_token_id = "yes", ord("e")

    def apply_chat_template(self, chat, tokenize, add_generation_prompt):
        return "".join(f"s{message['content']}e" for message in chat) + "s"

    def encode(self, text, add_special_tokens=False):
        return [ord(letter) for letter in text.replace("Task: ", "").replace("\n", "").replace("** Simplified html **", "p")]


def turn(context, reply, logprobs=None):
    return Turn("", "", "", context, reply, [-1.0] * len(reply) if logprobs is None else logprobs, "", "", "", 0.0, 0.0)


def trajectory(*turns, intent="t"):
    return Trajectory("r", "7", "pocket", "shopping", "t", "train", intent, 0, 0, 0, "p", "success", 1.0, None, "", 0.0, list(turns))


def ids(text):
    return [ord(letter) for letter in text]


def test_a_flat_row_by_hand():
    """Three turns on the pages A, B and C: the row is that of the last turn, and every reply is a target, the first two behind placeholders."""
    turns = [turn(ids("stAes"), ids("xye")), turn(ids("stpesxyesBes"), ids("ze")), turn(ids("stpesxyespeszesCes"), ids("we"))]
    flat = flat_sequences([trajectory(*turns)], Letters(), "")
    assert ["".join(map(chr, row.context_ids)) for row in flat] == ["stpes", "stpesxyespes", "stpesxyespeszesCes"]
    row = build_row(flat)
    assert row.input_ids[0].tolist() == ids("stpesxyespeszesCeswe") and row.position_ids[0].tolist() == list(range(20))
    assert row.target.tolist() == ids("xyezewe") and row.turn.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert row.predictor.tolist() == [4, 5, 6, 11, 12, 17, 18]


def test_what_does_not_stand_in_the_row_is_refused():
    """A second context in which the first reply is another, and one whose first page is whole."""
    for second in ("stpesXYesBes", "stAesxyesBes"):
        with pytest.raises(PackingError, match="trajectory of 7, turn 1: the reply does not stand in the flat row"):
            flat_sequences([trajectory(turn(ids("stAes"), ids("xye")), turn(ids(second), ids("ze")))], Letters(), "")


def sampled(policy, pages, compress=True):
    """A trajectory on these pages, its replies sampled as in a rollout."""
    turns = []
    for number, page in enumerate(pages):
        earlier = None if compress else pages[:number]
        context = context_ids(policy.tokenizer, "Act.", "Buy a mug", [t.reply_ids for t in turns], page, earlier)
        reply = policy.generate([Request(context, 12, 1.0, number)])[0]
        turns.append(turn(context, reply.ids, reply.logprobs))
    return trajectory(*turns, intent="Buy a mug")


def distances(policy, rows):
    """For each row (a list of sequences that become one) the largest |recomputed − recorded|, and the recomputed log-probs."""
    policy.model.set_attn_implementation(TREE_ATTENTION)
    with torch.no_grad():
        found = [(row, forward_logprobs(policy.model, row)[0]) for row in rows]
    return [float((logp - row.logprobs).abs().max()) for row, logp in found], [logp for _, logp in found]


@pytest.fixture(scope="module")
def policy(tiny_model):
    torch.manual_seed(1)
    model, tokenizer = load_model(tiny_model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)  # so that what is read matters to what is written
    return HFPolicy(model, tokenizer, "tiny")


PAGES = ["[1] link Mugs", "[4] button Buy", "[9] text Thank you"]


def test_only_a_single_turn_is_trained_on_what_it_was_sampled_from(policy):
    single, several = sampled(policy, PAGES[:1]), sampled(policy, PAGES)
    exact, _ = distances(policy, [build_row(sequences([single])), build_row(sequences([several]))])
    flat, _ = distances(policy, [build_row(flat_sequences([one], policy.tokenizer, "Act.")) for one in (single, several)])
    assert max(exact) < 1e-4 and flat[0] < 1e-4 and flat[1] > 0.1


def test_a_whole_history_is_trained_exactly(policy):
    """episode.compress = false: one chain of pages and replies, recorded = recomputed, in tree rows and one row a turn alike."""
    rows = sequences([sampled(policy, PAGES, compress=False)])
    tree, turns = build_row(rows), build_row(rows, share=False)
    assert tree.input_ids.shape[1] == len(rows[-1].context_ids) + len(rows[-1].reply_ids) < turns.input_ids.shape[1]
    apart, (one, other) = distances(policy, [tree, turns])
    assert max(apart) < 1e-3 and torch.allclose(one, other, atol=1e-4)
    with pytest.raises(PackingError, match="flat row"):
        flat_sequences([sampled(policy, PAGES, compress=False)], load_tokenizer(policy.model.name_or_path), "Act.")
