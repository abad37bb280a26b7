import csv
import re

from wr1_utils import cli
from wr1_utils.settings import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_that_the_readme_links_is_here():
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links and [link for link in links if not (ROOT / link).is_file()] == []


def test_the_tree_of_the_readme_is_the_tree_of_the_repository():
    """Every notebook and every room and module at the top of wr1_utils is named, and nothing that does not exist."""
    tree = re.search(r"```\nwr1 .*?```", README, re.DOTALL)[0]
    rooms = {path.name + "/" if path.is_dir() else path.name for path in (ROOT / "wr1_utils").iterdir() if not path.name.startswith("__")}
    inside = tree.split("wr1_utils/\n")[1].split("\ndata/")[0]
    named = {word.rstrip(",") for line in inside.splitlines() for word in re.split(r"\s{2,}", line.strip())[0].split()}
    assert named == rooms - {"errors.py"}
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"^  (\d\d_\w+) ", tree, re.MULTILINE)) == notebooks


def test_what_the_readme_claims_of_the_laptop_run_is_in_its_files():
    """The figures in its sentences, and that R1 stands above BC beyond chance in the committed run."""
    with open(ROOT / "results/laptop/comparisons.csv", newline="", encoding="utf-8") as rows:
        found = {row["benchmark"]: row for row in csv.DictReader(rows) if (row["method"], row["reference"]) == ("r1", "bc")}
    whole = found["all"]
    assert all(float(row["low"]) > 0 for row in found.values()) and float(whole["p_holm"]) < 0.05
    assert f"(of {whole['tasks']} tasks it solved {whole['gained']} that BC had not, and lost {whole['lost']})" in README
    with open(ROOT / "results/tries/laptop-4/main.csv", newline="", encoding="utf-8") as rows:
        earlier = [row for row in csv.DictReader(rows) if (row["split"], row["site"], row["method"]) == ("test", "all", "bc")]
    assert f"({sum(int(row['successes']) for row in earlier)} of {sum(int(row['tasks']) for row in earlier)} in an" in README


def test_every_command_is_documented():
    help_text = cli._parser().format_help()
    commands = re.findall(r"^    ([a-z]+) ", help_text, re.MULTILINE)
    assert {"demo", "run", "figures", "report", "bench"} <= set(commands)
    assert [name for name in commands if f"./wr1 {name}" not in README] == []
