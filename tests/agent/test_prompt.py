"""A context holds earlier replies as the ids that were sampled, and only the current page."""

import pytest

from wr1_utils.agent.hf_engine import load_tokenizer
from wr1_utils.agent.prompt import PLACEHOLDER, PromptError, context_ids, messages, reply_ids


def test_earlier_pages_are_placeholders_and_the_task_stays():
    chat = messages("Act.", "Buy a mug", ["r1", "r2"], "page three")
    assert [m["role"] for m in chat] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert chat[1]["content"] == f"Task: Buy a mug\n{PLACEHOLDER}"
    assert [m["content"] for m in chat[3::2]] == [PLACEHOLDER, "page three"]
    assert messages("", "Buy a mug", [], "page one") == [{"role": "user", "content": "Task: Buy a mug\npage one"}]


def test_without_compression_earlier_pages_stay_whole():
    chat = messages("Act.", "Buy a mug", ["r1", "r2"], "page three", ["page one", "page two"])
    assert [m["content"] for m in chat[1::2]] == ["Task: Buy a mug\npage one", "page two", "page three"]
    with pytest.raises(ValueError):
        messages("Act.", "Buy a mug", ["r1", "r2"], "page three", ["page one"])


def test_without_compression_a_context_begins_with_the_turn_before(tiny_model):
    tokenizer = load_tokenizer(tiny_model)
    reply = [70, 71, tokenizer.eos_token_id]
    first = context_ids(tokenizer, "Act.", "go", [], "page one")
    second = context_ids(tokenizer, "Act.", "go", [reply], "page two", ["page one"])
    assert second[: len(first) + 3] == first + reply
    third = context_ids(tokenizer, "Act.", "go", [reply, [5]], "page three", ["page one", "page two"])
    assert third[: len(second) + 1] == second + [5]
    assert PLACEHOLDER not in tokenizer.decode(third)


def test_contexts_hold_the_recorded_ids_whatever_their_text_would_be(tiny_model):
    tokenizer = load_tokenizer(tiny_model)
    odd = [70, 71, tokenizer.eos_token_id]  # ids, not what encoding their text gives
    ids = context_ids(tokenizer, "Act.", "go", [odd, [5]], "page")
    text = tokenizer.decode(ids)
    assert text.count("<|im_end|>") == 6 and text.endswith("page<|im_end|>\n<|im_start|>assistant\n")
    assistant = tokenizer.encode("<|im_start|>assistant\n", add_special_tokens=False)
    places = [i + len(assistant) for i in range(len(ids)) if ids[i : i + len(assistant)] == assistant]
    assert ids[places[0] : places[0] + 3] == odd
    assert ids[places[1] : places[1] + 2] == [5, tokenizer.eos_token_id]  # cut off before its end: the template ends it


def test_the_trunk_is_a_prefix_of_the_next_turns_context(tiny_model):
    tokenizer = load_tokenizer(tiny_model)
    reply = reply_ids(tokenizer, "click")
    first = context_ids(tokenizer, "Act.", "go", [], "page one")
    second = context_ids(tokenizer, "Act.", "go", [reply], "page two")
    third = context_ids(tokenizer, "Act.", "go", [reply, reply], "page three")
    page_two = len(tokenizer.encode("page two<|im_end|>\n<|im_start|>assistant\n"))
    assert third[: len(second) - page_two] == second[:-page_two]
    assert first[: len(tokenizer.encode("<|im_start|>system\nAct.<|im_end|>\n<|im_start|>user\nTask: go\n"))] == second[
        : len(tokenizer.encode("<|im_start|>system\nAct.<|im_end|>\n<|im_start|>user\nTask: go\n"))
    ]


def test_templates_that_cannot_carry_an_episode_are_refused(tiny_model):
    tokenizer = load_tokenizer(tiny_model)
    tokenizer.chat_template = "{{ messages[-1].content }}"
    with pytest.raises(PromptError, match="drops earlier replies"):
        context_ids(tokenizer, "", "go", [[5]], "page")
    tokenizer.chat_template = None
    with pytest.raises(PromptError, match="no chat template"):
        context_ids(tokenizer, "", "go", [], "page")
