"""Instructions on random pages, with the right replies: what the pocket model learns before it ever sees a benchmark.

A task is one to four parts joined by words such as "then"; after
the last, the reply is an exit. Phrasings and labels are random, so that what is learned is to read the page and to follow the instruction. No task
and no demonstration of MiniWoB++ or of the Pocket Arena is used.

Three formats, all as chat messages (a fourth, `lookup`, is in pocket_lookup.py):
* `first`: one page and `Click "label"` some times over, for the first steps of training.
* `deployment`: what the agent meets. The task, then the page; earlier pages replaced by the placeholder. One reply, the last, is trained.
* `dense`: one page and then many instructions with replies, all trained: more to learn from each page, for the first part of training.
"""

import random
from dataclasses import dataclass

from wr1_utils.agent.experts import reply
from wr1_utils.training.pocket_pages import Item, Labels, Line, Page, number_page, random_page
from wr1_utils.training.pocket_parts import DONE, Part, do, draw_part, fact, leave, named, part_on, tick_several

SYSTEM_PROMPT = "Act on the page."
PLACEHOLDER = "** Simplified html **"


@dataclass(eq=False)
class Sample:
    """Chat messages and which of the assistant's are trained: all, or the last."""
    skill: str
    messages: list[dict]
    train_all: bool


def compatible(parts: list[Part]) -> bool:
    """May these parts share one page? Not if one needs a role that another forbids."""
    for part in parts:
        for other in parts:
            if other is not part and any(item.role in part.avoid for block in other.needs for line in block for item in line.items):
                return False
    return True


def wrap(rng: random.Random, text: str) -> str:
    """The instruction as a sentence: mostly with a capital, now and then with a full stop or a polite beginning."""
    text = text if rng.random() < 0.25 else text[:1].upper() + text[1:]
    if rng.random() < 0.06:
        text = rng.choice(["Please ", "Now ", "I want you to ", "You should "]) + text[:1].lower() + text[1:]
    return text + ("." if rng.random() < 0.4 and text[-1] not in ".?!" else "")


def draw_task(rng: random.Random, labels: Labels) -> tuple[str, list[Part]]:
    """(instruction, parts in order). A last part that asks for a noted value answers with the line that was noted."""
    number = rng.choices([1, 2, 3, 4], [50, 27, 17, 6])[0]
    if number > 1 and rng.random() < 0.2:
        parts = tick_several(rng, labels)
        text = ", ".join(part.text for part in parts[:-1]) + rng.choice([" and ", ", ", " and also "]) + parts[-1].text
        texts = [text]
    else:
        parts, texts = [], []
    while len(texts) < number:
        part = draw_part(rng, labels)
        if part.ends and (len(texts) < number - 1 or (parts and part.skill == "missing")):
            continue
        parts.append(part)
        texts.append(part.text)
    if 1 < number and not parts[-1].ends and rng.random() < 0.25:
        what, needs, line, value = fact(rng, labels)
        noted: list[str] = []
        first = parts[0]
        answer = first.answer

        def with_note(notes: list[str]) -> str:
            noted[:] = [line()]
            return answer([*notes, *noted])
        first.answer, first.needs = with_note, first.needs + needs
        parts.append(Part("note", "report it", lambda notes: leave(value, noted[0]), ends=True))
        texts[0] = rng.choice([f"remember the {what}, {texts[0]}", f"note the {what} and {texts[0]}", f"read the {what}, then {texts[0]}",
                               f"look up the {what} and {texts[0]}"])
        texts.append(rng.choice(["report it", "answer with what was noted", "tell me the noted value", f"give the {what}", f"answer with the {what}"]))
    joiner = rng.choice([" then ", ", then ", " and then ", " and ", ". Then ", ", ", "; "])
    text = joiner.join(texts[:-1]) + rng.choice([joiner, " and ", " then ", ", and finally "]) + texts[-1] if len(texts) > 1 else texts[0]
    return wrap(rng, text), parts


def first(rng: random.Random, lines: int) -> Sample:
    """One page of links and buttons, and up to eight times `Click "label"`: the first thing to learn, finding an element and its id."""
    labels = Labels(rng)
    page = Page(labels.new(), [Line([Item(rng.choice(["link", "button", "checkbox", "tab"]), labels.new())]) for _ in range(max(lines, 2))])
    number_page(rng, page)
    messages = [{"role": "system", "content": SYSTEM_PROMPT}]
    for turn, item in enumerate(rng.sample(page.items(), min(8, len(page.items())))):
        task = f'Task: Click "{item.label}"'
        messages.append({"role": "user", "content": f"{task}\n{page.text()}" if turn == 0 else task})
        messages.append({"role": "assistant", "content": do("Click", item)})
    return Sample("click", messages, train_all=True)


