"""Flat rows: trajectories as the authors' code trains on them, for the ablation `training.context = "flat"` and for nothing else.

A whole trajectory is one sequence in which every page but the last is the placeholder:

    [system + task] [ph a_1] [ph a_2] … [page_T a_T]          loss falls on every a_t

So a_t with t < T is trained on a context in which its page is missing: not the one that it was sampled from. Only a trajectory of one turn
is trained exactly.

Re-created of the authors' code (commit 09f208f)
- Earlier pages are replaced by the placeholder before training.
- The old policy's log-probs are recomputed on these contexts and not those recorded at sampling (training/rl.py), so that the ratio does not see
  the difference. `mismatch` in metrics.csv still compares with the recorded ones, and shows it.

Not re-created: the loss mask used as attention mask, text tokenised again with offsets of one chat template, over-long sequences that lose their
beginning, truncated episodes scored as "N/A". What stands between exact and flat training here is the missing pages alone.
"""

from __future__ import annotations

from dataclasses import replace

from wr1_utils.agent.prompt import PLACEHOLDER, context_ids
from wr1_utils.training.packing import PackingError, Sequence, sequences
from wr1_utils.trajectory import Trajectory


def flat_sequences(trajectories: list[Trajectory], tokenizer, system_prompt: str) -> list[Sequence]:
    """Every turn with the context that it has in its trajectory's flat row.

    They are all prefixes of that row, so `packing.build_row` makes them into it. Raises PackingError as `sequences` does, and where a reply does not stand in
    the row as it was sampled (a chat template that ends replies otherwise than the policy does, a history that was not compressed).
    """
    rows = sequences(trajectories)
    whole = {row.trajectory: row.context_ids + row.reply_ids for row in rows}  # of the last turn: the flat row
    flat = []
    for row in rows:
        trajectory, last = trajectories[row.trajectory], row.turn == len(trajectories[row.trajectory].turns) - 1
        earlier = [turn.reply_ids for turn in trajectory.turns[: row.turn]]
        context = row.context_ids if last else context_ids(tokenizer, system_prompt, trajectory.intent, earlier, PLACEHOLDER)
        if (context + row.reply_ids) != whole[row.trajectory][: len(context) + len(row.reply_ids)]:
            raise PackingError(f"trajectory of {trajectory.task_id}, turn {row.turn + 1}: the reply does not stand in the flat row as it was sampled")
        flat.append(replace(row, context_ids=context))
    return flat
