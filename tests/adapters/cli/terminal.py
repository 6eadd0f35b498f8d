"""Run `patchwright` as a user does: as a process of its own, on a real repository."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.adapters.git.workshop import IDENTITY, WorkTree
from tests.fakes.llm.provider import FakeProvider
from tests.flow.story import CART, TEST_CART
from tests.provision.starter import ready_starter
from tests.provision.waiting import wait_until

PATCHWRIGHT = Path(sys.executable).with_name("patchwright")
ROOT = Path(__file__).parents[3]
MODEL = "openai/scripted"
PATIENCE_S = 60


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code and what it said."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        """Return the one JSON object on standard output."""
        answer: dict[str, Any] = json.loads(self.out)
        return answer


class Shop:
    """A folder with the repository `shop`, in which a sum is wrong, and an issue."""

    def __init__(self, folder: Path, tmp: Path) -> None:
        self.folder, self.tmp = folder, tmp
        self.tree = WorkTree.start(folder / "shop")
        self.tree.write("cart.py", CART.encode())
        self.tree.write("test_cart.py", TEST_CART.encode())
        self.base = self.tree.commit()
        self.issue = folder / "issue.md"
        self.issue.write_text("# Wrong sum\n\n3 pieces cost 450 for all of them.\n")

    def resolve(self, provider: FakeProvider, *options: str) -> Ended:
        """Resolve the issue in the local repository."""
        return self.call("resolve", *self.local(), *options, provider=provider)

    def local(self) -> list[str]:
        return ["-C", "shop", "--file", str(self.issue), "--model", MODEL]

    def call(
        self,
        *arguments: str,
        provider: FakeProvider | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Ended:
        """Run a command to its end, in a process that has not to start first."""
        environment = self.environment(provider, settings)
        ended = ready_starter().run(
            *arguments, cwd=self.folder, env=environment, timeout=PATIENCE_S
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def start(
        self,
        *arguments: str,
        provider: FakeProvider | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Start the program itself, as a user does."""
        return subprocess.Popen(
            # Whoever runs the tests in the background has them ignore Ctrl-C.
            ["env", "--default-signal=INT,TERM,HUP", str(PATCHWRIGHT), *arguments],
            cwd=self.folder,
            env=self.environment(provider, settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def environment(
        self, provider: FakeProvider | None, settings: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return what the command sees of its caller."""
        found = {} if provider is None else {"LLM_BASE_URL": provider.base_url}
        return {
            "PATH": IDENTITY["PATH"],
            "HOME": str(self.folder),
            "TMPDIR": str(self.tmp),
            "PATCHWRIGHT_STATE_DIR": str(self.folder / "state"),
            "PATCHWRIGHT_SANDBOX__KIND": "local",
            "LLM_API_KEY": "sk-test",
            **found,
            **(settings or {}),
        }

    def run_id(self) -> str:
        """Return the id of the only run so far."""
        [log] = (self.folder / "state" / "runs").glob("*.jsonl")
        return log.stem

    def branches(self) -> list[str]:
        names = self.tree.git("branch", "--format=%(refname:short)").splitlines()
        return [name for name in names if name != "trunk"]

    def sandboxes(self) -> list[str]:
        """Return the folders of sandboxes that are still there."""
        return [path.name for path in self.tmp.glob("patchwright-*")]


def steady(text: str) -> str:
    """Return an output without what is different each time."""
    text = re.sub(r"\b[0-9a-f]{10}\b", "COMMIT", text)
    text = re.sub(r"\b\d+\.\d s\b", "N s", text)
    text = re.sub(r"· (\d+m )?\d+s\b", "· Ns", text)
    return re.sub(r"\bpatchwright replay [0-9a-f]{8}\b", "patchwright replay RUN", text)


def interrupt(
    process: subprocess.Popen[str],
    moment: Callable[[], bool],
    number: signal.Signals = signal.SIGINT,
) -> None:
    """Send a signal as soon as the moment has come."""
    wait_until(moment, "the moment to interrupt", PATIENCE_S)
    process.send_signal(number)
