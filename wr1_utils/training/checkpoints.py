"""Checkpoints that are whole or do not count: what both trainers need to be interrupted and continued."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from transformers import TrainerCallback

_MARK = "complete.json"  # written last: a checkpoint without it was cut off


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint in a run's weights folder; checkpoints that were cut off while written are removed."""
    whole = []
    for path in folder.glob("checkpoint-*"):
        number = re.fullmatch(r"checkpoint-(\d+)", path.name)
        if number and (path / _MARK).is_file():
            whole.append((int(number[1]), path))
        else:
            shutil.rmtree(path)
    return max(whole)[1] if whole else None


class MarkWhole(TrainerCallback):
    """Marks each checkpoint as whole once the trainer has written all of it."""

    def on_save(self, args, state, control, **kwargs):
        path = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        (path / _MARK).write_text(json.dumps({"step": state.global_step}), encoding="utf-8")
