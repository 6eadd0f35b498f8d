"""A person's machine: a home folder with a checkout, packages, tools and secrets."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.types.base import RandomIds
from patchwright.integrations.git.local import LocalRepository
from patchwright.sandbox.local.local_view import LocalView, Machine, find_local_view
from patchwright.sandbox.workspace import Workspace
from tests.adapters.git.workshop import WorkTree
from tests.adapters.sandbox.box import Box

SYSTEM_PYTHON = "/usr/bin/python3"
SECRET = "s3cret-of-ann"


@dataclass(frozen=True)
class Person:
    """`home` is Ann's, `shop` her checkout; `environ` is that of her shell."""

    home: Path
    shop: WorkTree
    environ: dict[str, str] = field(default_factory=dict)

    @classmethod
    def move_in(cls, home: Path) -> "Person":
        home.mkdir()
        return cls(home, WorkTree.start(home / "shop"), {"PATH": "/usr/bin:/bin"})

    def write(self, path: str, text: str = "", mode: int = 0o644) -> Path:
        """Write a file below the home folder."""
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)
        return place

    def program(self, path: str, says: str) -> Path:
        return self.write(path, f"#!/bin/sh\necho {says}\n", 0o755)

    def environment(self, name: str = "shop/.venv") -> Path:
        """Make a virtual environment, and return where its packages are."""
        place = self.home / name
        make = [SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(place)]
        subprocess.run(make, check=True)
        [packages] = place.glob("lib/python3*/site-packages")
        return packages

    def view(
        self, *, with_environments: bool = True, is_offline: bool = True
    ) -> LocalView:
        repository = LocalRepository.open(self.shop.path)
        assert repository.root
        head = repository.resolve()
        return find_local_view(
            repository.root,
            Machine(self.home, self.environ, Path("/nowhere"), is_offline),
            lambda paths: repository.tracked_among(head, paths),
            with_environments=with_environments,
        )

    @contextmanager
    def sandbox(
        self,
        factory: RuntimeFactory,
        view: LocalView | None = None,
        disk: str = "1g",
    ) -> Iterator[tuple[Box, Workspace]]:
        """Start a sandbox with the clone of the shop, as a run does."""
        seen = view or self.view()
        spec = SandboxSpec(
            run_id=RandomIds().new(),
            memory="512m",
            disk=disk,
            places=seen.places,
            environment=seen.environment,
        )
        runtime = factory.start(spec)
        try:
            head = self.shop.head
            packed = self.shop.objects.bundle(head)
            workspace = Workspace.check_out(runtime, packed, head, "work")
            yield Box(runtime), workspace
        finally:
            runtime.close()


def package_json(**fields: object) -> str:
    named: Mapping[str, object] = {"name": "shop", **fields}
    return json.dumps(named)
