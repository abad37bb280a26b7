import json
import shutil
import sys

import nbformat
import papermill
import pytest

from wr1_utils.runs import check_parameters, environment_stamp, find_run, notebook_settings, open_run, outdated, progress
from wr1_utils.settings import SettingsError, load_settings


@pytest.fixture
def settings(tmp_path):
    def make(**overrides):
        return load_settings("smoke", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "checkpoints"), **overrides)
    return make


def test_a_runs_folder_and_its_first_files(settings, tmp_path):
    run = open_run(settings(), "rl", "r1", 3)
    assert run.folder == tmp_path / "results/smoke/rl-r1-s3" and run.checkpoints == tmp_path / "checkpoints/smoke/rl-r1-s3"
    assert load_settings(str(run.path("settings.toml"))).rl == settings().rl
    stamp = json.loads(run.path("environment.json").read_text())
    assert stamp["python"] and stamp["torch"] and stamp["trl"] == "1.16.0" and stamp["cores"] >= 1
    assert not run.resumed and not run.done


def test_the_stamp_holds_no_path():
    assert not any(isinstance(value, str) and value.count("/") > 1 for value in environment_stamp().values())


def test_an_unfinished_run_is_resumed_and_a_finished_one_is_done(settings):
    assert not open_run(settings(), "bc").resumed
    run = open_run(settings(), "bc")
    assert run.resumed and not run.done
    with pytest.raises(SettingsError, match="bc-s0 is not finished"):
        run.summary()
    run.save_summary({"success": 0.5})
    again = open_run(settings(), "bc")
    assert again.done and not again.resumed and again.summary() == {"success": 0.5}


def test_other_settings_start_anew_and_keep_the_old_run(settings, capsys):
    run = open_run(settings(), "bc")
    run.save_summary({})
    (run.checkpoints / "final").mkdir()
    new = open_run(settings(**{"bc.epochs": 9}), "bc")
    assert not new.done and not new.resumed and not list(new.checkpoints.iterdir())
    assert (run.folder.parent / "bc-s0.old/summary.json").is_file() and run.checkpoints.with_name("bc-s0.old").is_dir()
    assert "bc.epochs was 1 and is 9" in capsys.readouterr().out


def test_a_setting_that_is_younger_than_the_run_had_its_default(settings):
    """A new field of the settings does not spoil the runs that were made before it; another value of it does."""
    run = open_run(settings(), "bc")
    run.save_summary({})
    file = run.path("settings.toml")
    older = "".join(line for line in file.read_text().splitlines(True) if not line.startswith("miniwob_envs"))
    assert older != file.read_text()
    file.write_text(older)
    assert open_run(settings(), "bc").done
    assert not open_run(settings(**{"tasks.miniwob_envs": ("click-tab",)}), "bc").done


def test_settings_of_a_later_stage_do_not_spoil_an_earlier_one(settings):
    open_run(settings(), "bc").save_summary({})
    assert open_run(settings(**{"rl.steps": 99, "evaluation.greedy": False, "browser.active_pages": 1}), "bc").done
    open_run(settings(), "rl", "r1").save_summary({})
    assert not open_run(settings(**{"bc.epochs": 9}), "rl", "r1").done


def test_another_model_starts_anew(settings, tmp_path, capsys):
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"first")
    open_run(settings(**{"model.path": str(model)}), "bc").save_summary({})
    assert open_run(settings(**{"model.path": str(model)}), "bc").done
    (model / "model.safetensors").write_bytes(b"other")
    assert not open_run(settings(**{"model.path": str(model)}), "bc").done
    assert "changed" in capsys.readouterr().out


def test_find_run_makes_nothing(settings, tmp_path):
    assert not find_run(settings(), "rl", "r1").done
    assert not (tmp_path / "results").exists()


def test_a_step_logged_again_replaces_its_row(settings):
    run = open_run(settings(), "rl", "r1")
    assert run.metrics().empty
    run.log_metrics(2, {"reward": 0.5})
    run.log_metrics(1, {"reward": 0.25})
    run.log_metrics(2, {"reward": 0.75, "kl": 0.001})
    assert run.path("metrics.csv").read_text() == "step,reward,kl\n1,0.25,\n2,0.75,0.001\n"
    assert run.metrics()["reward"].tolist() == [0.25, 0.75]


def test_progress_shows_a_line_or_reports_to_the_demo(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("WR1_PROGRESS", raising=False)
    show = progress("RL")
    show(1, 2, "reward 0.5")
    show(2, 2)
    assert "RL 1/2 · reward 0.5" in capsys.readouterr().out
    monkeypatch.setenv("WR1_PROGRESS", str(tmp_path / "p.json"))
    show(1, 2)
    assert json.loads((tmp_path / "p.json").read_text())["done"] == 1 and capsys.readouterr().out == ""


# ---- parameters of a notebook, by way of papermill as users run it ----------------------------------------------------------------


def run_notebook(tmp_path, **parameters):
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell('profile = "smoke"\nvariant = "r1"\nseed = 0\nfast = True\nrate = 0.5', metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell('import wr1_utils as wr1\nsettings = wr1.notebook_settings(globals(), profile=str, variant=("r1", "r1_zero"), '
                                  'seed=int, fast=bool, rate=float)\nprint(settings.profile, settings.seed, variant)')])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "in.ipynb")
    done = papermill.execute_notebook(str(tmp_path / "in.ipynb"), str(tmp_path / "out.ipynb"), parameters, progress_bar=False)
    return done.cells[-1].outputs[0].text


def test_good_parameters_pass_through_papermill(tmp_path):
    assert run_notebook(tmp_path, seed=5, variant="r1_zero", rate=1) == "smoke 5 r1_zero\n"


