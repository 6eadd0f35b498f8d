"""Use what an earlier set-up has made, or keep what this one makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import IO, Final

import structlog

from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import SetUpRestored
from patchwright.core.events.payload import Source
from patchwright.core.runtime import HostPlaces, Runtime, SandboxSpec, find_large_files
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import GitError, RuntimeLostError, SandboxError
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.set_up.cache import FoundSetUp, SetUpCache, SetUpKey
from patchwright.sandbox.set_up_files import SetUpFiles

# What differs between sandboxes in which a set-up makes the same.
_OF_ONE_SANDBOX: Final = frozenset({
    *("run_id", "role", "network", "domains", "memory", "disk", "cpus"),
    *("max_processes", "command_timeout_s", "lifetime_s"),
})  # fmt: skip

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SetUpReuse:
    """Which entries of the cache the sandboxes of one run may use and add.

    What is made from a commit of the repository's own history (`trusted_sha` and what
    came before it) is for later runs too. Anything else, such as the change itself or
    the head of a pull request, is for this run alone.
    """

    cache: SetUpCache
    repository: str
    trusted_sha: str
    code: ObjectStore
    spec: SandboxSpec
    log: EventLog
    clock: Clock

    def open(
        self, runtime: Runtime, commit: str, commands: tuple[str, ...]
    ) -> "SetUpAttempt | None":
        """Return the attempt to set up a sandbox of a commit, if it can be reused."""
        large_files = find_large_files(runtime)
        if large_files is None or not commit or not commands:
            return None
        # What a sandbox shows of this machine is no part of what a set-up makes.
        if self.spec.places != HostPlaces():
            return None
        try:
            key = self._key(runtime.kind, large_files.origin, commands)
            blobs = self.code.list_blobs(commit)
        except (GitError, SandboxError) as error:
            log.warning("set_up_not_reused", error=str(error))
            return None
        files = SetUpFiles(runtime, large_files)
        return SetUpAttempt(self, files, commit, key, blobs)

    def _key(self, kind: str, origin: str, commands: tuple[str, ...]) -> SetUpKey:
        of_all = self.spec.model_dump_json(exclude=set(_OF_ONE_SANDBOX))
        return SetUpKey(self.repository, commands, f"{kind} {origin} {of_all}")

    def scope_of(self, commit: str) -> str:
        """Return the run which alone may use what is made from a commit, if any."""
        trusted = self.trusted_sha
        is_own = bool(trusted) and (
            commit == trusted or self.code.merge_base(commit, trusted) == commit
        )
        return "" if is_own else self.spec.run_id


@dataclass
class SetUpAttempt:
    """One sandbox that is set up: by unpacking, or by commands whose work is kept."""

    reuse: SetUpReuse
    files: SetUpFiles
    commit: str
    key: SetUpKey
    blobs: Mapping[str, str]
    _began_at: float | None = field(default=None, init=False)

    def restore(self) -> bool:
        """Set up the sandbox with an entry of the cache; tell whether there was one.

        Raises `RuntimeLostError`. After any other failure the commands are to be run.
        """
        found = self._find()
        if found is None:
            return False
        started = self.reuse.clock.monotonic()
        try:
            with found.archive as archive:
                self.files.unpack(archive)
        except RuntimeLostError:
            raise
        except (SandboxError, OSError, ValueError) as error:
            log.warning("set_up_not_restored", error=str(error))
            self.reuse.cache.discard(found)
            return False
        restored = SetUpRestored(
            commands=self.key.commands,
            made_at=found.record.made_at,
            bytes=found.record.bytes,
            seconds=round(self.reuse.clock.monotonic() - started, 3),
            saved_s=found.record.seconds,
            commit=self.commit,
        )
        self.reuse.log.append(Source.SYSTEM, restored)
        return True

    def _find(self) -> FoundSetUp | None:
        cache, own = self.reuse.cache, replace(self.key, scope=self.reuse.spec.run_id)
        return cache.find(self.key, self.blobs) or cache.find(own, self.blobs)

    def begin(self) -> None:
        """Watch what the commands do that are run now."""
        try:
            self.files.begin()
        except RuntimeLostError:
            raise
        except (SandboxError, OSError, ValueError) as error:
            log.warning("set_up_not_watched", error=str(error))
            return
        self._began_at = self.reuse.clock.monotonic()

    def keep(self) -> None:
        """Keep what the commands have made, now that all of them have worked."""
        if self._began_at is None:
            return
        took_s = self.reuse.clock.monotonic() - self._began_at
        refused = ""

        def write(target: IO[bytes]) -> tuple[str, ...] | None:
            nonlocal refused
            packed = self.files.pack(target, self.reuse.cache.max_bytes)
            refused = packed.refused
            return None if refused else packed.read

        try:
            key = replace(self.key, scope=self.reuse.scope_of(self.commit))
            record = self.reuse.cache.store(key, write, self.blobs, took_s)
        except RuntimeLostError:
            raise
        except (GitError, SandboxError, OSError, ValueError) as error:
            log.warning("set_up_not_kept", error=str(error))
            return
        if record is None:
            log.info("set_up_not_kept", reason=refused or "there is no room")
            return
        log.info("set_up_kept", bytes=record.bytes, read=len(record.read))
