"""The dashboard and the reports of the back office add up, for any period."""

import re

import pytest


@pytest.fixture
def visit(visitor):
    return visitor("shopping_admin")


def shop(visit, path, data=None):
    return visit(path, data, site="shopping")


def words(response):
    """The text of a page, without its markup."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.text))


def table(response):
    """The cells of each row that stands for one thing."""
    lines = re.findall(r'<tr class="item">(.*?)</tr>', response.text, re.DOTALL)
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", line)] for line in lines]


def test_the_dashboard_adds_up(visit):
    text = words(visit("/"))
    assert "Customers 31" in text and "Products 104" in text and "Pending reviews 14" in text
    assert f"Valid orders {visit.value('SELECT count(*) FROM all_orders WHERE status != ?', 'Canceled')} " in text
    cents = visit.value("SELECT sum(total) FROM all_orders WHERE status != ?", "Canceled")
    assert f"Revenue ${cents // 100:,}.{cents % 100:02d}" in text
    assert len(table(visit("/"))) == 4 * 5
    assert table(visit("/"))[0][0] == "Order 5124"


def test_a_search_in_the_shop_is_the_last_search(visit):
    shop(visit, "/search?q=Silk++ZEBRA")
    assert ["silk zebra", "1", "0"] in table(visit("/"))
    shop(visit, "/search?q=silk+zebra")
    shop(visit, "/search?q=silk+zebra&sort=rating")
    assert ["silk zebra", "2", "0"] in table(visit("/"))
    shop(visit, "/search?q=umbrella")
    assert visit.value("SELECT term FROM searches ORDER BY id DESC") == "umbrella"
    assert visit.value("SELECT uses FROM searches WHERE term = 'umbrella'") == 45


def test_sales_of_a_period(visit):
    lines = table(visit("/reports/sales"))
    assert len(lines) == 16 and lines[0][0] == "January 2025" and lines[-1][0] == "Total"
    assert sum(int(line[1]) for line in lines[:-1]) == int(lines[-1][1])
    month = table(visit("/reports/sales?from=2025-02-01&to=2025-02-28"))
    assert month[0] == lines[1] and month[1][1:] == month[0][1:]
    assert "There is nothing to report." in visit("/reports/sales?from=2020-01-01&to=2020-02-01").text


def test_a_canceled_order_leaves_the_sales(visit):
    before = int(table(visit("/reports/sales"))[-1][1])
    visit("/orders/1024/cancel", {})
    assert int(table(visit("/reports/sales"))[-1][1]) == before - 1


@pytest.mark.parametrize("report", ["sales", "best-sellers"])
@pytest.mark.parametrize("query, message", [
    ("from=2025-13-01", "From must be a date"), ("from=&to=", "From must be a date"), ("to=2025-02-30", "To must be a date"),
    ("to=01/02/2025", "To must be a date"), ("from=2026-01-01&to=2025-01-01", "From must not be after To."),
])
def test_a_wrong_period_is_refused(visit, report, query, message):
    response = visit(f"/reports/{report}?{query}")
    assert response.status_code == 400 and message in response.text and 'value="2025-01-01"' in response.text


def test_best_sellers(visit):
    sold = [int(row[1]) for row in table(visit("/reports/best-sellers"))]
    assert len(sold) == 10 and sold == sorted(sold, reverse=True)
    assert table(visit("/reports/best-sellers?from=2026-01-01&to=2026-01-31")) != table(visit("/reports/best-sellers"))


def test_low_stock(visit):
    stock = [int(row[1]) for row in table(visit("/reports/low-stock"))]
    assert stock == sorted(stock) and stock[:8] == [0] * 8
    assert len(table(visit("/reports/low-stock?below=1"))) == 8
    for below in ("", "0", "x", "10000"):
        assert "Stock below must be a number from 1 to 9999." in visit(f"/reports/low-stock?below={below}").text


def test_search_terms(visit):
    assert table(visit("/reports/search-terms"))[0] == ["garden bench", "59", "0"]
    assert len(table(visit("/reports/search-terms?page=3"))) == 4


def test_the_value_of_the_stock_comes_later(visit):
    page = visit("/reports/stock-value")
    assert "is being prepared" in page.text and 'data-later="/reports/stock-figures"' in page.text and table(page) == []
    found = table(visit("/reports/stock-figures"))
    assert len(found) == 8 and sum(int(line[1]) for line in found) == 104
    items, cents = visit.row("SELECT sum(stock), sum(stock * cents) FROM products")
    assert sum(int(line[2]) for line in found) == items
    assert sum(round(100 * float(line[3][1:].replace(",", ""))) for line in found) == cents
