"""All checks run at once, each with its own time."""

import socket
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from patchwright.core.doctor import CheckStatus
from patchwright.core.system.clock import SystemClock
from patchwright.workers.doctor.checks import run_checks
from tests.adapters.doctor.cases import case_of, check_named


def test_a_check_that_is_late_is_left_behind_and_the_others_are_told(
    tmp_path: Path,
) -> None:
    began_at = SystemClock().monotonic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        case = case_of(tmp_path, GITHUB__API_URL=url, LLM__MODEL="openai/scripted")
        late, fine = run_checks(
            case, (check_named("clock")._replace(within_s=0.3), check_named("settings"))
        )
    # The check itself would wait for three times fifteen seconds.
    assert SystemClock().monotonic() - began_at < 15
    assert late.finding.status is CheckStatus.FAILED
    assert late.finding.found == "no answer within 0 s"
    assert late.finding.fix == "run only this check: patchwright doctor --only clock"
    assert (fine.name, fine.finding.status) == ("settings", CheckStatus.OK)


def test_what_a_check_raises_becomes_its_finding(tmp_path: Path) -> None:
    case = case_of(tmp_path, GITHUB__PRIVATE_KEY="no key", GITHUB__APP_ID="1")
    [told] = run_checks(case, (check_named("github"),))
    assert told.finding.status is CheckStatus.FAILED
    assert (
        told.finding.found == "github.private_key is not the PEM text of a private key"
    )


def test_a_key_of_another_kind_than_githubs_is_found(tmp_path: Path) -> None:
    key = generate_private_key(SECP256R1()).private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    case = case_of(tmp_path, GITHUB__PRIVATE_KEY=key.decode(), GITHUB__APP_ID="1")
    [told] = run_checks(case, (check_named("github"),))
    assert told.finding.status is CheckStatus.FAILED
    assert told.finding.found == (
        "github.private_key is not an RSA key, as GitHub makes them"
    )
