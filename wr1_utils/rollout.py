"""Many episodes at once against one policy (paper, "asynchronous" rollout; here each episode steps on its own).

Every episode has a browser context and an isolated site state of its own. Episodes browse independently; whenever the
policy has a free place, the next context that waits for a reply is taken into its batch. Trajectories come back in the order of the
jobs, and each reply's draw is seeded by task, member and turn, so the order of arrival does not matter.

Deviations from the paper
- An episode cut by the turn or token limit is a failure with its actions kept; the authors' code scores it as the answer
  "N/A", which can earn reward 1.
- A fault of the infrastructure (browser, site, endpoint) is tried again and then gets no reward at all.
"""

from __future__ import annotations

import asyncio
import hashlib
import queue
import re
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from wr1_utils.agent.experts import ExpertError
from wr1_utils.agent.policy import Policy, Reply, Request
from wr1_utils.agent.prompt import context_ids, messages, reply_ids
from wr1_utils.settings import Settings, reply_limit
from wr1_utils.tasks import benchmark_expert, open_place
from wr1_utils.tasks.task import Task
from wr1_utils.trajectory import Trajectory, Turn
from wr1_utils.web.browser import Browser
from wr1_utils.web.episode import Episode, InfrastructureError
from wr1_utils.web.loop import run as run_async
from wr1_utils.web.observation import quarter_tokens
from wr1_utils.web.picture import Picture

POLICY_S = 1800.0  # limit of one batch of replies
STOP_S = 10.0  # what a policy that is interrupted gets to end the batch that it is at
MIN_REPLY_TOKENS = 16  # with less room than this in the context, the episode ends as token_limit


@dataclass(frozen=True)
class _Job:
    task: Task
    group: int
    member: int
    seed: int


