import signal
import subprocess
import sys

import pytest

from wr1_utils import cli
from wr1_utils.errors import WR1Error
from wr1_utils.settings import ROOT
from wr1_utils.sites.server import SESSIONS, SITES
from wr1_utils.tasks.task import load_tasks


def wr1(*words):
    return subprocess.run([sys.executable, "-P", "-m", "wr1_utils.cli", *words], capture_output=True, text=True, timeout=120, cwd=ROOT)


def test_a_wrong_profile_is_one_sentence_and_exit_2():
    answer = wr1("demo", "--profile", "dmo")
    assert answer.returncode == 2 and answer.stdout == ""
    assert answer.stderr == "wr1: There is no profile 'dmo' (did you mean 'demo'?); there are demo, laptop, paper-3b, paper-8b, smoke.\n"


def test_a_port_in_use_is_one_sentence_and_exit_2():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = wr1("serve", "--port", str(port))
    assert answer.returncode == 2 and str(port) in answer.stderr
    assert answer.stderr.startswith("wr1: ") and answer.stderr.count("\n") == 1


def test_a_port_that_does_not_exist():
    answer = wr1("serve", "--port", "70000")
    assert answer.returncode == 2 and answer.stderr == "wr1: --port must be between 0 and 65535 (0 = any free one), not 70000.\n"


def test_serve_opens_the_sites_until_ctrl_c():
    server = subprocess.Popen([sys.executable, "-P", "-m", "wr1_utils.cli", "serve"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a test run in the background ignores Ctrl-C, and so would this
    try:
        assert "one world" in server.stdout.readline()
        lines = {site: server.stdout.readline().split(maxsplit=1) for site in SITES}
        assert all(address.startswith(f"http://{site}.localhost:") for site, (address, _) in lines.items())
        assert lines["shopping"][1].startswith("log in as emma@shop.test with the password ") and lines["map"][1] == "no login\n"
        assert all(("log in as" in login) == (site in SESSIONS) for site, (_, login) in lines.items())
        host, port = lines["shopping"][0].removeprefix("http://").rstrip("/").split(":")
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)
        connection.request("GET", "/", headers={"Host": f"{host}:{port}"})
        answer = connection.getresponse()
        assert answer.status == 200 and "<html" in answer.read().decode().lower()
        connection.close()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 130
        assert "the server was stopped" in server.stderr.read()
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize("error, code, words", [
    (WR1Error("The lamp is off; switch it on."), 2, "wr1: The lamp is off; switch it on.\n"),
    (KeyboardInterrupt(), 130, "\nwr1: interrupted; the same command goes on from the last finished step.\n"),
])
def test_errors_for_people_have_no_traceback(monkeypatch, capsys, error, code, words):
    def fail(*_):
        raise error
    monkeypatch.setattr("wr1_utils.demo.run", fail)
    assert cli.main(["demo"]) == code
    assert capsys.readouterr().err == words


def test_a_fault_of_the_kit_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr("wr1_utils.demo.run", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cli.main(["demo"])


@pytest.mark.parametrize("words, passed_on", [
    (["test"], ["-m", "not slow"]),
    (["test", "--slow"], []),
    (["test", "--", "-k", "settings", "-x"], ["-m", "not slow", "-k", "settings", "-x"]),
    (["test", "--slow", "--", "tests/test_cli.py"], ["tests/test_cli.py"]),
])
def test_test_hands_over_to_pytest(monkeypatch, words, passed_on):
    calls = []
    def fake(command, cwd):
        calls.append((command, cwd))
        return subprocess.CompletedProcess(command, 3)
    monkeypatch.setattr(cli.subprocess, "run", fake)
    assert cli.main(words) == 3
    assert calls == [([sys.executable, "-m", "pytest", *passed_on], ROOT)]


def test_figures_says_what_was_drawn(monkeypatch, capsys):
    monkeypatch.setattr("wr1_utils.analysis.figures.draw_all", lambda: [ROOT / "results/laptop/success_rates.png", ROOT / "results/demo/bc-short-s0/loss.png"])
    assert cli.main(["figures"]) == 0
    assert capsys.readouterr().out == "results/laptop/success_rates.pdf and .png\nresults/demo/bc-short-s0/loss.pdf and .png\n"


def test_tasks_of_another_seed_are_written_and_counted(tmp_path, capsys):
    assert cli.main(["tasks", "make", "--seed", "3", "--to", str(tmp_path / "more")]) == 0
    said = capsys.readouterr().out.splitlines()
    numbers = {part: len(load_tasks(tmp_path / f"more/arena_{part}.json")) for part in ("train", "test")}
    assert said[:2] == [f"{tmp_path}/more/arena_{part}.json: {number} tasks" for part, number in numbers.items()]
    assert said[2] == "No task asks for the same as one of the committed tasks, to train on or to test on."
    assert said[3].startswith(f"{812 - sum(numbers.values())} tasks were left out") and "gitlab_feed_token 1" in said[3] and len(said) == 4


def test_tasks_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert cli.main(["tasks", "make", "--seed", "3", "--to", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err == f"wr1: The tasks cannot be written to {tmp_path}/file: File exists; give another folder with --to.\n"
    assert cli.main(["tasks", "make", "--seed", "-1"]) == 2
    assert capsys.readouterr().err == "wr1: --seed must be 0 or more, not -1.\n"
    before = (ROOT / "data/tasks/arena_test.json").read_bytes()
    assert cli.main(["tasks", "make", "--seed", "3", "--to", str(ROOT / "data/tasks")]) == 2
    assert "holds the set of seed 0" in capsys.readouterr().err and (ROOT / "data/tasks/arena_test.json").read_bytes() == before


def test_one_benchmark_alone_is_handed_on(monkeypatch):
    asked = []
    monkeypatch.setattr("wr1_utils.demo.run", lambda *given: asked.append(given))
    assert cli.main(["run", "--benchmark", "miniwob"]) == cli.main(["demo", "--seed", "3"]) == 0
    assert asked == [("laptop", None, "miniwob"), ("demo", 3, "")]
