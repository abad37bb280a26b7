"""WebArena's place, its sites played by the Pocket Arena: addresses, logins, resets, copies, tabs, geolocation, and the doctor."""

import asyncio
import dataclasses
import json
import os
import stat
import time

import pytest

from wr1_utils.benchmark_check import examine_benchmark, harmless
from wr1_utils.settings import ROOT, SettingsError, load_settings
from wr1_utils.sites.server import SiteServer, logins
from wr1_utils.stepper import Stepper
from wr1_utils.tasks import open_place
from wr1_utils.tasks import test_tasks as the_test_tasks
from wr1_utils.tasks.webarena import SITES, WebArena, changes_state, disturbance, site_addresses
from wr1_utils.tasks.webarena_logins import LoginRefused
from wr1_utils.web.browser import InfrastructureError
from wr1_utils.web.loop import run

MEMBERS = {"shopping": "/orders", "shopping_admin": "/", "reddit": "/settings", "gitlab": "/profile"}  # of the Pocket Arena


@pytest.fixture(scope="module")
def sites():
    server = SiteServer(for_people=True)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def settings(sites, webarena_files, monkeypatch, tmp_path):
    """A function (changes of settings.webarena) → settings, with the Pocket Arena's addresses in the environment and its accounts in a file."""
    for site in SITES:
        monkeypatch.setenv(site.upper(), sites.url(site))
    accounts = tmp_path / "accounts.toml"
    tables = [f'[{site}]\nuser = "{user}"\npassword = "{password}"\nlogin_page = "/login"\nmember_page = "{MEMBERS[site]}"'
              for site, (user, password) in logins().items()]
    accounts.write_text("\n".join(tables))

    def make(**changes):
        whole = load_settings("smoke", **{"tasks.benchmarks": ["webarena-lite"], "tasks.test_limit": 0})
        given = {"accounts": str(accounts), "login_folder": str(tmp_path / "logins"), **changes}
        return dataclasses.replace(whole, webarena=dataclasses.replace(webarena_files, **given))

    return make


def task(settings, number):
    return next(one for one in the_test_tasks(settings) if one.task_id == f"webarena-lite.{number}")


def sessions(folder):
    return {path.name.rpartition("-")[0]: path for path in folder.iterdir()}


def test_an_episode_of_a_real_task(settings, tmp_path, capsys):
    """From the task file to the score: logged in, seen, answered, scored by the rules that the trajectory will name."""
    chosen = settings()
    with Stepper(chosen, task(chosen, 4)) as hand:
        page = hand.reset()
        assert "shopping_admin.localhost" in page.url and "/login" not in page.url
        hand.step('<think></think><answer>exit("Impulse Duffle, Overnight Duffle, Hawkeye Yoga Short-32-Blue")</answer>')
        assert hand.score() == 1.0 and hand.place.scoring == "webarena" and hand.intent.startswith("What are the top-3")
    warning = capsys.readouterr().err
    assert warning.startswith("WARNING: no reset hook. ") and "may change the state of a site" in warning and "reset_command" in warning
    kept = sessions(tmp_path / "logins")
    assert set(kept) == set(logins()) and not any(path.is_relative_to(ROOT) for path in kept.values())
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.values()} == {0o600} and stat.S_IMODE((tmp_path / "logins").stat().st_mode) == 0o700


