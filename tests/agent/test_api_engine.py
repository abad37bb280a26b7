"""A policy behind an endpoint of its own, on loopback: what is asked, tried again, told apart, and an episode on real pages."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from wr1_utils.agent import api_engine
from wr1_utils.agent.api_engine import ApiPolicy
from wr1_utils.agent.hf_engine import load_tokenizer
from wr1_utils.agent.policy import ModelError, Reply, Request
from wr1_utils.agent.prompt import PLACEHOLDER
from wr1_utils.rollout import Rollout
from wr1_utils.settings import EndpointSettings, load_settings
from wr1_utils.tasks import train_tasks
from wr1_utils.training.packing import PackingError, sequences
from wr1_utils.trajectory import read_trajectories, write_trajectories
from wr1_utils.web.browser import InfrastructureError

CHAT = [{"role": "system", "content": "Act."}, {"role": "user", "content": "Task: buy\nbutton Buy [1]"}]


@pytest.fixture
def endpoint():
    """A chat endpoint; `script(messages)` gives (status, body, seconds to wait), where text stands for a whole answer; requests are noted."""
    class Chat(BaseHTTPRequestHandler):
        asked, script = [], staticmethod(lambda messages: (200, "hello", 0))

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.asked.append((self.headers["Authorization"], asked))
            status, body, seconds = type(self).script(asked["messages"])
            time.sleep(seconds)
            body = json.dumps(answer(body) if isinstance(body, str) else body).encode() if not isinstance(body, bytes) else body
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Chat.settings = EndpointSettings(f"http://127.0.0.1:{server.server_address[1]}/v1", "m", "ENDPOINT_KEY", 20.0)
    yield Chat
    server.shutdown()
    server.server_close()


def answer(text, finish="stop"):
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
            "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}]}


def outcomes(policy, *requests):
    found = dict(policy.advance(list(enumerate(requests))))
    while len(found) < len(requests):
        found |= dict(policy.advance([]))
    return [found[number] for number in range(len(requests))]


def greedy(chat=CHAT):
    return Request([], 40, 0.0, 2**40 + 5, chat)


def test_what_is_asked_and_what_comes_back(endpoint, monkeypatch):
    monkeypatch.setenv("ENDPOINT_KEY", "secret")
    policy = ApiPolicy(endpoint.settings, "big")
    assert (policy.name, policy.tokenizer) == ("big", None)
    assert outcomes(policy, greedy()) == [Reply([], [], "hello", 11, 3)]
    assert endpoint.asked == [("Bearer secret", {"model": "m", "messages": CHAT, "temperature": 0.0, "max_tokens": 40})]
    outcomes(policy, Request([], 40, 0.7, 2**40 + 5, CHAT))
    assert (endpoint.asked[1][1]["seed"], endpoint.asked[1][1]["temperature"]) == (5, 0.7)


def test_requests_run_side_by_side_and_each_gets_its_own_reply(endpoint):
    """Every request waits for all of them: none is answered unless all are there at once."""
    together = threading.Barrier(4, timeout=30)

    def script(messages):
        together.wait()
        return 200, messages[-1]["content"], 0

    endpoint.script = script
    replies = outcomes(ApiPolicy(endpoint.settings), *[greedy([{"role": "user", "content": str(number)}]) for number in range(4)])
    assert [reply.text for reply in replies] == ["0", "1", "2", "3"]


def test_a_failing_endpoint_is_tried_again(endpoint):
    faults = [503, 429]
    endpoint.script = lambda messages: (faults.pop(), "", 0) if faults else (200, "at last", 0)
    (reply,) = outcomes(ApiPolicy(endpoint.settings), greedy())
    assert reply.text == "at last" and len(endpoint.asked) == 3


@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"{not json", {"choices": []}, {"error": "no"}, answer(None), [1]])
def test_garbage_is_infrastructure(endpoint, body):
    endpoint.script = lambda messages: (200, body, 0)
    (fault,) = outcomes(ApiPolicy(endpoint.settings), greedy())
    assert isinstance(fault, InfrastructureError) and "the model m at http://127.0.0.1" in str(fault)


def test_a_model_that_used_up_its_tokens_has_said_nothing(endpoint):
    endpoint.script = lambda messages: (200, answer(None, "length"), 0)
    assert outcomes(ApiPolicy(endpoint.settings), greedy())[0].text == ""


def test_an_endpoint_that_is_down_or_too_slow_is_infrastructure(endpoint, monkeypatch):
    monkeypatch.setattr(api_engine, "RETRIES", 0)
    (down,) = outcomes(ApiPolicy(EndpointSettings("http://127.0.0.1:9/v1", "m")), greedy())
    assert isinstance(down, InfrastructureError) and "did not answer" in str(down)
    endpoint.script = lambda messages: (200, "late", 5)
    (late,) = outcomes(ApiPolicy(EndpointSettings(endpoint.settings.base_url, "m", timeout_s=0.5)), greedy())
    assert isinstance(late, InfrastructureError) and "did not answer" in str(late)


def test_a_refused_key_stops_the_run_at_once_and_later_costs_one_episode(endpoint):
    endpoint.script = lambda messages: (401, "", 0)
    policy = ApiPolicy(endpoint.settings)
    with pytest.raises(ModelError, match="ENDPOINT_KEY"):
        outcomes(policy, greedy())
    endpoint.script = lambda messages: (200, "hello", 0)
    assert outcomes(policy, greedy())[0].text == "hello"
    endpoint.script = lambda messages: (401, "", 0)
    assert isinstance(outcomes(policy, greedy())[0], InfrastructureError)


def test_what_is_in_progress_can_be_dropped(endpoint):
    endpoint.script = lambda messages: (200, "late", 3)
    policy = ApiPolicy(endpoint.settings)
    assert policy.advance([(0, greedy())]) == []
    policy.forget()
    assert policy.advance([]) == []


def test_no_endpoint_and_half_an_endpoint():
    for settings in (EndpointSettings(), EndpointSettings(base_url="http://127.0.0.1:9/v1"), load_settings("laptop").endpoint):
        with pytest.raises(ModelError, match="endpoint.base_url"):
            ApiPolicy(settings)


def test_an_episode_on_real_pages(endpoint, tmp_path):
    """The endpoint plays what the expert of the task plays and succeeds; while it is down the episode is nobody's failure. Nothing can be trained on."""
    settings = load_settings("smoke", **{"tasks.benchmarks": ["pocket"], "episode.turn_limit": 10, "rollout.retries": 0})
    task = train_tasks(settings)[0]
    with Rollout(settings) as rollout:
        (expert,) = rollout.demonstrate([task], load_tokenizer("data/models/pocket-base"))
        endpoint.script = lambda messages: (200, expert.turns[sum(one["role"] == "assistant" for one in messages)].reply, 0)
        (played,) = rollout.run([task], ApiPolicy(endpoint.settings, "big"), temperature=0.0)
        endpoint.script = lambda messages: (200, b"no reply", 0)
        (lost,) = rollout.run([task], ApiPolicy(endpoint.settings, "big"), temperature=0.0)
    assert (played.status, played.reward, played.policy) == ("success", 1.0, "big")
    assert [turn.action for turn in played.turns] == [turn.action for turn in expert.turns]
    last = endpoint.asked[len(expert.turns) - 1][1]["messages"]
    assert last[0]["content"] == settings.model.system_prompt and last[-1]["content"].endswith(played.turns[-1].observation)
    assert all(message["content"].endswith(PLACEHOLDER) for message in last[1:-1] if message["role"] == "user")
    assert (lost.status, lost.reward, lost.valid) == ("infrastructure", None, False)
    (kept,) = read_trajectories(write_trajectories(tmp_path / "t.parquet", [played]))
    assert (kept.reply_tokens, kept.context_tokens) == (3 * len(kept.turns), 11 * len(kept.turns))
    with pytest.raises(PackingError, match="endpoint"):
        sequences([kept])
