"""The App as `app.yml` describes it: what our own is on the fake GitHub as well."""

from collections.abc import Mapping
from typing import Any

import yaml

from tests.architecture.tree import ROOT
from tests.fakes.github.acts.registrations import subscribe
from tests.fakes.github.fake import FakeGitHub


def app_manifest() -> Mapping[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "app.yml").read_bytes())
    return found


def add_our_app(github: FakeGitHub, app_id: int, webhook_secret: str) -> str:
    """Register it there, and nothing beyond it; return its private key, as PEM."""
    wanted = app_manifest()
    key = github.add_app(
        app_id,
        wanted["name"],
        webhook_secret,
        permissions=wanted["default_permissions"],
    )
    subscribe(github.world, app_id, wanted["default_events"])
    return key
