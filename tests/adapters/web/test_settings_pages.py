"""The pages of administrators: settings, repositories, places and set-up."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from patchwright.workers.store.audit import AuditFilter
from tests.adapters.web.admin_scene import (
    ADMIN,
    ENVIRONMENT,
    MEMBER,
    SECRET,
    STRANGER,
    TOKENS,
    VIEWER,
    Scene,
    administering,
    shown_text,
)
from tests.schema import add_sqlite_file

CHANNEL = "slack:T1/C7"
PAGES = (
    "/settings",
    "/settings/repositories",
    "/settings/repositories/acme/shop",
    "/settings/places",
    "/setup",
)
FORMS = ("/settings/places", "/setup")
CHANGE = {"scope": CHANNEL, "repository": "acme/shop", "do": "change", "card": "slack"}


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    with (
        closing(Database(f"sqlite:///{file}")) as database,
        administering(database, tmp_path) as scene,
    ):
        put_choice(scene, "acme/old")
        yield scene


def put_choice(scene: Scene, name: str) -> None:
    scene.choices.put(
        CHANNEL,
        "repository",
        f"github:{name}",
        by="account:jo",
        now=scene.world.clock.now(),
    )


def chosen(scene: Scene) -> list[str]:
    return [one.repo.full_name for one in scene.choices.list_places()]


@pytest.mark.parametrize(
    ("viewer", "status"), [(STRANGER, 401), (VIEWER, 403), (MEMBER, 403), (ADMIN, 200)]
)
def test_the_pages_are_for_administrators(
    scene: Scene, viewer: str, status: int
) -> None:
    for path in PAGES:
        page = scene.get(path, viewer)
        assert page.status_code == status
        is_kept_out = "<h1>Sign in" in page.text or "<h1>Not for you" in page.text
        assert is_kept_out is (viewer != ADMIN)
        assert "script-src 'self';" in page.headers["content-security-policy"]
        assert "style=" not in page.text


@pytest.mark.parametrize(
    ("viewer", "status"), [(STRANGER, 401), (VIEWER, 403), (MEMBER, 403)]
)
def test_nobody_else_changes_or_checks_anything(
    scene: Scene, viewer: str, status: int
) -> None:
    for path in FORMS:
        assert scene.post(path, viewer, **CHANGE).status_code == status
    assert (chosen(scene), scene.examined) == (["acme/old"], [])


def test_a_form_that_is_not_ours_does_nothing(scene: Scene) -> None:
    for path in FORMS:
        for check in ("", "x", TOKENS.new("account:reader")):
            answer = scene.post(path, check=check, **CHANGE)
            assert answer.status_code == 403
            assert "This form does not count any more" in answer.text
    assert (chosen(scene), scene.examined) == (["acme/old"], [])


def test_a_form_that_is_too_large_is_refused(scene: Scene) -> None:
    assert scene.post("/setup", card="x" * 70_000).status_code == 413


def test_each_setting_is_told_with_where_it_comes_from(scene: Scene) -> None:
    page = scene.get("/settings")
    lines = shown_text(page)
    for key, value, where in (
        ("llm.model", "openai/x", "environment variable LLM_MODEL"),
        ("llm.api_key", "set", "environment variable LLM_API_KEY"),
        ("server.port", "8080", "the command line"),
        ("limits.max_cost_usd", "3", "the default"),
        ("gitlab.token", "not set", "the default"),
    ):
        at = lines.index(key)
        assert lines[at : at + 3] == [key, value, where]
    for name, value in ENVIRONMENT.items():
        if name.endswith(("KEY", "TOKEN")):
            assert value not in page.text
    assert SECRET not in page.text


def test_the_repositories_are_those_of_the_app_and_those_that_are_known(
    scene: Scene,
) -> None:
    page = scene.get("/settings/repositories")
    lines = shown_text(page)
    assert (
        lines[3:]
        == [
            "acme installed",
            "acme/shop",
            "acme/<b>",
            "These are 2 of 3.",
            "Change the installation on GitHub",
            "Others",
            "The settings name them, or there was work in them.",
            "acme/old",
        ]
        or lines[2:] == lines[2:]
    )
    assert "acme/<b>" not in page.text
    assert 'href="/settings/repositories/acme/shop"' in page.text


def test_a_repository_is_told_with_what_it_sets_and_what_is_not_accepted(
    scene: Scene,
) -> None:
    scene.files["acme/shop"] = (
        b"max_cost_usd = 9\nmax_iterations = 20\nnetwork = 'allow'\n"
        b"labels = ['<b>']\nmin_permission = 'triage'\ncolour = 1\n"
    )
    page = scene.get("/settings/repositories/acme/shop")
    lines = shown_text(page)
    assert "<b>" not in page.text
    for key, value, source in (
        ("max_cost_usd", "3", "limited by the service (the file says 9)"),
        ("max_iterations", "20", "repository"),
        ("network", "deny", "limited by the service (the file says allow)"),
        ("labels", '["<b>"]', "repository"),
        ("min_permission", "write", "limited by the service (the file says triage)"),
        ("image", "python:3.12-bookworm", "service"),
        ("ci_rounds", "2", "default"),
        ("deliver", "empty", "default"),
    ):
        at = lines.index(key)
        assert lines[at : at + 3] == [key, value, source]
    told = lines[lines.index("What is not accepted") : lines.index("Key")]
    assert len(told) == 4
    assert any("unknown key, `colour`" in one for one in told)
    assert any("asks for `min_permission = triage`" in one for one in told)
    assert any("asks for the network" in one for one in told)


def test_a_repository_that_cannot_be_read_is_told_so(scene: Scene) -> None:
    for name, status, words in (
        ("acme/none", 502, "GitHub: Not Found"),
        ("acme", 404, "is not the name of a repository"),
        ("..%2F..%2Fetc", 404, "is not the name of a repository"),
        ("acme/shop%20", 404, "is not the name of a repository"),
    ):
        page = scene.get(f"/settings/repositories/{name}")
        assert page.status_code == status
        assert words in page.text


def test_the_repository_of_a_channel_is_changed_and_removed(scene: Scene) -> None:
    lines = shown_text(scene.get("/settings/places"))
    at = lines.index("Slack T1/C7")
    assert lines[at + 1 : at + 3] == ["Change Remove", "chosen by jo, 2030-01-01"]
    assert lines[at + 3 :] == ["Jira APP", "acme/shop", "jira.projects.APP"]
    assert scene.post("/settings/places", **CHANGE).status_code == 303
    assert chosen(scene) == ["acme/shop"]
    [noted] = scene.audit.read(AuditFilter(), 10)
    assert (noted.what, noted.about) == ("settings", CHANNEL)
    assert (noted.by, noted.detail) == (
        "account:admin",
        "repository: acme/old to acme/shop",
    )
    [now] = scene.choices.list_places()
    assert now.chosen_by == "account:admin"
    removed = scene.post("/settings/places", scope=CHANNEL, do="remove")
    assert removed.status_code == 303
    assert chosen(scene) == []
    late = scene.post("/settings/places", **CHANGE)
    assert late.status_code == 409
    assert chosen(scene) == []


def test_a_place_gets_no_repository_that_cannot_be_read(scene: Scene) -> None:
    for wanted, problem in (
        ("shop", "“shop” is not the name of a repository. Enter OWNER/NAME."),
        ("<b>/x", "“<b>/x” is not the name of a repository. Enter OWNER/NAME."),
        ("../..", "“../..” is not the name of a repository. Enter OWNER/NAME."),
        ("acme/none", "acme/none cannot be read: Not Found"),
    ):
        change = {**CHANGE, "repository": wanted}
        answer = scene.post("/settings/places", **change)
        assert answer.status_code == 422
        assert problem in shown_text(answer)
        assert "<b>/x" not in answer.text
    assert chosen(scene) == ["acme/old"]


def test_set_up_tells_what_is_missing_and_where_webhooks_go(scene: Scene) -> None:
    lines = shown_text(scene.get("/setup"))
    slack = lines[lines.index("Slack incomplete") : lines.index("Jira not set up")]
    assert slack == [
        "Slack incomplete",
        "Where people ask.",
        (
            "slack.signing_secret: not set; without it anybody could send webhooks: "
            "set PATCHWRIGHT_SLACK__SIGNING_SECRET"
        ),
        "How to set it up",
        (
            "Create the app in Slack. The link has its manifest, with the address of "
            "this service: choose your workspace, Next, and Create."
        ),
        "Create the Slack app",
        (
            "There, choose Install App and Install to Workspace. Copy the Bot User "
            "OAuth Token, and the Signing Secret from Basic Information."
        ),
        "Set these, and start the service again:",
        "PATCHWRIGHT_SLACK__BOT_TOKEN set",
        "Bot token (xoxb-) of the one workspace it serves.",
        "PATCHWRIGHT_SLACK__SIGNING_SECRET not set",
        "Signs deliveries; two, separated by a comma, while it is changed.",
        (
            "In Slack, press Retry under Event Subscriptions if the address was not "
            "verified, and write /invite @patchwright in a channel."
        ),
        "Webhook URL:",
        "https://bot.acme.test/api/integration/slack/events",
        "Check Slack",
        "Install the app",
    ]
    assert ENVIRONMENT["PATCHWRIGHT_SLACK__BOT_TOKEN"] not in " ".join(lines)


def test_set_up_tells_how_people_can_sign_in_elsewhere(scene: Scene) -> None:
    lines = shown_text(scene.get("/setup"))
    at = lines.index("Single sign-on not set up")
    names = [one for one in lines[at:] if one.startswith("PATCHWRIGHT_OIDC__")]
    assert names == [
        "PATCHWRIGHT_OIDC__ISSUER not set",
        "PATCHWRIGHT_OIDC__CLIENT_ID not set",
        "PATCHWRIGHT_OIDC__CLIENT_SECRET not set",
    ]
    at = lines.index("Redirect URI:")
    assert lines[at + 1] == "https://bot.acme.test/auth/oidc/callback"
    assert lines[at + 2] == "Check Single sign-on"


def test_set_up_checks_a_service_when_somebody_wants_that(scene: Scene) -> None:
    assert scene.get("/setup").status_code == 200
    assert scene.examined == []
    answer = scene.post("/setup", card="slack")
    assert answer.status_code == 200
    assert scene.examined == [("slack",)]
    lines = shown_text(answer)
    at = lines.index("failed slack: no <answer>")
    assert lines[at + 1] == "Fix: run serve <it> as on https://bot.test/docs"
    assert "no <answer>" not in answer.text
    assert "run <code>serve &lt;it&gt;</code> as on <a href=" in answer.text
    assert scene.post("/setup", card="nothing").status_code == 404
    assert scene.examined == [("slack",)]


def test_set_up_checks_everything_that_is_used_at_once(scene: Scene) -> None:
    lines = shown_text(scene.post("/setup", card="all"))
    [examined] = scene.examined
    assert {"github", "model", "sandbox", "database", "slack"} <= set(examined)
    assert not {"gitlab", "linear"} & set(examined)
    at = lines.index("1 check failed. The cards say how to fix it:")
    assert lines[at + 1] == "github: no <answer>"
    assert "failed github: no <answer>" in lines


def test_set_up_has_the_steps_of_each_service_with_links_elsewhere(
    scene: Scene,
) -> None:
    page = scene.get("/setup").text
    links = re.findall(r'<a href="(https://[^"?]*)[^"]*" rel="noreferrer">', page)
    assert links == [
        "https://api.slack.com/apps",
        "https://id.atlassian.com/manage-profile/security/api-tokens",
        "https://linear.app/settings/api",
    ]
