import random

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen2ForCausalLM

from wr1_utils.agent.pocket_model import ELEMENT_TOKENS, ID_TOKENS, PHRASES, build_model, build_tokenizer
from wr1_utils.settings import project_path
from wr1_utils.training import pocket_tasks


@pytest.fixture(scope="module")
def tokenizer():
    rng = random.Random(0)
    return build_tokenizer([message["content"] for _ in range(200) for message in pocket_tasks.deployment(rng, 15).messages])


def test_tokenizer_gives_back_any_text(tokenizer):
    rng = random.Random(1)
    texts = ["", " ", "a  b\n\n c\t", "é ü 漢字 🙂 \u0301", 'x" [7]" [300] [12]', '<think># Element: link A [3]</think>', "\\\"'\r\n", "1234.50 007"]
    texts += ["".join(chr(rng.choice([rng.randint(32, 126), rng.randint(160, 0x2fff)])) for _ in range(60)) for _ in range(200)]
    for text in texts:
        assert tokenizer.decode(tokenizer(text).input_ids) == text


def test_ids_and_phrases_are_single_tokens_and_numbers_are_cut_in_threes(tokenizer):
    for text in PHRASES + ["<|im_start|>", "<|im_end|>"] + ID_TOKENS + ELEMENT_TOKENS:
        assert len(tokenizer(text).input_ids) == 1, text
    for number, groups in {"7": ["7"], " 42": ["Ġ42"], " 1016": ["Ġ1", "016"], "$152.00": ["$", "152", ".", "00"], "2025-03": ["2", "025", "-", "03"]}.items():
        assert tokenizer.convert_ids_to_tokens(tokenizer(number).input_ids) == groups
    assert tokenizer.convert_ids_to_tokens(tokenizer("link Home [17]\n").input_ids)[-2:] == [" [17]", "Ċ"]
    reply = tokenizer('[7]</think>\n<answer>do(action="Click", element="7")</answer>').input_ids[3:]
    assert tokenizer.convert_ids_to_tokens(reply) == ["</think>\n<answer>", 'do(action="Click', '", element="7"', ")</answer>"]


def test_a_word_is_cut_alike_with_and_without_a_space_before_it(tokenizer):
    """Copying `Lamp` from ` Lamp` must be copying: same pieces, but for the space on the first."""
    for word in ["Lamp", "Zorvex", "checkout", "KQX", "émigré", "7", "@"]:
        bare = tokenizer.convert_ids_to_tokens(tokenizer(word).input_ids)
        spaced = tokenizer.convert_ids_to_tokens(tokenizer(" " + word).input_ids)
        assert "".join(spaced) == "Ġ" + "".join(bare)
        assert len(spaced) == len(bare) or spaced[0] == "Ġ"


def test_saved_tokenizer_loads_and_writes_chatml(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    text = loaded.apply_chat_template([{"role": "system", "content": "S"}, {"role": "user", "content": "link A [1]"}],
                                      tokenize=False, add_generation_prompt=True)
    assert text == "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nlink A [1]<|im_end|>\n<|im_start|>assistant\n"
    assert loaded(text).input_ids == tokenizer(text).input_ids
    assert loaded.decode(loaded(text).input_ids) == text
    assert loaded.eos_token == "<|im_end|>"


def test_primed_model_looks_for_what_followed_the_last_match(tokenizer):
    """Before any training: head 0 of layer 0 sees the previous token, head 0 of layer 1 the tokens after earlier matches."""
    config = build_model(tokenizer, seed=0).config
    model = Qwen2ForCausalLM._from_config(config, attn_implementation="eager")
    model.load_state_dict(build_model(tokenizer, seed=0).state_dict())
    once = torch.randperm(len(tokenizer), generator=torch.Generator().manual_seed(0))[:50]
    ids = once.repeat(4)[None]                                                  # [1, 200]
    with torch.no_grad():
        first, second = model(ids, output_attentions=True).attentions[:2]       # [1, heads, 200, 200]
    here = torch.arange(60, 200)
    assert first[0, 0, here, here - 1].min() > 0.99
    at = torch.arange(160, 199)
    assert (second[0, 0, at, at - 49] + second[0, 0, at, at - 99] + second[0, 0, at, at - 149]).mean() > 0.6


def test_building_is_deterministic(tokenizer):
    one, two, other = (build_model(tokenizer, seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["model.embed_tokens.weight"], other["model.embed_tokens.weight"])


def test_committed_model_loads_like_any_other_and_is_small():
    folder = project_path("data/models/pocket-base")
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert isinstance(model, Qwen2ForCausalLM) and model.config.vocab_size == len(tokenizer)
    assert 1e6 < model.num_parameters() < 5e6
    assert sum(file.stat().st_size for file in folder.iterdir()) < 20e6
    assert tokenizer.eos_token_id == model.generation_config.eos_token_id
    text = "link Red Mug [7]\nrow Größe | 12,50 €"
    assert tokenizer.decode(tokenizer(text).input_ids) == text
