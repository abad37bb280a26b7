"""All settings of a run, as one tree of frozen dataclasses; a profile is a TOML file in `data/profiles/`.

Unknown names and wrong types are refused with a sentence that names the near miss.
"""

import dataclasses
import difflib
import tomllib
import typing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import tomlkit

from wr1_utils.errors import WR1Error

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ROOT / "data" / "profiles"


class SettingsError(WR1Error, ValueError):
    """A profile, a setting or a notebook parameter that cannot be used."""


@dataclass(frozen=True)
class BrowserSettings:
    path: str = ""  # the browser's program; "" = find one
    active_pages: int = 4  # pages that work at the same moment; about twice the cores
    headless: bool = True
    launch_args: tuple[str, ...] = ()  # further arguments for the browser


@dataclass(frozen=True)
class SitesSettings:
    port: int = 0  # of the Pocket Arena's server on 127.0.0.1; 0 = any free one


@dataclass(frozen=True)
class EpisodeSettings:
    turn_limit: int = 10
    style: Literal["compact", "paper"] = "compact"  # how a page is written for the policy
    page_tokens: int = 700  # longest page, in tokens; the rest is cut with a note
    reply_tokens: int = 96  # longest reply, in tokens
    cot_tokens: int = 128  # what a reply may have beyond that where the thought is a paragraph (demos.style = "cot"); see reply_limit
    context_tokens: int = 2048  # longest context + reply, in tokens
    compress: bool = True  # a context holds earlier pages as placeholders; false: as they were, whole
    timeout_s: float = 15.0  # limit of one wait for the browser, in seconds
    settle_ms: int = 500  # longest wait after an action for the page's own timers and requests, in milliseconds


@dataclass(frozen=True)
class ModelSettings:
    path: str = "data/models/pocket-base"
    gguf_file: str = ""  # for a folder of GGUF weights: the file's name
    dtype: Literal["float32", "bfloat16"] = "float32"  # what it computes in; weights that are trained are kept in float32 either way
    train_embeddings: bool = True  # false: the token embeddings, and an output layer tied to them, stay as they are
    lora_rank: int = 0  # 0: the weights are trained; above: adapters of this rank (LoRA), the weights stay, in `dtype` (needs train_embeddings = false)
    lora_alpha: int = 32  # adapters are added times lora_alpha / lora_rank
    gradient_checkpointing: bool = False  # keep a layer's input alone for the backward pass and compute the rest again: less memory, about a third more time
    reply_style: Literal["think", "bare"] = "think"  # how a reply is read: <think>…</think><answer>…</answer>, or the call alone
    system_prompt: str = "Act on the page."


@dataclass(frozen=True)
class TasksSettings:
    benchmarks: tuple[str, ...] = ("pocket", "miniwob")
    train_limit: int = 0  # tasks of each benchmark; 0 = all
    test_limit: int = 0
    miniwob_train_per_env: int = 8  # seeds of each MiniWoB++ environment
    miniwob_test_per_env: int = 4
    miniwob_envs: tuple[str, ...] = ("standard",)  # environments by name, "standard" (the 25 in tasks/miniwob.py) or "experts" (all that have one)
    scoring: Literal["wr1", "webarena", "browsergym"] = "wr1"  # the rules that answers, URLs and pages are compared by; for WebArena's tasks wr1 is webarena


@dataclass(frozen=True)
class JudgeSettings:
    base_url: str = ""  # of an OpenAI-compatible endpoint, for answers that only a model can judge; "" = none: those stay unscored
    model: str = ""
    key_variable: str = "OPENAI_API_KEY"  # the environment variable that holds the endpoint's key
    cache: str = "data/judge"  # where its replies are kept


@dataclass(frozen=True)
class EndpointSettings:
    """Of a policy behind an OpenAI-compatible endpoint (agent/api_engine.py), for evaluation alone: its replies cannot be trained on."""

    base_url: str = ""  # such as http://127.0.0.1:8000/v1; "" = none
    model: str = ""
    key_variable: str = "OPENAI_API_KEY"  # the environment variable that holds the endpoint's key
    timeout_s: float = 120.0  # limit of one try of a reply, in seconds


