"""The typed numbers are whole, and stand beside ours without being mixed with them."""

import pandas as pd
import pytest

from wr1_utils.analysis.paper import PAPER_METHODS, beside_paper, make_paper_table, paper_results
from wr1_utils.analysis.tables import METHODS, AnalysisError
from wr1_utils.settings import load_settings


def main_csv(*rows):
    return pd.DataFrame(rows, columns=["benchmark", "split", "site", "method", "seed", "tasks", "rate", "low", "high"])


OURS = main_csv(
    ("arena", "test", "all", "bc", "0", 165, 0.5, 0.4, 0.6), ("arena", "test", "reddit", "bc", "0", 30, 0.6, 0.5, 0.7),
    ("arena", "test", "wikipedia", "bc", "0", 5, 0.2, 0.1, 0.5), ("arena", "seen_template", "all", "bc", "0", 90, 0.7, 0.6, 0.8),
    ("miniwob", "test", "all", "bc", "0", 75, 0.9, 0.8, 1.0), ("miniwob", "test", "miniwob", "bc", "0", 75, 0.9, 0.8, 1.0),
)


def test_the_typed_table_is_whole():
    table = paper_results()
    assert list(table.columns) == ["model", "method", "site", "rate", "source"]
    assert not table.duplicated(["model", "method", "site"]).any() and not table.isna().any().any()
    abstract = table[table["source"] == "abstract"]
    assert sorted(abstract["rate"]) == [6.1, 8.5, 33.9, 44.8] and set(abstract["site"]) == {"all"}
    whole = table.groupby(["model", "method"])["site"].nunique()
    assert set(whole) == {1, 6} and (whole == 6).sum() == 10
    assert set(PAPER_METHODS.values()) == set(METHODS) and set(PAPER_METHODS) <= set(table["method"])


def test_the_means_agree_with_the_sites():
    """A mean over all tasks lies between the lowest and the highest site: a slip of the pen in a row would be seen."""
    for _, part in paper_results().groupby(["model", "method"]):
        rates = part.set_index("site")["rate"]
        if len(rates) == 6:
            assert rates.drop("all").min() < rates["all"] < rates.drop("all").max()


def test_reported_and_measured_stand_in_columns_of_their_own():
    table = beside_paper(OURS, paper_results())
    bc = table[(table["method"] == "bc") & (table["site"] == "all")].set_index("reported_model")
    assert list(bc.index) == ["Qwen2.5-3B", "Llama-3.1-8B"]
    assert list(bc["reported_rate"]) == [0.2, 0.206] and list(bc["measured_rate"]) == [0.5, 0.5] and set(bc["measured_benchmark"]) == {"arena"}
    r1 = table[(table["method"] == "r1") & (table["site"] == "all") & (table["reported_model"] == "Llama-3.1-8B")].iloc[0]
    assert (round(r1["reported_low"], 3), round(r1["reported_high"], 3), r1["reported_source"]) == (0.375, 0.525, "abstract") and pd.isna(r1["measured_rate"])
    reddit = table[(table["method"] == "bc") & (table["site"] == "reddit")]
    assert list(reddit["reported_rate"]) == [0.421, 0.368] and reddit["reported_low"].isna().all() and set(reddit["measured_tasks"]) == {30}
    wiki = table[table["site"] == "wikipedia"]
    assert len(wiki) == 1 and pd.isna(wiki["reported_rate"].iloc[0]) and wiki["measured_rate"].iloc[0] == 0.2
    assert "miniwob" not in set(table["measured_benchmark"]) and 0.7 not in set(table["measured_rate"])
    assert len(table) == len(paper_results()) + 1


def test_seeds_are_taken_pooled():
    ours = main_csv(*[("pocket", "test", site, "r1", seed, 10, rate, 0.0, 1.0) for site in ("all", "shopping") for seed, rate in (("0", 0.1), ("1", 0.3), ("pooled", 0.2))])
    table = beside_paper(ours, paper_results())
    assert set(table["measured_rate"].dropna()) == {0.2} and set(table["measured_seed"].dropna()) == {"pooled"}


def test_twins_are_written_and_what_is_missing_is_said(tmp_path):
    settings = load_settings("smoke", results=str(tmp_path))
    with pytest.raises(AnalysisError, match="08_main_results"):
        make_paper_table(settings)
    (tmp_path / "smoke").mkdir()
    OURS.to_csv(tmp_path / "smoke" / "main.csv", index=False)
    folder = make_paper_table(settings)
    for suffix in (".csv", ".md", ".tex"):
        assert "second hand" in (folder / "beside_paper").with_suffix(suffix).read_text()


@pytest.mark.parametrize("text, why", [
    ("model,method,rate\na,b,1\n", "the columns must be"),
    ("model,method,site,rate,source\na,b,all,1,abstract\na,b,map,2,hearsay\n", "line 3: .* 'hearsay'"),
    ("model,method,site,rate,source\na,b,all,101,abstract\n", "line 2: .* 101"),
])
def test_a_table_that_is_wrong_is_refused(tmp_path, text, why):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(AnalysisError, match=why):
        paper_results(tmp_path / "p.csv")
