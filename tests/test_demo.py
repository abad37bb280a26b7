"""The way, with notebooks of two cells in place of the real ones (tests/notebooks/ runs those)."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
import time

import nbformat
import pytest

from wr1_utils import demo
from wr1_utils.settings import SettingsError, load_settings
from wr1_utils.tasks import test_tasks as held_out, train_tasks

MAIN = """benchmark,split,site,method,seed,tasks,successes,errors,rate,low,high,turns,reply_tokens
pocket,test,all,base,0,40,0,0,0,0,0.088,9,40
pocket,test,all,bc,0,40,20,0,0.5,0.35,0.65,4,40
pocket,test,all,r1,0,40,30,1,0.75,0.6,0.86,3,40
pocket,test,shopping,bc,0,40,20,0,0.5,0.35,0.65,4,40
pocket,seen_template,all,bc,0,20,20,0,1,0.8,1,4,40
miniwob,test,all,bc,0,0,0,40,,,,4,40
"""
TABLE = r"BC +\| +20 \| +40 .*R1 +\| +30 \| +40 \| +1 .*R1 − BC .*\+25"  # of the main table and the comparison
COMPARISONS = """benchmark,method,reference,tasks,unpaired,difference,low,high
pocket,r1,bc,39,1,0.25,0.1,0.4
"""


@pytest.fixture
def way(tmp_path, monkeypatch):
    """Two notebooks; the second needs what the first left. A profile file whose results lie in tmp_path."""
    monkeypatch.setattr(demo, "way", lambda methods, first: [demo.Step("first"), demo.Step("second", "rl", "r1")])
    (tmp_path / "tiny.toml").write_text(f'extends = "smoke"\nresults = "{tmp_path}/results"\n')
    (tmp_path / "main.csv").write_text(MAIN)
    (tmp_path / "comparisons.csv").write_text(COMPARISONS)
    write(tmp_path, "first", f"import pathlib, shutil\npathlib.Path('{tmp_path}/ran').open('a').write('first ')")
    write(tmp_path, "second", f"pathlib = __import__('pathlib')\npathlib.Path('{tmp_path}/ran').open('a').write('second ')\n"
                              + tables(tmp_path))
    return tmp_path


def tables(folder):
    return f"import shutil\nfor name in ('main.csv', 'comparisons.csv'): shutil.copy('{folder}/' + name, '{folder}/results/tiny')"


def write(folder, name, code):
    cells = [nbformat.v4.new_code_cell('profile = "smoke"\nseed = 0', metadata={"tags": ["parameters"]}), nbformat.v4.new_code_cell(code)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / f"{name}.ipynb")


def test_the_way_runs_then_skips_then_prints_the_table(way, capsys):
    demo.run(str(way / "tiny.toml"), 2, notebooks=way)
    first = capsys.readouterr().out
    assert (way / "ran").read_text() == "first second " and re.search(TABLE, first, re.DOTALL)
    executed = nbformat.read(way / "results/tiny/second-s2.ipynb", as_version=4)
    assert "seed = 2" in executed.cells[1].source and executed.metadata["wr1"]["fingerprint"]

    demo.run(str(way / "tiny.toml"), 2, notebooks=way)
    assert (way / "ran").read_text() == "first second "
    again = capsys.readouterr().out
    assert again.count("done before with the same settings, skipped") == 2 and re.search(TABLE, again, re.DOTALL)


def test_a_changed_setting_runs_what_depends_on_it_and_what_follows(way, capsys):
    demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    write(way, "second", f"open('{way}/ran', 'a').write('new ')")
    demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    assert (way / "ran").read_text() == "first second new "
    with open(way / "tiny.toml", "a") as file:
        file.write("[bc]\nepochs = 9\n")
    demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    assert (way / "ran").read_text() == "first second new first new "


def test_a_failing_notebook_is_one_sentence_and_runs_again(way):
    write(way, "first", "raise ValueError('the lamp is off')")
    with pytest.raises(demo.DemoError, match=r"^first stopped in cell \d: ValueError: the lamp is off \(the whole story is in .*first-s0.ipynb\)$"):
        demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    assert not (way / "ran").exists()
    write(way, "first", f"open('{way}/ran', 'a').write('first ')")
    demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    assert (way / "ran").exists()


def test_a_kernel_that_dies_is_one_sentence(way, capfd):
    write(way, "second", "import os\nos.kill(os.getpid(), 9)")
    with pytest.raises(demo.DemoError, match="second stopped because its kernel died"):
        demo.run(str(way / "tiny.toml"), notebooks=way)
    assert capfd.readouterr().err == ""


def test_nothing_starts_with_a_wrong_profile(way):
    with pytest.raises(SettingsError):
        demo.run("dmo", 0, notebooks=way)


def test_nothing_starts_without_the_model(way):
    (way / "tiny.toml").write_text(f'extends = "smoke"\nresults = "{way}/results"\n[model]\npath = "{way}/nowhere"\n')
    with pytest.raises(demo.DemoError, match="no model folder .*nowhere, which profile tiny names as model.path"):
        demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    assert not (way / "ran").exists() and not (way / "results").exists()


def test_one_benchmark_alone_is_a_profile_with_results_of_its_own(way):
    """The notebooks get a profile that is the given one but for its benchmarks, and the profile's own results stay as they are."""
    demo.run(str(way / "tiny.toml"), 0, notebooks=way)
    profile = demo.only_benchmark(str(way / "tiny.toml"), "miniwob")
    whole, alone = load_settings(str(way / "tiny.toml")), load_settings(profile)
    assert alone == dataclasses.replace(whole, profile="tiny-miniwob", tasks=dataclasses.replace(whole.tasks, benchmarks=("miniwob",)))
    assert {task.benchmark for task in train_tasks(alone) + held_out(alone)} == {"miniwob"}
    write(way, "second", f"pathlib = __import__('pathlib')\n{tables(way)}".replace("results/tiny", "results/tiny-miniwob"))
    demo.run(str(way / "tiny.toml"), 0, "miniwob", notebooks=way)
    assert (way / "ran").read_text() == "first second first "
    assert nbformat.read(way / "results/tiny-miniwob/first-s0.ipynb", as_version=4).cells[1].source.count("tiny-miniwob.toml") == 1


