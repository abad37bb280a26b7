"""Base training of the pocket model on random pages: the counterpart of an instruct model's pretraining.

A plain PyTorch loop, cross-entropy on the replies only. The stages go over into each other by a schedule (`mix`): repeated random sequences (the
induction circuit settles), `first` samples (finding an element by its label), `dense` samples (all skills, many a page), then samples in the agent's own
format, on pages that grow.
Rows are padded on the right and no attention mask is passed: padding comes after everything that is trained, so a causal model never sees it.

Deviation from the paper: the paper starts from an off-the-shelf instruct model; this is what stands in its place on two CPU cores.
"""

import math
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch.nn import functional
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from wr1_utils.agent.pocket_model import ID_TOKENS, build_model, build_tokenizer
from wr1_utils.training import pocket_tasks
from wr1_utils.training.pocket_lookup import lookup
from wr1_utils.training.pocket_words import WORDS

LOOKUP = 0.3  # share of the samples in the agent's format that find a thing by way of several pages


@dataclass(frozen=True)
class Pretraining:
    """What one run is made of. `tokens` counts trained positions including padding; the learning rate falls to zero as a cosine over them."""
    seed: int = 0
    tokens: int = 20_000_000
    tokens_per_step: int = 4_000
    learning_rate: float = 2e-3
    warmup_steps: int = 100
    sequence_steps: int = 30        # steps on repeated random sequences
    most_lines: int = 60
    tokenizer_samples: int = 3_000
    save_every_s: float = 60.0


class PretrainingError(RuntimeError):
    """The run cannot go on: a checkpoint of other settings, or a loss that is not a number."""


