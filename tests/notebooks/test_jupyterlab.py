"""Every notebook in a real JupyterLab, as a reader uses it: opened in Chromium, Run All, and nothing red at the end.

WR1_SCREENS=1 also writes a picture of each executed notebook to results/screens/ (those at `laptop` from the committed results).
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest
from playwright.sync_api import sync_playwright

from wr1_utils.settings import ROOT
from wr1_utils.web.browser import find_browser

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
SMALL = {"07": {"methods": "base,r1", "limits": [2, 4, 6]}, "90": {"tokens": 20_000, "samples": 2, "folder": "data/models/tiny"}}  # beside the profile `smoke`
TOKEN = "reader"
QUIET = ["--ServerApp.open_browser=False", "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
         "--MappingKernelManager.kernel_info_timeout=600"]
ENDED = """() => document.querySelector('[data-mime-type="application/vnd.jupyter.error"]') !== null ||
    [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')].every(prompt => /^\\[\\d+\\]:$/.test(prompt.textContent.trim()))"""


class Lab:
    """A JupyterLab on loopback whose root is `folder`, a copy of the repository in which results may change, and a page of Chromium that looks at it."""

    def __init__(self, folder, page, address):
        self.folder, self.page, self.address = folder, page, address

    def copy(self, name, profile, **parameters):
        """The notebook in the copy, with its parameters replaced."""
        notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
        cell = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", []))
        for parameter, value in {"profile": profile, **parameters}.items():
            cell.source = re.sub(rf"^{parameter} = .*?(?=  #)", lambda _: f"{parameter} = {json.dumps(value)}", cell.source, flags=re.M)
        file = self.folder / "notebooks" / f"{name}-{profile}.ipynb"
        nbformat.write(notebook, file)
        return file

    def run_all(self, file, minutes):
        """Opens the notebook, chooses Run All Cells in the menu, and waits until every cell has run or one has failed; the seconds it took."""
        self.page.goto(f"{self.address}/lab/workspaces/{file.stem}/tree/notebooks/{file.name}?token={TOKEN}")
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        self.page.locator(".jp-StatusBar-Widget, .jp-StatusBar-TextItem", has_text=re.compile(r"\| Idle")).first.wait_for()  # the kernel is up and connected
        started = time.monotonic()
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()
        self.page.wait_for_function(ENDED, timeout=60_000 * minutes)
        seconds = time.monotonic() - started
        errors = [one.inner_text() for one in self.page.locator('[data-mime-type="application/vnd.jupyter.error"]').all()]
        assert errors == []
        assert self.page.get_by_text("Error displaying widget").count() == self.page.get_by_text("Loading widget").count() == 0
        return seconds

    def picture(self, name):
        """The whole notebook as one PNG in results/screens/, if WR1_SCREENS asks for it."""
        if os.environ.get("WR1_SCREENS"):
            folder = ROOT / "results" / "screens"
            folder.mkdir(parents=True, exist_ok=True)
            self.page.keyboard.press("Control+b")  # without the side bar
            height = self.page.evaluate("Math.max(...[...document.querySelectorAll('.jp-WindowedPanel-outer')].map(one => one.scrollHeight))")
            self.page.set_viewport_size({"width": 1200, "height": min(int(height) + 150, 16_000)})
            self.page.evaluate("document.querySelectorAll('.jp-WindowedPanel-outer').forEach(one => one.scrollTo(0, 0))")
            self.page.wait_for_timeout(5000)
            self.page.screenshot(path=folder / f"{name}.png", timeout=240_000)
            self.page.set_viewport_size({"width": 1200, "height": 900})
            self.page.keyboard.press("Control+b")

    def close_kernels(self):
        request = urllib.request.Request(f"{self.address}/api/sessions?token={TOKEN}")
        for session in json.load(urllib.request.urlopen(request, timeout=60)):
            urllib.request.urlopen(urllib.request.Request(f"{self.address}/api/sessions/{session['id']}?token={TOKEN}", method="DELETE"), timeout=60)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    for part in ("wr1_utils", "data", "notebooks", "results/laptop"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "checkpoints"))
    for name, chosen in (("notebook-extension/tracker", {"windowingMode": "none"}),  # cells out of sight are in the page, too
                         ("apputils-extension/notification", {"fetchNews": "false", "checkForUpdates": False})):
        settings = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(chosen))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    apart = {f"JUPYTER_{name}_DIR": str(folder / "jupyter" / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    apart |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"), "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
    environment = os.environ | apart | {"PYTHONPATH": str(folder), "JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(folder / "ipython")}
    command = [sys.executable, "-m", "jupyterlab", *QUIET, "--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.allow_root=True",
               f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    with open(folder / "lab.log", "w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(server, f"{address}/api?token={TOKEN}", folder / "lab.log")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_browser().path, args=["--no-sandbox", "--disable-gpu"])
            one = Lab(folder, browser.new_page(viewport={"width": 1200, "height": 900}), address)
            one.page.set_default_timeout(240_000)  # a busy machine takes its time
            yield one
            one.close_kernels()
            browser.close()
    finally:
        server.terminate()
        server.wait(60)


def wait_for(server, address, log, seconds=180):
    for _ in range(seconds):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(1)
    raise AssertionError(f"JupyterLab did not come up in {seconds} s: {log.read_text()}")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_run_all_at_smoke(lab, name):
    """In order: each finds what the earlier ones made."""
    lab.run_all(lab.copy(name, "smoke", **SMALL.get(name[:2], {})), minutes=20)
    lab.picture(f"{name}-smoke")
    if name[:2] in ("01", "04"):
        step_through(lab.page)
    lab.close_kernels()


def step_through(page):
    """The buttons of the episode's widget work in the live page."""
    page.locator(".widget-slider").first.wait_for()
    forth = page.get_by_role("button", name="Next").first
    if forth.is_enabled():
        forth.click()
        page.locator(".widget-readout", has_text=re.compile("^2$")).first.wait_for()


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name[:2] in ("00", "05", "08")])
def test_run_all_at_laptop_from_committed_results_in_a_minute(lab, name):
    seconds = lab.run_all(lab.copy(name, "laptop"), minutes=10)
    lab.picture(f"{name}-laptop")
    lab.close_kernels()
    assert seconds < 60
