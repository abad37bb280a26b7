"""An evaluation that was interrupted keeps what it had, and counts errors apart. (Real episodes: tests/notebooks.)"""

from dataclasses import replace

import pytest

from wr1_utils import evaluation
from wr1_utils.agent.hf_engine import HFPolicy
from wr1_utils.agent.policy import ModelError
from wr1_utils.runs import open_run
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory, read_trajectories

TASKS = [Task(str(i), ("shopping",), "", f"task {i}", "t", "t", {}, False, False, {}, "seen_template") for i in range(10)]


class Episodes:
    """Stands in for the browser: task i succeeds if i is even, task 9 is lost; the second call may be interrupted."""

    played: list[str] = []
    temperatures: list[float] = []
    stop = False

    def __init__(self, settings):
        self.calls = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, tasks, policy, *, group, temperature, seed, run, progress, beside):
        self.calls += 1
        if self.stop and self.calls == 2:
            raise KeyboardInterrupt
        self.played += [t.task_id for t in tasks]
        self.temperatures.append(temperature)
        played = [self.trajectory(task) for task in tasks for _ in range(group)]
        for number, trajectory in enumerate(played):
            trajectory.group, trajectory.member = number // group, number % group
        return played

    @staticmethod
    def trajectory(task):
        number = int(task.task_id)
        status = "infrastructure" if number == 9 else "success" if number % 2 == 0 else "failure"
        reward = None if number == 9 else float(status == "success")
        about = dict(run="r", benchmark="pocket", site="shopping", template="t", split="seen_template", intent="", group=0, member=0, seed=0)
        return Trajectory(task_id=task.task_id, policy="p", status=status, reward=reward, answer=None, error="", seconds=0.0, turns=[], **about)


def test_resume_and_counts(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(evaluation, "Rollout", Episodes)
    monkeypatch.setattr(evaluation, "load_policy", lambda settings, method: None)
    monkeypatch.setattr(evaluation, "evaluation_tasks", lambda settings: TASKS)
    monkeypatch.setattr(evaluation, "CHUNK", 4)
    monkeypatch.setattr(Episodes, "stop", True)
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        evaluation.evaluate(settings, "base")
    monkeypatch.setattr(Episodes, "stop", False)
    run = evaluation.evaluate(settings, "base")
    assert "continuing after 4 of 10" in capsys.readouterr().out
    assert Episodes.played == [t.task_id for t in TASKS]  # none twice
    assert set(Episodes.temperatures) == {0.0}
    summary = run.summary()
    assert (summary["tasks"], summary["successes"], summary["errors"]) == (10, 5, 1)
    assert [t.task_id for t in read_trajectories(run.path("trajectories.parquet"))] == [t.task_id for t in TASKS]
    assert not run.path("partial.parquet").exists()
    evaluation.evaluate(settings, "base")
    assert "done already" in capsys.readouterr().out and len(Episodes.played) == 10
    other = tmp_path / "other weights"
    other.mkdir()
    (other / "model.safetensors").write_bytes(b"trained anew")
    monkeypatch.setattr(evaluation, "model_folder", lambda settings, method: other)
    evaluation.evaluate(settings, "base")
    assert "the weights that it started from changed" in capsys.readouterr().out


def test_long_rollouts_are_a_run_of_their_own_with_their_own_turn_limit(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(evaluation, "Rollout", lambda settings: seen.append(settings) or Episodes(settings))
    monkeypatch.setattr(evaluation, "load_policy", lambda settings, method: None)
    monkeypatch.setattr(evaluation, "evaluation_tasks", lambda settings: TASKS[:2])
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path))
    runs = [evaluation.evaluate(settings, "base"), evaluation.evaluate_long(settings, "base"), evaluation.evaluate_long(settings, "base", 12)]
    assert [run.name for run in runs] == ["eval-base-s0", "long-base-s0", "long-base-s0"]
    assert [one.episode.turn_limit for one in seen] == [4, 30, 12]  # another limit is another run
    assert settings.episode.turn_limit == 4


