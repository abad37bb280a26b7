"""`wr1 report`: everything in `results/` on one HTML page that needs nothing else, and all figures as one PDF.

Each number leads to its files: every table to its CSV, Markdown and LaTeX, every figure to its CSV and to the PDF, every run to its trajectories,
settings and environment stamp, with command, seed and commit. Links are relative; the page is read where it was written. Figures are drawn anew
from their CSVs. For the links to trajectories and case studies the pages of `wr1 view` are written into the runs' folders (they are not in git). Reads files
only: no model is loaded, no agent is run, and torch is not imported.
"""

import json
import os
import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import jinja2
import mistune
import pandas as pd
from markupsafe import Markup, escape

from wr1_utils.analysis.case_study import write_case_study
from wr1_utils.analysis.figures import find_figures, gather_figures
from wr1_utils.analysis.paper import PAPER_RESULTS, PAPER_TASKS, paper_results
from wr1_utils.analysis.stats import wilson
from wr1_utils.analysis.tables import AnalysisError, compact_frames, read_table
from wr1_utils.analysis.viewer import data_uri, write_view
from wr1_utils.settings import ROOT, near_miss

MOST_ROWS = 60  # of a table on the page; its CSV has the rest
OPEN_ROWS = 40  # a longer table is folded
STAGES = ("demos", "bc", "offline", "rl", "eval", "long")  # the order of runs
RUN_FILES = ("trajectories.parquet", "metrics.csv", "settings.toml", "environment.json", "summary.json")


@dataclass(frozen=True)
class Section:
    """A part of a profile's chapter: it takes the tables and figures whose names fit one of `names`."""

    title: str
    names: tuple[str, ...]
    text: str
    stages: tuple[str, ...] = ()  # of the runs that its numbers come from; () = any


SECTIONS = (
    Section("Main results", ("main", "beside_paper", "success_rates"), "", ("eval",)),
    Section("Comparisons", ("comparisons",), "Differences are taken task by task. The interval is a bootstrap over tasks; p is the exact paired test (McNemar's for one seed), p_holm the same after Holm's "
            "correction for all rows of the table. Rates and differences are fractions.", ("eval",)),
    Section("Training dynamics and phases", ("dynamics_*", "phases_*", "reward_curve", "loss"), "Reward, trajectory length and turns against the step. Phases are found by a rule (least BIC), not by eye.", ("bc", "offline", "rl")),
    Section("Failures by cause", ("failure_causes*", "failures*"), "Each failed test episode has one cause, by rules over its recorded turns. Links lead to the turn that shows it.", ("eval",)),
    Section("Test-time scaling", ("turn_limits*",), "Success against the turn limit, all limits from one set of long rollouts.", ("long",)),
    Section("Ablations and demonstrations", ("ablation*", "demonstrations_curve*", "*normali*", "*flat*"), "What a part of the method is worth: the same way with it and without."),
    Section("Speed", ("speed*", "bench*"), "How fast the kit is on the machine that is named in the stamp."),
    Section("Further tables", ("*",), ""),
)
CAPTIONS = {  # name of a table or figure → what it shows; the first that fits
    "main": "Every benchmark, split, site, method and seed, with 95 % Wilson intervals of the rate.",
    "beside_paper": "What the paper reports (WebArena-Lite, 165 tasks) and what was measured here, by method and site. Other model, tasks and sites: compare the order, not the levels.",
    "success_rates": "Success rates on test tasks with 95 % Wilson intervals.",
    "comparisons": "Differences of success rates, method − reference, on the same test tasks.",
    "dynamics_*": "Each step's means; dashed: the fitted line of each phase.",
    "phases_*": "The phases: first and last step, and the fitted line's values there.",
    "reward_curve": "Success rate of the rollouts at each RL step; strong: running mean.",
    "loss": "Loss of behaviour cloning.",
    "failure_causes*": "Failures of each run by cause, with an example of each.",
    "failures*": "Every failed test episode.",
    "turn_limits*": "Success at each turn limit, and the gain over the lowest.",
    "ablation*": "Variants beside each other.",
    "demonstrations_curve*": "Success against the number of demonstrations.",
    "turns": "The scripted experts on all tasks of the Pocket Arena: turns by template.",
    "solved": "What agents that do not think solve of the arena's test tasks.",
    "environments": "The pages of MiniWoB++: what each needs, and what came of three episodes.",
}
HEADINGS = {"arena": "The whole Pocket Arena", "miniwob": "MiniWoB++, page by page", "pocket-base": "The small base model", "tries": "Earlier tries"}


