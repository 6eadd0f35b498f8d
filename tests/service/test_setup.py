"""A service that has no App yet gets one in a browser, and goes on by itself."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from tests.adapters.web.browser import browsing, forms_on, text_of
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.webhooks.sending import deliver
from tests.flow.story import BOT, REPO, fix_turns
from tests.provision.starter import ready_starter
from tests.service.processes import START_S, ServiceProcess
from tests.service.screen import Screen, at_terminal
from tests.service.stage import Stage, staged, unset_stage

WRONG_CONFIGURATION = 2
# A line of the log at a terminal, and the rest of one that is longer than the terminal.
LOG_LINE = re.compile(r"\d\d:\d\d:\d\d \[")
OFFER_BOX = """\
╭─ Patchwright VERSION: create your GitHub App ─╮
│ Next      Open the link below in a browser. It expires after 15 minutes and │
│           works in one browser. │
│ New link  patchwright setup-link │
│ Stop      Ctrl-C │
│ Log       below, on standard error │
╰──────────────────────────────────────────────────────────────────────────────╯"""
READY = """\
✓ The GitHub App acme-bot was created. People mention it as @acme-bot.
  Install it in repositories:

SITE/github-apps/acme-bot/installations/new

╭─ Patchwright VERSION: the service is running ─╮
│ Address  {url} │
│ Mention  @acme-bot │
│ Try      open an issue in one of its repositories and write `@acme-bot │
│          please ...` │
│ Form     {url}/requests/new │
│ Check    patchwright doctor │
│ Stop     Ctrl-C │
│ Log      below, on standard error │
╰──────────────────────────────────────────────────────────────────────────────╯
✓ Installed in 2 repositories. Try: open an issue in acme/shop and write
`@acme-bot please ...`
"""
REFUSAL = """\
╭─ Patchwright VERSION: set a public URL ─╮
│ Problem  server.public_url is not set. GitHub cannot send webhooks to this │
│          service. │
│ Next     Choose one of the three ways below, and start patchwright serve │
│          again. It then shows a link to create the App. │
│ Stop     Ctrl-C │
╰──────────────────────────────────────────────────────────────────────────────╯
1. A reverse proxy with TLS
   On a machine with a public name, for example with Caddy:
   caddy reverse-proxy --from YOUR-NAME --to 127.0.0.1:PORT
   export PATCHWRIGHT_SERVER__PUBLIC_URL=https://YOUR-NAME

2. A tunnel
   cloudflared prints the address of the tunnel:
   cloudflared tunnel --url http://127.0.0.1:PORT
   export PATCHWRIGHT_SERVER__PUBLIC_URL=https://YOUR-TUNNEL.trycloudflare.com

3. A webhook relay, to try it out
   Create a channel at https://smee.io/new. The relay can read the webhooks:
   npx smee-client --url https://smee.io/YOUR-CHANNEL --target http://127.0.0.1:PORT/api/integration/github/events
   export PATCHWRIGHT_GITHUB__WEBHOOK_URL=https://smee.io/YOUR-CHANNEL
   export PATCHWRIGHT_SERVER__PUBLIC_URL=http://127.0.0.1:PORT"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with unset_stage(tmp_path, fix_turns()) as unset:
        yield unset


def test_it_is_set_up_in_a_browser_and_then_works(stage: Stage) -> None:
    with stage.serving("all") as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        assert httpx.get(f"{service.url}/readyz").status_code == 503
        _set_up(service)
        service.wait_until_ready()
        _install(stage.github)
        stage.wait_for_end(stage.ask(service))
        [pull] = stage.github.pull_requests(REPO)
        assert pull.author == BOT

    with stage.serving("all") as again:
        again.wait_until_ready()
        assert not again.has_said("setup_needed")

    url = stage.environment["PATCHWRIGHT_SERVER__PUBLIC_URL"]
    environment = {**stage.environment, "COLUMNS": "1000"}
    ended = ready_starter().run(
        "setup-link", cwd=stage.folder, env=environment, timeout=START_S
    )
    assert (ended.returncode, ended.stdout) == (WRONG_CONFIGURATION, "")
    assert ended.stderr == (
        "error: there is a GitHub App already, so no link is needed; sign in at "
        f"{url}/setup to check the service, or run `patchwright doctor`\n"
    )

    logged = "".join(log.read_text() for log in stage.folder.glob("*.log"))
    registry = stage.github.world.registry
    [app] = stage.github.world.apps.values()
    assert app.webhook_secret not in logged
    assert registry.registrations[app.id].client_secret not in logged
    assert "PRIVATE KEY" not in logged


def test_it_ends_when_it_is_told_to_while_nobody_sets_it_up(stage: Stage) -> None:
    with stage.serving("all") as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        service.stop()


