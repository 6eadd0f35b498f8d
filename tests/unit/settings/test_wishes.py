"""A repository's wishes count as far as the service lets them."""

from pathlib import Path
from typing import Literal

import pytest

from patchwright.core.security.hosts import Domain
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.integrations.settings import load_settings
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.set_up.sandboxes import sandbox_spec

Network = Literal["deny", "allowlist", "allow"]

TOML = """
[llm]
model = "openai/usual"
[llm.deep]
model = "openai/deep"
[limits]
max_cost_usd = 2.0
max_iterations = 40
[sandbox]
image = "usual:1"
allow_domains = ["tools.example"]
"""


def settings(folder: Path, extra: str = "") -> Settings:
    (folder / "patchwright.toml").write_text(TOML + extra)
    return load_settings({}, flags={}, cwd=folder)


def test_without_wishes_nothing_changes(tmp_path: Path) -> None:
    usual = settings(tmp_path)
    assert apply_configuration(usual, RepositoryConfig()).settings == usual


def test_limits_can_be_lowered_and_not_raised(tmp_path: Path) -> None:
    wishes = RepositoryConfig(max_cost_usd=0.5, max_iterations=400)
    limits = apply_configuration(settings(tmp_path), wishes).settings.limits
    assert (limits.max_cost_usd, limits.max_iterations) == (0.5, 40)


@pytest.mark.parametrize("wanted", ["deep", "openai/deep"])
def test_a_configured_model_is_found_by_either_name(
    tmp_path: Path, wanted: str
) -> None:
    heeded = apply_configuration(settings(tmp_path), RepositoryConfig(model=wanted))
    assert (heeded.settings.agent.model, heeded.notes) == ("deep", ())


def test_another_model_is_not_asked_and_that_is_said(tmp_path: Path) -> None:
    heeded = apply_configuration(
        settings(tmp_path), RepositoryConfig(model="elsewhere/big")
    )
    assert heeded.settings.agent.model == ""
    [note] = heeded.notes
    assert note == (
        "`.patchwright.toml` asks for the model `elsewhere/big`, which this service "
        "does not have."
    )


def test_the_network_stays_closed_unless_the_service_lets_it_open(
    tmp_path: Path,
) -> None:
    wishes = RepositoryConfig(network="allow")
    closed = apply_configuration(settings(tmp_path), wishes)
    assert closed.settings.sandbox.network == "deny"
    assert "keeps closed" in closed.notes[0]
    lets = settings(tmp_path, "repositories_may_open = true\n")
    assert apply_configuration(lets, wishes).settings.sandbox.network == "allow"


def test_only_granted_hosts_are_opened(tmp_path: Path) -> None:
    wishes = RepositoryConfig(allow_domains=("Tools.example", "evil.example"))
    heeded = apply_configuration(settings(tmp_path), wishes)
    assert heeded.settings.sandbox.allow_domains == ("tools.example",)
    assert "`evil.example`" in heeded.notes[0]


def test_a_host_below_a_granted_one_is_granted(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text(
        '[sandbox]\nnetwork = "allowlist"\nallow_domains = ["*.tools.example"]\n'
    )
    wanted = ("a.tools.example", "*.b.tools.example", "tools.example", "a b", "x:70000")
    heeded = apply_configuration(
        load_settings({}, flags={}, cwd=tmp_path),
        RepositoryConfig(allow_domains=wanted),
    )
    assert heeded.settings.sandbox.allow_domains == wanted[:2]
    assert "`tools.example`, `a b`, `x:70000`" in heeded.notes[0]


def test_a_repository_may_narrow_an_open_network_to_a_list(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text('[sandbox]\nnetwork = "allow"\n')
    wishes = RepositoryConfig(network="allowlist", allow_domains=("own.example:8443",))
    heeded = apply_configuration(load_settings({}, flags={}, cwd=tmp_path), wishes)
    assert heeded.notes == ()
    spec = sandbox_spec(heeded.settings, "r")
    assert not spec.network
    assert spec.domains == (Domain(host="own.example", port=8443),)


@pytest.mark.parametrize("private", ["10.0.0.7", "127.0.0.1:8080", "fd00::7"])
def test_m4_a_list_opens_no_private_address_that_an_open_network_does_not(
    tmp_path: Path, private: str
) -> None:
    (tmp_path / "patchwright.toml").write_text('[sandbox]\nnetwork = "allow"\n')
    wishes = RepositoryConfig(network="allowlist", allow_domains=(private, "93.1.2.3"))
    heeded = apply_configuration(load_settings({}, flags={}, cwd=tmp_path), wishes)
    assert heeded.settings.sandbox.allow_domains == ("93.1.2.3",)
    assert f"`{private}`" in heeded.notes[0]


@pytest.mark.parametrize("wanted", ["allowlist", "allow"])
def test_no_list_of_hosts_is_opened_without_consent(
    tmp_path: Path, wanted: Network
) -> None:
    wishes = RepositoryConfig(network=wanted)
    closed = apply_configuration(settings(tmp_path), wishes)
    assert closed.settings.sandbox.network == "deny"
    assert sandbox_spec(closed.settings, "r").domains == ()
    lets = apply_configuration(
        settings(tmp_path, "repositories_may_open = true\n"), wishes
    )
    assert lets.settings.sandbox.network == wanted


def test_a_list_is_not_opened_to_everything_without_consent(tmp_path: Path) -> None:
    listed = settings(tmp_path, 'network = "allowlist"\n')
    heeded = apply_configuration(listed, RepositoryConfig(network="allow"))
    assert sandbox_spec(heeded.settings, "r").domains == (Domain(host="tools.example"),)
    assert "open for listed hosts alone" in heeded.notes[0]


def test_a_list_without_hosts_is_closed_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "patchwright.toml").write_text('[sandbox]\nnetwork = "allow"\n')
    heeded = apply_configuration(
        load_settings({}, flags={}, cwd=tmp_path), RepositoryConfig(network="allowlist")
    )
    spec = sandbox_spec(heeded.settings, "r")
    assert (spec.network, spec.domains) == (False, ())
    assert "leaves no host to be reached" in heeded.notes[0]


def test_what_could_not_be_read_is_told(tmp_path: Path) -> None:
    wishes = RepositoryConfig(problems=("`modle` is no key.",), image="own:2")
    heeded = apply_configuration(settings(tmp_path), wishes)
    assert heeded.settings.sandbox.image == "own:2"
    assert heeded.notes == ("`modle` is no key.",)
