import csv
import json

from wr1_utils.agent.hf_engine import load_model
from wr1_utils.agent.pocket_model import build_model
from wr1_utils.settings import project_path
from wr1_utils.training import pocket_skills, pretrain
from wr1_utils.training.pretrain import Pretraining

TINY = Pretraining(tokenizer_samples=60)


def test_held_out_samples_do_not_change_and_are_of_the_skill():
    one, two = (pocket_skills.held_out(0, 5, 20, "click") for _ in range(2))
    assert [sample.messages for sample in one] == [sample.messages for sample in two]
    assert all(sample.skill == "click" for sample in one)


def test_an_untrained_model_is_right_never_and_a_parrot_always(monkeypatch):
    tokenizer = pretrain.make_tokenizer(TINY)
    monkeypatch.setattr(pocket_skills, "SKILL_NAMES", ("click",))
    model = build_model(tokenizer, 0).eval()
    samples = pocket_skills.held_out(0, 3, 10)
    assert len(pocket_skills.greedy_replies(model, tokenizer, samples, batch_size=2, reply_tokens=4)) == 3
    monkeypatch.setattr(pocket_skills, "greedy_replies", lambda model, tokenizer, samples: ["" for _ in samples])
    assert all(row["actions"] == row["replies"] == 0 for row in pocket_skills.evaluate(model, tokenizer, 0, 4))
    monkeypatch.setattr(pocket_skills, "greedy_replies", lambda model, tokenizer, samples: [s.messages[-1]["content"] for s in samples])
    rows = pocket_skills.evaluate(model, tokenizer, 0, 4)
    assert [(row["skill"], row["lines"]) for row in rows] == [("mixed", 10), ("mixed", 30), ("mixed", 60), ("click", 30), ("lookup", 30)]
    assert all(row["actions"] == row["replies"] == row["samples"] == 4 for row in rows)


def test_card_holds_the_numbers_of_the_table(tmp_path):
    model = build_model(pretrain.make_tokenizer(TINY), 0)
    rows = [{"skill": "click", "lines": 30, "samples": 40, "actions": 37, "replies": 36}]
    pocket_skills.write_card(model, TINY, rows, tmp_path, tmp_path / "results", "make it")
    card = (tmp_path / "README.md").read_text()
    assert "| click | 30 | 92.5% | 90.0% |" in card and "`make it`" in card
    with open(tmp_path / "results" / "skills.csv") as file:
        assert list(csv.DictReader(file)) == [{key: str(value) for key, value in rows[0].items()}]
    assert json.loads((tmp_path / "results" / "environment.json").read_text())["pretraining"]["seed"] == 0


def test_the_committed_model_finds_elements_on_pages_it_has_not_seen():
    """Its table says 77 % of clicks on pages of 30 lines; a third of the replies wrong here would mean that weights, tokenizer or format have come apart."""
    model, tokenizer = load_model(project_path("data/models/pocket-base"))
    samples = pocket_skills.held_out(1, 40, 15, "click")
    made = pocket_skills.greedy_replies(model, tokenizer, samples, reply_tokens=40)
    assert sum(reply == sample.messages[-1]["content"] for reply, sample in zip(made, samples)) >= 27