def test_logins_are_kept_and_renewed_when_stale(settings, tmp_path, sites):
    """A fresh one is used as it is; an old or doubtful one is tried first, and made anew when the site has forgotten it."""
    place = WebArena(settings(), "webarena-lite")
    address = sites.url("shopping")
    try:
        made = run(place.logins.cookies("shopping", address))
        path = sessions(tmp_path / "logins")["shopping"]
        before = path.stat().st_mtime_ns
        assert run(place.logins.cookies("shopping", address)) == made and path.stat().st_mtime_ns == before
        assert run(place.logins.cookies("shopping", address, doubtful=True)) == made and path.stat().st_mtime_ns > before  # tried, and still good
        dead = json.loads(path.read_text())
        dead["cookies"][0]["value"] = "forgotten"
        path.write_text(json.dumps(dead))
        assert run(place.logins.cookies("shopping", address)) == dead["cookies"], "not tried within login_hours"
        old = time.time() - 7 * 3600
        os.utime(path, (old, old))
        renewed = run(place.logins.cookies("shopping", address))
        assert renewed[0]["value"] not in ("forgotten", made[0]["value"])
        assert run(place.logins.cookies("map", sites.url("map"))) == []
        place.logins.accounts["shopping"] = dataclasses.replace(place.logins.accounts["shopping"], user="nobody@shop.test")
        with pytest.raises(LoginRefused, match="shopping at http://shopping.localhost:.* did not take the account of SHOPPING_USER"):
            run(place.logins.cookies("shopping", address))
        place.logins.accounts["gitlab"] = dataclasses.replace(place.logins.accounts["gitlab"], login_page="/explore", user="x")
        with pytest.raises(LoginRefused, match="/explore shows no form with a password"):
            run(place.logins.cookies("gitlab", sites.url("gitlab")))
    finally:
        place.stop()


def test_a_refused_login_stops_the_start(settings, monkeypatch):
    """In one sentence, before an episode is played."""
    monkeypatch.setenv("SHOPPING_PASSWORD", "wrong")
    with pytest.raises(SettingsError, match="webarena-lite cannot start: shopping at .* did not take the account"):
        WebArena(settings(), "webarena-lite").start()


def test_missing_addresses_are_all_named(settings, monkeypatch):
    monkeypatch.delenv("MAP")
    monkeypatch.setenv("WIKIPEDIA", "")
    with pytest.raises(SettingsError, match="set MAP, WIKIPEDIA in the environment"):
        WebArena(settings(), "webarena-lite").start()


def test_addresses(settings, monkeypatch):
    """The settings go before the environment; several are copies."""
    monkeypatch.setenv("HOMEPAGE", "http://h:1/")
    found = site_addresses(settings(shopping="http://a:1/ http://b:2").webarena)
    assert found["shopping"] == ["http://a:1", "http://b:2"] and found["homepage"] == ["http://h:1"] and len(found["gitlab"]) == 1
    for wrong, words in (("h:9", "it should begin with http"), ("ftp://x", "it should begin with http"), ("http://h:99999", "it is no URL"), ("http://:9", "it names no host")):
        with pytest.raises(SettingsError, match=f"address of reddit is '{wrong}'; {words}"):
            site_addresses(settings(reddit=wrong).webarena)


@pytest.mark.parametrize("change, words", [
    ({"login_folder": str(ROOT / "data/logins")}, "webarena.login_folder is in the repository"),
    ({"accounts": str(ROOT / "accounts.toml")}, "webarena.accounts is a file in the repository"),
    ({"accounts": "/nowhere/accounts.toml"}, "there is no such file"),
])
def test_what_is_secret_stays_outside_the_repository(settings, change, words):
    with pytest.raises(SettingsError, match=words):
        WebArena(settings(**change), "webarena-lite")


@pytest.mark.parametrize("text, words", [("[shoping]\nuser = 'x'", "'shoping' \\(did you mean 'shopping'"), ("[reddit]\nname = 'x'", r"\[reddit\] in .* has 'name'"),
                                         ("[reddit", "is not valid TOML")])
def test_a_faulty_account_file_is_named(settings, tmp_path, text, words):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(SettingsError, match=words):
        WebArena(settings(accounts=str(tmp_path / "bad.toml")), "webarena-lite")


