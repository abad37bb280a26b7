"""A policy on any Hugging Face causal language model (a folder, or a GGUF file in one), with transformers' `generate`.

Sampling draws one uniform number a token from a generator that belongs to the request, so neither the order of arrival
nor the other members of the batch change a seeded reply (up to the last bits of floating-point sums).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Cache, LogitsProcessor, LogitsProcessorList
from transformers.cache_utils import DynamicLayer
from transformers.utils import logging as transformers_logging

from wr1_utils.agent.policy import ModelError, Reply, Request
from wr1_utils.runs import find_run
from wr1_utils.settings import Settings, project_path

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def load_model(path: str | Path, gguf_file: str = "", dtype: str = "float32"):
    """(model, tokenizer) from a local folder in Hugging Face's format, or from a GGUF file in a folder.

    The model is in evaluation mode, on the GPU if there is one. Raises ModelError if nothing loadable is there.
    """
    source = _source(path, gguf_file)
    transformers_logging.disable_progress_bar()  # the kit shows its own
    try:
        model = AutoModelForCausalLM.from_pretrained(path, dtype=_DTYPES[dtype], **source)
    except (OSError, ValueError, KeyError, RuntimeError) as fault:
        raise ModelError(f"The model in {path} cannot be loaded: {fault}") from fault
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), load_tokenizer(path, gguf_file)


def load_tokenizer(path: str | Path, gguf_file: str = ""):
    """The tokenizer alone, with a pad token. Raises ModelError as `load_model` does."""
    source = _source(path, gguf_file)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, **source)
    except (OSError, ValueError, KeyError, RuntimeError) as fault:
        raise ModelError(f"The tokenizer in {path} cannot be loaded: {fault}") from fault
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def _source(path: str | Path, gguf_file: str) -> dict:
    """What from_pretrained needs beside the path. Raises ModelError if nothing loadable is there."""
    path = Path(path)
    if not path.is_dir():
        raise ModelError(
            f"There is no model folder {path}; give a folder with config.json and weights in Hugging Face's format, "
            "or make the small model with notebooks/90_pocket_base_model."
        )
    if gguf_file and not (path / gguf_file).is_file():
        raise ModelError(f"There is no file {gguf_file} in the model folder {path}.")
    if not gguf_file and not (path / "config.json").is_file():
        found = ", ".join(sorted(f.name for f in path.glob("*.gguf")))
        hint = f"it holds {found}: name it in model.gguf_file" if found else "it must hold config.json and weights"
        raise ModelError(f"The folder {path} is no Hugging Face model: {hint}.")
    return {"local_files_only": True, **({"gguf_file": gguf_file} if gguf_file else {})}


def model_folder(settings: Settings, method: str) -> Path:
    """The folder with the weights of a method: `base`, `bc`, or an RL variant. Raises ModelError if it is not made yet.

    A GGUF base model is unpacked once, into the profile's checkpoints.
    """
    if method == "base":
        folder = project_path(settings.model.path)
        if not settings.model.gguf_file:
            return folder
        unpacked = project_path(settings.checkpoints) / settings.profile / f"base-{Path(settings.model.gguf_file).stem}"
        if not unpacked.is_dir():
            model, tokenizer = load_model(folder, settings.model.gguf_file, settings.model.dtype)
            save_final(model, tokenizer, unpacked)
        return unpacked
    stage, variant, notebook = ("bc", settings.demos.style, "02_bc_warmup") if method == "bc" else ("rl", method, "03_rl_training")
    run = find_run(settings, stage, variant)
    folder = run.checkpoints / "final"
    if not run.done or not folder.is_dir():
        raise ModelError(f"There are no finished weights of {method!r} in {folder}; run notebook {notebook} with profile {settings.profile} first.")
    return folder


def load_policy(settings: Settings, method: str) -> HFPolicy:
    """The policy of a method (`base`, `bc`, `r1`, …), its name the method's."""
    model, tokenizer = load_model(model_folder(settings, method), dtype=settings.model.dtype)
    return HFPolicy(model, tokenizer, method)


