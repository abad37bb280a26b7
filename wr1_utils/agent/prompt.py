"""The context of a turn, as text and as token ids (paper, "Dynamic context compression").

At turn t the policy reads the system prompt, the task, all its earlier replies, and the current page; every earlier page
is the placeholder `** Simplified html **`. Without compression (`episode.compress = false`, for an ablation) every earlier
page stays whole. The chat template of the model's tokenizer supplies what stands between.

Replies enter a context as the ids that were sampled: the template is rendered with a mark in each reply's place, the
pieces between the marks are tokenised, and the recorded ids are put where the marks were. Nothing that the policy wrote
is tokenised again.

Deviations from the paper
- The system prompt is a setting: a model of a few million parameters cannot use the paper's 1 500 tokens of instructions.
"""

from __future__ import annotations

from wr1_utils.errors import WR1Error

PLACEHOLDER = "** Simplified html **"
_MARK = "\ue000reply {}\ue001"


class PromptError(WR1Error, ValueError):
    """A tokenizer whose chat template cannot carry a multi-turn episode."""


def messages(system_prompt: str, intent: str, replies: list[str], page: str, earlier: list[str] | None = None) -> list[dict]:
    """The chat of turn len(replies) + 1: earlier pages are placeholders, only the current page is whole; or, given the `earlier` pages, all are."""
    pages = [*([PLACEHOLDER] * len(replies) if earlier is None else earlier), page]
    chat = [{"role": "system", "content": system_prompt}] if system_prompt else []
    for number, (reply, shown) in enumerate(zip([*replies, None], pages, strict=True)):
        chat.append({"role": "user", "content": f"Task: {intent}\n{shown}" if number == 0 else shown})
        if reply is not None:
            chat.append({"role": "assistant", "content": reply})
    return chat


def context_ids(
    tokenizer, system_prompt: str, intent: str, replies: list[list[int]], page: str, earlier: list[str] | None = None
) -> list[int]:
    """Token ids of a turn's context; `replies` are the ids of the earlier replies as they were sampled.

    `earlier`: the pages of the earlier turns, one a reply, where the history is not to be compressed.

    An end-of-turn token at the end of a reply is left to the template, which writes it after every reply. Raises
    PromptError if the tokenizer has no chat template or the template drops or rewrites earlier replies.
    """
    if not tokenizer.chat_template:
        raise PromptError("the model's tokenizer has no chat template; use a chat (instruct) model, or add chat_template.jinja to its folder")
    marks = [_MARK.format(i) for i in range(len(replies))]
    text = tokenizer.apply_chat_template(
        messages(system_prompt, intent, marks, page, earlier), tokenize=False, add_generation_prompt=True
    )
    ids: list[int] = []
    for mark, reply in zip(marks, replies):
        before, found, text = text.partition(mark)
        if not found:
            raise PromptError("the model's chat template drops earlier replies, so a multi-turn episode cannot be written with it")
        ids += tokenizer.encode(before, add_special_tokens=False)
        ids += reply[:-1] if reply and reply[-1] == tokenizer.eos_token_id else reply
    return ids + tokenizer.encode(text, add_special_tokens=False)


def reply_ids(tokenizer, reply: str) -> list[int]:
    """Token ids of a reply written by a person or an expert, with the end-of-turn token that a policy would write."""
    return [*tokenizer.encode(reply, add_special_tokens=False), tokenizer.eos_token_id]
