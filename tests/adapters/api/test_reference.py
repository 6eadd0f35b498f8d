"""The reference of the API: all of it, without a script, and for everybody."""

import re

from tests.adapters.api.serving import ADMIN, ApiSite


def test_the_page_has_every_operation_and_value(lite_site: ApiSite) -> None:
    document = lite_site.ask("GET", "/openapi.json", token="").json()
    page = lite_site.ask("GET", "/docs", token="")
    assert page.status_code == 200
    for path, methods in document["paths"].items():
        for one in methods.values():
            assert f'<section class="box" id="{one["operationId"]}"' in page.text
            assert path in page.text
    for name in document["components"]["schemas"]:
        assert f'<section class="box" id="{name}"' in page.text


def test_its_links_lead_somewhere(lite_site: ApiSite) -> None:
    page = lite_site.ask("GET", "/docs", token="").text
    wanted = set(re.findall(r'href="#([^"]+)"', page))
    there = set(re.findall(r'id="([^"]+)"', page))
    assert "RunEntry" in wanted
    assert wanted - there == set()


def test_it_runs_nothing_and_loads_nothing_from_elsewhere(lite_site: ApiSite) -> None:
    page = lite_site.ask("GET", "/docs", token=ADMIN)
    assert "<script" not in page.text
    assert "<style" not in page.text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page.text)
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_it_says_what_a_field_may_be(lite_site: ApiSite) -> None:
    page = lite_site.ask("GET", "/docs", token="").text
    assert "integer, from 1, to 200, default 50, in the query" in page
    assert '<a href="#RunEntry">list of RunEntry</a>' in page
    assert "number or null" in page
    assert "<code>Idempotency-Key</code>" in page
