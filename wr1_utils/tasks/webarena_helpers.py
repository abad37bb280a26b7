"""The helper functions that WebArena's records name as `func:…`, for the evaluator; what they do is what WebArena's own helpers do.

Deviation: a site that does not answer is an InfrastructureError, there it was an assertion.
"""

from __future__ import annotations

import functools
import re
from urllib.parse import quote, urlsplit

from playwright.async_api import Page

from wr1_utils.tasks.evaluator import Helper
from wr1_utils.web.browser import InfrastructureError, limited

LIMIT_S = 10.0  # for one request
MEMBER_ROLE = """name => {
  const names = [...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")].map(one => one.outerText);
  const roles = document.querySelectorAll("td.col-max-role span");
  const place = names.indexOf("@" + name);
  return place >= 0 && roles[place] ? roles[place].outerText : "";
}"""


def webarena_helpers(site_urls: dict[str, str], admin: tuple[str, str] | None) -> dict[str, Helper]:
    """The helpers by name. `admin` is the account (user, password) that may ask the shop's interface; without one, tasks that need it cannot be scored."""
    helpers: dict[str, Helper] = {"reddit_get_post_url": reddit_post_url, "gitlab_get_project_memeber_role": gitlab_member_role}  # the records' spelling
    if admin:
        shop = {"shopping_get_latest_order_url": latest_order_url, "shopping_get_sku_latest_review_author": latest_review_author,
                "shopping_get_sku_latest_review_rating": latest_review_rating}
        helpers |= {name: functools.partial(helper, base=site_urls["SHOPPING"].rstrip("/"), admin=admin) for name, helper in shop.items()}
    return helpers


async def reddit_post_url(page: Page, url: str) -> str:
    """The address of the post that `url` is, or is a comment of; any other address as it is."""
    parts = urlsplit(url)
    post = re.match(r"/f/([^/]*)/([^/]*)", parts.path)
    return f"{parts.scheme}://{parts.netloc}/f/{post[1]}/{post[2]}/" if post else url


async def gitlab_member_role(page: Page, account: str) -> str:
    """The role of an account on the project's page of members; "" if it is none."""
    return await limited(page.evaluate(MEMBER_ROLE, account), LIMIT_S, f"reading the members on {page.url}")


async def latest_order_url(page: Page, *, base: str, admin: tuple[str, str]) -> str:
    """The address of the shop's newest order."""
    order = {"searchCriteria[sortOrders][0][field]": "created_at", "searchCriteria[sortOrders][0][direction]": "DESC", "searchCriteria[pageSize]": "1"}
    found = await _asked(page, base, "/rest/V1/orders", admin, order)
    try:
        return f"{base}/sales/order/view/order_id/{int(found['items'][0]['increment_id'])}/"
    except (KeyError, IndexError, TypeError, ValueError):
        raise InfrastructureError(f"the shop at {base} named no newest order") from None


async def latest_review_author(page: Page, sku: str, *, base: str, admin: tuple[str, str]) -> str:
    """Who wrote the newest review of a product; "" if it has none."""
    reviews = await _asked(page, base, f"/rest/V1/products/{quote(sku, safe='')}/reviews", admin)
    return str(reviews[-1]["nickname"]) if reviews else ""


async def latest_review_rating(page: Page, sku: str, *, base: str, admin: tuple[str, str]) -> str:
    """The rating of the newest review of a product, in per cent; "" if it has none."""
    reviews = await _asked(page, base, f"/rest/V1/products/{quote(sku, safe='')}/reviews", admin)
    return str(reviews[-1]["ratings"][0]["percent"]) if reviews else ""


async def _asked(page: Page, base: str, path: str, admin: tuple[str, str], query: dict | None = None):
    """What the shop's interface answers, as JSON, to the administrator."""
    request = page.context.request
    account = {"username": admin[0], "password": admin[1]}
    token = await _json(request.post(f"{base}/rest/default/V1/integration/admin/token", data=account, timeout=LIMIT_S * 1000), f"logging in to {base}/rest")
    headers = {"Authorization": f"Bearer {token}"}
    return await _json(request.get(base + path, params=query, headers=headers, timeout=LIMIT_S * 1000), f"asking {base}{path}")


async def _json(sent, what: str):
    answer = await limited(sent, LIMIT_S + 1, what)
    if not answer.ok:
        raise InfrastructureError(f"{what} failed: the site answered {answer.status}")
    try:
        return await limited(answer.json(), LIMIT_S, what)
    except ValueError:
        raise InfrastructureError(f"{what} failed: the answer is not JSON") from None
