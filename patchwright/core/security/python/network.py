"""Judge what Python code sends and fetches."""

import ast
import re
from typing import Final

from patchwright.core.security.addresses import METADATA, HostKind, host_of, kind_of_host
from patchwright.core.security.analyzer import Verdict
from patchwright.core.security.python.names import literal_text
from patchwright.core.security.verdicts import LOW_RISK, high_risk, medium_risk

_NETWORK: Final = re.compile(
    r"(?:socket|requests|urllib\.request|urllib3|httpx|http\.client|aiohttp|ftplib"
    r"|smtplib|paramiko|telnetlib|websockets?|boto3|dns)(?:\.|\Z)"
)
_ALWAYS_SENDS: Final = re.compile(
    r"(?:socket|ftplib|smtplib|paramiko|telnetlib|boto3)(?:\.|\Z)"
)
_SENDS: Final = re.compile(
    r"\.(?:post|put|patch|delete|request|send\w*|connect|upload\w*)\Z"
)
_HARMLESS: Final = re.compile(r"socket\.(?:gethostname|inet_\w+|hton\w|ntoh\w)\Z")
_SENDING: Final = {"data", "json", "files", "content", "params", "body"}


def is_network(name: str) -> bool:
    return bool(_NETWORK.match(name)) and not _HARMLESS.match(name)


def judge_network(call: ast.Call, name: str) -> Verdict:
    texts = [text for node in ast.walk(call) if (text := literal_text(node)) is not None]
    hosts = {kind_of_host(host_of(text)) for text in texts if _is_address(text)}
    if HostKind.METADATA in hosts:
        return high_risk(METADATA)
    if hosts == {HostKind.OWN}:
        return LOW_RISK
    given = any(keyword.arg in _SENDING for keyword in call.keywords)
    if given or _SENDS.search(name) or _ALWAYS_SENDS.match(name):
        return high_risk("It sends data to another machine.")
    return medium_risk("It fetches something from another machine.")


def _is_address(text: str) -> bool:
    return "://" in text or kind_of_host(host_of(text)) is not HostKind.OTHER
