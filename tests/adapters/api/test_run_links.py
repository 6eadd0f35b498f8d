"""Programs share runs as people do, and take links back."""

import httpx
import pytest

from patchwright.client import ApiProblemError
from patchwright.workers.store.run_links import MAX_OPEN_LINKS, LinkActor
from tests.adapters.api.serving import (
    ADMIN,
    READER,
    STRANGER,
    VIEWER,
    WRITER,
    ApiSite,
)
from tests.adapters.web.watching import begin_run


def test_a_link_is_made_listed_and_taken_back(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    with site.client(READER) as client:
        shared = client.share_run(job_id)
        assert shared.url.startswith(f"{site.url}/runs/{job_id}?key={shared.id}-")
        (listed,) = client.list_run_links(job_id).items
        assert (listed.id, listed.run_id, listed.made_by) == (
            shared.id,
            job_id,
            "reader",
        )
        assert listed.expires_at == shared.expires_at
        assert "key=" not in listed.model_dump_json()
        taken = client.revoke_link(shared.id)
        assert taken.revoked_at is not None
        assert client.list_run_links(job_id).items == ()
        # Once more, it is as it was.
        assert client.revoke_link(shared.id) == taken
    key = shared.url.partition("?key=")[2]
    assert site.api.access.links.find(job_id, key) is None


def test_all_links_of_a_run_are_taken_back(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    links = site.api.access.links
    links.own_url(job_id, site.world.job(job_id).created_at)
    with site.client(WRITER) as client:
        shared = client.share_run(job_id)
        taken = client.revoke_run_links(job_id).items
        assert {one.id for one in taken} == {shared.id, job_id}
        assert {one.made_by for one in taken} == {"writer", ""}
        assert client.revoke_run_links(job_id).items == ()
    assert links.open_of(job_id) == ()


def test_the_same_key_is_the_same_link(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    with site.client(READER) as client:
        first = client.share_run(job_id, key="k")
        assert client.share_run(job_id, key="k") == first
        assert client.share_run(job_id).id != first.id
        client.revoke_link(first.id)
        again = client.share_run(job_id, key="k")
    assert (again.id, again.revoked_at is None) == (first.id, False)


@pytest.mark.parametrize(
    ("token", "status", "code"),
    [
        ("", 401, "not-signed-in"),
        (VIEWER, 403, "not-allowed"),
        (STRANGER, 404, "not-found"),
        (WRITER, 200, ""),
        (ADMIN, 200, ""),
    ],
)
def test_who_may_share_may_do_all_of_it(
    site: ApiSite, token: str, status: int, code: str
) -> None:
    job_id, _ = begin_run(site.world)
    link = site.api.access.links.make(
        site.world.job(job_id), LinkActor(key="k", name="bob")
    )
    assert link is not None
    answers = [
        site.ask(method, path, token=token)
        for method, path in (
            ("GET", f"/api/runs/{job_id}/links"),
            ("POST", f"/api/runs/{job_id}/links"),
            ("DELETE", f"/api/links/{link.id}"),
            ("DELETE", f"/api/runs/{job_id}/links"),
        )
    ]
    made = 201 if status == 200 else status
    wanted = [status, made, status, status]
    assert [one.status_code for one in answers] == wanted
    if code:
        kinds = {one.headers["content-type"] for one in answers}
        assert kinds == {"application/problem+json"}
        assert {one.json()["code"] for one in answers} == {code}
        assert site.api.access.links.open_of(job_id) == (link,)


def test_a_link_that_is_hidden_answers_as_one_that_is_not_there(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    link = site.api.access.links.make(
        site.world.job(job_id), LinkActor(key="k", name="bob")
    )
    assert link is not None
    hidden = site.ask("DELETE", f"/api/links/{link.id}", token=STRANGER)
    missing = site.ask("DELETE", "/api/links/none", token=STRANGER)
    assert (hidden.status_code, hidden.text) == (404, missing.text)
    assert missing.json()["detail"] == (
        "There is no link with this id, or you cannot see it."
    )


def test_a_page_of_another_site_takes_nothing_back(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    site.api.access.links.own_url(job_id, site.world.job(job_id).created_at)
    headers = {"x-session": WRITER, "Origin": "https://evil.test"}
    path = f"/api/runs/{job_id}/links"
    refused = site.ask("DELETE", path, token="", headers=headers)
    assert refused.status_code == 403
    assert len(site.api.access.links.open_of(job_id)) == 1


def test_there_are_only_so_many(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    links, job = site.api.access.links, site.world.job(job_id)
    for _ in range(MAX_OPEN_LINKS):
        links.make(job, LinkActor(key="k", name="bob"))
    with site.client(WRITER) as client, pytest.raises(ApiProblemError) as full:
        client.share_run(job_id)
    assert (full.value.status, full.value.code) == (409, "too-many-links")


def test_an_answer_with_a_link_is_kept_by_nobody(site: ApiSite) -> None:
    job_id, _ = begin_run(site.world)
    answer: httpx.Response = site.ask("POST", f"/api/runs/{job_id}/links")
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