def test_the_way_to_all_methods():
    """Each stage after what it starts from, R1-CoT with demonstrations and a warm-up of its own, everything evaluated at the end; one executed copy each."""
    steps = demo.way(("filtered_bc", "awr", "r1", "r1_zero", "r1_cot"))
    assert [step.title for step in steps] == [
        "00_environment_setup", "01_tasks_and_demonstrations", "02_bc_warmup", "02_bc_warmup-filtered_bc", "02_bc_warmup-awr", "03_rl_training",
        "03_rl_training-r1_zero", "01_tasks_and_demonstrations-cot", "02_bc_warmup-cot", "03_rl_training-r1_cot", "04_evaluation", "08_main_results"]
    assert steps[-1].parameters == {"methods": "base,bc,bc_cot,filtered_bc,awr,r1_zero,r1_cot,r1"}
    assert [step.title for step in demo.way(("r1",), first=False)] == ["01_tasks_and_demonstrations", "02_bc_warmup", "03_rl_training", "04_evaluation", "08_main_results"]
    assert demo.way(("r1",))[-1].parameters == {"methods": "base,bc,r1"}
    with pytest.raises(SettingsError, match=r"run.methods holds 'r1_zro' \(did you mean 'r1_zero'\?\)"):
        demo.way(("r1_zro",))
    with pytest.raises(SettingsError, match="at least one of r1, r1_zero, r1_cot"):
        demo.way(("awr",))


def test_the_methods_and_variants_are_those_of_training():
    from wr1_utils.training import offline, rl

    assert demo.OFFLINE == offline.METHODS and demo.VARIANTS == tuple(rl.VARIANTS)


def test_a_way_of_two_seeds_runs_each_and_what_one_of_them_changes_again(way, capsys):
    """Without a seed, those of the profile; the results are made again when any seed ran."""
    with open(way / "tiny.toml", "a") as file:
        file.write("[run]\nseeds = [3, 4]\n")
    demo.run(str(way / "tiny.toml"), notebooks=way)
    assert (way / "ran").read_text() == "first second first second "
    assert "seed = 4" in nbformat.read(way / "results/tiny/second-s4.ipynb", as_version=4).cells[1].source
    assert "[3/4] first, seed 4: done in" in capsys.readouterr().out
    (way / "results/tiny/first-s4.ipynb").unlink()
    demo.run(str(way / "tiny.toml"), notebooks=way)
    assert (way / "ran").read_text() == "first second first second first second "


def test_an_unknown_benchmark_is_named_with_its_neighbour_before_anything_starts(way):
    with pytest.raises(SettingsError, match=r"no benchmark 'minwob' \(did you mean 'miniwob'\?\)"):
        demo.run(str(way / "tiny.toml"), 0, "minwob", notebooks=way)
    assert not (way / "results").exists()


@pytest.mark.parametrize("how, code", [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_stopped_way_leaves_no_kernel_and_goes_on(way, how, code):
    """Ctrl-C and kill -9 in the middle of the second notebook: the first is not run again, and no kernel stays behind."""
    write(way, "first", f"open('{way}/ran', 'a').write('first ')")
    write(way, "second", f"import os, time\nopen('{way}/kernel', 'w').write(str(os.getpid()))\nwhile not os.path.exists('{way}/go'): time.sleep(0.1)\n"
                         + tables(way))
    code_text = ("import sys, pathlib; from wr1_utils import cli, demo; demo.way = lambda methods, first: [demo.Step('first'), demo.Step('second')]; run = demo.run\n"
                 "demo.run = lambda profile, seed, benchmark: run(profile, seed, benchmark, pathlib.Path(sys.argv[2])); sys.exit(cli.main(['demo', '--profile', sys.argv[1]]))")
    command = [sys.executable, "-c", code_text, str(way / "tiny.toml"), str(way)]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a test run in the background ignores Ctrl-C, and so would this
    try:
        wait_for((way / "kernel").exists)
        time.sleep(0.5)
        os.killpg(first.pid, how)
        _, words = first.communicate(timeout=90)
    finally:
        first.kill()
    assert first.returncode == code
    assert how is signal.SIGKILL or words == "\nwr1: interrupted; the same command goes on from the last finished step.\n"
    kernel = int((way / "kernel").read_text())
    wait_for(lambda: not alive(kernel))

    (way / "go").touch()
    second = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert second.returncode == 0 and "first: done before with the same settings, skipped" in second.stdout
    assert (way / "ran").read_text() == "first "


def wait_for(condition, seconds=90):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] != "Z"