def test_several_samples_and_other_splits_are_runs_of_their_own(monkeypatch, tmp_path):
    monkeypatch.setattr(evaluation, "Rollout", Episodes)
    monkeypatch.setattr(evaluation, "load_policy", lambda settings, method: None)
    monkeypatch.setattr(Episodes, "temperatures", [])
    places = {"results": str(tmp_path), "checkpoints": str(tmp_path)}
    settings = load_settings("smoke", **places, **{"evaluation.samples": 3, "evaluation.split": "unseen_template"})
    tasks = [replace(task, split="unseen_template" if number < 2 else "seen_template") for number, task in enumerate(TASKS)]
    monkeypatch.setattr("wr1_utils.tasks.test_tasks", lambda settings: tasks)
    run = evaluation.evaluate(settings, "base")
    assert run.name == "samples_unseen_template-base-s0" and Episodes.temperatures == [settings.rl.temperature]
    assert (run.summary()["tasks"], run.summary()["episodes"], run.summary()["statuses"]) == (2, 6, {"success": 3, "failure": 3})
    assert [(t.task_id, t.member) for t in read_trajectories(run.path("trajectories.parquet"))] == [(i, m) for i in "01" for m in range(3)]
    assert evaluation.evaluate(load_settings("smoke", **places), "base").name == "eval-base-s0"
    with pytest.raises(SettingsError, match="samples must be 1 or more"):
        evaluation.evaluate(load_settings("smoke", **places, **{"evaluation.samples": 0}), "base")


def test_a_folder_and_an_endpoint_are_policies_with_a_name(monkeypatch, tmp_path, tiny_model):
    """Their runs depend on the folder's weights and on the endpoint; a method's run does not depend on the endpoint."""
    monkeypatch.setattr(evaluation, "Rollout", Episodes)
    monkeypatch.setattr(evaluation, "evaluation_tasks", lambda settings: TASKS[:2])
    monkeypatch.setattr(evaluation, "load_policy", lambda settings, method: None)
    players = []
    monkeypatch.setattr(evaluation, "play_tasks", lambda settings, run, tasks, policy, label, **_: players.append(policy) or [])
    places = {"results": str(tmp_path), "checkpoints": str(tmp_path)}
    first, second = (load_settings("smoke", **places, endpoint={"base_url": "http://127.0.0.1:9/v1", "model": name}) for name in ("m", "n"))
    assert evaluation.evaluate(first, f"small={tiny_model}").name == "eval-small-s0"
    assert evaluation.evaluate(first, "big = endpoint").name == "eval-big-s0"
    assert [policy.name for policy in players] == ["small", "big"] and isinstance(players[0], HFPolicy) and players[1].tokenizer is None
    evaluation.evaluate(first, "base")
    for policy in (f"small={tiny_model}", "base", "big=endpoint"):
        evaluation.evaluate(second, policy)
    assert [getattr(policy, "name", "base") for policy in players] == ["small", "big", "base", "big"]  # another endpoint is another run
    with pytest.raises(ModelError, match="endpoint.base_url"):
        evaluation.evaluate(load_settings("smoke", **places), "other=endpoint")
    with pytest.raises(ModelError, match="no model folder"):
        evaluation.evaluate(first, "small2=data/models/none")


@pytest.mark.parametrize("text, sentence", [("data/models/x", "needs a name"), ("a-b=endpoint", "needs a name"), ("r1=endpoint", "name of a method"), ("", "needs a name")])
def test_names_that_cannot_be_used(text, sentence):
    with pytest.raises(SettingsError, match=sentence):
        evaluation.name_policy(text)


def test_weights_of_another_profile(monkeypatch, tmp_path):
    monkeypatch.setattr(evaluation, "Rollout", Episodes)
    monkeypatch.setattr(evaluation, "evaluation_tasks", lambda settings: TASKS[:2])
    monkeypatch.setattr(evaluation, "load_policy", lambda settings, method: None)
    asked = []
    monkeypatch.setattr(evaluation, "model_folder", lambda settings, method: asked.append(settings.profile) or tmp_path)
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path), **{"evaluation.weights": "laptop"})
    assert evaluation.evaluate(settings, "bc").folder == tmp_path / "smoke" / "eval-bc-s0" and asked == ["laptop"]


def test_groups_are_numbered_through_and_resumed_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(evaluation, "Rollout", Episodes)
    monkeypatch.setattr(evaluation, "CHUNK", 6)
    monkeypatch.setattr(Episodes, "played", [])
    settings = load_settings("smoke", results=str(tmp_path), checkpoints=str(tmp_path))
    run = open_run(settings, "rollouts", "bc")
    monkeypatch.setattr(Episodes, "stop", True)
    with pytest.raises(KeyboardInterrupt):
        evaluation.play_tasks(settings, run, TASKS, None, "", temperature=0.0, group=3)
    monkeypatch.setattr(Episodes, "stop", False)
    done = evaluation.play_tasks(settings, run, TASKS, None, "", temperature=0.0, group=3)
    assert [(t.task_id, t.group, t.member) for t in done] == [(str(n // 3), n // 3, n % 3) for n in range(30)]
    assert Episodes.played == [t.task_id for t in TASKS]
