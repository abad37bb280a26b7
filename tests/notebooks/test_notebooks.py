"""Notebooks are thin, clean and readable: they call the library, and their words tell why."""

import ast

import nbformat
import pytest

from wr1_utils.settings import ROOT

PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [pytest.param(nbformat.read(path, as_version=4), id=path.stem) for path in PATHS]
thin = pytest.mark.parametrize("notebook", NOTEBOOKS)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebooks_of_the_demo_are_there():
    from wr1_utils.demo import OFFLINE, VARIANTS, way

    assert {step.notebook for step in way((*OFFLINE, *VARIANTS))} <= {path.stem for path in PATHS}


@thin
def test_no_outputs_are_kept(notebook):
    assert all(not cell.outputs and cell.execution_count is None for cell in code_cells(notebook))


@thin
def test_a_cell_has_at_most_15_lines(notebook):
    assert [cell.source for cell in code_cells(notebook) if len(cell.source.splitlines()) > 15] == []


@thin
def test_nothing_is_defined_in_a_notebook(notebook):
    nodes = [node for cell in code_cells(notebook) for node in ast.walk(ast.parse(cell.source))]  # no magics either: they do not parse
    assert not [node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]


@thin
def test_words_stand_before_each_code_cell(notebook):
    bare = [after.source for before, after in zip([None, *notebook.cells], notebook.cells)
            if after.cell_type == "code" and (before is None or before.cell_type != "markdown" or not before.source.strip())]
    assert bare == []


@thin
def test_there_is_one_parameters_cell_with_a_comment_on_each_value(notebook):
    (cell,) = [cell for cell in code_cells(notebook) if "parameters" in cell.metadata.get("tags", [])]
    assert cell is code_cells(notebook)[0]
    assert [line for line in cell.source.splitlines() if line.strip() and "#" not in line] == []


@thin
def test_the_first_call_checks_the_parameters(notebook):
    assert "notebook_settings(globals()" in code_cells(notebook)[1].source


@thin
def test_it_runs_in_the_kernel_of_its_environment(notebook):
    assert notebook.metadata["kernelspec"]["name"] == "python3"
