import pandas as pd
import pytest

from wr1_utils.analysis import figures
from wr1_utils.analysis.tables import AnalysisError, reward_curve_table


@pytest.fixture
def curve(tmp_path):
    metrics = pd.DataFrame({"step": range(1, 9), "success_rate": [0.1 * n for n in range(8)], "success_rate_pocket": [0.1] * 8, "success_rate_miniwob": [0.5] * 8})
    reward_curve_table(metrics).to_csv(tmp_path / "reward_curve.csv", index=False)
    return tmp_path / "reward_curve.csv"


@pytest.fixture
def main(tmp_path):
    rows = [(place, split, "all", method, "0", rate, rate - 0.1, rate + 0.1) for place in ("pocket", "miniwob") for split in ("test", "unseen_template")
            for method, rate in (("base", 0.1), ("bc", 0.4), ("r1", 0.7))]
    pd.DataFrame(rows, columns=["benchmark", "split", "site", "method", "seed", "rate", "low", "high"]).to_csv(tmp_path / "main.csv", index=False)
    return tmp_path / "main.csv"


def test_each_figure_is_a_png_and_a_pdf_beside_its_csv(curve, main, tmp_path):
    pd.DataFrame({"step": [1, 2, 3], "loss": [2.0, 1.0, 0.5]}).to_csv(tmp_path / "metrics.csv", index=False)
    for draw, csv, name in ((figures.draw_reward_curve, curve, "reward_curve"), (figures.draw_success_rates, main, "success_rates"),
                            (figures.draw_loss, tmp_path / "metrics.csv", "loss")):
        png = draw(csv)
        assert png == tmp_path / f"{name}.png" and png.read_bytes().startswith(b"\x89PNG")
        assert png.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


def test_the_same_csv_gives_the_same_bytes(curve):
    png = figures.draw_reward_curve(curve)
    before = png.read_bytes(), png.with_suffix(".pdf").read_bytes()
    figures.draw_reward_curve(curve)
    assert (png.read_bytes(), png.with_suffix(".pdf").read_bytes()) == before


def test_every_method_and_place_has_a_colour_of_its_own():
    assert set(figures.METHOD_COLOURS) == set(figures.METHODS)
    for colours in (figures.METHOD_COLOURS, figures.BENCHMARK_COLOURS):
        assert len(set(colours.values())) == len(colours)


def test_a_csv_that_cannot_be_drawn_is_named(tmp_path, curve):
    with pytest.raises(AnalysisError, match="no such file"):
        figures.draw_reward_curve(tmp_path / "none.csv")
    with pytest.raises(AnalysisError, match="column 'loss' is missing"):
        figures.draw_loss(curve)
    (tmp_path / "empty.csv").write_text("step,loss\n")
    with pytest.raises(AnalysisError, match="no row"):
        figures.draw_loss(tmp_path / "empty.csv")
