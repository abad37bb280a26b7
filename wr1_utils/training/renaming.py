"""Demonstrations with other names: the same steps on pages, tasks and replies in which names are replaced by random words.

A few hundred demonstrations name few things, and a small model learns those by heart: it searches for a product of another task, or answers from the row
that it knows. A name that is another one each time can only be copied from where it stands. The renaming is the same in all turns of a demonstration,
so that the task, the pages, the thoughts and the actions still agree.

Names are found by counting, not by knowing the benchmark: words of the replies that few demonstrations of the same template share. Numbers are replaced where the
task gives them; others are left, for answers may follow from their order.

Deviation from the paper, whose model has names enough from its pretraining.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable

from wr1_utils.training.packing import Sequence
from wr1_utils.training.pocket_words import WORDS
from wr1_utils.trajectory import Trajectory
from wr1_utils.web.actions import ACTIONS

WORD = re.compile(r"[^\W\d_]{2,}|(?<!\[)(?<!element=\")(?<!\d)\d{3,}")  # a number, but not an element's id
KEPT = frozenset(  # words of the page's and the reply's format
    "think answer do exit message action element argument note go backward forward done link button textbox checkbox radio select option tab menuitem clickable "
    "image heading text progress meter row page tabs current checked selected expanded pressed readonly disabled system user assistant".split()
) | {word for action in ACTIONS for word in action.lower().split()}
OF_TASK, OF_PAGE = 0.5, 0.2  # share of a template's demonstrations that hold a word, from which on it is no name: where the task says it, and where it does not
FEWEST = 5  # demonstrations of a template, for words that the task does not say


def find_names(trajectories: list[Trajectory]) -> list[frozenset[str]]:
    """For each demonstration the words, in lower case, and the numbers that may be renamed in it.

    Of what its replies say: the words that few of its template's share. Of the rest of its pages: words that are names in another demonstration.
    """
    said = [words(turn.reply for turn in t.turns) for t in trajectories]
    asked = [words([t.intent]) for t in trajectories]
    templates = Counter(t.template for t in trajectories)
    counts: dict[str, Counter] = defaultdict(Counter)
    for trajectory, mine in zip(trajectories, said, strict=True):
        counts[trajectory.template].update(mine)
    own = []
    for trajectory, mine, task in zip(trajectories, said, asked, strict=True):
        number = templates[trajectory.template]
        share = {word: counts[trajectory.template][word] / number for word in mine - KEPT}
        own.append({word for word in share if word in task and share[word] < OF_TASK}
                   | {word for word in share if word not in task and word.isalpha() and share[word] < OF_PAGE and number >= FEWEST})
    every = {word for mine in own for word in mine if word.isalpha()}
    pages = [words(turn.observation for turn in t.turns) for t in trajectories]
    return [frozenset(mine | (page & every) - task - replies) for mine, page, task, replies in zip(own, pages, asked, said, strict=True)]


def words(texts: Iterable[str]) -> set[str]:
    return {match.group().lower() for text in texts for match in WORD.finditer(text)}


def rename(trajectory: Trajectory, names: frozenset[str], tokenizer, rng: random.Random, number: int) -> list[Sequence]:
    """The turns of a demonstration, number `number` of its batch, with each of `names` replaced by another word or number, everywhere the same one."""
    texts = [(tokenizer.decode(turn.context_ids), tokenizer.decode(turn.reply_ids)) for turn in trajectory.turns]
    taken = words(text for turn in texts for text in turn)
    given: dict[str, str] = {}
    for name in sorted(names):
        while True:
            new = rng.choice(WORDS) if name.isalpha() else rng.choice("123456789") + "".join(rng.choices("0123456789", k=len(name) - 1))
            if new not in taken and new not in KEPT:
                break
        taken.add(new)
        given[name] = new

    def other(match: re.Match) -> str:
        old = match.group()
        new = given.get(old.lower(), old)
        return new.upper() if old.isupper() and len(old) > 1 else new.capitalize() if old[0].isupper() else new

    def ids(text: str) -> list[int]:
        return tokenizer(WORD.sub(other, text), add_special_tokens=False).input_ids

    return [Sequence(ids(context), ids(reply), [], number, at) for at, (context, reply) in enumerate(texts)]
