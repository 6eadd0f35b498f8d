"""Ask the processes of a service how they are, on the port for that."""

import json
from http.client import HTTPConnection
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from tests.provision.waiting import wait_until
from tests.service.processes import ServiceProcess

ON = {"PATCHWRIGHT_TELEMETRY__PORT": "0"}
START_S = 60.0


def fetch(process: ServiceProcess, path: str) -> tuple[int, str]:
    """Return status and body of an answer on the process's own port."""
    wait_until(lambda: process.has_said("telemetry_listening"), "the own port", START_S)
    [line] = [one for one in process.lines() if one["message"] == "telemetry_listening"]
    return fetch_at(f"{line['host']}:{line['port']}", path)


def fetch_at(address: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection(address, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def red(process: ServiceProcess) -> list[str]:
    """Return the parts that do not work; their names and the status go together."""
    status, body = fetch(process, "/readyz")
    told: dict[str, Any] = json.loads(body)
    names: list[str] = told["red"]
    assert status == (503 if names else 200), body
    assert [one for one, part in told["parts"].items() if not part["ok"]] == names
    assert all("since" in told["parts"][name] for name in names)
    return names


def figures(text: str) -> dict[str, float]:
    """Return each sample by its name and labels, as Prometheus understands them."""
    return {
        f"{sample.name}{_labels(sample.labels)}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def _labels(labels: dict[str, str]) -> str:
    shown = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return f"{{{shown}}}" if shown else ""
