"""Numbers that an executed notebook leaves for others to read: its last cell records them, and `recorded` reads them back."""

from pathlib import Path

import nbformat
from tabulate import tabulate

from wr1_utils.errors import WR1Error

_MIME = "application/vnd.wr1.numbers+json"


def record(numbers: dict) -> None:
    """Show named numbers or texts as a small table, and keep them in the notebook's output."""
    from IPython.display import display

    display({_MIME: numbers, "text/plain": tabulate(numbers.items(), tablefmt="plain", floatfmt=".4g")}, raw=True)


def recorded(path: str | Path) -> dict:
    """All that an executed notebook has recorded. Raises WR1Error if it recorded nothing."""
    outputs = [output for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code" for output in cell.outputs]
    found = [output.data[_MIME] for output in outputs if _MIME in output.get("data", {})]
    if not found:
        raise WR1Error(f"{path}: this notebook has recorded no numbers; it must run to its last cell.")
    return {name: value for numbers in found for name, value in numbers.items()}
