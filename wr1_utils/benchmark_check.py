"""`wr1 doctor --benchmark NAME`: is all there that a benchmark needs? Of WebArena every site, every login and one harmless task, before hours are spent."""

from __future__ import annotations

from wr1_utils.doctor import Finding
from wr1_utils.errors import WR1Error
from wr1_utils.settings import Settings
from wr1_utils.tasks import open_place, test_tasks
from wr1_utils.tasks.task import Task
from wr1_utils.tasks.webarena import SITES, address_fault, changes_state, given_addresses, site_fault
from wr1_utils.tasks.webarena_files import FOLDER, patches_of, read_patches, read_task_file, webarena_scoring
from wr1_utils.tasks.webarena_logins import PAGES, Logins
from wr1_utils.web.browser import Browser, InfrastructureError
from wr1_utils.web.episode import Episode
from wr1_utils.web.loop import run


def examine_benchmark(settings: Settings) -> list[Finding]:
    """The findings on the one benchmark of `settings.tasks.benchmarks`; an episode is tried only where nothing that it needs is missing."""
    benchmark, = settings.tasks.benchmarks
    webarena = benchmark.startswith("webarena")
    try:
        tasks = test_tasks(settings)
        findings = _files(settings, benchmark, tasks) if webarena else [Finding("tasks", f"{len(tasks)} test tasks", True, True)]
    except WR1Error as error:
        tasks = []
        findings = [Finding("tasks", str(error), False, True, f"see the README, WebArena; wheels are looked for in {FOLDER}" if webarena else "")]
    if webarena:
        findings += [*run(_sites(settings)), *(_options(settings, tasks) if tasks else ())]
    missing = [one.name for one in findings if one.needed and not one.good]
    if missing:
        return [*findings, Finding("one task", f"not tried: {', '.join(missing)} missing", False, True)]
    return [*findings, _one_task(settings, benchmark, tasks)]


def harmless(tasks: list[Task]) -> Task:
    """A task to try: one that changes nothing, on one site that it starts on, without a judge model where there is one."""
    def worst(task: Task) -> tuple:
        return (changes_state(task), len(task.sites), "fuzzy_match" in (task.eval.get("reference_answers") or {}), "url_match" in task.eval["eval_types"])

    return min(tasks, key=worst)


def _files(settings: Settings, benchmark: str, tasks: list[Task]) -> list[Finding]:
    file = read_task_file(settings.webarena, benchmark)
    scoring = webarena_scoring(settings.tasks.scoring)
    patches = patches_of(benchmark, scoring) if settings.webarena.records == "patched" else []
    numbers = ", ".join(str(patch["task"]) for patch in patches) or "none"
    return [Finding("tasks", f"{len(tasks)} test tasks of {file.name}, SHA-256 {file.sha256}", True, True),
            Finding("patches", f"version {read_patches()['version']}, for scoring {scoring}: tasks {numbers}")]


def _options(settings: Settings, tasks: list[Task]) -> list[Finding]:
    """What a run can do without, and how many tasks suffer."""
    findings = []
    if settings.webarena.reset_command:
        findings.append(Finding("reset hook", "webarena.reset_command, before each episode for each site that its task can change"))
    else:
        count = sum(changes_state(task) for task in tasks)
        findings.append(Finding("reset hook", f"none; {count} test tasks may change a site, and nothing puts it back", False, False,
                                "set webarena.reset_command; without it a run warns and lists these tasks"))
    judged = sum("fuzzy_match" in (task.eval.get("reference_answers") or {}) for task in tasks)
    pages = sum(any("fuzzy_match" in check["required_contents"] for check in task.eval.get("program_html") or ()) for task in tasks)
    state = f"{settings.judge.model} at {settings.judge.base_url}" if settings.judge.base_url else f"none: {judged + pages} test tasks need one and stay unscored without"
    findings.append(Finding("judge", state, bool(settings.judge.base_url), False, "set judge.base_url and judge.model"))
    return findings


async def _sites(settings: Settings) -> list[Finding]:
    """Of each site that each of its copies answers, and takes the account. What is wrong with one hides none of the others."""
    addresses, browser, findings = given_addresses(settings.webarena), Browser(settings.browser), []
    try:
        logins = Logins(settings.webarena, browser)
    except WR1Error as error:
        logins = None
        findings.append(Finding("logins", str(error), False, True))
    try:
        for site in (*SITES, "homepage"):
            setting = f"{site.upper()} in the environment, or webarena.{site} in the profile"
            if site not in addresses and site != "homepage":
                findings.append(Finding(f"site {site}", "no address", False, True, f"set {setting}"))
            for address in addresses.get(site, ()):
                if wrong := address_fault(address):
                    findings.append(Finding(f"site {site}", f"{address!r} is no address: {wrong}", False, True, f"put right {setting}"))
                    continue
                fault = await site_fault(browser, address)
                findings.append(Finding(f"site {site}", f"{address}: {fault or 'answers'}", not fault, True, "start the site, or put its address right"))
                if site in PAGES and logins and not fault:
                    findings.append(await _login(logins, site, address))
    except WR1Error as error:
        findings.append(Finding("sites", str(error), False, True))
    finally:
        await browser.stop()
    return findings


async def _login(logins: Logins, site: str, address: str) -> Finding:
    try:
        await logins.cookies(site, address, doubtful=True)
        return Finding(f"login {site}", f"works at {address}", True, True)
    except InfrastructureError as error:
        remedy = f"set {site.upper()}_USER and {site.upper()}_PASSWORD; WebArena's own documentation has the accounts of its sites"
        return Finding(f"login {site}", str(error), False, True, remedy)


def _one_task(settings: Settings, benchmark: str, tasks: list[Task]) -> Finding:
    """One task opened, seen, ended with an answer and scored."""
    task = harmless(tasks)
    place, browser = open_place(settings, benchmark), Browser(settings.browser)

    async def play() -> str:
        episode = Episode(browser, place, task, settings.seed, settings)
        try:
            observation = await episode.reset()
            await episode.step('<answer>exit("none")</answer>' if settings.model.reply_style == "think" else 'exit("none")')
            score = await episode.score()
            return f"{task.task_id} opened at {observation.url}, its answer \"none\" was " + ("unscored" if score is None else f"scored {score:g}")
        finally:
            await episode.close()
            await browser.stop()

    try:
        place.start()
        return Finding("one task", run(play()), True, True)
    except (WR1Error, InfrastructureError) as error:
        return Finding("one task", f"{task.task_id}: {error}", False, True)
    finally:
        place.stop()
