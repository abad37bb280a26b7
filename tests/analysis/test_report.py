"""The page of all results: its numbers, its links, and that it needs nothing but itself."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest

from wr1_utils.analysis import figures, report
from wr1_utils.analysis.tables import AnalysisError, write_table
from wr1_utils.settings import ROOT
from wr1_utils.trajectory import Trajectory, Turn, write_trajectories


class Reader(HTMLParser):
    """Collects the links, the ids and the outside resources of a page."""

    def __init__(self, page: Path):
        super().__init__()
        self.links, self.ids, self.resources = [], [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.resources += [given[name] for name in ("src", "href") if name in given and tag != "a"]


def run_folder(folder, method, status):
    turn = Turn("http://shop.test/a", "Shop", "page Shop\nlink Go [0]", [1], [2], [-0.1], '<answer>do(action="Click", element="0")</answer>', "", "", 0.1, 0.1)
    made = folder / f"eval-{method}-s3"
    write_trajectories(made / "trajectories.parquet", [Trajectory("r", "pocket.x.1", "pocket", "shopping", "x", "seen_template", "Buy <b>", 0, 0, 3, "p", status, float(status == "success"), None, "", 1.0, [turn])])
    (made / "settings.toml").write_text('seed = 3\nprofile = "tiny"\n')
    (made / "environment.json").write_text('{"command": "wr1 run --profile tiny", "commit": "abc123", "started": "2026-01-02T03:04:05Z", "cpu": "a <processor>", "cores": 2}')
    (made / "summary.json").write_text("{}")
    return made


def small_results(tmp_path):
    """A profile `tiny` of two evaluations with tables, one of them of a kind nobody has foreseen, and a folder beside the profiles."""
    tiny = tmp_path / "results" / "tiny"
    for method, status in (("bc", "failure"), ("r1", "success")):
        run_folder(tiny, method, status)
    rows = [("pocket", "test", "all", method, 3, 10, count, 0, rate, rate - 0.1, rate + 0.1, 2.0, 9.0) for method, count, rate in (("bc", 2, 0.2), ("r1", 7, 0.7))]
    write_table(pd.DataFrame(rows, columns="benchmark split site method seed tasks successes errors rate low high turns reply_tokens".split()), tiny / "main")
    columns = "benchmark method reference tasks unpaired difference low high gained lost p p_holm resamples bootstrap_seed".split()
    write_table(pd.DataFrame([("all", "r1", "bc", 10, 0, 0.5, 0.2, 0.8, 5, 0, 0.0312, 0.0312, 10000, 0)], columns=columns), tiny / "comparisons")
    write_table(pd.DataFrame({"run": ["eval-bc-s3"], "why": ["<script>alert(1)</script>"], "link": ["eval-bc-s3/view.html#pocket.x.1.0.0@1"]}), tiny / "failures")
    write_table(pd.DataFrame({"n": range(report.MOST_ROWS + 5), "value": 0.123456}), tiny / "ablations_by_colour")
    write_table(pd.DataFrame({"a": [1]}), tiny / "unforeseen")
    write_table(pd.DataFrame({"a": [1]}), tiny / "eval-bc-s3.old" / "set_aside")
    (tiny / "no_twin.csv").write_text("a\n1\n")
    write_table(pd.DataFrame({"template": ["x"], "turns_mean": [2.5]}), tmp_path / "results" / "arena" / "turns")
    (tmp_path / "results" / "LOG.md").write_text("# Log\n\nSee [the table](tiny/main.csv) and `code`.\n\n| a | b |\n|---|---|\n| 1 | <i> |\n")
    return tmp_path / "results"


@pytest.fixture
def results(tmp_path):
    return small_results(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The report on such results, for tests that only read it."""
    return report.write_report(results=small_results(tmp_path_factory.mktemp("made")))


def test_every_link_of_the_page_leads_to_a_file_or_a_place_on_the_page(made):
    results = made.page.parents[1]
    assert (made.page, made.pdf) == (results / "report" / "report.html", results / "report" / "figures.pdf")
    read = Reader(made.page)
    for link in read.links:
        address = urlsplit(link)
        assert not address.scheme and not address.path.startswith("/"), link
        assert (made.page.parent / unquote(address.path)).is_file() if address.path else address.fragment in read.ids, link
    names = {link.split("/")[-1].split("#")[0] for link in read.links}
    assert names >= {"main.csv", "main.md", "main.tex", "comparisons.csv", "trajectories.parquet", "settings.toml", "environment.json", "view.html", "paper_results.csv", "figures.pdf", "LOG.md"}
    assert "../tiny/main.csv" in read.links and len(read.ids) == len(set(read.ids))


def test_the_page_needs_nothing_but_itself(made):
    resources = Reader(made.page).resources
    assert len(resources) == made.figures == 2 and all(one.startswith("data:image/png;base64,") for one in resources)
    text = made.page.read_text()
    assert "<script" not in text and "&lt;script&gt;" in text and "a &lt;processor&gt;" in text  # no text of a file becomes markup


