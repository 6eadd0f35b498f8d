"""How long the command line takes to its first model request, and in what memory."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from bench.figures import CLOCK, Metric
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import Call, call
from tests.provision.image import ensure_image

RUNS = 3
MIB = 1024
PATCHWRIGHT = Path(sys.executable).with_name("patchwright")
KINDS = ("docker", "local")
# As litellm is set when it may ask nobody but the provider.
OFFLINE = {"LITELLM_OFFLINE_MODE": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "true"}


def measure() -> Iterator[Metric]:
    with tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder:
        bench = _StartUp(Path(folder))
        plain_s, plain_mib = bench.import_litellm()
        beside = f"import litellm: {plain_s:.1f} s, {plain_mib:.0f} MiB"
        for kind in KINDS:
            first_s, whole_s, mib = bench.resolve(kind)
            ours = f"{first_s:.1f} s, {whole_s:.1f} s, {mib:.0f} MiB"
            yield Metric(f"{kind}: first request, whole run, memory", ours, beside)


class _StartUp:
    """Runs the command as an installed one runs: with its bytecode at hand."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            "PATH": os.pathsep.join(os.get_exec_path()),
            "HOME": str(folder),
            "PYTHONPYCACHEPREFIX": str(folder / "pycache"),
            "PATCHWRIGHT_STATE_DIR": str(folder / "state"),
            "PATCHWRIGHT_SANDBOX__IMAGE": ensure_image(),
            "LLM_API_KEY": "sk-test",
            **OFFLINE,
        }
        self._make_repository()

    def import_litellm(self) -> tuple[float, float]:
        """Return seconds and MiB; the first time is not counted, it makes bytecode."""
        argv = [sys.executable, "-c", "import litellm"]
        measured = [self._run(argv, {}) for _ in range(RUNS + 1)][1:]
        return median(s for s, _ in measured), median(mib for _, mib in measured)

    def resolve(self, kind: str) -> tuple[float, float, float]:
        """Return seconds to the first request and to the end, and MiB."""
        measured = [self._resolve(kind) for _ in range(RUNS + 1)][1:]
        first_s, whole_s, mib = zip(*measured, strict=True)
        return median(first_s), median(whole_s), median(mib)

    def _resolve(self, kind: str) -> tuple[float, float, float]:
        asked_at: list[float] = []

        def finish(_request: object) -> Call:
            asked_at.append(CLOCK.monotonic())
            return call("finish", summary="Nothing to do.")

        with FakeProvider(finish) as provider:
            argv = [str(PATCHWRIGHT), "resolve", "-C", "shop", "--file", "issue"]
            argv += ["--model", "openai/x", "--sandbox", kind, "--json"]
            started = CLOCK.monotonic()
            whole_s, mib = self._run(argv, {"LLM_BASE_URL": provider.base_url})
        return asked_at[0] - started, whole_s, mib

    def _run(
        self, argv: Sequence[str], settings: Mapping[str, str]
    ) -> tuple[float, float]:
        started = CLOCK.monotonic()
        process = subprocess.Popen(
            argv,
            cwd=self._folder,
            env={**self._environment, **settings},
            stdout=subprocess.DEVNULL,
        )
        _, _, used = os.wait4(process.pid, 0)
        return CLOCK.monotonic() - started, used.ru_maxrss / MIB

    def _make_repository(self) -> None:
        shop = self._folder / "shop"
        shop.mkdir()
        (shop / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
        (self._folder / "issue").write_text("# Wrong sum\n\n3 pieces cost 450.\n")
        author = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "First"]):
            subprocess.run(["git", *author, *arguments], cwd=shop, check=True)