def test_a_worker_of_its_own_says_who_can_set_it_up(stage: Stage) -> None:
    ended = ready_starter().run(
        *("serve", "--role", "worker"),
        cwd=stage.folder,
        env={
            **stage.environment,
            "COLUMNS": "1000",
            "PATCHWRIGHT_QUEUE__BROKER_URL": "redis://127.0.0.1:1",
        },
        timeout=START_S,
    )
    assert ended.returncode == WRONG_CONFIGURATION
    assert ended.stderr.splitlines()[-1] == (
        "error: github: not configured, and there is no App yet; create one with the "
        "link that the web process shows or `patchwright setup-link` prints, or set "
        "PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
        "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE; then start again"
    )


# It starts the service, makes the App, and waits for a run.
@pytest.mark.timeout(300)
def test_a_person_at_a_terminal_is_led_to_the_first_request(stage: Stage) -> None:
    environment = _watched(stage)
    url = environment["PATCHWRIGHT_SERVER__PUBLIC_URL"]
    with (
        at_terminal("serve", folder=stage.folder, environment=environment) as screen,
        browsing() as browser,
    ):
        screen.wait_for("key=")
        first = _link_on(screen)
        assert _boxes(screen, url) == f"{OFFER_BOX}\n\n{{url}}/setup/github?key=KEY\n\n"
        link = _new_link(stage, environment)
        assert browser.get(first).status_code == 403
        page = browser.get(urljoin(url, browser.get(link).headers["location"]))
        done = _make_app(browser, page, name="Acme Bot")
        assert "People mention it as @acme-bot." in text_of(done)
        screen.wait_for("the service is running")
        installed = _install_in_browser(stage, browser, url)
        assert text_of(installed) == (
            "Installed in 2 repositories\n"
            "Next, sign in: you then see whether everything works. If this service has "
            "no admin yet, you become the first one.\n"
            "Sign in and check the set-up\n"
            "After that\n"
            "Try: open an issue in acme/shop and write:\n"
            "@acme-bot please ...\n"
            "Say after it what is wrong, how to reproduce it, and what you expect. "
            "Within seconds a comment says that the work has started.\n"
            "Or make a request here."
        )
        screen.wait_for("✓ Installed")
        screen.wait_for("please ...`\n")
        said = _boxes(screen, url).partition("key=KEY\n\n")[2]
        site = stage.github.web_url
        assert said.replace(site, "SITE").replace(url, "{url}") == READY
        ignored = _ask(stage, url, "@patchwright please fix the sum")
        _ask(stage, url, "@acme-bot please fix the sum, 3 pieces cost 450")
        _wait_for_pull_request(stage)
    assert stage.github.comments(REPO, ignored) == []


def test_a_stranger_is_not_told_where_the_app_is_installed(stage: Stage) -> None:
    with stage.serving("all") as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        _set_up(service)
        service.wait_until_ready()
        _install(stage.github)
        [installation] = stage.github.world.installations
        query = {"installation_id": str(installation), "setup_action": "install"}
        page = httpx.get(f"{service.url}/setup/github/installed", params=query)
        assert text_of(page).startswith(
            "Installed\nTry: open an issue in one of the repositories and write:"
        )
        assert not service.has_said("app_installed")


def test_without_a_public_address_no_app_is_offered(stage: Stage) -> None:
    environment = {
        name: value
        for name, value in _watched(stage).items()
        if not name.startswith(("PATCHWRIGHT_GITHUB__", "PATCHWRIGHT_SERVER__PUBLIC"))
    }
    port = environment["PATCHWRIGHT_SERVER__PORT"]
    with at_terminal("serve", folder=stage.folder, environment=environment) as screen:
        screen.wait_for("PUBLIC_URL=http://127")
        screen.wait_for("\n\n")
        shown = _without_version(screen.text).replace(f":{port}", ":PORT")
        assert shown[shown.index("╭") :].rstrip() == REFUSAL


def test_the_log_says_why_no_app_is_offered(stage: Stage) -> None:
    environment = {
        "PATCHWRIGHT_SERVER__PUBLIC_URL": "http://127.0.0.1:8080",
        "PATCHWRIGHT_GITHUB__API_URL": "https://api.github.com",
        "PATCHWRIGHT_GITHUB__WEB_URL": "https://github.com",
    }
    with stage.serving("all", **environment) as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the problem")
        [line] = [one for one in service.lines() if one["message"] == "setup_needed"]
    assert "url" not in line
    assert (line["problem"], line["fix"]) == (
        "http://127.0.0.1:8080 is an address of this machine only.",
        (
            "set PATCHWRIGHT_SERVER__PUBLIC_URL to an address that GitHub reaches, and "
            "start again"
        ),
    )


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (
            {"PATCHWRIGHT_SERVER__PUBLIC_URL": ""},
            (
                "server.public_url is not set. GitHub cannot send webhooks to it; "
                "`patchwright serve` names three ways to be reachable"
            ),
        ),
        (
            {
                "PATCHWRIGHT_GITHUB__TOKEN": "ghp_1",
                "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET": "wh-secret-1",
            },
            "github is configured in the settings, so no App is created",
        ),
    ],
)
def test_no_link_is_printed_where_none_helps(
    stage: Stage, settings: Mapping[str, str], problem: str
) -> None:
    environment = {**stage.environment, **settings, "COLUMNS": "1000"}
    ended = ready_starter().run(
        "setup-link", cwd=stage.folder, env=environment, timeout=START_S
    )
    assert (ended.returncode, ended.stdout) == (WRONG_CONFIGURATION, "")
    assert ended.stderr == f"error: {problem}\n"


