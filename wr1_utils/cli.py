"""The command line: `wr1 demo · run · tasks · figures · report · test · doctor · score · serve · view · bench`.

Errors that a person can put right (WR1Error) are printed as one sentence, exit 2; Ctrl-C gives exit 130.
"""

import argparse
import os
import subprocess
import sys
import threading
from pathlib import Path

from wr1_utils.errors import WR1Error
from wr1_utils.settings import ROOT, SettingsError, load_settings, project_path


def main(argv: list[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    words = [os.path.basename(word) if os.path.isabs(word) else word for word in (sys.argv[1:] if argv is None else argv)]
    os.environ["WR1_COMMAND"] = " ".join(["wr1", *words])  # for the stamps of what it makes, which hold no path of this machine
    try:
        return arguments.command(arguments)
    except WR1Error as error:
        print(f"wr1: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\nwr1: interrupted; {arguments.after_interrupt}", file=sys.stderr)
        return 130


def demo(arguments) -> int:
    """Run the notebooks of the whole way, one after another."""
    from wr1_utils import demo as way

    way.run(arguments.profile, arguments.seed, arguments.benchmark)
    return 0


def test(arguments) -> int:
    """Run the tests in a process of their own, as `pytest` would from the repository's root."""
    chosen = [] if arguments.slow else ["-m", "not slow"]
    return subprocess.run([sys.executable, "-m", "pytest", *chosen, *arguments.rest], cwd=ROOT).returncode


def make_tasks(arguments) -> int:
    """Write the task set of the Pocket Arena, all sites, for a seed, and say what it holds."""
    from wr1_utils.tasks.arena import TASK_FILES, write_arena
    from wr1_utils.tasks.task import load_tasks

    if arguments.seed < 0:
        raise SettingsError(f"--seed must be 0 or more, not {arguments.seed}.")
    folder = Path(arguments.to or f"tasks-s{arguments.seed}")
    if arguments.seed and folder.resolve() == project_path("data/tasks").resolve():
        raise SettingsError("data/tasks holds the set of seed 0, on which results were made; give another folder with --to.")
    left_out = write_arena(folder, arguments.seed, arguments.without)
    for name in TASK_FILES:
        print(f"{folder / name}: {len(load_tasks(folder / name))} tasks")
    if arguments.seed:
        print("No task asks for the same as one of the committed tasks, to train on or to test on.")
    if left_out:
        names = ", ".join(f"{name} {number}" for name, number in left_out.items())
        print(f"{sum(left_out.values())} tasks were left out because their templates have nothing else to ask for: {names}.")
    return 0


def figures(arguments) -> int:
    """Draw all figures again from the CSVs in results/, and say which."""
    from wr1_utils.analysis.figures import draw_all

    for png in draw_all():
        print(f"{png.relative_to(ROOT).with_suffix('')}.pdf and .png", flush=True)
    return 0


def report(arguments) -> int:
    """Write the page of all results and the PDF of all figures, and say where they are."""
    from wr1_utils.analysis.report import write_report

    made = write_report(arguments.to or "", arguments.profile)
    print(f"{made.page}: {', '.join(made.profiles)}; {made.tables} tables, {made.page.stat().st_size / 1e6:.1f} MB; open it in any browser.")
    if made.figures:
        print(f"{made.pdf}: {made.figures} figures.")
    return 0


def doctor(arguments) -> int:
    from wr1_utils import doctor as examination

    return examination.report_benchmark(arguments.profile, arguments.benchmark) if arguments.benchmark else examination.report()


def score(arguments) -> int:
    """Score a file of another agent's answers and print both rates."""
    from wr1_utils import score_files

    report = score_files.score_file(load_settings(arguments.profile), arguments.benchmark, arguments.file, arguments.scoring)
    print(score_files.as_json(report) if arguments.json else score_files.as_text(report))
    return 0


def serve(arguments) -> int:
    """Open the Pocket Arena to a person's browser until Ctrl-C."""
    from wr1_utils.sites.server import SITES, SiteServer, logins

    if not 0 <= arguments.port <= 65535:
        raise SettingsError(f"--port must be between 0 and 65535 (0 = any free one), not {arguments.port}.")
    server = SiteServer(arguments.port, for_people=True)
    server.start()
    print("The Pocket Arena is open. All its sites are one world, the same for every browser, and anew at each start. Ctrl-C closes it.")
    accounts = logins()
    for site in SITES:
        login = "log in as {} with the password {}".format(*accounts[site]) if site in accounts else "no login"
        print(f"  {server.url(site) + '/':38} {login}", flush=True)
    try:
        threading.Event().wait()
    finally:
        server.stop()


def view(arguments) -> int:
    """Write the page that shows a run's trajectories."""
    from wr1_utils.analysis.viewer import write_view

    if arguments.limit < 0:
        raise SettingsError(f"--limit must be 0 (as many as fit) or more, not {arguments.limit}.")
    made = write_view(arguments.run, arguments.limit)
    print(f"{made.path}: {made.trajectories} trajectories, {made.path.stat().st_size / 1e6:.1f} MB; open it in any browser.")
    if made.left_out:
        print(made.left_out)
    return 0


def bench(arguments) -> int:
    """Measure the kit's speed and print the figures."""
    from wr1_utils import bench as measurements

    figures = measurements.measure(arguments.names)
    print(measurements.as_json(figures) if arguments.json else measurements.as_table(figures))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="wr1", description="A kit to reproduce WebAgent-R1: web tasks in a real browser, behaviour cloning, M-GRPO.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command, text: str, after_interrupt: str = "nothing was left half done.", below=commands):
        one = below.add_parser(name, help=text, description=text)
        one.set_defaults(command=command, after_interrupt=after_interrupt, rest=[])
        return one

    resume = "the same command goes on from the last finished step."
    for name, profile, text in (("demo", "demo", "watch the whole way: warm-up, reinforcement learning, evaluation, table"),
                                ("run", "laptop", "the same way at another profile")):
        one = add(name, demo, text, resume)
        one.add_argument("--profile", default=profile, help=f"a name in data/profiles/ or the path of a .toml file (default: {profile})")
        one.add_argument("--seed", type=int, help="of sampling and training; only this one (default: the profile's run.seeds)")
        one.add_argument("--benchmark", default="", help="train and test on this benchmark alone, with results in a folder of their own (default: the profile's)")
    tasks = commands.add_parser("tasks", help="make further task sets of the Pocket Arena", description="Further task sets of the Pocket Arena.")
    one = add("make", make_tasks, "write the training and the test tasks of a seed, all sites; seed 0 gives those in data/tasks",
              below=tasks.add_subparsers(metavar="COMMAND", required=True))
    one.add_argument("--seed", type=int, required=True, help="another than 0 draws other tasks from the same templates, none that data/tasks has; two such seeds may share some, see --without")
    one.add_argument("--to", metavar="FOLDER", help="where the two files go (default: tasks-s<seed>)")
    one.add_argument("--without", metavar="FOLDER", nargs="+", default=[], help="folders of earlier sets, with which the new one shares no task either")
    add("figures", figures, "draw every figure in results/ again from the CSV that lies beside it; no run is needed")
    one = add("report", report, "write one HTML page of everything in results/, with a link to each file behind each number, and all figures as one PDF")
    one.add_argument("--profile", default="", help="of this profile alone (default: of all that have results)")
    one.add_argument("--to", metavar="FOLDER", help="where report.html and figures.pdf go (default: results/report)")
    one = add("test", test, "run the tests; what stands after -- goes to pytest", "the tests were stopped.")
    one.add_argument("--slow", action="store_true", help="also run the tests marked slow")
    one.add_argument("rest", nargs="*", metavar="-- ARGUMENT", help="for pytest, as in: wr1 test -- -k settings -x")
    one = add("doctor", doctor, "say what is there, what is missing and what to do about it")
    one.add_argument("--benchmark", metavar="NAME", help="check what one benchmark needs instead: of webarena-lite every site, login and one harmless task")
    one.add_argument("--profile", default="laptop", help="whose settings are checked with --benchmark (default: laptop)")
    one = add("score", score, "score another agent's trajectories or answers from a file; the README says what it holds", "nothing was scored.")
    one.add_argument("file", metavar="FILE", help="a .jsonl or .parquet file")
    one.add_argument("--benchmark", metavar="NAME", default="webarena-lite", help="whose tasks the file answers (default: webarena-lite)")
    one.add_argument("--profile", default="laptop", help="whose addresses and judge model are used (default: laptop)")
    one.add_argument("--scoring", default="", help="wr1, webarena or browsergym (default: webarena for WebArena's tasks, else the profile's)")
    one.add_argument("--json", action="store_true", help="print one object, with the score of each row, and nothing else")
    one = add("serve", serve, "open the Pocket Arena's websites to your own browser", "the server was stopped.")
    one.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (default: any free one)")
    one = add("view", view, "write one HTML page that shows a run's trajectories turn by turn")
    one.add_argument("run", metavar="RUN", help="the folder of a run, such as results/demo/eval-r1-s0, or a Parquet file of trajectories")
    one.add_argument("--limit", type=int, default=0, metavar="N", help="show the first N trajectories (default: as many as fit in 48 MB)")
    one = add("bench", bench, "measure how fast the kit is on this machine, each figure beside its goal")
    one.add_argument("names", nargs="*", metavar="NAME", help="worlds, pages, steps, observation, miniwob, training or rl_step (default: all)")
    one.add_argument("--json", action="store_true", help="print one object, name → {value, unit, n}, and nothing else")
    return parser


if __name__ == "__main__":
    sys.exit(main())
