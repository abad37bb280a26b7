"""What the pocket base model can do: greedy replies on held-out random pages, skill by skill, as a table and as the model's card."""

import csv
import json
import random
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

from wr1_utils.runs import environment_stamp
from wr1_utils.training import pocket_tasks
from wr1_utils.training.pocket_lookup import lookup
from wr1_utils.training.pocket_parts import SKILL_NAMES
from wr1_utils.training.pretrain import Pretraining


@torch.no_grad()
def greedy_replies(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, samples: list[pocket_tasks.Sample], batch_size: int = 24,
                   reply_tokens: int = 160) -> list[str]:
    """What the model writes, greedily, in place of each sample's last reply."""
    prompts = [tokenizer.apply_chat_template(sample.messages[:-1], add_generation_prompt=True, tokenize=False) for sample in samples]
    order = sorted(range(len(samples)), key=lambda i: len(prompts[i]))           # like lengths together: little padding
    replies = [""] * len(samples)
    for start in range(0, len(order), batch_size):
        chosen = order[start:start + batch_size]
        batch = tokenizer([prompts[i] for i in chosen], return_tensors="pt", padding=True, padding_side="left")
        made = model.generate(input_ids=batch.input_ids, attention_mask=batch.attention_mask, do_sample=False, max_new_tokens=reply_tokens)
        for i, row in zip(chosen, made[:, batch.input_ids.shape[1]:]):
            replies[i] = tokenizer.decode(row, skip_special_tokens=True)
    return replies


def held_out(seed: int, number: int, lines: int, skill: str | None = None) -> list[pocket_tasks.Sample]:
    """Samples in the agent's format that no training step draws (training seeds its random numbers otherwise)."""
    rng = random.Random(f"{seed} held out {lines} {skill}")
    return [lookup(rng, lines) if skill == "lookup" else pocket_tasks.deployment(rng, lines, skill) for _ in range(number)]


def evaluate(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast, seed: int, number: int) -> list[dict]:
    """Rows for a table: skill, lines of the page, samples, and how many replies had the right action (`actions`, the text of <answer>) and were
    right to the letter, thought included (`replies`). `mixed` rows hold all skills as they come in training, tasks of several parts with them."""
    plans = [("mixed", lines) for lines in (10, 30, 60)] + [(skill, 30) for skill in sorted([*SKILL_NAMES, "lookup"])]
    rows = []
    for skill, lines in plans:
        samples = held_out(seed, number, lines, None if skill == "mixed" else skill)
        wanted = [sample.messages[-1]["content"] for sample in samples]
        made = greedy_replies(model, tokenizer, samples)
        same_action = sum(a.split("</think>")[-1] == b.split("</think>")[-1] for a, b in zip(made, wanted))
        rows.append({"skill": skill, "lines": lines, "samples": number, "actions": same_action, "replies": sum(a == b for a, b in zip(made, wanted))})
    return rows


CARD = """---
license: apache-2.0
library_name: transformers
pipeline_tag: text-generation
---
# pocket-base

A {parameters:.2f} M-parameter model (Qwen2 architecture, {layers} layers, width {width}, vocabulary {vocabulary}, {positions} positions) that reads pages in the compact style and answers in the
`<think>…</think><answer>…</answer>` format. It stands where the paper has an off-the-shelf instruct model, so that the whole method can run on two CPU cores.

**Data.** Random pages and random instructions made by `wr1_utils/training/pocket_tasks.py`: every label is drawn at random, no task, page or demonstration of MiniWoB++ or of the
Pocket Arena is among them. The word list holds words that the Arena uses, and look-up pages are shaped like its shop's. No text was downloaded; no other model was used.

**Training.** `wr1_utils/training/pretrain.py`, seed {seed}, {tokens:.1f} M positions, learning rate {learning_rate:g}, induction-primed initialisation.
Made with `{command}`; the table below at commit `{commit}`.

**Held-out pages** ({samples} samples a row, greedy; an action is right when the text of `<answer>` is equal, a reply when the thought is too):

| skill | lines of the page | right action | right reply |
|---|---|---|---|
{table}

`mixed` rows hold all skills as they come in training, with tasks of several parts. One seed. The model knows nothing but such pages: it has no knowledge of the world.
"""


def write_card(model: Qwen2ForCausalLM, config: Pretraining, rows: list[dict], folder: str | Path, results: str | Path, command: str) -> None:
    """Writes `folder`/README.md, the model's card, and in `results` skills.csv and environment.json, which its numbers are from."""
    folder, results = Path(folder), Path(results)
    results.mkdir(parents=True, exist_ok=True)
    stamp = environment_stamp() | {"command": command, "pretraining": asdict(config)}
    (results / "environment.json").write_text(json.dumps(stamp, indent=1) + "\n")
    with open(results / "skills.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=["skill", "lines", "samples", "actions", "replies"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    table = "\n".join(f"| {row['skill']} | {row['lines']} | {row['actions'] / row['samples']:.1%} | {row['replies'] / row['samples']:.1%} |" for row in rows)
    shape = model.config
    (folder / "README.md").write_text(CARD.format(
        parameters=model.num_parameters() / 1e6, layers=shape.num_hidden_layers, width=shape.hidden_size, vocabulary=shape.vocab_size,
        positions=shape.max_position_embeddings, seed=config.seed, tokens=config.tokens / 1e6, learning_rate=config.learning_rate,
        commit=stamp["commit"], command=command, samples=rows[0]["samples"], table=table))