def test_the_warning_lists_the_tasks(settings):
    """Those scored by what pages hold, by their numbers; none with a reset command."""
    chosen = settings()
    tasks = the_test_tasks(chosen)
    changing = {int(one.task_id.partition(".")[2]) for one in tasks if changes_state(one)}
    assert len(changing) == 67 and 505 in changing and 4 not in changing
    warning = disturbance(chosen, tasks)
    listed = warning.split("  test tasks: ")[1].split("\n")[0].split(", ")
    spans = [(int(one.partition("–")[0]), int(one.rpartition("–")[2])) for one in listed]
    assert {number for low, high in spans for number in range(low, high + 1)} == changing and f"{len(changing)} of 165 tasks" in warning
    assert "all later ones and those beside it see" in warning
    copies = {site: "http://a:1 http://b:1" for site in ("shopping", "shopping_admin", "reddit", "gitlab")}
    assert "still there for the next one on its copy" in disturbance(settings(**copies), tasks)
    assert disturbance(settings(reset_command="true"), tasks) == ""
    assert changes_state(dataclasses.replace(task(chosen, 4), require_reset=True))


def test_each_episode_is_reset_and_has_its_sites_to_itself(settings, tmp_path):
    """The command is told what to reset; with one copy the second episode waits for the first; sites that nobody can change are never reset."""
    notes = tmp_path / "notes"
    chosen = settings(reset_command=f'echo "$WR1_SITE $WR1_ADDRESS $WR1_TASK $WR1_SEED" >> {notes}')
    place = open_place(chosen, "webarena-lite")

    async def two():
        first = await place.enter(task(chosen, 4), 11)
        second = asyncio.ensure_future(place.enter(task(chosen, 505), 12))
        await asyncio.sleep(0.5)
        waited = not second.done()
        place.leave(first)
        place.leave(first)
        visit = await asyncio.wait_for(second, 60)
        place.leave(visit)
        place.leave(await place.enter(task(chosen, 7), 13))
        return waited, first, visit

    try:
        waited, first, visit = run(two())
        assert waited and first.key != visit.key and visit.cookies
        address = site_addresses(chosen.webarena)["shopping_admin"][0]
        assert task(chosen, 7).sites == ("map",)
        assert notes.read_text().splitlines() == [f"shopping_admin {address} webarena-lite.4 11", f"shopping_admin {address} webarena-lite.505 12"]
    finally:
        place.stop()


@pytest.mark.parametrize("command, words", [
    ("echo no such container >&2; exit 3", "the reset command failed for shopping_admin at .* \\(exit 3\\): no such container"),
    ("sleep 60", "took more than 2 s: the reset command did not end"),
])
def test_a_failed_reset_is_no_failure_of_the_agent(settings, command, words):
    """The copy is free again afterwards."""
    place = WebArena(settings(reset_command=command, reset_s=2.0), "webarena-lite")
    for _ in range(2):
        with pytest.raises(InfrastructureError, match=words):
            run(place.enter(task(place.settings, 4), 0))


def test_episodes_at_once_get_different_copies(settings, sites):
    """Two addresses of the admin site; the task's placeholders are filled with the episode's own."""
    copies = [sites.url("shopping_admin"), f"http://shopping_admin.localhost.:{sites.port}"]
    chosen = settings(shopping_admin=" ".join(copies))
    place = WebArena(chosen, "webarena-lite")

    async def two():
        quiet = dataclasses.replace(task(chosen, 4), require_login=False)
        return [(await place.enter(quiet, seed)).start_url for seed in (0, 1)]

    assert run(two()) == copies


def test_further_tabs_and_the_geolocation(settings, sites):
    """What a record may ask for: several start addresses (431 has three), and a place on earth."""
    chosen = settings()
    real = task(chosen, 4)
    start = "__WIKIPEDIA__ |AND| __MAP__"
    asked = dataclasses.replace(real, sites=("map", "wikipedia"), start_url=start, geolocation={"latitude": 40.4, "longitude": -79.9})
    with Stepper(chosen, asked) as hand:
        page = hand.reset()
        assert "wikipedia.localhost" in page.url and len(hand.episode._tabs) == 2
        where = "() => new Promise((good, bad) => navigator.geolocation.getCurrentPosition(one => good([one.coords.latitude, one.coords.longitude]), bad, {timeout: 9000}))"
        assert run(hand.episode._tabs[0].page.evaluate(where), timeout=20) == [40.4, -79.9]
        moved = hand.step('<think></think><answer>do(action="Switch Tab", argument="1")</answer>').observation
        assert "map.localhost" in moved.url


