import nbformat
import papermill
import pytest

from wr1_utils.errors import WR1Error
from wr1_utils.notebook import recorded


def test_recorded_numbers_are_read_back_from_the_executed_notebook(tmp_path):
    cells = [nbformat.v4.new_code_cell("import wr1_utils as wr1\nwr1.record({'rate': 0.25, 'steps': 3})"), nbformat.v4.new_code_cell("wr1.record({'name': 'r1'})")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "in.ipynb")
    papermill.execute_notebook(tmp_path / "in.ipynb", tmp_path / "out.ipynb", kernel_name="python3", progress_bar=False)
    assert recorded(tmp_path / "out.ipynb") == {"rate": 0.25, "steps": 3, "name": "r1"}
    with pytest.raises(WR1Error, match="recorded no numbers"):
        recorded(tmp_path / "in.ipynb")
