"""The judge: a language model that says whether an answer means what the reference means, behind any OpenAI-compatible endpoint.

It is asked where a task's record says `fuzzy_match`. Its verdict must be one of a few fixed words, alone on the last line of its reply; anything else
is no verdict, and the task stays unscored. Verdicts are kept on disk, so that scoring again asks nothing and gives the same.

Deviations from WebArena's judge: that takes a word anywhere in the reply ("not correct" held "correct"), keeps nothing, and knows one endpoint.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from wr1_utils.errors import WR1Error
from wr1_utils.settings import JudgeSettings, project_path
from wr1_utils.tasks.scoring_published import Ask
from wr1_utils.tasks.task import Task
from wr1_utils.web.browser import InfrastructureError

REQUEST_S = 10.0  # for one try
RETRIES = 2  # of a request that failed, by the client library, each after a longer wait
REPLY_TOKENS = 512
SAME_ANSWER = """You grade an answer to a question against a reference answer. The words may differ; what counts is whether they mean the same.
"N/A" means that what is asked cannot be done.
Question: {intent}
Reference answer: {reference}
Answer to grade: {answer}
Write your verdict alone on the last line, one of: correct, partially correct, incorrect"""
SAME_REASON = """A task cannot be done. You compare the reason that somebody reported with the actual reason.
Task: {intent}
Actual reason: {reference}
Reported reason: {answer}
Does the report, even if only by implication, give the actual reason? Write your verdict alone on the last line, one of: same, different"""
VERDICTS = {SAME_ANSWER: {"correct": 1.0, "partially correct": 0.0, "incorrect": 0.0}, SAME_REASON: {"same": 1.0, "different": 0.0}}


class Judge:
    """Asks the model of `settings` (the tree's `judge`). Raises WR1Error when the client library is not installed or no model is named."""

    def __init__(self, settings: JudgeSettings):
        if not settings.model:
            raise WR1Error(f'judge.base_url is "{settings.base_url}", but judge.model is empty; name the model that judges there.')
        try:
            from openai import OpenAI
        except ImportError:
            raise WR1Error('A judge model needs the package openai: pip install -e ".[judge]", or leave judge.base_url empty.') from None
        self.model, self.cache = settings.model, project_path(settings.cache)
        key = os.environ.get(settings.key_variable) or "none"  # local servers want none
        self.client = OpenAI(base_url=settings.base_url, api_key=key, timeout=REQUEST_S, max_retries=RETRIES)

    def for_task(self, task: Task) -> Ask:
        """(reference, answer) → 1.0, 0.0 or None, for the task's question. The reference "N/A" asks for the reason, the record's `string_note`."""
        def ask(reference: str, answer: str) -> float | None:
            if reference != "N/A":
                return self.verdict(SAME_ANSWER, task.intent, reference, answer)
            reason = task.eval.get("string_note")
            return self.verdict(SAME_REASON, task.intent, reason, answer) if reason else None
        return ask

    def verdict(self, form: str, intent: str, reference: str, answer: str) -> float | None:
        """1.0 or 0.0; None where the reply holds no verdict. Raises InfrastructureError when the endpoint does not answer."""
        prompt = form.format(intent=intent, reference=reference, answer=answer)
        name = hashlib.sha256(json.dumps([str(self.client.base_url), self.model, prompt]).encode()).hexdigest()
        kept = self.cache / f"{name}.json"
        if kept.is_file():
            return read_verdict(form, json.loads(kept.read_text(encoding="utf-8"))["reply"])
        reply = self._reply(prompt)
        found = read_verdict(form, reply)
        if found is not None:
            self.cache.mkdir(parents=True, exist_ok=True)
            scratch = kept.with_suffix(f".{os.getpid()}.part")
            scratch.write_text(json.dumps({"model": self.model, "prompt": prompt, "reply": reply}, ensure_ascii=False), encoding="utf-8")
            os.replace(scratch, kept)
        return found

    def _reply(self, prompt: str) -> str:
        from openai import OpenAIError

        try:
            answer = self.client.chat.completions.create(
                model=self.model, messages=[{"role": "user", "content": prompt}], temperature=0, max_tokens=REPLY_TOKENS)
        except OpenAIError as error:
            raise InfrastructureError(f"the judge model {self.model} at {self.client.base_url} did not answer: {error}") from error
        return (answer.choices[0].message.content or "") if answer.choices else ""


def read_verdict(form: str, reply: str) -> float | None:
    """The verdict on the reply's last line: one of the form's words and nothing else but marks around it; None if there is none."""
    lines = [line.strip() for line in reply.strip().splitlines()]
    last = lines[-1].casefold().removeprefix("verdict:").strip(" \t*_`\"'.!") if lines else ""
    return VERDICTS[form].get(last)


def open_judge(settings: JudgeSettings) -> Judge | None:
    """The judge of the settings, or None: without one, what needs a judge is unscored. Raises WR1Error."""
    return Judge(settings) if settings.base_url else None