def dense(rng: random.Random, lines: int) -> Sample:
    """One page and about eight instructions with replies, each to be followed on the page as it stands; all replies are trained.

    Either the instructions come one by one, the first before the page, or all of them in one task before the page.
    """
    labels = Labels(rng)
    parts: list[Part] = []
    together = rng.random() < 0.35
    while len(parts) < min(5, lines // 4):              # things that need something of their own on the page
        part = draw_part(rng, labels)
        if (part.avoid or part.page or (together and part.ends) or sum(map(len, part.needs)) > lines // 2
                or (part.skill == "extreme" and any(other.skill == "extreme" for other in parts))):
            continue
        parts.append(part)
    page = random_page(rng, labels, lines, [block for part in parts for block in part.needs])
    number_page(rng, page)
    for _ in range(30):                                 # and others about whatever stands there
        part = part_on(rng, page)
        if len(parts) < 8 and part and not (together and part.ends):
            parts.append(part)
    rng.shuffle(parts)
    if not parts:
        return dense(rng, lines)
    joiner = rng.choice([" then ", ", then ", " and ", ". Then ", ", ", "; "])
    tasks = [wrap(rng, joiner.join(part.text for part in parts))] if together else [wrap(rng, part.text) for part in parts]
    messages = [{"role": "system", "content": SYSTEM_PROMPT}]
    for turn, part in enumerate(parts):
        task = f"Task: {tasks[turn]}" if turn < len(tasks) else "next"
        messages.append({"role": "user", "content": f"{task}\n{page.text()}" if turn == 0 else task})
        messages.append({"role": "assistant", "content": part.answer([])})
    return Sample("dense", messages, train_all=True)


def as_episode(text: str, replies: list[str], page: Page, answer: str, skill: str) -> Sample:
    """The agent's context after `replies`, with `page` now and earlier pages replaced by the placeholder; `answer`, the last reply, is trained."""
    messages = [{"role": "system", "content": SYSTEM_PROMPT}]
    for turn, earlier in enumerate([*replies, answer]):
        content = PLACEHOLDER if turn < len(replies) else page.text()
        messages.append({"role": "user", "content": f"Task: {text}\n{content}" if turn == 0 else content})
        messages.append({"role": "assistant", "content": earlier})
    return Sample(skill, messages, train_all=False)


def deployment(rng: random.Random, lines: int, skill: str | None = None) -> Sample:
    """One turn of an episode in the agent's format; its last reply is trained. `skill` asks for a one-part task of that skill."""
    while True:
        labels = Labels(rng)
        text, parts = draw_task(rng, labels)
        if compatible(parts) and (skill is None or (len(parts) == 1 and parts[0].skill == skill)):
            break
    scrolls = rng.random() < 0.08 and parts[0].needs and len(parts[0].needs[0]) == 1 and not parts[0].avoid
    replies: list[str] = []
    wanted = 0 if skill else rng.randrange(len(parts) + (not parts[-1].ends and rng.random() < 0.4) + bool(scrolls))

    if scrolls and not skill:
        page = random_page(rng, labels, lines, [])
        page.more = True
        number_page(rng, page)
        if wanted == 0:
            return as_episode(text, replies, page, reply('do(action="Scroll Down")'), "scroll")
        replies.append(reply('do(action="Scroll Down")'))
    page = None
    for at, part in enumerate(parts):
        if page is None:
            stay = next((i for i in range(at, len(parts)) if parts[i].leaves), len(parts) - 1)
            here = parts[at:stay + 1]
            page = random_page(rng, labels, lines, [block for p in here for block in p.needs], frozenset().union(*(p.avoid for p in here)))
            page.more = part.skill != "missing" and rng.random() < 0.15
            for p in here:
                if p.page:
                    p.page(page)
            number_page(rng, page)
        answer = part.answer([])
        if len(replies) == wanted:
            return as_episode(text, replies, page, answer, part.skill)
        replies.append(answer)
        if part.effect:
            part.effect()
        if part.leaves:
            page = None
    page = page or random_page(rng, labels, lines, [])
    number_page(rng, page)
    return as_episode(text, replies, page, DONE, "done")
