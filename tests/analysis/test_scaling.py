"""Cutting long rollouts: by hand, and against true short runs in the browser."""

import dataclasses

import pandas as pd
import pytest

from wr1_utils.agent.hf_engine import HFPolicy, load_model, load_tokenizer
from wr1_utils.agent.miniwob_experts import reply
from wr1_utils.analysis.scaling import cut_reward, make_turn_limits, turn_limit_table
from wr1_utils.analysis.tables import AnalysisError
from wr1_utils.rollout import Rollout
from wr1_utils.runs import open_run
from wr1_utils.settings import load_settings
from wr1_utils.tasks.miniwob import make_tasks
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories

TURN = Turn(url="", title="", observation="", context_ids=[], reply_ids=[], logprobs=[], reply="", action="", error="", seconds_model=0.0, seconds_browser=0.0)
REWARDS = {"success": 1.0, "failure": 0.0, "turn_limit": 0.0, "token_limit": 0.0, "infrastructure": None, "unscored": None}


def episode(status, turns, benchmark="pocket", task_id="t", split="seen_template"):
    return Trajectory(run="", task_id=task_id, benchmark=benchmark, site="", template="", split=split, intent="", group=0, member=0, seed=0, policy="", status=status,
                      reward=REWARDS[status], answer=None, error="", seconds=0.0, turns=[TURN] * turns)


@pytest.mark.parametrize("status, turns, rewards", [
    ("success", 3, [0, 0, 1, 1]),  # ended in its third turn: solved with a limit of 3 or more
    ("success", 1, [1, 1, 1, 1]),
    ("failure", 2, [0, 0, 0, 0]),
    ("turn_limit", 4, [0, 0, 0, 0]),
    ("token_limit", 0, [0, 0, 0, 0]),  # the first page left no room for a reply
    ("infrastructure", 2, [None] * 4),
    ("unscored", 3, [None] * 4),
])
def test_the_reward_with_the_limits_1_to_4(status, turns, rewards):
    assert [cut_reward(episode(status, turns), limit) for limit in (1, 2, 3, 4)] == rewards


def test_what_an_episode_cannot_tell_is_refused():
    with pytest.raises(AnalysisError, match="stopped after 10 turns.*turn limit 11"):
        cut_reward(episode("turn_limit", 10), 11)
    assert cut_reward(episode("failure", 2), 11) == 0.0  # ended by itself
    with pytest.raises(AnalysisError, match="at least 1"):
        cut_reward(episode("failure", 2), 0)
    with pytest.raises(AnalysisError, match="at least one limit"):
        turn_limit_table({"r1": [episode("failure", 2)]}, ())
    assert list(turn_limit_table({"r1": [episode("failure", 2)]}, (10, 5, 5))["limit"]) == [5, 10]


def test_the_table_by_hand():
    """Four tasks scored, one lost: solved in 1, 3 and 6 turns, one never."""
    rollouts = {"r1": [episode("success", 1), episode("success", 3), episode("success", 6, "miniwob"), episode("turn_limit", 8, "miniwob"), episode("infrastructure", 2)]}
    table = turn_limit_table(rollouts, (2, 4, 8)).set_index(["benchmark", "limit"])
    assert list(table.loc["all", "successes"]) == [1, 2, 3] and list(table.loc["pocket", "rate"]) == [0.5, 1.0, 1.0]
    assert list(table.loc["all", "tasks"]) == [5] * 3 and list(table.loc["all", "errors"]) == [1] * 3
    assert list(table.loc["all", "turns"]) == [(1 + 2 + 2 + 2) / 4, (1 + 3 + 4 + 4) / 4, (1 + 3 + 6 + 8) / 4]
    assert list(table.loc["all", "gain"]) == [0, 0.25, 0.5]
    assert (table.loc[("all", 8), ["low", "high"]].to_list()) == pytest.approx([0.3006, 0.9544], abs=1e-4)  # Wilson, 3 of 4
    assert table.loc[("all", 2), ["gain_low", "gain_high"]].to_list() == [0, 0]
    assert table.loc[("all", 8), "gain_low"] <= 0.5 <= table.loc[("all", 8), "gain_high"]