@dataclass(frozen=True)
class Report:
    page: Path
    pdf: Path
    profiles: tuple[str, ...]
    tables: int
    figures: int


@dataclass
class Item:
    """A table or a figure on the page."""

    name: str
    caption: str
    links: list[tuple[str, str]]  # (text, address)
    table: Markup = Markup("")
    image: str = ""  # a data address
    rows: int = 0
    note: str = ""

    @property
    def folded(self) -> bool:
        return self.rows > OPEN_ROWS


@dataclass
class Chapter:
    """A profile, or another folder of results."""

    name: str
    heading: str
    summary: dict = field(default_factory=dict)  # of a profile: the compact tables
    case: tuple[str, str] | None = None  # the case study's address, and a sentence on it
    parts: list[tuple[Section, list[Item], list[str]]] = field(default_factory=list)  # with the names of the runs behind each
    runs: list[dict] = field(default_factory=list)


def write_report(to: str | Path = "", profile: str = "", results: str | Path = ROOT / "results") -> Report:
    """Write `report.html` and `figures.pdf` into the folder `to` (default: `results/report/`) from all that is in `results`, or of one profile alone.

    Raises AnalysisError if there is no such profile or nothing to report, and names a CSV that cannot be read or drawn.
    """
    results = Path(results).resolve()
    known = _profiles(results)
    if profile and profile not in known:
        raise AnalysisError(f"There are no results of a profile {profile!r} in {results}{near_miss(profile, known)}; there are some of {', '.join(known) or 'none'}.")
    if not known:
        raise AnalysisError(f"{results}: there is nothing to report yet; ./wr1 demo makes some results.")
    to = Path(to or results / "report").resolve()
    to.mkdir(parents=True, exist_ok=True)
    profiles = [profile] if profile else known
    pdf, link = to / "figures.pdf", _linker(to)
    found = [(csv, draw) for csv, draw in find_figures(results) if csv.relative_to(results).parts[0] in profiles]
    figures = gather_figures(found, pdf, results) if found else {}
    sources = dict(zip(figures, (csv for csv, _ in found)))
    chapters = [_profile_chapter(results, name, {key: (png, sources[key]) for key, png in figures.items() if key.split("/")[0] == name}, link) for name in profiles]
    others = [] if profile else _other_chapters(results, known, link)
    log = results / "LOG.md"
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))
    page = template.render(chapters=chapters, others=others, paper=_paper(), paper_link=link(PAPER_RESULTS), paper_tasks=PAPER_TASKS, pdf=link(pdf) if found else "",
                           log=_log(log, link) if log.is_file() and not profile else "", log_link=link(log))
    (to / "report.html").write_text(page, encoding="utf-8")
    items = [item for chapter in [*chapters, *others] for _, part, _ in chapter.parts for item in part]
    return Report(to / "report.html", pdf, tuple(profiles), sum(bool(item.table) for item in items), len(figures))


# ---- chapters --------------------------------------------------------------------------------------------------------------------


def _profiles(results: Path) -> list[str]:
    """The profiles with a main table or a run, those with the most test tasks first."""
    def tasks(name: str) -> int:
        main = results / name / "main.csv"
        return int(pd.read_csv(main)["tasks"].max()) if main.is_file() else 0
    names = [folder.name for folder in results.glob("*") if folder.is_dir() and ((folder / "main.csv").is_file() or _runs(folder))]
    return sorted(names, key=lambda name: (-tasks(name), name))


def _runs(folder: Path) -> list[Path]:
    runs = [run.parent for run in folder.glob("*/settings.toml") if re.fullmatch(r"[a-z]+(-\w+)?-s\d+", run.parent.name)]
    return sorted(runs, key=lambda run: (STAGES.index(_stage(run.name)) if _stage(run.name) in STAGES else len(STAGES), run.name))


