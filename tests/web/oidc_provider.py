"""A real OpenID provider, of npm's `oidc-provider`, as a process on this machine."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

from tests.provision.errors import ProvisionError
from tests.provision.locking import machine_lock
from tests.provision.servers import running

_OWN = Path(__file__).parent / "provider"
_CACHE = Path(__file__).parents[2] / ".cache"
_FILES = ("package.json", "package-lock.json", "provider.js")
CLIENT_ID = "patchwright"
CLIENT_SECRET = "a-secret-of-the-client-with-32-characters"
TITLE = "Acme SSO"


@dataclass(frozen=True)
class RealProvider:
    """`url` is its name, too; people sign in there with their login alone."""

    url: str
    log: Path

    @property
    def settings(self) -> dict[str, str]:
        return {
            "PATCHWRIGHT_OIDC__ISSUER": self.url,
            "PATCHWRIGHT_OIDC__CLIENT_ID": CLIENT_ID,
            "PATCHWRIGHT_OIDC__CLIENT_SECRET": CLIENT_SECRET,
            "PATCHWRIGHT_OIDC__NAME": TITLE,
            "PATCHWRIGHT_OIDC__SCOPES": '["openid", "profile", "email", "groups"]',
        }

    def sign_in(self, page: Page, login: str) -> None:
        """Fill in its form, and consent to what the service asks to know."""
        page.get_by_placeholder("Enter any login").fill(login)
        page.get_by_placeholder("and password").fill("whatever")
        page.get_by_role("button", name="Sign-in").click()
        page.get_by_role("button", name="Continue").click()

    def sign_out(self, page: Page) -> None:
        """Sign out on its own page, as if of something else that it guards."""
        page.goto(f"{self.url}/session/end")
        page.get_by_role("button", name="Yes, sign me out").click()
        page.wait_for_url(f"{self.url}/session/end/success")


@contextmanager
def real_provider(
    folder: Path, port: int, service_url: str, people: Mapping[str, object]
) -> Iterator[RealProvider]:
    """Run it for a service at that address; `people` are their claims by login."""
    log = folder / "provider.log"
    facts = json.dumps(_facts(port, service_url, people))
    program = ("node", str(_install() / "provider.js"), facts)
    with running(program, log=log, answers=lambda: "listening" in log.read_text()):
        yield RealProvider(f"http://127.0.0.1:{port}", log)


def _facts(
    port: int, service_url: str, people: Mapping[str, object]
) -> Mapping[str, object]:
    client = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "redirect_uris": [f"{service_url}/auth/oidc/callback"],
        "post_logout_redirect_uris": [f"{service_url}/auth"],
        "backchannel_logout_uri": f"{service_url}/auth/oidc/backchannel-logout",
        "backchannel_logout_session_required": True,
    }
    return {"port": port, "client": client, "people": people}


def _install() -> Path:
    """Return a folder with it; each version of its files has one of its own."""
    content = b"\0".join((_OWN / name).read_bytes() for name in _FILES)
    folder = _CACHE / f"oidc-provider-{hashlib.sha256(content).hexdigest()[:12]}"
    done = folder / "done"
    with machine_lock("npm"):
        if not done.exists():
            folder.mkdir(parents=True, exist_ok=True)
            for name in _FILES:
                shutil.copy(_OWN / name, folder / name)
            options = ("--ignore-scripts", "--no-audit", "--no-fund")
            ended = subprocess.run(
                ["npm", "ci", *options],
                capture_output=True,
                text=True,
                check=False,
                cwd=folder,
            )
            if ended.returncode != 0:
                raise ProvisionError(f"npm ci failed:\n{ended.stderr}")
            done.touch()
    return folder
