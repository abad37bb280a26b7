"""Models of several architectures, small enough for exact comparisons, and the turns of a group."""

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from wr1_utils.training.packing import Sequence

SHAPE = dict(
    vocab_size=97, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256,
)  # fmt: skip


def small_model(kind: str):
    """A random model of an architecture (qwen2, llama, window = qwen2 with sliding windows), or qwen2 with LoRA adapters."""
    torch.manual_seed(0)
    if kind == "llama":
        return LlamaForCausalLM(LlamaConfig(**SHAPE)).eval()
    window = dict(use_sliding_window=True, sliding_window=11, max_window_layers=1) if kind == "window" else {}
    model = Qwen2ForCausalLM(Qwen2Config(**SHAPE, **window))
    if kind == "lora":  # init_lora_weights=False: else the adapters start as nothing, and the base model alone would be compared
        model = get_peft_model(model, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False, task_type="CAUSAL_LM"))
    return model.eval()


def group(members: int = 3, turns: int = 3) -> list[Sequence]:
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


@pytest.fixture
def tiny():
    return small_model


@pytest.fixture
def turns_of_a_group():
    return group