def reply_seed(seed: int, task_id: str, member: int, turn: int) -> int:
    """The seed of one reply's draw, a number below 2^63 that depends on all four."""
    digest = hashlib.blake2b(f"{seed}/{task_id}/{member}/{turn}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


class Rollout:
    """The browser and the places of `settings.tasks.benchmarks`, running; use as a context manager.

        with Rollout(settings) as rollout:
            trajectories = rollout.run(tasks, policy, group=8)
    """

    def __init__(self, settings: Settings):
        self.settings = settings
        self.places = {name: open_place(settings, name) for name in settings.tasks.benchmarks}
        self.browser = Browser(settings.browser)
        self.playing: asyncio.Task | None = None  # what `_all` runs in

    def __enter__(self) -> Rollout:
        started = []
        try:
            for place in self.places.values():
                place.start()
                started.append(place)
            run_async(self.browser.start())
        except BaseException:
            for place in started:
                place.stop()
            raise
        return self

    def __exit__(self, *_) -> None:
        run_async(self._cancel())
        run_async(self.browser.stop())
        for place in self.places.values():
            place.stop()

    def run(
        self,
        tasks: list[Task],
        policy: Policy,
        *,
        group: int = 1,
        temperature: float = 1.0,
        seed: int = 0,
        run: str = "",
        progress: Callable[[int, int, str], None] | None = None,
        beside: Path | None = None,
    ) -> list[Trajectory]:
        """`group` episodes of each task, in the order of the tasks and members. temperature 0 = greedy.

        `beside` is the file that the trajectories will be written to: pictures of the episodes that `rollout.screenshots` asks for go
        into the folder `screenshots/` beside it. Without it none are taken.
        """
        batcher = _Batcher(policy, self.settings.rollout.batch_size)

        def writer(job: _Job) -> _Writer:
            async def write(observation, intent: str, chat: list[dict], context: list[int], room: int, turn: int) -> Reply:
                return await batcher.reply(
                    Request(context, room, temperature, reply_seed(job.seed, job.task.task_id, job.member, turn), chat)
                )

            return write

        jobs = [_Job(task, number, member, seed) for number, task in enumerate(tasks) for member in range(group)]
        try:
            return run_async(self._all(jobs, writer, policy.tokenizer, policy.name, run, progress, beside))
        finally:
            batcher.close()

    def demonstrate(
        self, tasks: list[Task], tokenizer, *, run: str = "", progress: Callable[[int, int, str], None] | None = None,
        beside: Path | None = None,
    ) -> list[Trajectory]:
        """One episode of each task by its scripted expert in `demos.style`, with the ids that `tokenizer` gives and no log-probs."""
        experts = {name: benchmark_expert(name, self.settings.demos.style) for name in {task.benchmark for task in tasks}}
        return self.play(tasks, lambda task, *seen: experts[task.benchmark](task, *seen), "expert", tokenizer, run=run, progress=progress, beside=beside)

    def play(
        self, tasks: list[Task], script: Callable[..., str], name: str, tokenizer, *, run: str = "",
        progress: Callable[[int, int, str], None] | None = None, beside: Path | None = None,
    ) -> list[Trajectory]:
        """The same by any script, `script(task, intent, observation, memory) → reply`; `memory` is one episode's, {} at its start."""

        def writer(job: _Job) -> _Writer:
            memory: dict = {}

            async def write(observation, intent: str, chat: list[dict], context: list[int], room: int, turn: int) -> Reply:
                if turn == 0:
                    memory.clear()  # an episode tried again begins anew
                text = script(job.task, intent, observation, memory)
                return Reply(reply_ids(tokenizer, text), [], text)

            return write

        jobs = [_Job(task, number, 0, 0) for number, task in enumerate(tasks)]
        return run_async(self._all(jobs, writer, tokenizer, name, run, progress, beside))

    async def _cancel(self) -> None:
        """Ends what another thread is still rolling out, before the browser stops under it."""
        if self.playing and not self.playing.done():
            self.playing.cancel()
            await asyncio.wait([self.playing])

    async def _all(self, jobs, writer, tokenizer, policy_name, run, progress, beside) -> list[Trajectory]:
        """Runs every job, at most `rollout.episodes` at once; a fault of the kit stops all and is raised."""
        self.playing = asyncio.current_task()
        slots = asyncio.Semaphore(self.settings.rollout.episodes)
        done = 0

        async def one(job: _Job) -> Trajectory:
            nonlocal done
            async with slots:
                trajectory = await self._episode(job, writer(job), tokenizer, policy_name, run, beside)
            done += 1
            if progress:
                progress(done, len(jobs), "")
            return trajectory

        try:
            async with asyncio.TaskGroup() as tasks:
                running = [tasks.create_task(one(job)) for job in jobs]
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return [task.result() for task in running]

    async def _episode(self, job: _Job, write: _Writer, tokenizer, policy_name: str, run: str, beside: Path | None) -> Trajectory:
        """One episode; an infrastructure fault is tried again `rollout.retries` times."""
        wanted = self.settings.rollout.screenshots if beside else "none"
        for attempt in range(self.settings.rollout.retries + 1):
            trajectory = Trajectory(
                run=run, task_id=job.task.task_id, benchmark=job.task.benchmark, site=job.task.site,
                template=str(job.task.intent_template_id), split=job.task.split, intent=job.task.intent,
                group=job.group, member=job.member, seed=job.seed, policy=policy_name,
                status="infrastructure", reward=None, answer=None, error="", seconds=0.0, scoring=self.places[job.task.benchmark].scoring,
            )  # fmt: skip
            pictures: list[Picture | None] | None = None if wanted == "none" else []
            started = time.monotonic()
            try:
                await self._attempt(job, write, tokenizer, trajectory, pictures)
            except InfrastructureError as fault:
                trajectory.status, trajectory.reward, trajectory.error = "infrastructure", None, str(fault)
            except ExpertError as fault:
                trajectory.status, trajectory.reward, trajectory.error = "failure", 0.0, str(fault)
            trajectory.seconds = time.monotonic() - started
            if trajectory.status != "infrastructure":
                break
        if pictures and (wanted == "all" or trajectory.status != "success"):
            save_pictures(beside, trajectory, pictures)
        return trajectory

    async def _attempt(self, job: _Job, write: _Writer, tokenizer, trajectory: Trajectory, pictures: list[Picture | None] | None) -> None:
        """Plays one episode and fills in the trajectory, and `pictures` with one a turn unless it is None. Raises InfrastructureError."""
        limits = self.settings.episode
        episode = Episode(self.browser, self.places[job.task.benchmark], job.task, job.seed, self.settings)
        status = ""
        try:
            observation = await episode.reset()
            trajectory.intent = episode.intent
            while not status:
                number = len(trajectory.turns)
                system_prompt, turns = self.settings.model.system_prompt, trajectory.turns
                earlier = None if limits.compress else [turn.observation for turn in turns]
                chat = messages(system_prompt, episode.intent, [turn.reply for turn in turns], observation.text, earlier)
                context = context_ids(tokenizer, system_prompt, episode.intent, [turn.reply_ids for turn in turns], observation.text, earlier) if tokenizer is not None else []
                length = len(context) if tokenizer is not None else round(sum(quarter_tokens(message["content"]) for message in chat))
                room = min(reply_limit(self.settings), limits.context_tokens - length)
                if room < MIN_REPLY_TOKENS:
                    status = "token_limit"
                    break
                started = time.monotonic()
                reply = await write(observation, episode.intent, chat, context, room, number)
                seconds_model = time.monotonic() - started
                if pictures is not None:
                    pictures.append(await _picture(episode, reply.text))
                result = await episode.step(reply.text)
                trajectory.turns.append(
                    Turn(
                        url=observation.url, title=observation.title, observation=observation.text,
                        context_ids=context, reply_ids=reply.ids, logprobs=reply.logprobs, reply=reply.text,
                        action="" if result.action is None else str(result.action), error=result.error or "",
                        seconds_model=seconds_model, seconds_browser=result.seconds, context_tokens=reply.context_tokens, reply_tokens=reply.tokens,
                    )  # fmt: skip
                )
                if result.done:
                    break
                if len(trajectory.turns) >= limits.turn_limit:
                    status = "turn_limit"
                observation = result.observation
            trajectory.answer = episode.answer
            trajectory.reward = 0.0 if status else await episode.score()
            scored = "unscored" if trajectory.reward is None else "success" if trajectory.reward == 1 else "failure"
            trajectory.status = status or scored
        finally:
            await episode.close()


_Writer = Callable[..., Awaitable[Reply]]


async def _picture(episode: Episode, reply: str) -> Picture | None:
    """None where none can be taken: it is for people, and whether the page is lost the step itself finds out."""
    try:
        return await episode.picture(reply)
    except InfrastructureError:
        return None


def save_pictures(beside: Path, trajectory: Trajectory, pictures: list[Picture | None]) -> None:
    """Write an episode's pictures, one a turn, to `screenshots/<file>/` beside the trajectory file, and name them in its turns."""
    folder = beside.parent / "screenshots" / beside.stem
    folder.mkdir(parents=True, exist_ok=True)
    episode = re.sub(r"[^\w.-]", "_", f"{trajectory.task_id}.{trajectory.group}.{trajectory.member}")
    for number, (turn, picture) in enumerate(zip(trajectory.turns, pictures), 1):
        if picture is not None:
            file = folder / f"{episode}.{number}.jpg"
            file.write_bytes(picture.jpeg)
            turn.screenshot, turn.box = file.relative_to(beside.parent).as_posix(), None if picture.box is None else list(picture.box)


class _Batcher:
    """Feeds the policy: a request is taken in as soon as one of `batch_size` places is free, and answered when its reply ends."""

    def __init__(self, policy: Policy, batch_size: int):
        self.policy, self.batch_size = policy, batch_size
        self.waiting: list[tuple[int, Request]] = []
        self.futures: dict[int, asyncio.Future] = {}
        self.asked = 0
        self.in_progress = 0
        self.busy = False
        self.hung = False  # the policy's thread cannot be waited for
        self.thread = _PolicyThread()

    async def reply(self, request: Request) -> Reply:
        key, self.asked = self.asked, self.asked + 1
        self.waiting.append((key, request))
        self.futures[key] = future = asyncio.get_running_loop().create_future()
        if not self.busy:
            self.busy = True
            self.worker = asyncio.ensure_future(self._work())
        return await future

    async def _work(self) -> None:
        try:
            while self.waiting or self.in_progress:
                free = self.batch_size - self.in_progress
                new, self.waiting = self.waiting[:free], self.waiting[free:]
                self.in_progress += len(new)
                answered = asyncio.wrap_future(self.thread.call(self.policy.advance, new))
                try:
                    replies = await asyncio.wait_for(answered, POLICY_S)
                except TimeoutError:
                    self.hung = True
                    raise RuntimeError(f"the policy {self.policy.name} gave no reply for {POLICY_S:.0f} s") from None
                for key, reply in replies:
                    self.in_progress -= 1
                    self._settle(key, reply)
        except Exception as fault:  # the policy's fault, not an episode's: every waiting episode gets it
            self.waiting.clear()
            for key in list(self.futures):
                self._settle(key, fault)
        finally:
            self.busy = False

    def _settle(self, key: int, outcome: Reply | Exception) -> None:
        future = self.futures.pop(key)
        if future.done():  # its episode was cancelled
            return
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def close(self) -> None:
        """Ends the policy's thread; one that does not end, because the policy hangs, is left behind with what it was doing."""
        ended = self.thread.end(0 if self.hung else STOP_S)
        if self.in_progress and ended:
            self.policy.forget()


class _PolicyThread:
    """Makes calls one after another in one thread, which never holds up the end of the process, as a pool's thread would."""

    def __init__(self):
        self.calls: queue.SimpleQueue = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._serve, name="policy", daemon=True)
        self.thread.start()

    def call(self, work: Callable, *arguments) -> Future:
        outcome: Future = Future()
        self.calls.put((outcome, work, arguments))
        return outcome

    def _serve(self) -> None:
        while (call := self.calls.get()) is not None:
            outcome, work, arguments = call
            if outcome.set_running_or_notify_cancel():
                try:
                    outcome.set_result(work(*arguments))
                except BaseException as fault:
                    outcome.set_exception(fault)

    def end(self, seconds: float) -> bool:
        """Waits so long at most for the call that is being made; has it ended?"""
        self.calls.put(None)
        self.thread.join(seconds)
        return not self.thread.is_alive()