def test_the_page_shows_the_numbers_their_stamps_and_every_table_with_a_twin(made):
    text = made.page.read_text()
    assert made.tables == 6  # main, comparisons, failures, ablations_by_colour, unforeseen, turns
    for said in ("20.0", "10.0 to 30.0", "+50.0", "+20.0 to +80.0", 'title="0.0312">0.0312<', "wr1 run --profile tiny", "abc123", "2026-01-02 03:04"):
        assert said in text, said
    assert f"The first {report.MOST_ROWS} of {report.MOST_ROWS + 5} rows" in text and 'title="0.123456">0.123<' in text
    assert "set_aside" not in text and "no_twin" not in text and 'href="../tiny/main.csv">the table' in text
    titles = re.findall(r"<h3 id=[^>]*>(.*?)</h3>", text)
    assert titles == ["Main results", "Comparisons", "Failures by cause", "Ablations and demonstrations", "Further tables", "Case study", "Runs"]
    assert "pocket.x.1: solved by R1 in 1 turns, not by BC." in text


def test_the_papers_numbers_stand_apart_with_their_source(made):
    text = made.page.read_text()
    ours, theirs = re.search(r'class="ours">(.*?)</div>', text, re.DOTALL)[1], re.search(r'class="theirs">(.*?)</div>', text, re.DOTALL)[1]
    assert "70.0" in ours and "44.8" not in ours
    assert "44.8" in theirs and "37.5 to 52.5" in theirs and "second hand" in theirs and "70.0" not in theirs


def test_another_folder_and_one_profile_alone(results, tmp_path):
    (results / "other" / "eval-bc-s0").mkdir(parents=True)
    (results / "other" / "eval-bc-s0" / "settings.toml").write_text("seed = 0\n")
    made = report.write_report(tmp_path / "away", "tiny", results)
    assert made.profiles == ("tiny",) and made.page == tmp_path / "away" / "report.html" and not (results / "report").exists()
    links = Reader(made.page).links
    assert "../results/tiny/main.csv" in links and not any("other" in link or "arena" in link for link in links)
    assert report.write_report(results=results).profiles == ("tiny", "other")  # the most test tasks first


def test_what_is_missing_or_damaged_is_said(results, tmp_path):
    with pytest.raises(AnalysisError, match=r"no results of a profile 'tinny' .*did you mean 'tiny'\?"):
        report.write_report(profile="tinny", results=results)
    with pytest.raises(AnalysisError, match="nothing to report yet"):
        report.write_report(results=tmp_path / "none")
    (results / "tiny" / "unforeseen.csv").write_text("")
    with pytest.raises(AnalysisError, match=r"unforeseen\.csv: this is no CSV"):
        report.write_report(results=results)


def test_the_same_results_give_the_same_bytes(made):
    before = made.page.read_bytes(), made.pdf.read_bytes()
    report.write_report(results=made.page.parents[1])
    assert (made.page.read_bytes(), made.pdf.read_bytes()) == before


def test_the_pdf_has_a_page_a_figure_and_touches_no_file_beside_the_csvs(results):
    pdf = results / "all.pdf"
    pngs = figures.gather_figures(figures.find_figures(results), pdf, results)
    assert list(pngs) == ["tiny/success_rates", "tiny/comparisons"] and all(png.startswith(b"\x89PNG") for png in pngs.values())
    assert len(re.findall(rb"/Type /Page\b(?!s)", pdf.read_bytes())) == 2 and not list(results.rglob("*.png"))


def test_the_committed_results_are_reported_without_torch(tmp_path):
    """From what a clone has: no page of a run or case study, no weights, and no heavy package loaded."""
    results = tmp_path / "results"
    shutil.copytree(ROOT / "results", results, ignore=shutil.ignore_patterns("view.html", "case_study.html", "report", "*.old", "smoke*", "rollouts", "screenshots", "*.png"))
    script = ("import sys; from wr1_utils.analysis.report import write_report; made = write_report(results=sys.argv[1]); print(made.figures, *made.profiles); "
              "heavy = {'torch', 'transformers', 'playwright'} & set(sys.modules); assert not heavy, heavy")
    answer = subprocess.run([sys.executable, "-c", script, str(results)], capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert answer.returncode == 0, answer.stderr
    number, *profiles = answer.stdout.split()
    assert int(number) == len(figures.find_figures(results)) > 0 and {"laptop", "demo"} <= set(profiles)
    page = results / "report" / "report.html"
    links = [link for link in Reader(page).links if urlsplit(link).path]
    # what stands outside results/ is there in the repository
    assert [link for link in links if not (page.parent / unquote(urlsplit(link).path)).is_file() and "paper_results.csv" not in link] == []


def test_the_command_says_where_the_page_is(results, tmp_path, monkeypatch, capsys):
    from wr1_utils.cli import main

    write = report.write_report
    monkeypatch.setattr(report, "write_report", lambda to, profile: write(to, profile, results))
    assert main(["report", "--profile", "tiny", "--to", str(tmp_path / "away")]) == 0
    said = capsys.readouterr().out
    assert f"{tmp_path / 'away' / 'report.html'}: tiny; 5 tables" in said and "figures.pdf: 2 figures." in said
    assert main(["report", "--profile", "nothing"]) == 2 and "no results of a profile 'nothing'" in capsys.readouterr().err
