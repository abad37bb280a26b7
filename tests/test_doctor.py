import os
import stat

import pytest

from wr1_utils import doctor
from wr1_utils.doctor import Finding, browser_version
from wr1_utils.errors import WR1Error


def test_it_names_all_that_matters(capsys):
    names = [one.name for one in doctor.examine()]
    assert names == ["python", "torch", "gpu", "browser", "disk", "model laptop", "model paper-3b", "model paper-8b", "pocket", "miniwob", "webarena"]


@pytest.mark.parametrize("findings, code, words", [
    ([Finding("a", "here"), Finding("b", "no", good=False, remedy="buy one")], 0, "→ buy one\n\nThe demo can run: ./wr1 demo\n"),
    ([Finding("a", "here"), Finding("b", "no", good=False, needed=True, remedy="buy one")], 1, "→ buy one\n\nThe demo cannot run yet: b missing.\n"),
])
def test_only_what_the_demo_needs_decides(monkeypatch, capsys, findings, code, words):
    monkeypatch.setattr(doctor, "examine", lambda: findings)
    assert doctor.report() == code
    assert capsys.readouterr().out.endswith(words)


def test_the_browser_of_this_machine_starts():
    path, version = browser_version()
    assert os.access(path, os.X_OK) and any(char.isdigit() for char in version)


def test_a_browser_that_does_not_start_is_no_browser(tmp_path):
    """A downloaded browser whose system libraries are missing is there, but of no use."""
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(WR1Error, match="does not start: error while loading shared libraries: libnss3.so"):
        browser_version(str(program))


def test_without_a_browser_no_benchmark_can_run(monkeypatch):
    monkeypatch.setattr(doctor, "browser_version", lambda *_: (_ for _ in ()).throw(WR1Error("no Chromium was found")))
    state = {one.name: one for one in doctor.examine()}
    assert not state["browser"].good and state["browser"].needed and not state["pocket"].good and not state["miniwob"].good


def test_webarena_is_said_to_be_missing(monkeypatch):
    monkeypatch.delenv("SHOPPING", raising=False)
    state = {one.name: one for one in doctor.examine()}
    assert "addresses not set" in state["webarena"].state and "SHOPPING" in state["webarena"].state


def test_an_unknown_benchmark_is_refused_with_the_nearest():
    with pytest.raises(WR1Error, match=r"no benchmark 'webarena-light' \(did you mean 'webarena-lite'\?\); there are pocket, arena, miniwob, webarena-lite, webarena\."):
        doctor.report_benchmark("laptop", "webarena-light")


@pytest.mark.parametrize("findings, code, words", [
    ([Finding("site map", "answers", True, True), Finding("judge", "none", False)], 0, "webarena-lite can run.\n"),
    ([Finding("site map", "no address", False, True, "set MAP")], 1, "→ set MAP\n\nwebarena-lite cannot run yet: site map missing.\n"),
])
def test_the_report_on_a_benchmark(monkeypatch, capsys, findings, code, words):
    monkeypatch.setattr("wr1_utils.benchmark_check.examine_benchmark", lambda settings: findings)
    assert doctor.report_benchmark("laptop", "webarena-lite") == code
    assert capsys.readouterr().out.endswith(words)
