"""A policy on any Hugging Face causal language model (a folder, or a GGUF file in one).

Sampling draws one uniform number a token from a generator that belongs to the request, so neither the order of arrival
nor the other members of the batch change a seeded reply (up to the last bits of floating-point sums).
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor, LogitsProcessorList
from transformers.utils import logging as transformers_logging

from wr1_utils.agent.decoding import Decoder, Draw, draw_tokens, has_full_attention
from wr1_utils.agent.policy import ModelError, Reply, Request
from wr1_utils.agent.precision import autocast, compute_in
from wr1_utils.runs import find_run
from wr1_utils.settings import Settings, SettingsError, check_style, project_path, with_style

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


def load_trainable(settings: Settings, path: str | Path, gguf_file: str = ""):
    """(model, tokenizer) as `load_model` gives them, to be trained: its trained weights in float32, to compute in `model.dtype` (agent/precision.py).

    With `model.lora_rank` these are fresh adapters of all linear layers but the output layer, which add nothing yet, and the weights in the folder
    are kept in `model.dtype` and frozen. Else it is these, without `model.train_embeddings` all but the token embeddings. Why freeze: every update
    moves each row of a tied embedding a little, whether its token occurred or not, and Adam scales that little up to a whole step; with a vocabulary
    that is most of a small model this is mostly noise. Raises SettingsError where adapters and embeddings are both to be trained.
    """
    wanted = settings.model
    if wanted.lora_rank and wanted.train_embeddings:
        raise SettingsError("With model.lora_rank above 0 adapters alone are trained, and token embeddings have none; set model.train_embeddings = false.")
    model, tokenizer = load_model(path, gguf_file, wanted.dtype if wanted.lora_rank else "float32")
    if wanted.lora_rank:
        lora = LoraConfig(r=wanted.lora_rank, lora_alpha=wanted.lora_alpha, target_modules="all-linear", task_type="CAUSAL_LM")
        model = get_peft_model(model, lora).eval()  # adapters are float32 whatever the weights are
    elif not wanted.train_embeddings:
        for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
            if layer is not None:
                layer.requires_grad_(False)
    if wanted.gradient_checkpointing:
        model.activation_checkpointing_enable()
    compute_in(model, _DTYPES[wanted.dtype])
    return model, tokenizer


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
    """The folder with the weights of a method: `base`, `bc`, `bc_cot`, `filtered_bc`, `awr` or an RL variant. Raises ModelError if it is not made yet.

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
    if method in ("bc", "bc_cot"):
        style = method_settings(settings, method).demos.style
        run, made_by = find_run(settings, "bc", style), f"02_bc_warmup with profile {settings.profile} and style {style}"
    elif method in ("filtered_bc", "awr"):
        run, made_by = find_run(settings, "offline", method), f"02_bc_warmup with profile {settings.profile} and method {method}"
    else:
        run, made_by = find_run(settings, "rl", method), f"03_rl_training with profile {settings.profile} and variant {method}"
    folder = run.checkpoints / "final"
    if not run.done or not folder.is_dir():
        raise ModelError(f"There are no finished weights of {method!r} in {folder}; run notebook {made_by} first.")
    return folder


def method_settings(settings: Settings, method: str) -> Settings:
    """The settings with which a method is trained and evaluated: those given, but `bc_cot` and `r1_cot` write in the style `cot`.

    Raises SettingsError if the method imitates a style that `model.reply_style` cannot read.
    """
    if method in ("bc_cot", "r1_cot"):
        return with_style(settings, "cot")
    if method not in ("base", "r1_zero"):
        check_style(settings)
    return settings


def load_policy(settings: Settings, method: str) -> HFPolicy:
    """The policy of a method (`base`, `bc`, `r1`, …), its name the method's."""
    model, tokenizer = load_model(model_folder(settings, method), dtype=settings.model.dtype)
    return HFPolicy(model, tokenizer, method)