@pytest.mark.slow
def test_the_doctor_checks_every_site_and_login_and_plays_a_harmless_task(settings, capsys):
    findings = {one.name: one for one in examine_benchmark(settings())}
    assert set(findings) == {"tasks", "patches", "reset hook", "judge", "one task", *(f"site {site}" for site in SITES), *(f"login {site}" for site in logins())}
    assert not [one for one in findings.values() if one.needed and not one.good], findings
    assert "165 test tasks" in findings["tasks"].state and "SHA-256 " in findings["tasks"].state and "349, 505, 144" in findings["patches"].state
    assert "its answer \"none\" was scored 0" in findings["one task"].state and not findings["reset hook"].good and "67 test tasks" in findings["reset hook"].state
    assert not changes_state(harmless(the_test_tasks(settings())))


@pytest.mark.slow
def test_the_doctor_says_what_is_missing(settings, monkeypatch):
    monkeypatch.setenv("GITLAB", "http://127.0.0.1:9")
    monkeypatch.setenv("REDDIT_PASSWORD", "wrong")
    monkeypatch.delenv("MAP")
    findings = {one.name: one for one in examine_benchmark(settings())}
    bad = {name for name, one in findings.items() if one.needed and not one.good}
    assert bad == {"site gitlab", "login reddit", "site map", "one task"}
    assert "http://127.0.0.1:9" in findings["site gitlab"].state and "did not take the account" in findings["login reddit"].state
    assert findings["site map"].remedy == "set MAP in the environment, or webarena.map in the profile" and "not tried" in findings["one task"].state


NOWHERE = {site: "http://127.0.0.1:9" for site in (*SITES, "homepage")}


@pytest.mark.parametrize("change, bad", [
    ({"lite_file": "/nowhere/tasks.json"}, {"tasks": "/nowhere/tasks.json"}),
    ({"map": "notaurl", "gitlab": "ftp://x", "homepage": "http://[bad"}, {
        "site map": "'notaurl' is no address: it should begin with http", "site gitlab": "'ftp://x' is no address", "site homepage": "'http://[bad' is no address"}),
    ({"accounts": "/nowhere/accounts.toml"}, {"logins": "there is no such file"}),
])
def test_one_fault_hides_no_other(monkeypatch, webarena_files, tmp_path, change, bad):
    """Task files, addresses and accounts are looked at each by itself: what is wrong with one is said, and the others are still looked at."""
    async def answers(browser, address):
        return ""

    async def taken(self, site, address, doubtful):
        return []

    monkeypatch.setattr("wr1_utils.benchmark_check.site_fault", answers)
    monkeypatch.setattr("wr1_utils.benchmark_check.Logins.cookies", taken)
    given = dataclasses.replace(webarena_files, login_folder=str(tmp_path), **{**NOWHERE, **change})
    whole = load_settings("smoke", **{"tasks.benchmarks": ["webarena-lite"], "tasks.test_limit": 0})
    findings = {one.name: one for one in examine_benchmark(dataclasses.replace(whole, webarena=given))}
    assert {name for name, one in findings.items() if one.needed and not one.good} == {*bad, "one task"}
    assert all(words in findings[name].state for name, words in bad.items()), findings
    checked = {"tasks", *(f"site {site}" for site in NOWHERE), *(f"login {site}" for site in MEMBERS if "logins" not in bad and f"site {site}" not in bad)}
    assert checked <= set(findings) and all(name in findings["one task"].state for name in bad)