@dataclass(frozen=True)
class WebArenaSettings:
    """Of the benchmarks webarena-lite and webarena. An address that is "" is taken from the environment: SHOPPING, SHOPPING_ADMIN, …"""

    lite_file: str = ""  # the 165 tasks: a JSON file, or the wheel that holds it; "" = a wheel in data/webarena, or the installed package
    full_file: str = ""  # the 812 tasks, likewise
    records: Literal["patched", "published"] = "patched"  # are known faults of the records put right? (tasks/webarena_patches.json)
    shopping: str = ""  # several addresses, parted by blanks, are copies of the site: an episode has one for itself
    shopping_admin: str = ""
    reddit: str = ""
    gitlab: str = ""
    map: str = ""
    wikipedia: str = ""
    homepage: str = ""
    accounts: str = ""  # a TOML file outside the repository, [site] user, password; "" = the environment's SHOPPING_USER, SHOPPING_PASSWORD, …
    login_folder: str = "~/.cache/wr1/logins"  # where logins are kept; outside the repository
    login_hours: float = 6.0  # a login that was last seen to work longer ago is tried before it is used
    reset_command: str = ""  # shell command that resets one site before an episode; it is told WR1_SITE, WR1_ADDRESS, WR1_TASK and WR1_SEED
    reset_s: float = 600.0  # limit of a reset, until the site answers again, in seconds


@dataclass(frozen=True)
class DemosSettings:
    count: int = 200  # demonstrations of each benchmark
    task_sets: int = 1  # sets of training tasks to demonstrate from: 1 = the one in data/tasks, more = further ones, as of rl.task_sets
    left_out: float = 0.0  # share of each benchmark's training templates (pages of MiniWoB++) that nothing is demonstrated of
    style: Literal["short", "cot", "bare"] = "short"  # how the experts think: in notes, in a paragraph and notes, or not (needs model.reply_style = "bare")


@dataclass(frozen=True)
class BCSettings:
    epochs: int = 14
    learning_rate: float = 1e-3
    batch_size: int = 8  # trajectories
    warmup_steps: int = 10
    replay: int = 0  # turns of the base training beside each batch, so that the small model does not forget it; other models have none of these
    renamed: float = 0.0  # share of the demonstrations that are cloned with random names in place of their own, so that names are copied, not known


@dataclass(frozen=True)
class OfflineSettings:
    """Of the baselines Filtered BC and AWR."""
    tasks: int = 256  # training tasks that the warmed-up policy is rolled out on
    group_size: int = 8  # rollouts of one task
    epochs: int = 2
    learning_rate: float = 2e-4
    temperature: float = 0.2  # λ of AWR's weights


@dataclass(frozen=True)
class RLSettings:
    steps: int = 30
    tasks_per_step: int = 32
    group_size: int = 8  # G, trajectories of one task
    learning_rate: float = 1e-4
    beta: float = 0.01  # weight of the KL term
    clip: float = 0.2
    minibatches: int = 4  # optimizer steps on one batch of rollouts
    temperature: float = 1.0
    normalizer: Literal["paper", "constant"] = "paper"
    draw: Literal["even", "middling"] = "even"  # which tasks a step takes: each in turn, or rather those of middling success
    task_sets: int = 1  # sets of training tasks to draw from: 1 = the one that is demonstrated from, more = further ones of the same templates
    save_every: int = 1  # steps between two checkpoints
    rows: Literal["tree", "turns"] = "tree"  # training rows: shared prefixes once, or one row a turn
    overlap: bool = False  # roll out the next step while this one is updated, with the policy as it stood before (one step off-policy)


@dataclass(frozen=True)
class TrainingSettings:
    context: Literal["exact", "flat"] = "exact"  # what RL trains an action on: the context it was sampled from, or the authors' (training/flat.py)


@dataclass(frozen=True)
class RolloutSettings:
    episodes: int = 16  # in flight at once
    batch_size: int = 16  # contexts of one generation call
    retries: int = 1  # after an infrastructure fault
    screenshots: Literal["none", "failures", "all"] = "none"  # which episodes keep a picture of each turn, for `wr1 view`


@dataclass(frozen=True)
class EvaluationSettings:
    greedy: bool = True  # the likeliest reply at every turn; false: sampled at rl.temperature
    samples: int = 1  # rollouts of each task, for pass@k; above 1 they are sampled, whatever `greedy` says
    split: Literal["test", "seen_template", "unseen_template", "train"] = "test"  # which tasks: "test" is both kinds of templates
    weights: str = ""  # the profile whose trained weights play; "" = this one


