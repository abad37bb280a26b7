"""The judge against an endpoint of its own, on loopback: what is asked, tried again, kept and believed."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from wr1_utils.errors import WR1Error
from wr1_utils.settings import load_settings
from wr1_utils.tasks import judge as judge_module
from wr1_utils.tasks.judge import SAME_ANSWER, SAME_REASON, Judge, open_judge, read_verdict
from wr1_utils.tasks.task import Task
from wr1_utils.web.browser import InfrastructureError


@pytest.fixture
def endpoint():
    """A chat endpoint that gives the listed (status, text) one after the other, the last for ever; requests are noted."""
    class Chat(BaseHTTPRequestHandler):
        answers, asked = [(200, "correct")], []

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.asked.append((self.path, self.headers["Authorization"], asked))
            status, text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield Chat
    server.shutdown()
    server.server_close()


def settings(endpoint, tmp_path, **changes):
    return load_settings("smoke", judge={"base_url": endpoint.url, "model": "m", "key_variable": "JUDGE_KEY", "cache": str(tmp_path), **changes}).judge


def task(**evaluation):
    return Task("t", ("map",), "", "How long is it?", "", 1, {}, False, False, evaluation, "train")


def test_verdict_is_asked_once_and_kept(endpoint, tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "secret")
    ask = Judge(settings(endpoint, tmp_path)).for_task(task())
    assert ask("about ten minutes", "10 min") == 1
    path, key, sent = endpoint.asked[0]
    assert path == "/v1/chat/completions" and key == "Bearer secret" and sent["model"] == "m" and sent["temperature"] == 0
    for part in ("How long is it?", "about ten minutes", "10 min"):
        assert part in sent["messages"][0]["content"]
    assert Judge(settings(endpoint, tmp_path)).for_task(task())("about ten minutes", "10 min") == 1
    assert len(endpoint.asked) == 1 and "secret" not in "".join(file.read_text() for file in tmp_path.iterdir())
    endpoint.answers = [(200, "incorrect")]
    assert ask("about ten minutes", "20 min") == 0
    assert Judge(settings(endpoint, tmp_path, model="other")).for_task(task())("about ten minutes", "10 min") == 0


def test_a_reply_without_a_verdict_is_none_and_not_kept(endpoint, tmp_path):
    endpoint.answers = [(200, "That is hard to say."), (200, "It fits.\n\n**Correct**")]
    ask = Judge(settings(endpoint, tmp_path)).for_task(task())
    assert ask("a", "b") is None and list(tmp_path.iterdir()) == []
    assert ask("a", "b") == 1


def test_reasons_of_tasks_that_cannot_be_done(endpoint, tmp_path):
    endpoint.answers = [(200, "different"), (200, "same")]
    ask = Judge(settings(endpoint, tmp_path)).for_task(task(string_note="no such shop"))
    assert ask("N/A", "I was tired") == 0 and ask("N/A", "the shop does not exist") == 1
    assert "no such shop" in endpoint.asked[0][2]["messages"][0]["content"]
    assert Judge(settings(endpoint, tmp_path)).for_task(task())("N/A", "whatever") is None and len(endpoint.asked) == 2


def test_a_failing_endpoint_is_tried_again_and_is_infrastructure(endpoint, tmp_path, monkeypatch):
    endpoint.answers = [(503, ""), (200, "correct")]
    assert Judge(settings(endpoint, tmp_path)).for_task(task())("a", "b") == 1 and len(endpoint.asked) == 2
    endpoint.answers = [(401, "")]
    with pytest.raises(InfrastructureError, match="did not answer"):
        Judge(settings(endpoint, tmp_path)).for_task(task())("c", "d")
    monkeypatch.setattr(judge_module, "RETRIES", 0)
    with pytest.raises(InfrastructureError, match="did not answer"):
        Judge(settings(endpoint, tmp_path, base_url="http://127.0.0.1:9/v1")).for_task(task())("c", "d")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("form, reply, verdict", [
    (SAME_ANSWER, "correct", 1), (SAME_ANSWER, "Correct.", 1), (SAME_ANSWER, "partially correct", 0), (SAME_ANSWER, "INCORRECT", 0),
    (SAME_ANSWER, "The answers agree.\nVerdict: correct", 1), (SAME_ANSWER, "not correct", None), (SAME_ANSWER, "correct or incorrect", None),
    (SAME_ANSWER, "correct\nbut I may err", None), (SAME_ANSWER, "", None), (SAME_ANSWER, "same", None), (SAME_REASON, "same", 1),
    (SAME_REASON, "**Different**", 0), (SAME_REASON, "correct", None),
])
def test_read_verdict(form, reply, verdict):
    """Only a verdict's own words, alone on the last line; `not correct` is no verdict."""
    assert read_verdict(form, reply) == verdict


def test_no_judge_and_half_a_judge(endpoint, tmp_path):
    assert open_judge(load_settings("smoke").judge) is None
    with pytest.raises(WR1Error, match="judge.model is empty"):
        open_judge(settings(endpoint, tmp_path, model=""))
