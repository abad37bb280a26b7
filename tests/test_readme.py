import re

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