@pytest.mark.parametrize("parameters, sentence", [
    ({"varaint": "r1"}, "This notebook has no parameter 'varaint' (did you mean 'variant'?); it has profile, variant, seed, fast, rate."),
    ({"seed": "1"}, "Parameter seed in this notebook must be a whole number, not the text '1'."),
    ({"fast": "false"}, "Parameter fast in this notebook must be true or false (not in quotes), not the text 'false'."),
])
def test_bad_parameters_fail_the_papermill_run(tmp_path, parameters, sentence):
    """papermill itself would warn about the first and accept the others."""
    with pytest.raises(papermill.PapermillExecutionError) as caught:
        run_notebook(tmp_path, **parameters)
    assert caught.value.ename == "SettingsError" and sentence in caught.value.evalue


def test_names_of_later_cells_are_no_parameters():
    """Run All, then the first cell again: globals() holds much by then; only the injected cell counts, and of several the last."""
    history = ["", "# Parameters\nsed = 3\n", "answer = 42", "# Parameters\nseed = 3\n"]
    given = {"seed": 3, "answer": 42, "settings": object(), "In": history}
    check_parameters(given, seed=int)
    with pytest.raises(SettingsError, match="no parameter 'sed'"):
        check_parameters({**given, "In": history[:3]}, seed=int)


def test_a_missing_or_mistyped_parameter():
    with pytest.raises(SettingsError, match="parameters cell must define seed"):
        check_parameters({}, seed=int)
    with pytest.raises(SettingsError, match=r"must be one of r1, r1_zero, not the text 'r1_zer' \(did you mean 'r1_zero'\?\)"):
        check_parameters({"variant": "r1_zer"}, variant=("r1", "r1_zero"))
    check_parameters({"limit": None}, limit=int | None)


def test_the_style_of_a_notebook_sets_how_replies_are_read():
    for style, expected in (("", ("short", "think")), ("cot", ("cot", "think")), ("bare", ("bare", "bare"))):
        settings = notebook_settings({"profile": "smoke", "style": style}, profile=str, style=str)
        assert (settings.demos.style, settings.model.reply_style) == expected
    with pytest.raises(SettingsError, match=r"demos.style in profile smoke must be one of short, cot, bare, not the text 'cott' \(did you mean 'cot'\?\)"):
        notebook_settings({"profile": "smoke", "style": "cott"}, profile=str, style=str)


def test_notebook_settings_takes_seed_results_and_overrides(tmp_path):
    given = {"profile": "smoke", "seed": 4, "results": str(tmp_path), "overrides": {"rl.steps": 1}}
    settings = notebook_settings(given, profile=str, seed=int, results=str, overrides=dict)
    assert (settings.seed, settings.results, settings.rl.steps) == (4, str(tmp_path), 1)
    assert notebook_settings({"profile": "smoke", "results": ""}, profile=str, results=str).results == "results"


def test_a_benchmark_of_a_notebook_has_results_of_its_own_and_the_profiles_weights():
    given = {"profile": "smoke", "benchmark": "arena", "samples": 4, "split": "train"}
    settings = notebook_settings(given, profile=str, benchmark=str, samples=int, split=("test", "train"))
    assert (settings.profile, settings.evaluation.weights, settings.tasks.benchmarks) == ("smoke-on-arena", "smoke", ("arena",))
    assert (settings.evaluation.samples, settings.evaluation.split) == (4, "train")
    same = notebook_settings(given | {"benchmark": ""}, profile=str, benchmark=str)
    assert same == load_settings("smoke")


def test_importing_the_package_is_light():
    import subprocess

    code = "import sys, wr1_utils; wr1_utils.load_settings; print([m for m in ('torch', 'pandas', 'playwright', 'papermill') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_run_that_came_with_a_clone_is_not_taken_for_ones_own(tmp_path, capsys):
    """Results are in git and weights are not: without its weights a finished run is done anew."""
    settings = load_settings("smoke", results=str(tmp_path / "results"), checkpoints=str(tmp_path / "weights"))
    open_run(settings, "bc", "short").save_summary({"a": 1})
    assert open_run(settings, "bc", "short").done
    shutil.rmtree(tmp_path / "weights")
    assert not open_run(settings, "bc", "short").done
    assert "its weights are not here" in capsys.readouterr().out


def test_pictures_are_no_reason_to_make_a_run_again(settings):
    """They change nothing in a run's numbers, and runs from before there was the setting stay good."""
    run = open_run(settings(), "eval", "bc")
    written = (run.folder / "settings.toml").read_text()
    assert 'screenshots = "none"' in written
    (run.folder / "settings.toml").write_text(written.replace('screenshots = "none"', ""))
    assert outdated(run, settings(**{"rollout.screenshots": "all"})) == ""
    assert "rollout.retries was 1 and is 9" in outdated(run, settings(**{"rollout.retries": 9}))


def test_runs_on_webarena_alone_depend_on_which_of_its_records_were_taken(settings):
    """Not on where its sites were: another address is the same site. Runs on other benchmarks depend on nothing of it."""
    on_webarena, published = {"tasks.benchmarks": ("webarena-lite",)}, {"webarena.records": "published"}
    run = open_run(settings(**on_webarena), "eval", "r1")
    assert outdated(run, settings(**on_webarena, **{"webarena.shopping": "http://elsewhere.example"})) == ""
    assert "webarena.records was patched and is published" in outdated(run, settings(**on_webarena, **published))
    run = open_run(settings(), "eval", "base")
    assert outdated(run, settings(**published)) == ""
