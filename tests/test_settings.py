import dataclasses
import tomllib

import pytest

from wr1_utils import settings as module
from wr1_utils.settings import SettingsError, check_style, load_settings, profile_names, reply_limit, to_dict, to_toml, with_style


@pytest.mark.parametrize("profile", ["smoke", "demo", "laptop", "paper-3b", "paper-8b"])
def test_every_profile_loads_and_survives_a_round_trip(profile):
    settings = load_settings(profile)
    assert settings.profile == profile
    assert tomllib.loads(to_toml(settings)) == to_dict(settings)


def test_no_profile_is_left_untested():
    assert profile_names() == ["demo", "laptop", "paper-3b", "paper-8b", "smoke"]


def test_the_papers_numbers():
    """Learning rate, KL weight, group size, turn limit and token limits of the authors' code."""
    settings = load_settings("paper-8b")
    assert load_settings("paper-3b").rl.learning_rate == 1e-6 and load_settings("paper-3b").model.lora_rank == 0
    assert settings.model.lora_rank and settings.rl.learning_rate == 1e-5  # adapters: the profile says why
    assert (settings.rl.beta, settings.rl.group_size) == (0.001, 4)
    assert (settings.episode.turn_limit, settings.episode.reply_tokens, settings.episode.context_tokens) == (15, 1024, 16382 + 1024)
    assert "8B" in settings.model.path and settings.model.dtype == "bfloat16"
    for profile in ("paper-3b", "paper-8b"):
        assert load_settings(profile).tasks.benchmarks == ("webarena-lite",) and load_settings(profile).tasks.scoring == "webarena"


def test_a_profile_changes_what_it_extends_and_keeps_the_rest():
    demo, laptop = load_settings("demo"), load_settings("laptop")
    assert demo.rl.steps < laptop.rl.steps and demo.episode.turn_limit < laptop.episode.turn_limit
    assert demo.bc == laptop.bc and demo.rl.group_size == laptop.rl.group_size and demo.rollout == laptop.rollout


def test_overrides_may_be_dotted_or_nested():
    dotted = load_settings("smoke", **{"rl.steps": 7}, seed=3)
    assert dotted == load_settings("smoke", rl={"steps": 7}, seed=3)
    assert dotted.rl.steps == 7 and dotted.seed == 3 and dotted.rl.group_size == load_settings("smoke").rl.group_size


def test_a_whole_number_will_do_for_a_number():
    value = load_settings("smoke", **{"rl.temperature": 1}).rl.temperature
    assert value == 1.0 and isinstance(value, float)


@pytest.mark.parametrize("overrides, sentence", [
    ({"rl.step": 3}, "'rl.step' in profile smoke (did you mean 'steps'?)"),
    ({"steps": 3}, "did you mean 'rl.steps'?"),
    ({"brwoser": {}}, "did you mean 'browser'?"),
    ({"rl.steps": "3"}, "rl.steps in profile smoke must be a whole number, not the text '3'."),
    ({"rl.steps": True}, "must be a whole number, not true."),
    ({"rl.steps": 2.5}, "must be a whole number, not the number 2.5."),
    ({"rl.steps": -1}, "rl.steps in profile smoke must not be negative, but is -1."),
    ({"browser.headless": "false"}, "browser.headless in profile smoke must be true or false (not in quotes), not the text 'false'."),
    ({"browser.headless": 1}, "must be true or false (not in quotes), not the number 1."),
    ({"rl.normalizer": "papr"}, "must be one of paper, constant, not the text 'papr' (did you mean 'paper'?)."),
    ({"tasks.benchmarks": "pocket"}, "must be a list of text, not the text 'pocket'."),
    ({"tasks.benchmarks": ["pocket", 1]}, "must be a list of text"),
    ({"rl": 3}, "rl in profile smoke must be a table [rl] of settings, not the number 3."),
    ({"seed": None}, "seed in profile smoke must be a whole number, not nothing."),
])
def test_a_wrong_setting_is_refused_in_one_sentence(overrides, sentence):
    with pytest.raises(SettingsError) as caught:
        load_settings("smoke", **overrides)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_wrong_profile_names_the_nearest():
    with pytest.raises(SettingsError, match=r"There is no profile 'lapto' \(did you mean 'laptop'\?\); there are demo, laptop"):
        load_settings("lapto")


def test_a_profile_may_be_a_file(tmp_path):
    (tmp_path / "mine.toml").write_text('extends = "smoke"\n[rl]\nsteps = 1\n')
    settings = load_settings(str(tmp_path / "mine.toml"))
    assert (settings.profile, settings.rl.steps, settings.bc) == ("mine", 1, load_settings("smoke").bc)


@pytest.mark.parametrize("text, sentence", [
    ("[rl]\nsteps = = 3\n", "bad.toml is not valid TOML: Invalid value (at line 2"),
    ('extends = "lapto"\n', "extends in profile bad: There is no profile 'lapto' (did you mean 'laptop'?)"),
    ("[rl]\nstepz = 3\n", "'rl.stepz' in profile bad (did you mean 'steps'?)"),
])
def test_a_faulty_profile_file_is_named(tmp_path, text, sentence):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path / "bad.toml"))
    assert sentence in str(caught.value)


def test_profiles_that_extend_each_other_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PROFILES", tmp_path)
    (tmp_path / "a.toml").write_text('extends = "b"\n')
    (tmp_path / "b.toml").write_text('extends = "a"\n')
    with pytest.raises(SettingsError, match="extends itself by way of a → b"):
        load_settings("a")


def test_one_style_for_the_experts_and_for_the_reading():
    """`with_style` sets both; where they contradict each other, one sentence names both."""
    laptop = load_settings("laptop")
    for style, read_as in (("short", "think"), ("cot", "think"), ("bare", "bare")):
        settings = with_style(laptop, style)
        assert (settings.demos.style, settings.model.reply_style) == (style, read_as)
        check_style(settings)
    with pytest.raises(SettingsError, match='demos.style is "bare", .* model.reply_style = "bare", but that is "think"'):
        check_style(load_settings("laptop", **{"demos.style": "bare"}))
    with pytest.raises(SettingsError, match='demos.style is "short", .* model.reply_style = "think", but that is "bare"'):
        check_style(load_settings("laptop", **{"model.reply_style": "bare"}))


def test_a_paragraph_has_more_room():
    settings = load_settings("laptop", **{"episode.reply_tokens": 50, "episode.cot_tokens": 70})
    assert [reply_limit(with_style(settings, style)) for style in ("short", "bare", "cot")] == [50, 50, 120]


def test_paths_start_at_the_repository(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert (module.project_path("data/profiles") / "laptop.toml").is_file()
    assert module.project_path(str(tmp_path)) == tmp_path
