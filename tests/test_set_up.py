"""What set-up reads: pyproject.toml, environment.yml and the script wr1 must agree."""

import ast
import re
import subprocess
import tomllib

import yaml

from wr1_utils.settings import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPT = (ROOT / "wr1").read_text()


def test_the_conda_environment_is_the_same_as_pips():
    """conda brings Python and pip alone; every version comes from pyproject.toml through `-e .[extras]`."""
    python, pip, packages = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert pip == "pip" and packages.keys() == {"pip"}
    version = re.fullmatch(r"python=(3\.\d+)", python)[1]
    major, minor = map(int, version.split("."))
    assert PROJECT["requires-python"] == f">={version},<{major}.{minor + 1}"
    (line,) = packages["pip"]
    extras = re.fullmatch(r"-e \.\[([a-z,]+)\]", line)[1].split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])
    assert f'pip install -e "$here[{",".join(extras)}]"' in SCRIPT, "the script and conda install different extras"


def test_each_dependency_has_a_bounded_version():
    everything = PROJECT["dependencies"] + [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    assert [one for one in everything if not re.search(r"==|~=|<", one)] == []


def test_trl_is_pinned_exactly_and_the_script_can_read_torchs_pin():
    assert any(one.startswith("trl==") for one in PROJECT["dependencies"])
    found = subprocess.run(["sh", "-c", 'sed -n \'s/^ *"torch==\\([0-9.]*\\)".*/\\1/p\' pyproject.toml'], cwd=ROOT, capture_output=True, text=True)
    assert f"torch=={found.stdout.strip()}" in PROJECT["dependencies"]


def test_every_import_of_the_library_is_declared():
    """A third-party module that wr1_utils imports is a dependency (or of the extras gpu and judge), so that a fresh environment has it."""
    import sys
    names = {"ipython": "IPython", "pyyaml": "yaml", "python-multipart": "multipart"}
    extras = PROJECT["optional-dependencies"]
    declared = {re.match(r"[A-Za-z0-9_.-]+", one)[0].lower() for one in PROJECT["dependencies"] + extras["gpu"] + extras["judge"]}
    known = {names.get(one, one.replace("-", "_")) for one in declared} | {"wr1_utils"} | set(sys.stdlib_module_names)
    known |= {"tokenizers", "safetensors"} if "transformers" in known else set()  # transformers requires and pins both
    known |= {"nbformat", "nbclient"} if "papermill" in known else set()  # papermill requires both
    missing = {}
    for file in (ROOT / "wr1_utils").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            for module in modules:
                if module.split(".")[0] not in known:
                    missing.setdefault(module, str(file.relative_to(ROOT)))
    assert missing == {}


def test_every_folder_with_modules_is_a_package():
    """setuptools leaves folders without __init__.py out of an installation."""
    folders = {file.parent for file in (ROOT / "wr1_utils").rglob("*.py")}
    assert [str(one.relative_to(ROOT)) for one in folders if not (one / "__init__.py").is_file()] == []


def test_the_script_is_posix_sh():
    assert SCRIPT.startswith("#!/bin/sh\n")
    subprocess.run(["sh", "-n", str(ROOT / "wr1")], check=True)


def test_continuous_integration_runs_the_tests():
    assert "./wr1 test" in (ROOT / ".ci/run").read_text()