def save_final(model, tokenizer, folder: Path) -> Path:
    """Writes the model and tokenizer to `folder`, whole or not at all."""
    scratch = folder.with_name(folder.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    model.save_pretrained(scratch)
    tokenizer.save_pretrained(scratch)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(scratch, folder)
    return folder


class HFPolicy:
    """A model and its tokenizer as a policy (see `agent/policy.py`)."""

    def __init__(self, model, tokenizer, name: str):
        self.model, self.tokenizer, self.name = model, tokenizer, name
        declared = model.generation_config.eos_token_id
        declared = declared if isinstance(declared, list) else [declared] if declared is not None else []
        self._ends = sorted({tokenizer.eos_token_id, *declared})

    @torch.inference_mode()
    def generate(self, requests: list[Request]) -> list[Reply]:
        """Replies to a batch of contexts, left-padded to the longest. Restores the model's training mode."""
        training = self.model.training
        self.model.eval()
        self.model.set_attn_implementation("sdpa")
        longest = max(len(r.context_ids) for r in requests)
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (longest - len(r.context_ids)) + r.context_ids for r in requests])  # (B, longest)
        mask = torch.tensor([[0] * (longest - len(r.context_ids)) + [1] * len(r.context_ids) for r in requests])
        draw = _SeededDraw(requests)
        out = self.model.generate(
            input_ids=ids.to(self.model.device),
            attention_mask=mask.to(self.model.device),
            max_new_tokens=max(r.max_new_tokens for r in requests),
            do_sample=False,
            logits_processor=LogitsProcessorList([draw]),
            eos_token_id=self._ends,
            pad_token_id=pad,
            cache=_reserved_cache(self.model.config, longest + max(r.max_new_tokens for r in requests)),
            temperature=None, top_p=None, top_k=None,
        )  # fmt: skip
        self.model.train(training)
        written = out[:, longest:].tolist()
        logprobs = torch.stack(draw.logprobs, dim=1).tolist()  # (B, steps)
        return [self._reply(*row) for row in zip(requests, written, logprobs)]

    def _reply(self, request: Request, ids: list[int], logprobs: list[float]) -> Reply:
        ids = ids[: request.max_new_tokens]
        end = next((i + 1 for i, token in enumerate(ids) if token in self._ends), len(ids))
        ids = ids[:end]
        spoken = ids[:-1] if ids and ids[-1] in self._ends else ids
        return Reply(ids, logprobs[:end], self.tokenizer.decode(spoken, skip_special_tokens=False))


class _ReservedLayer(DynamicLayer):
    """A cache layer that reserves its memory once: growing by concatenation took 70 % of the time of sampling on a CPU."""

    def __init__(self, capacity: int):
        super().__init__()
        self.capacity = capacity

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """key_states, value_states (B, heads, new, d) → all so far, (B, heads, seen + new, d)."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            batch, heads, _, width = key_states.shape
            self.room = [states.new_empty(batch, heads, self.capacity, width) for states in (key_states, value_states)]
        seen = self.get_seq_length()
        end = seen + key_states.shape[-2]
        for room, new in zip(self.room, (key_states, value_states)):
            room[:, :, seen:end] = new
        self.keys, self.values = (room[:, :, :end] for room in self.room)
        return self.keys, self.values


def _reserved_cache(config, capacity: int) -> Cache | None:
    """A cache for models with full attention in all layers; None (transformers' own choice) for others."""
    kinds = getattr(config, "layer_types", None) or ["full_attention"]
    if set(kinds) != {"full_attention"}:
        return None
    return Cache(layers=[_ReservedLayer(capacity) for _ in range(config.num_hidden_layers)])


class _SeededDraw(LogitsProcessor):
    """Draws each row's next token by its own generator and leaves `generate` only that token to choose.

    `logprobs` collects, a step at a time, the (B,) log-probabilities of what was drawn.
    """

    def __init__(self, requests: list[Request]):
        self.logprobs: list[torch.Tensor] = []
        temperatures = [r.temperature for r in requests]
        self.greedy = torch.tensor([t == 0 for t in temperatures])
        self.temperature = torch.tensor([t or 1.0 for t in temperatures])[:, None]
        self.generators = [torch.Generator().manual_seed(r.seed) for r in requests]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """scores (B, V) raw logits → (B, V), −inf but at the drawn token."""
        log_all = torch.log_softmax(scores.float() / self.temperature.to(scores.device), dim=-1)
        token = log_all.argmax(-1)
        if not bool(self.greedy.all()):
            u = torch.stack([torch.rand((), generator=g, dtype=torch.float64) for g in self.generators]).to(scores.device)
            mass = log_all.double().exp().cumsum(-1)
            drawn = torch.searchsorted(mass, (u * mass[:, -1])[:, None], right=True).squeeze(1)
            token = torch.where(self.greedy.to(scores.device), token, drawn.clamp(max=scores.shape[1] - 1))
        self.logprobs.append(log_all.gather(1, token[:, None]).squeeze(1).cpu())
        return torch.full_like(scores, float("-inf")).scatter(1, token[:, None], 0.0)