def test_an_app_that_is_configured_by_hand_is_mentioned_by_its_name(
    tmp_path: Path,
) -> None:
    with staged(tmp_path, fix_turns()) as stage:
        [app] = stage.github.world.apps.values()
        stage.github.world.apps[app.id] = replace(app, slug="acme-bot")
        stage.github.add_user("acme-bot[bot]", bot=True)
        with stage.serving("all") as service:
            service.wait_until_ready()
            asked = "@acme-bot please fix the sum, 3 pieces cost 450"
            _ask(stage, service.url, asked)
            _wait_for_pull_request(stage)
        # GitHub is asked once a day: it may be away at the next start.
        stage.github.fail_next("GET", "/app$", 503, times=99)
        with stage.serving("all") as again:
            again.wait_until_ready()
            assert not again.has_said("mention_unknown")


def _watched(stage: Stage) -> dict[str, str]:
    """Return the environment of somebody at a terminal."""
    return {k: v for k, v in stage.environment.items() if k != "LOG_JSON"}


def _link_on(screen: Screen) -> str:
    """Return the link, which is a line of its own."""
    found = re.search(r"^http\S+key=\S+$", screen.text, re.MULTILINE)
    assert found, screen.text
    return found[0]


def _boxes(screen: Screen, url: str) -> str:
    """Return what was written, without the log and what is new in each run."""
    lines = [line for line in screen.text.split("\n") if not LOG_LINE.match(line)]
    text = _without_version("\n".join(lines))
    return re.sub(r"key=\S+", "key=KEY", text).replace(f"\n{url}/s", "\n{url}/s")


def _without_version(text: str) -> str:
    """Return it with boxes that are the same for each version and each port."""
    title = rf"Patchwright {re.escape(version('patchwright'))}: (.*?) ─+╮"
    named = re.sub(title, r"Patchwright VERSION: \1 ─╮", text)
    return re.sub(r" +│$", " │", named, flags=re.MULTILINE)


def _wait_for_pull_request(stage: Stage) -> None:
    stage.wait(lambda: bool(stage.github.pull_requests(REPO)), "the pull request")


def _new_link(stage: Stage, environment: Mapping[str, str]) -> str:
    """Ask for one beside the service."""
    ended = ready_starter().run(
        "setup-link", cwd=stage.folder, env=environment, timeout=START_S
    )
    assert ended.stderr == (
        "Open it in a browser while `patchwright serve` runs. It expires after 15 "
        "minutes and works in one browser. Earlier links no longer work.\n"
    )
    return ended.stdout.strip()


def _make_app(browser: httpx.Client, page: httpx.Response, name: str) -> httpx.Response:
    """Press the buttons here and on GitHub, where the App is given a name."""
    form = forms_on(page)[0]
    manifest = {**json.loads(form.fields["manifest"]), "name": name}
    back = browser.post(form.action, data={"manifest": json.dumps(manifest)})
    return browser.get(back.headers["location"])


def _install_in_browser(
    stage: Stage, browser: httpx.Client, url: str
) -> httpx.Response:
    """Install the App, and return the page to which GitHub sends the browser."""
    stage.github.add_repository("acme/web", files={"README.md": "web"})
    [app] = stage.github.world.apps
    number = stage.github.install_app(app, "acme", [REPO, "acme/web"])
    query = {"installation_id": str(number), "setup_action": "install"}
    return browser.get(f"{url}/setup/github/installed", params=query)


def _ask(stage: Stage, url: str, text: str) -> int:
    """Let alice ask in an issue of her own; return its number."""
    number = stage.github.open_issue(REPO, "alice", "Wrong sum", text)
    deliver(stage.github.deliveries[-1], f"{url}/api/integration/github/events")
    return number


def _set_up(service: ServiceProcess) -> None:
    [line] = [one for one in service.lines() if one["message"] == "setup_needed"]
    with browsing() as browser:
        opened = browser.get(line["url"])
        page = browser.get(urljoin(service.url, opened.headers["location"]))
        form = forms_on(page)[0]
        back = browser.post(form.action, data=form.fields)
        done = browser.get(back.headers["location"])
        assert done.status_code == 200, done.text


def _install(github: FakeGitHub) -> None:
    [app_id] = github.world.apps
    github.install_app(app_id, "acme", [REPO])