def make_tokenizer(config: Pretraining) -> PreTrainedTokenizerFast:
    """The tokenizer, trained on random pages with replies and on the word list."""
    rng = random.Random(f"{config.seed} tokenizer")
    texts = [message["content"] for _ in range(config.tokenizer_samples) for message in pocket_tasks.deployment(rng, 20).messages]
    return build_tokenizer(texts + [f"{word} {word.capitalize()} {word.capitalize()}" for word in WORDS] * (config.tokenizer_samples // 40))


def encode(tokenizer: PreTrainedTokenizerFast, sample: pocket_tasks.Sample) -> tuple[list[int], list[bool]]:
    """(ids, trained) of one sample: `trained[i]` marks the reply tokens, <|im_end|> included, that the loss falls on."""
    ids: list[int] = []
    trained: list[bool] = []
    last = len(sample.messages) - 1
    for at, message in enumerate(sample.messages):
        head = tokenizer(f"<|im_start|>{message['role']}\n").input_ids
        body = tokenizer(f"{message['content']}<|im_end|>").input_ids
        tail = tokenizer("\n").input_ids if at < last else []
        counts = message["role"] == "assistant" and (sample.train_all or at == last)
        ids += head + body + tail
        trained += [False] * len(head) + [counts] * len(body) + [False] * len(tail)
    return ids, trained


def deployed_turn(rng: random.Random, tokenizer: PreTrainedTokenizerFast) -> tuple[list[int], list[int]]:
    """(context ids, reply ids) of one turn in the agent's format, of the kinds and sizes at the end of the base training."""
    make = lookup if rng.random() < LOOKUP else pocket_tasks.deployment
    ids, trained = encode(tokenizer, make(rng, rng.randint(3, rng.randint(3, Pretraining.most_lines))))
    first = trained.index(True)
    return ids[:first], ids[first:]


def _repeated(config: Pretraining, rng: random.Random, vocabulary: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random tokens repeated with a period of 12 to 60. Returns ids [rows, 256] and trained [rows, 256] (all but the first period)."""
    rows, trained = [], []
    for _ in range(max(1, config.tokens_per_step // 256)):
        period = rng.randint(12, 60)
        once = [rng.randrange(vocabulary) for _ in range(period)]
        rows.append((once * (256 // period + 1))[:256])
        trained.append([at > period for at in range(256)])
    return torch.tensor(rows), torch.tensor(trained)


def mix(config: Pretraining, done: float) -> tuple[int, float, float]:
    """(most lines of a page, share of `first` samples, share of `dense` ones) when the part `done` (0 to 1) of the run is over."""
    lines = round(6 + (config.most_lines - 6) * min(1.0, done / 0.6))
    return lines, max(0.0, 1 - max(0.0, done - 0.05) / 0.05), max(0.15, 0.85 - 1.3 * max(0.0, done - 0.1))


def make_batch(config: Pretraining, tokenizer: PreTrainedTokenizerFast, step: int, done: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch of one step, a function of its arguments alone. ids [rows, length] padded on the right, trained [rows, length] bool.

    `done` is the part of the run that is over (0 to 1), by which `mix` chooses.
    """
    rng = random.Random(f"{config.seed} {step}")
    if step < config.sequence_steps:
        return _repeated(config, rng, len(tokenizer))
    lines, first, dense = mix(config, done)
    make = (pocket_tasks.first if rng.random() < first else pocket_tasks.dense if rng.random() < dense
            else lookup if rng.random() < LOOKUP else pocket_tasks.deployment)
    size = rng.randint(3, rng.randint(3, lines))
    rows: list[tuple[list[int], list[bool]]] = []
    longest = 0
    while not rows or (len(rows) + 1) * longest <= config.tokens_per_step:
        row = encode(tokenizer, make(rng, size))
        if len(row[0]) <= 1_600:
            rows.append(row)
            longest = max(longest, len(row[0]))
    ids = torch.full((len(rows), longest), tokenizer.pad_token_id)
    trained = torch.zeros((len(rows), longest), dtype=torch.bool)
    for at, (row, mask) in enumerate(rows):
        ids[at, :len(row)] = torch.tensor(row)
        trained[at, :len(row)] = torch.tensor(mask)
    return ids, trained


def computes_bfloat16() -> bool:
    """Does this processor have instructions for bfloat16? Without them a product of matrices was seventy times slower than in float32."""
    able = torch.cpu.get_capabilities()
    return able.get("avx512_bf16", False) or able.get("amx_bf16", False)


def reply_loss(model: Qwen2ForCausalLM, ids: torch.Tensor, trained: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean cross-entropy of the trained tokens; also their targets [n] and greedy guesses [n]. Logits are made for those positions only."""
    with torch.autocast("cpu", torch.bfloat16, enabled=computes_bfloat16()):
        hidden = model.model(input_ids=ids)[0]                       # [rows, length, width]
        chosen = trained[:, 1:]                                      # the token at t + 1 is foretold at t
        logits = model.lm_head(hidden[:, :-1][chosen]).float()       # [n, vocabulary]
    targets = ids[:, 1:][chosen]
    return functional.cross_entropy(logits, targets), targets, logits.argmax(-1)


def learning_rate(config: Pretraining, step: int, tokens: int) -> float:
    return config.learning_rate * min(1.0, (step + 1) / config.warmup_steps) * 0.5 * (1 + math.cos(math.pi * min(1.0, tokens / config.tokens)))


def pretrain(config: Pretraining, folder: str | Path, checkpoint: str | Path | None = None, progress=print) -> Qwen2ForCausalLM:
    """Trains the pocket model and saves model and tokenizer in `folder`. Returns the model.

    With `checkpoint` (a file), the state is saved there now and then, and a run of equal settings goes on from it. Raises PretrainingError when the
    checkpoint is of other settings.
    """
    tokenizer = make_tokenizer(config)
    model = build_model(tokenizer, config.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, betas=(0.9, 0.98), weight_decay=0.01)
    state = {"step": 0, "tokens": 0, "right": 0.0}
    checkpoint = Path(checkpoint) if checkpoint else None
    if checkpoint and checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        if saved["config"] != asdict(config):
            raise PretrainingError(f"{checkpoint} was made with other settings ({saved['config']}); remove it to start again")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        state = saved["state"]
        progress(f"continues at step {state['step']} from {checkpoint}")
    id_tokens = torch.zeros(len(tokenizer), dtype=torch.bool)
    id_tokens[tokenizer.convert_tokens_to_ids(ID_TOKENS)] = True
    started, first_tokens, told, saved_at, loss_mean = time.monotonic(), state["tokens"], 0.0, time.monotonic(), 0.0
    model.train()
    while state["tokens"] < config.tokens:
        step = state["step"]
        ids, trained = make_batch(config, tokenizer, step, state["tokens"] / config.tokens)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(config, step, state["tokens"])
        loss, targets, guesses = reply_loss(model, ids, trained)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        state["step"] += 1
        state["tokens"] += ids.numel()
        loss_mean += 0.05 * (loss.item() - loss_mean)
        if not math.isfinite(loss_mean):
            raise PretrainingError(f"the loss is not a number at step {step}; a lower learning_rate than {config.learning_rate} may help")
        elements = id_tokens[targets]
        if step >= config.sequence_steps and elements.any():
            right = (guesses == targets)[elements].float().mean().item()
            state["right"] += 0.05 * (right - state["right"])
        now = time.monotonic()
        if now - told > 10:
            told = now
            speed = (state["tokens"] - first_tokens) / (now - started)
            progress(f"step {state['step']}, {state['tokens'] / 1e6:.2f} of {config.tokens / 1e6:.2f} M tokens, loss {loss_mean:.3f}, pages up to "
                     f"{mix(config, state['tokens'] / config.tokens)[0]} lines, ids right {state['right']:.0%}, {speed:.0f} tokens/s, {(config.tokens - state['tokens']) / speed / 60:.1f} min left")
        if checkpoint and (now - saved_at > config.save_every_s or state["tokens"] >= config.tokens):
            saved_at = now
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            part = checkpoint.with_suffix(".part")
            torch.save({"config": asdict(config), "model": model.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, part)
            part.replace(checkpoint)
    model.eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model
