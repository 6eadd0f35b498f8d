"""When a sandbox starts from what an earlier set-up has made, and when it must not."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.observations import SetUpRestored
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.resolver.set_up.cache import SetUpCache
from patchwright.resolver.set_up.reuse import SetUpReuse
from patchwright.resolver.set_up.sandboxes import SetUp, set_up_unrecorded
from patchwright.sandbox.factory import create_factory
from patchwright.sandbox.workspace import Workspace
from tests.adapters.git.workshop import WorkTree
from tests.adapters.sandbox.box import Box

# Each run of it writes another mark: the same mark is the same run.
MARK = "head -c 8 /dev/urandom | od -An -tx1 | tr -d ' ' > ../mark"
INSTALL = f"cat lock.txt && {MARK}"
FILES = {"lock.txt": "1", "main.py": "print(1)\n", ".gitignore": "vendor/\n"}


@dataclass
class Shop:
    """A repository, and sandboxes of its commits that are set up."""

    repository: WorkTree
    reuse: SetUpReuse
    sandboxes: RuntimeFactory
    cache: SetUpCache

    def commit(self, **files: str) -> str:
        for path, text in files.items():
            self.repository.write(path.replace("__", "."), text.encode())
        return self.repository.commit()

    def trusting(self, commit: str, run_id: str = "run-1") -> "Shop":
        """Return the shop as a run sees it whose target branch is at that commit."""
        spec = self.reuse.spec.replace(run_id=run_id)
        return replace(self, reuse=replace(self.reuse, trusted_sha=commit, spec=spec))

    @contextmanager
    def sandbox(
        self, commit: str, *commands: str, may_fail: bool = False
    ) -> Iterator[Box]:
        """Set up a sandbox of a commit."""
        runtime = self.sandboxes.start(self.reuse.spec)
        try:
            self._check_out(runtime, commit)
            wanted = SetUp(commands or (INSTALL,), may_fail, reuse=self.reuse)
            set_up_unrecorded(wanted, runtime, commit)
            yield Box(runtime)
        finally:
            runtime.close()

    def _check_out(self, runtime: Runtime, commit: str) -> None:
        code = self.repository.objects
        alike = code.without_history(commit)
        Workspace.check_out(runtime, code.bundle(alike), alike, "evidence")

    def mark(self, commit: str, *commands: str, may_fail: bool = False) -> str:
        with self.sandbox(commit, *commands, may_fail=may_fail) as box:
            return box.sh("cat ../mark").output


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path, create_factory("bubblewrap", SystemClock())) as opened:
        yield opened


@pytest.fixture(params=["bubblewrap", "docker"])
def any_shop(
    request: pytest.FixtureRequest, tmp_path: Path, sandbox_image: str
) -> Iterator[Shop]:
    factory = create_factory(request.param, SystemClock(), sandbox_image)
    with open_shop(tmp_path, factory) as opened:
        yield opened


@contextmanager
def open_shop(folder: Path, sandboxes: RuntimeFactory) -> Iterator[Shop]:
    repository = WorkTree.start(folder / "repository")
    for path, text in FILES.items():
        repository.write(path, text.encode())
    base = repository.commit()
    clock = SystemClock()
    cache = SetUpCache(
        folder / "cache", clock, max_bytes=1 << 28, max_age=timedelta(days=7)
    )
    with JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log:
        reuse = SetUpReuse(
            cache=cache,
            repository="shop",
            trusted_sha=base,
            code=repository.objects,
            spec=SandboxSpec(run_id="run-0", memory="512m"),
            log=log,
            clock=clock,
        )
        yield Shop(repository, reuse, sandboxes, cache)


def head(shop: Shop) -> str:
    return shop.repository.objects.resolve("HEAD")


def test_another_run_on_a_later_commit_starts_from_it(shop: Shop) -> None:
    first = shop.mark(head(shop))
    later = shop.commit(main__py="print(2)\n")
    assert shop.trusting(later).mark(later) == first
    events = list(shop.reuse.log.read(kinds=frozenset({"set_up_restored"})))
    [restored] = [event.payload for event in events]
    assert isinstance(restored, SetUpRestored)
    assert (restored.commands, restored.commit) == ((INSTALL,), later)
    assert restored.bytes > 0
    assert restored.saved_s > 0


@pytest.mark.parametrize(
    "changed", [{"lock__txt": "2"}, {"package-lock__json": "{}"}, {"web/go__mod": ""}]
)
def test_it_runs_again_after_a_change_of_what_it_read_or_of_a_lock_file(
    shop: Shop, changed: dict[str, str]
) -> None:
    base = head(shop)
    first = shop.mark(base)
    later = shop.commit(**changed)
    second = shop.trusting(later).mark(later)
    assert second != first
    # Both are there now, each for its own files.
    assert shop.trusting(later).mark(later) == second
    assert shop.trusting(later).mark(base) == first


def test_other_commands_another_repository_and_another_image_share_nothing(
    shop: Shop,
) -> None:
    base = head(shop)
    first = shop.mark(base)
    assert shop.mark(base, f"{INSTALL}; true") != first
    other = replace(shop, reuse=replace(shop.reuse, repository="other"))
    assert other.mark(base) != first
    spec = shop.reuse.spec.replace(image="another")
    imaged = replace(shop, reuse=replace(shop.reuse, spec=spec))
    assert imaged.mark(base) != first
    assert shop.mark(base) == first


def test_what_the_agent_does_later_reaches_no_other_sandbox(shop: Shop) -> None:
    base = head(shop)
    with shop.sandbox(base) as box:
        first = box.sh("cat ../mark").output
        box.sh("echo poison | tee ../mark ../carry/set-up.tar; rm -f lock.txt")
    with shop.sandbox(base) as box:
        assert box.sh("cat ../mark").output == first
        box.sh("echo poison > ../mark")
    assert shop.mark(base) == first


def test_a_commit_that_is_not_of_the_branch_is_for_its_own_run_alone(
    shop: Shop,
) -> None:
    base = head(shop)
    change = shop.commit(main__py="print(3)\n")
    mine, others = shop.trusting(base, "run-1"), shop.trusting(base, "run-2")
    first = mine.mark(change)
    assert mine.mark(change) == first
    assert others.mark(base) != first
    assert others.mark(change) == others.mark(base)


def test_a_failed_set_up_is_not_kept(shop: Shop) -> None:
    base = head(shop)
    commands = ("false", INSTALL)
    first = shop.mark(base, *commands, may_fail=True)
    assert shop.mark(base, *commands, may_fail=True) != first


@pytest.mark.parametrize(
    "command",
    ["echo changed > main.py", "rm main.py", "(setsid sleep 60 >/dev/null 2>&1 &)"],
)
def test_what_files_alone_do_not_make_again_is_not_kept(
    shop: Shop, command: str
) -> None:
    base = head(shop)
    first = shop.mark(base, f"{INSTALL}; {command}")
    assert shop.mark(base, f"{INSTALL}; {command}") != first


MANY_KINDS = r"""
mkdir -p vendor/deep/closed "$HOME/.cache/pip" "$HOME/.tool" /tmp/made
printf '#!/bin/sh\necho runs\n' > vendor/deep/tool && chmod 755 vendor/deep/tool
ln -s deep/tool vendor/link && ln -s /nowhere vendor/dangling
ln vendor/deep/tool vendor/twin && mkfifo vendor/pipe
echo kept > vendor/deep/closed/file && chmod 555 vendor/deep/closed
touch "vendor/$(printf 'b\xffd')" 'vendor/a b' vendor/-rf
echo large > "$HOME/.cache/pip/wheel" && echo set > "$HOME/.tool/config"
echo there > /tmp/made/file && echo outside > ../beside
git config user.nickname bot
echo 'WORD=passed on' >> "$PATCHWRIGHT_ENV"
"""
LOOK = r"""
vendor/deep/tool; vendor/link; readlink vendor/dangling; cat vendor/deep/closed/file
stat -c %a vendor/deep/closed; ls -b vendor; cat "$HOME/.tool/config" /tmp/made/file
cat ../beside; test -e "$HOME/.cache/pip/wheel"; echo $?; git config user.nickname
echo $WORD; git status --porcelain; cat main.py
"""


def test_everything_is_there_again_as_it_was_made(any_shop: Shop) -> None:
    base = head(any_shop)
    with any_shop.sandbox(base, MANY_KINDS) as box:
        made = box.sh(LOOK).output
    with any_shop.sandbox(base, MANY_KINDS) as box:
        again = box.sh(LOOK).output
    assert list(any_shop.reuse.log.read(kinds=frozenset({"set_up_restored"})))
    # A copy of what was fetched is left out, and so is what is no file.
    assert again == made.replace("pipe\n", "").replace("outside\n0\n", "outside\n1\n")
    assert "b\\377d\n" in again
    assert re.search(r"^passed on$", again, re.MULTILINE)