def test_a_method_without_a_scored_episode_has_no_rate():
    row = turn_limit_table({"r1": [episode("unscored", 2)]}, (5,)).iloc[0]
    assert (row["tasks"], row["successes"], row["errors"]) == (1, 0, 1) and pd.isna(row["rate"]) and pd.isna(row["gain"])


def test_the_file_is_made_of_finished_long_rollouts_of_test_tasks(tmp_path):
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path / "weights"))
    with pytest.raises(AnalysisError, match="no finished long rollouts of bc"):
        make_turn_limits(settings, ("bc",), (2,))
    run = open_run(settings, "long", "bc")
    write_trajectories(run.path("trajectories.parquet"), [episode("success", 2), episode("success", 1, split="train")])
    run.save_summary({})
    table = pd.read_csv(make_turn_limits(settings, ("bc",), (1, 2)))
    assert list(table["successes"]) == [0, 1] and list(table["tasks"]) == [1, 1]
    assert {file.name for file in (tmp_path / "smoke").iterdir() if file.is_file()} == {f"turn_limits.{kind}" for kind in ("csv", "md", "tex")}


def limited(settings, turns):
    return dataclasses.replace(settings, episode=dataclasses.replace(settings.episode, turn_limit=turns))


def test_cutting_gives_what_true_short_runs_give(tiny_model):
    """In the browser: an expert that solves pages in one, two and more turns, and one that never ends; with every limit from 1 to 4."""
    settings = load_settings("smoke", tasks={"benchmarks": ["miniwob"]}, episode={"context_tokens": 6000})
    tasks = make_tasks("test", 1, ["click-test-2", "enter-text", "login-user", "choose-list"])
    tokenizer = load_tokenizer(tiny_model)

    def script(task, intent, observation, memory):
        return "<think>t</think><answer>go_backward()</answer>" if task.intent_template == "choose-list" else reply(task, intent, observation, memory)

    with Rollout(settings) as rollout:
        def play(turns):
            rollout.settings = limited(settings, turns)
            return rollout.play(tasks, script, "script", tokenizer)

        long, short = play(6), {limit: play(limit) for limit in (1, 2, 3, 4)}
    for limit, true in short.items():
        assert [cut_reward(t, limit) for t in long] == [t.reward for t in true]
        assert [[turn.action for turn in t.turns[:limit]] for t in long] == [[turn.action for turn in t.turns] for t in true]
    solved = [sum(cut_reward(t, limit) for t in long) for limit in (1, 2, 3, 4)]
    assert solved[0] >= 1 and solved[-1] == 3 and len(set(solved)) >= 2  # the limit decides
    assert long[3].status == "turn_limit"


def test_a_sampled_reply_does_not_depend_on_the_limit(tiny_model):
    settings = load_settings("smoke", tasks={"benchmarks": ["miniwob"]}, episode={"context_tokens": 4000, "reply_tokens": 16})
    policy, tasks = HFPolicy(*load_model(tiny_model), "tiny"), make_tasks("test", 1, ["enter-text", "focus-text-2"])
    with Rollout(limited(settings, 4)) as rollout:
        long = rollout.run(tasks, policy, seed=3)
        rollout.settings = limited(settings, 2)
        short = rollout.run(tasks, policy, seed=3)
    assert [len(t.turns) for t in long] == [4, 4] and [len(t.turns) for t in short] == [2, 2]
    for one, other in zip(long, short):
        assert [turn.reply_ids for turn in one.turns[:2]] == [turn.reply_ids for turn in other.turns]
        assert one.turns[0].reply_ids != one.turns[1].reply_ids