def _stage(run: str) -> str:
    return run.split("-")[0]


def _profile_chapter(results: Path, name: str, figures: dict[str, tuple[bytes, Path]], link) -> Chapter:
    folder = results / name
    runs = _runs(folder)
    for run in runs:
        if (run / "trajectories.parquet").is_file():
            write_view(run)
    items = [_figure(key, png, csv, link) for key, (png, csv) in figures.items()] + [_table(csv, folder, link) for csv in _tables(folder)]
    chapter = Chapter(name, f"Profile {name}", runs=[_stamp(run, link) for run in runs])
    if (folder / "main.csv").is_file() and (folder / "comparisons.csv").is_file():
        rates, differences = compact_frames(folder)
        differences["p, Holm"] = read_table(folder / "comparisons.csv")["p_holm"].astype(str)  # whole: the page rounds it once
        chapter.summary = {"rates": _html(rates), "differences": _html(differences), "links": [_link(folder / file, link) for file in ("main.csv", "comparisons.csv")]}
    case = write_case_study(folder)
    chapter.case = (link(case.path), case.says) if case.path else None
    left = items
    for section in SECTIONS:
        chosen = [item for item in left if any(fnmatch(item.name, pattern) for pattern in section.names)]
        left = [item for item in left if item not in chosen]
        if chosen:
            behind = [run.name for run in runs if section.stages and _stage(run.name) in section.stages]
            chapter.parts.append((section, chosen, behind))
    return chapter


def _other_chapters(results: Path, profiles: list[str], link) -> list[Chapter]:
    """Of each other folder with tables or stamps: these."""
    chapters = []
    for folder in sorted(one for one in results.glob("*") if one.is_dir() and one.name not in profiles and one.name != "report"):
        items = [_table(csv, folder, link) for csv in _tables(folder)]
        runs = [_stamp(stamp.parent, link, results) for stamp in sorted(folder.rglob("environment.json"))]
        if items or runs:
            chapters.append(Chapter(folder.name, HEADINGS.get(folder.name, folder.name.capitalize()), parts=[(Section("", ("*",), ""), items, [])], runs=runs))
    return chapters


def _tables(folder: Path) -> list[Path]:
    """The CSVs with a Markdown twin, but for those of runs set aside."""
    return [csv for csv in sorted(folder.rglob("*.csv"), key=_place) if csv.with_suffix(".md").is_file() and not any(part.endswith(".old") for part in csv.parts)]


def _place(csv: Path) -> tuple[int, str]:
    """The rank of a table by its caption, so that the main ones come first, and its name."""
    return next((number for number, pattern in enumerate(CAPTIONS) if fnmatch(csv.stem, pattern)), len(CAPTIONS)), csv.as_posix()


def _caption(name: str) -> str:
    return next((text for pattern, text in CAPTIONS.items() if fnmatch(name, pattern)), name.replace("_", " ").capitalize() + ".")


# ---- tables, figures, runs -------------------------------------------------------------------------------------------------------


def _table(csv: Path, folder: Path, link) -> Item:
    try:
        frame = pd.read_csv(csv, dtype=str, keep_default_na=False)
    except ValueError as fault:  # of pandas: no columns, ragged rows, no UTF-8
        raise AnalysisError(f"{csv}: this is no CSV that can be read ({fault}); make it anew, or delete it.") from fault
    shown = frame.head(MOST_ROWS)
    note = f"The first {MOST_ROWS} of {len(frame)} rows; {csv.name} has all." if len(frame) > MOST_ROWS else ""
    links = [_link(file, link) for file in (csv, csv.with_suffix(".md"), csv.with_suffix(".tex")) if file.is_file()]
    where = csv.relative_to(folder).with_suffix("").as_posix()
    return Item(csv.stem, _caption(csv.stem), links, _html(shown, lambda address: link(csv.parent / address)), rows=len(frame), note=f"{where}. {note}" if "/" in where else note)