def save_final(model, tokenizer, folder: Path) -> Path:
    """Writes the model and tokenizer to `folder`, whole or not at all. LoRA adapters are merged, in float32: the model that was given is spent then."""
    if isinstance(model, PeftModel):
        model = model.float().merge_and_unload()
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
        self.seconds = 0.0  # what all replies so far took to write
        declared = model.generation_config.eos_token_id
        declared = declared if isinstance(declared, list) else [declared] if declared is not None else []
        self._ends = sorted({tokenizer.eos_token_id, *declared})
        self._decoder = Decoder(model, self._ends) if has_full_attention(model.config) else None
        self._before: tuple[bool, int] | None = None  # the model's mode and torch's threads when the replies in progress were begun

    @torch.inference_mode()
    def advance(self, new: list[tuple[int, Request]], tokens: int = 4) -> list[tuple[int, Reply]]:
        """Takes in new requests and writes up to `tokens` tokens of every reply in progress; returns those that ended.

        The model is in evaluation mode while replies are in progress and gets its mode back after the last one. So do torch's
        threads: half of the cores are left to the browser, which is faster on two (results/LOG.md).
        """
        started = time.monotonic()
        if self._before is None:
            self._before = self.model.training, torch.get_num_threads()
            self.model.eval()
            self.model.set_attn_implementation("sdpa")
            torch.set_num_threads(max(1, torch.get_num_threads() // 2))
        with autocast(self.model):
            if self._decoder is None:
                ended = self._generate(new)
            else:
                ended = self._decoder.advance(new)
                while not ended and (tokens := tokens - 1) > 0:
                    ended = self._decoder.advance([])
        if self._decoder is None or not self._decoder.places:
            self._restore()
        self.seconds += time.monotonic() - started
        return [(key, self._reply(ids, logprobs)) for key, ids, logprobs in ended]

    def generate(self, requests: list[Request]) -> list[Reply]:
        """A reply to each request, in order."""
        replies = dict(self.advance(list(enumerate(requests))))
        while len(replies) < len(requests):
            replies |= dict(self.advance([]))
        return [replies[number] for number in range(len(requests))]

    def forget(self) -> None:
        """Drops the replies in progress, after an interruption."""
        self._restore()
        self._decoder = Decoder(self.model, self._ends) if has_full_attention(self.model.config) else None

    def _restore(self) -> None:
        if self._before is not None:
            training, threads = self._before
            self.model.train(training)
            torch.set_num_threads(threads)
        self._before = None

    def _reply(self, ids: list[int], logprobs: list[float]) -> Reply:
        spoken = ids[:-1] if ids and ids[-1] in self._ends else ids
        return Reply(ids, logprobs, self.tokenizer.decode(spoken, skip_special_tokens=False))

    def _generate(self, new: list[tuple[int, Request]]) -> list[tuple[int, list[int], list[float]]]:
        """The same for architectures that `decoding` cannot keep (sliding windows, …): transformers' own `generate`, one batch
        left-padded to the longest context."""
        if not new:
            return []
        requests = [request for _, request in new]
        longest, pad = max(len(r.context_ids) for r in requests), self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (longest - len(r.context_ids)) + r.context_ids for r in requests])  # (B, longest)
        mask = torch.tensor([[0] * (longest - len(r.context_ids)) + [1] * len(r.context_ids) for r in requests])
        draw = _DrawProcessor([Draw(r) for r in requests])
        out = self.model.generate(
            input_ids=ids.to(self.model.device), attention_mask=mask.to(self.model.device),
            max_new_tokens=max(r.max_new_tokens for r in requests), do_sample=False, temperature=None, top_p=None, top_k=None,
            logits_processor=LogitsProcessorList([draw]), eos_token_id=self._ends, pad_token_id=pad,
        )  # fmt: skip
        ended = []
        for (key, request), written, logprobs in zip(new, out[:, longest:].tolist(), zip(*draw.logprobs)):
            written = written[: request.max_new_tokens]
            end = next((i + 1 for i, token in enumerate(written) if token in self._ends), len(written))
            ended.append((key, written[:end], list(logprobs[:end])))
        return ended


class _DrawProcessor(LogitsProcessor):
    """Draws each row's next token and leaves `generate` only that token to choose; collects (steps, B) log-probs."""

    def __init__(self, draws: list[Draw]):
        self.draws, self.logprobs = draws, []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        tokens, logprobs = draw_tokens(scores, self.draws)
        self.logprobs.append(logprobs)
        return torch.full_like(scores, float("-inf")).scatter(1, torch.tensor(tokens, device=scores.device)[:, None], 0.0)
