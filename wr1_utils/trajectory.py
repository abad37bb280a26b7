"""A trajectory: what one rollout saw, wrote and earned, id for id, and its file format.

The ids and log-probs are the engine's own (paper, section "Dynamic context compression": an action must be trained on
the context it was sampled from). Text is kept beside them for people; nothing is ever tokenised from it again.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from wr1_utils.errors import WR1Error

STATUSES = ("success", "failure", "turn_limit", "token_limit", "infrastructure", "unscored")  # the last: only a judge model could tell


class TrajectoryError(WR1Error, ValueError):
    """A trajectory or a trajectory file that does not hold what it must."""


@dataclass
class Turn:
    """One observation and the reply to it.

    `context_ids` are the token ids the policy read, `reply_ids` those it wrote, `logprobs` one log-probability
    (nats, at the sampling temperature) per reply token, empty for demonstrations. `screenshot` is a picture of the page
    that was acted on, a path relative to the trajectory file's folder ("" = none), `box` where in it the element acted
    on stands: x, y, width, height in its pixels (None: no element, or no picture). A turn of a policy behind an endpoint has
    no ids and no log-probs and cannot be trained on; `context_tokens` and `reply_tokens` say how many there were (0 = unknown).
    """

    url: str
    title: str
    observation: str
    context_ids: list[int]
    reply_ids: list[int]
    logprobs: list[float]
    reply: str
    action: str
    error: str
    seconds_model: float
    seconds_browser: float
    screenshot: str = ""
    box: list[float] | None = None
    context_tokens: int = 0
    reply_tokens: int = 0


@dataclass
class Trajectory:
    """One episode. `reward` is 0.0 or 1.0; None when infrastructure failed or the task cannot be scored.

    `scoring` says by which rules the reward was given (see `Place` in web/place.py).
    """

    run: str
    task_id: str
    benchmark: str
    site: str
    template: str
    split: str
    intent: str
    group: int
    member: int
    seed: int
    policy: str
    status: str
    reward: float | None
    answer: str | None
    error: str
    seconds: float
    turns: list[Turn] = field(default_factory=list)
    scoring: str = "wr1"

    @property
    def valid(self) -> bool:
        """True if the trajectory counts as a member of its group (infrastructure and unscored ones do not)."""
        return self.status != "infrastructure" and self.reward is not None

    @property
    def reply_tokens(self) -> int:
        return sum(len(turn.reply_ids) or turn.reply_tokens for turn in self.turns)

    @property
    def context_tokens(self) -> int:
        """What the policy read in all turns together, the same text in several turns counted each time."""
        return sum(len(turn.context_ids) or turn.context_tokens for turn in self.turns)

    def check(self) -> None:
        """Raises TrajectoryError if a field contradicts another."""
        if self.status not in STATUSES:
            raise TrajectoryError(f"trajectory of {self.task_id}: status {self.status!r} is none of {', '.join(STATUSES)}")
        if self.status in ("infrastructure", "unscored") and self.reward is not None:
            what = "an infrastructure fault" if self.status == "infrastructure" else "what cannot be scored"
            raise TrajectoryError(f"trajectory of {self.task_id}: {what} has no reward, not {self.reward}")
        for number, turn in enumerate(self.turns, 1):
            if turn.logprobs and len(turn.logprobs) != len(turn.reply_ids):
                raise TrajectoryError(
                    f"trajectory of {self.task_id}, turn {number}: {len(turn.logprobs)} log-probs for "
                    f"{len(turn.reply_ids)} reply tokens"
                )


_TURN = pa.struct(
    [
        ("url", pa.string()), ("title", pa.string()), ("observation", pa.string()),
        ("context_ids", pa.list_(pa.int32())), ("reply_ids", pa.list_(pa.int32())), ("logprobs", pa.list_(pa.float32())),
        ("reply", pa.string()), ("action", pa.string()), ("error", pa.string()),
        ("seconds_model", pa.float64()), ("seconds_browser", pa.float64()),
        ("screenshot", pa.string()), ("box", pa.list_(pa.float64())),
        ("context_tokens", pa.int64()), ("reply_tokens", pa.int64()),
    ]
)  # fmt: skip
SCHEMA = pa.schema(
    [
        ("run", pa.string()), ("task_id", pa.string()), ("benchmark", pa.string()), ("site", pa.string()),
        ("template", pa.string()), ("split", pa.string()), ("intent", pa.string()), ("group", pa.int64()),
        ("member", pa.int64()), ("seed", pa.int64()), ("policy", pa.string()), ("status", pa.string()),
        ("reward", pa.float64()), ("answer", pa.string()), ("error", pa.string()), ("seconds", pa.float64()),
        ("turns", pa.list_(_TURN)), ("scoring", pa.string()),
    ]
)  # fmt: skip


def write_trajectories(path: str | Path, trajectories: list[Trajectory]) -> Path:
    """Writes one Parquet row a trajectory, whole or not at all (a kill leaves the old file)."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for trajectory in trajectories:
        trajectory.check()
    table = pa.Table.from_pylist([asdict(t) for t in trajectories], schema=SCHEMA)
    scratch = path.with_name(path.name + ".part")
    pq.write_table(table, scratch, compression="zstd")
    os.replace(scratch, path)
    return path


def read_trajectories(path: str | Path) -> list[Trajectory]:
    """Reads what `write_trajectories` wrote. Raises TrajectoryError naming the file and what is wrong with it."""
    path = Path(path)
    if not path.is_file():
        raise TrajectoryError(f"{path}: no trajectory file there")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as fault:
        raise TrajectoryError(f"{path}: not a Parquet file of trajectories ({fault})") from fault
    if "scoring" not in table.column_names:  # written before there was more than one way
        rules = ["page" if name == "miniwob" else "wr1" for name in table.column("benchmark").to_pylist()] if "benchmark" in table.column_names else []
        table = table.append_column("scoring", pa.array(rules, pa.string())) if rules else table
    missing = sorted(set(SCHEMA.names) - set(table.column_names))
    if missing:
        raise TrajectoryError(f"{path}: column {missing[0]!r} is missing; a trajectory file has {', '.join(SCHEMA.names)}")
    rows = table.select(SCHEMA.names).to_pylist()
    trajectories = [Trajectory(**{**row, "turns": [Turn(**turn) for turn in row["turns"]]}) for row in rows]
    for trajectory in trajectories:
        trajectory.check()
    return trajectories


def describe(trajectory: Trajectory) -> str:
    """A trajectory as readable text: intent, then page, reply and error of each turn (for notebooks and logs)."""
    lines = [f"{trajectory.task_id}: {trajectory.intent}"]
    for number, turn in enumerate(trajectory.turns, 1):
        lines += [f"\n--- turn {number}: {turn.url}", turn.observation, "", turn.reply]
        if turn.error:
            lines.append(f"error: {turn.error}")
    reward = "none" if trajectory.reward is None else f"{trajectory.reward:g}"
    lines.append(f"\n{trajectory.status}, reward {reward} (scoring: {trajectory.scoring}), answer {json.dumps(trajectory.answer, ensure_ascii=False)}")
    return "\n".join(lines)
