"""WR1: the way of WebAgent-R1 (arXiv 2505.16421), from a task in a browser to a table, in one library.

`import wr1_utils as wr1` is light: each public name is loaded on its first use.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOME = {  # public name -> the module that holds it
    "WR1Error": "errors",
    "Settings": "settings",
    "load_settings": "settings",
    "notebook_settings": "runs",
    "open_run": "runs",
    "progress": "runs",
    "train_tasks": "tasks",
    "test_tasks": "tasks",
    "Rollout": "rollout",
    "collect_demonstrations": "demonstrations",
    "train_bc": "training.bc",
    "read_demonstrations": "training.bc",
    "train_offline": "training.offline",
    "train_rl": "training.rl",
    "evaluate": "evaluation",
    "evaluate_long": "evaluation",
    "load_policy": "agent.hf_engine",
    "describe": "trajectory",
    "read_trajectories": "trajectory",
    "environment_stamp": "runs",
    "find_run": "runs",
    "record": "notebook",
    "recorded": "notebook",
    "Stepper": "stepper",
    "count_tasks": "analysis.tables",
    "count_episodes": "analysis.tables",
    "load_evaluations": "analysis.tables",
    "main_table": "analysis.tables",
    "make_tables": "analysis.tables",
    "make_reward_curve": "analysis.tables",
    "make_failure_tables": "analysis.errors",
    "make_paper_table": "analysis.paper",
    "write_view": "analysis.viewer",
    "show_episode": "analysis.stepping",
    "write_case_study": "analysis.case_study",
    "write_report": "analysis.report",
    "compact_table": "analysis.tables",
    "make_breakdown": "analysis.breakdown",
    "make_dynamics": "analysis.dynamics",
    "make_turn_limits": "analysis.scaling",
    "make_ablation": "analysis.ablations",
    "make_demonstrations_curve": "analysis.ablations",
    "paper_ablation": "analysis.ablations",
    "compact_ablation": "analysis.ablations",
    "draw_loss": "analysis.figures",
    "draw_reward_curve": "analysis.figures",
    "draw_success_rates": "analysis.figures",
    "draw_comparisons": "analysis.figures",
    "draw_training_dynamics": "analysis.figures",
    "draw_turn_limits": "analysis.figures",
    "draw_ablation": "analysis.figures",
    "draw_demonstrations_curve": "analysis.figures",
}

__all__ = sorted(_HOME)


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"wr1_utils has no public name {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(f"wr1_utils.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
