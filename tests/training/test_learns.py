"""It learns: a small run of reinforcement learning in the browser, from a fixed seed, must reach a plateau; interrupted and continued, it must too.

The base model goes at two pages of MiniWoB++ with no warm-up (R1-Zero).
PLATEAU is provisional: no whole run of these settings has been measured yet. It belongs below the plateaus of three seeds, written down here.
"""

import pytest

from wr1_utils.settings import load_settings
from wr1_utils.training import rl

PAGES = ["click-tab", "enter-text-dynamic"]
STEPS, TAIL = 10, 3  # the plateau: mean success rate of so many last steps
PLATEAU = 0.6


def settings_of(seed: int, folder):
    return load_settings(
        "laptop", seed=seed, results=str(folder / "results"), checkpoints=str(folder / "weights"), episode={"turn_limit": 3},
        tasks={"benchmarks": ["miniwob"], "miniwob_envs": PAGES, "miniwob_train_per_env": 40}, rollout={"episodes": 16, "batch_size": 16},
        rl={"steps": STEPS, "tasks_per_step": 8, "group_size": 8, "learning_rate": 5e-4, "minibatches": 4, "draw": "even", "task_sets": 1},
    )  # fmt: skip


class Interrupted(rl.Rollout):
    """Stands for somebody who presses Ctrl-C when half of the steps are made."""

    def run(self, *arguments, **named):
        if named["seed"] % 1_000_003 == STEPS // 2 + 1:  # the number of the step
            raise KeyboardInterrupt
        return super().run(*arguments, **named)


@pytest.mark.slow
@pytest.mark.parametrize("interrupted", [False, True])
def test_the_reward_reaches_its_plateau(interrupted, tmp_path, monkeypatch, capsys):
    settings = settings_of(0, tmp_path)
    if interrupted:
        with monkeypatch.context() as until, pytest.raises(KeyboardInterrupt):
            until.setattr(rl, "Rollout", Interrupted)
            rl.train_rl(settings, "r1_zero")
    metrics = rl.train_rl(settings, "r1_zero").metrics()
    assert (f"continuing after step {STEPS // 2} of {STEPS}" in capsys.readouterr().out) == interrupted
    assert metrics["step"].tolist() == list(range(1, STEPS + 1))
    assert metrics["infrastructure"].sum() < 0.02 * STEPS * 64  # else the machine is to blame for what follows
    assert metrics["mismatch"].max() < 1e-3 and metrics["mismatch_k3"].abs().max() < 1e-3
    assert metrics["success_rate"].tail(TAIL).mean() > PLATEAU, metrics["success_rate"].round(2).tolist()