def _figure(name: str, png: bytes, csv: Path, link) -> Item:
    files = [csv, *(file for file in (csv.with_name(f"{Path(name).name}.pdf"),) if file.is_file())]
    run = csv.parent.name if len(Path(name).parts) > 2 else ""
    return Item(Path(name).name, _caption(Path(name).name), [_link(file, link) for file in files], image=data_uri(png, "image/png"), note=f"Run {run}." if run else "")


def _html(frame: pd.DataFrame, link=None) -> Markup:
    """A table whose numbers stand right, rounded to three digits with all of them on hover; cells that lead into a view of a run become links."""
    numeric = [all(_number(value) is not None or value in ("", "–") for value in frame[name]) and len(frame) > 0 for name in frame]
    head = Markup("").join(Markup("<th{}>{}</th>").format(Markup(' class="n"') if right else "", name.replace("_", " ")) for name, right in zip(frame, numeric))
    body = [Markup("<tr>{}</tr>").format(Markup("").join(_cell(value, right, link) for value, right in zip(row, numeric))) for row in frame.itertuples(index=False)]
    return Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, Markup("\n").join(body))


def _cell(value, right: bool, link) -> Markup:
    text = str(value)
    if link and "view.html#" in text:
        address, _, place = text.partition("#")
        return Markup('<td><a href="{}">{}</a></td>').format(f"{link(address)}#{place}", place.replace("@", ", turn "))
    number = _number(text) if right else None
    if number is not None and "." in text and len(text) > 5:
        return Markup('<td class="n" title="{}">{}</td>').format(text, f"{number:#.3g}" if abs(number) < 100 else f"{number:.0f}")
    return Markup("<td{}>{}</td>").format(Markup(' class="n"') if right or re.fullmatch(r"[+-]?[\d.]+ to [+-]?[\d.]+", text) else "", text)


def _number(text) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _stamp(run: Path, link, root: Path | None = None) -> dict:
    """What the page says of a run: its files, command, seed and commit. A missing or damaged file leaves its cells empty."""
    stamp, settings = _read(run / "environment.json", json.loads), _read(run / "settings.toml", tomllib.loads)
    names = RUN_FILES if root is None else tuple(file.name for file in sorted(run.iterdir()) if file.is_file())
    files = [*names, *(["view.html"] if root is None else [])]
    return {"name": run.name if root is None else run.relative_to(root).as_posix(), "command": stamp.get("command", ""), "commit": stamp.get("commit", ""), "started": stamp.get("started", "")[:16].replace("T", " "),
            "seed": settings.get("seed", ""), "machine": ", ".join(str(part) for part in (stamp.get("gpu") or stamp.get("cpu"), f"{stamp['cores']} cores" if "cores" in stamp else "") if part),
            "files": [_link(run / name, link) for name in files if (run / name).is_file()]}


def _read(file: Path, parse) -> dict:
    try:
        return parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _paper() -> Markup:
    """The paper's rates over all sites of the models that it trained."""
    table = paper_results()
    whole = table[table["site"] == "all"]
    rows = []
    for row in whole[whole.groupby("model")["method"].transform("size") > 1].sort_values("model", ascending=False, kind="stable").itertuples():
        low, high = wilson(round(row.rate / 100 * PAPER_TASKS), PAPER_TASKS)
        rows.append({"model": row.model, "method": row.method, "success rate, %": f"{row.rate:.1f}", "95 % Wilson interval": f"{100 * low:.1f} to {100 * high:.1f}", "source": row.source})
    return _html(pd.DataFrame(rows))


def _log(file: Path, link) -> Markup:
    """The log as HTML, its headings below those of the page and its links made to start from the page."""
    text = mistune.create_markdown(escape=True, plugins=["table"])(file.read_text(encoding="utf-8"))
    text = re.sub(r"(</?h)(\d)", lambda found: f"{found[1]}{min(6, int(found[2]) + 2)}", text)
    return Markup(re.sub(r'(href=")(?!\w+:|#)([^"]+)', lambda found: found[1] + str(escape(link(file.parent / found[2]))), text))


def _linker(to: Path):
    """A function path → its address from a page in `to`."""
    return lambda path: Path(os.path.relpath(path, to)).as_posix()


def _link(file: Path, link) -> tuple[str, str]:
    return file.name, link(file)
