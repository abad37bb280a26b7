"""The notebooks as they are committed: thin, explained, without outputs, and with parameters that papermill finds."""

import ast
import re

import nbformat
import papermill
import pytest

from wr1_utils.settings import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return nbformat.read(path, as_version=4)


def test_all_notebooks_are_here():
    assert {path.stem[:2] for path in NOTEBOOKS} >= {"00", "01", "02", "03", "04", "05", "06", "07", "08", "90"}


def test_it_is_valid_and_has_no_outputs(notebook):
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert not cell.outputs and cell.execution_count is None


def test_code_cells_are_short_and_each_is_explained_before(notebook):
    previous = None
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert previous == "markdown", cell.source
            assert len(cell.source.splitlines()) <= 15
            assert not any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.walk(ast.parse(cell.source)))
        previous = cell.cell_type


def test_every_file_that_it_links_is_here(path, notebook):
    links = [link for cell in notebook.cells if cell.cell_type == "markdown" for link in re.findall(r"\]\(([^)]+)\)", cell.source) if "://" not in link]
    assert [link for link in links if not (path.parent / link).is_file()] == []


def test_one_parameters_cell_with_a_comment_for_each_value(path, notebook):
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    lines = tagged[0].source.splitlines()
    assert all(re.fullmatch(r"\w+ = .+  # .+", line) for line in lines)
    names = [line.split(" = ")[0] for line in lines]
    assert list(papermill.inspect_notebook(str(path))) == names


def test_the_first_call_checks_every_parameter(notebook):
    first, second = [cell.source for cell in notebook.cells if cell.cell_type == "code"][:2]
    names = {line.split(" = ")[0] for line in first.splitlines()}
    calls = [node for node in ast.walk(ast.parse(second)) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("notebook_settings", "check_parameters"))]
    assert len(calls) == 1 and {keyword.arg for keyword in calls[0].keywords} == names