@dataclass(frozen=True)
class RunSettings:
    """What `wr1 run` and `wr1 demo` make, beside the base model and behaviour cloning."""
    methods: tuple[str, ...] = ("r1",)  # of filtered_bc, awr, r1, r1_zero, r1_cot; at least one of the last three
    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Settings:
    """Everything a stage reads. Paths are relative to the repository (see `project_path`) unless absolute."""

    profile: str
    seed: int = 0
    results: str = "results"
    checkpoints: str = "data/checkpoints"
    browser: BrowserSettings = field(default_factory=BrowserSettings)
    sites: SitesSettings = field(default_factory=SitesSettings)
    episode: EpisodeSettings = field(default_factory=EpisodeSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    tasks: TasksSettings = field(default_factory=TasksSettings)
    demos: DemosSettings = field(default_factory=DemosSettings)
    bc: BCSettings = field(default_factory=BCSettings)
    offline: OfflineSettings = field(default_factory=OfflineSettings)
    rl: RLSettings = field(default_factory=RLSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    rollout: RolloutSettings = field(default_factory=RolloutSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    run: RunSettings = field(default_factory=RunSettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    endpoint: EndpointSettings = field(default_factory=EndpointSettings)
    webarena: WebArenaSettings = field(default_factory=WebArenaSettings)


def reply_limit(settings: Settings) -> int:
    """The longest reply, in tokens: `episode.reply_tokens`, with `episode.cot_tokens` more where the style is `cot`."""
    return settings.episode.reply_tokens + (settings.episode.cot_tokens if settings.demos.style == "cot" else 0)


def with_style(settings: Settings, style: str) -> Settings:
    """The same settings for policies that write in a style: `demos.style`, and the `model.reply_style` that goes with it."""
    return replace(settings, demos=replace(settings.demos, style=style), model=replace(settings.model, reply_style=reply_style(style)))


def reply_style(style: str) -> str:
    """The `model.reply_style` that reads replies of a `demos.style`."""
    return "bare" if style == "bare" else "think"


def check_style(settings: Settings) -> None:
    """Raises SettingsError if demonstrations of `demos.style` would not be read by `model.reply_style`."""
    wanted = reply_style(settings.demos.style)
    if settings.model.reply_style != wanted:
        raise SettingsError(f'demos.style is "{settings.demos.style}", whose replies are read with model.reply_style = "{wanted}", but that is '
                            f'"{settings.model.reply_style}"; change one of the two.')


def load_settings(profile: str = "laptop", **overrides) -> Settings:
    """Read a profile (a name in `data/profiles/`, or the path of a .toml file) and change single settings of it.

    Overrides are dotted or nested: `load_settings("smoke", **{"rl.steps": 3})` or `load_settings("smoke", rl={"steps": 3})`.
    Raises SettingsError for an unknown profile, an unknown name, a wrong type and a file that is not TOML.
    """
    path = profile_path(profile)
    tree = _read_profile(path, ())
    for name, value in overrides.items():
        keys = name.split(".")
        for key in reversed(keys[1:]):
            value = {key: value}
        tree = _merge(tree, {keys[0]: value})
    return _build(Settings, {**tree, "profile": path.stem}, where=f"profile {path.stem}", prefix="")


def profile_names() -> list[str]:
    return sorted(path.stem for path in PROFILES.glob("*.toml"))


def profile_path(profile: str) -> Path:
    if not isinstance(profile, str):
        raise SettingsError(f"The profile must be a name (text), not {_say(profile)}.")
    if profile.endswith(".toml"):
        path = project_path(profile)
        if not path.is_file():
            raise SettingsError(f"There is no profile file {profile}.")
        return path
    names = profile_names()
    if profile not in names:
        raise SettingsError(f"There is no profile {profile!r}{near_miss(profile, names)}; there are {', '.join(names)}.")
    return PROFILES / f"{profile}.toml"


def project_path(path: str | Path) -> Path:
    """A path of the settings as an absolute one: relative paths start at the repository's root."""
    return ROOT / path


def to_dict(settings: Settings) -> dict:
    """The tree as nested dicts with tuples as lists, in the order of the dataclasses."""
    return {key: list(value) if isinstance(value, tuple) else to_dict(value) if dataclasses.is_dataclass(value) else value
            for key, value in ((f.name, getattr(settings, f.name)) for f in dataclasses.fields(settings))}


def to_toml(settings: Settings) -> str:
    return tomlkit.dumps(to_dict(settings))


def near_miss(name: str, names) -> str:
    """` (did you mean 'x'?)` for the known name closest to `name`, or nothing."""
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def type_error(name: str, value, wanted, where: str) -> str | None:
    """One sentence if `value` is not of type `wanted` (a type, a Literal, a union or tuple[T, ...]), else None."""
    if _fits(value, wanted):
        return None
    if typing.get_origin(wanted) is Literal:
        choices = [str(c) for c in typing.get_args(wanted)]
        hint = near_miss(value, choices) if isinstance(value, str) else ""
        return f"{name} in {where} must be one of {', '.join(choices)}, not {_say(value)}{hint}."
    return f"{name} in {where} must be {_describe(wanted)}, not {_say(value)}."


def _fits(value, wanted) -> bool:
    origin, args = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in args)
    if origin is tuple:
        return isinstance(value, (list, tuple)) and all(_fits(item, args[0]) for item in value)
    if args:  # a union
        return any(_fits(value, one) for one in args)
    if wanted is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, wanted)


def _describe(wanted) -> str:
    words = {bool: "true or false (not in quotes)", int: "a whole number", float: "a number", str: "text",
             dict: "a table of names and values", list: "a list", type(None): "nothing"}
    if typing.get_origin(wanted) is tuple:
        return f"a list of {_describe(typing.get_args(wanted)[0])}"
    if typing.get_args(wanted):
        return " or ".join(_describe(one) for one in typing.get_args(wanted))
    return words.get(wanted, wanted.__name__)


def _say(value) -> str:
    if value is None:
        return "nothing"
    kind = {bool: "", int: "the number ", float: "the number ", str: "the text "}.get(type(value), f"the {type(value).__name__} ")
    return kind + (repr(value) if not isinstance(value, bool) else str(value).lower())


def _read_profile(path: Path, seen: tuple[str, ...]) -> dict:
    """The profile's dict with what it `extends` below it."""
    if path.stem in seen:
        raise SettingsError(f"Profile {path.stem} extends itself by way of {' → '.join(seen)}.")
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{_shown(path)} is not valid TOML: {error}.") from None
    parent = tree.pop("extends", None)
    if parent is None:
        return tree
    try:
        parent_path = profile_path(parent)
    except SettingsError as error:
        raise SettingsError(f"extends in profile {path.stem}: {error}") from None
    return _merge(_read_profile(parent_path, (*seen, path.stem)), tree)


def _shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def _merge(below: dict, above: dict) -> dict:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _build(cls, tree: dict, where: str, prefix: str):
    fields = {f.name: f.type for f in dataclasses.fields(cls)}
    values = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if key not in fields:
            inside = f" in [{prefix[:-1]}]" if prefix else ""
            raise SettingsError(f"There is no setting {name!r} in {where}{_elsewhere(key) or near_miss(key, fields)}; known{inside}: {', '.join(fields)}.")
        wanted = fields[key]
        if dataclasses.is_dataclass(wanted):
            if not isinstance(value, dict):
                raise SettingsError(f"{name} in {where} must be a table [{name}] of settings, not {_say(value)}.")
            values[key] = _build(wanted, value, where, f"{name}.")
            continue
        fault = type_error(name, value, wanted, where)
        if fault:
            raise SettingsError(fault)
        if isinstance(value, (int, float)) and value < 0:
            raise SettingsError(f"{name} in {where} must not be negative, but is {value}.")
        values[key] = tuple(value) if isinstance(value, list) else float(value) if wanted is float else value
    return cls(**values)


def _elsewhere(key: str) -> str:
    """A near miss in another table: `steps` is meant as `rl.steps`."""
    for section in dataclasses.fields(Settings):
        if dataclasses.is_dataclass(section.type) and key in {f.name for f in dataclasses.fields(section.type)}:
            return f" (did you mean '{section.name}.{key}'?)"
    return ""
