"""What a sandbox on a person's own machine shows of it, for one checkout."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from patchwright.core.runtime import HostPlaces, ShownPlace
from patchwright.sandbox.local.environments import (
    INSIDE_NAMES,
    PythonEnvironment,
    find_modules,
    find_package_folders,
    find_python_environment,
    hides_clone,
)
from patchwright.sandbox.local.host_places import (
    PlaceGuard,
    find_masked,
    is_seen_anyway,
    show,
)
from patchwright.sandbox.local.isolation import CLONE, WORKSPACE
from patchwright.sandbox.local.toolchains import Toolchain, find_toolchains

SYSTEM_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Returns which of these paths the repository itself has.
FindTracked = Callable[[Sequence[str]], frozenset[str]]


@dataclass(frozen=True)
class Machine:
    """A person's machine, as the command that they typed sees it.

    `own_prefix` is the installation that this program runs in. `is_offline` says that
    the sandbox cannot fetch anything.
    """

    home: Path
    environ: Mapping[str, str]
    own_prefix: Path
    is_offline: bool = True

    @classmethod
    def here(cls, environ: Mapping[str, str], *, is_offline: bool) -> "Machine":
        home = Path(environ.get("HOME") or Path.home())
        return cls(home, environ, Path(sys.prefix), is_offline)


@dataclass(frozen=True)
class LocalView:
    """Places and variables of a sandbox; `shown` and `refused` name them for people."""

    places: HostPlaces = field(default_factory=HostPlaces)
    environment: Mapping[str, str] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def shows_environment(self) -> bool:
        """Tell whether packages are shown, in which nothing can be installed."""
        return bool(self.places.checkout)

    @property
    def note(self) -> str:
        if not self.shown:
            return ""
        return f"The sandbox sees {', '.join(self.shown)} (read-only)."


NO_LOCAL_VIEW: Final = LocalView()


def find_local_view(
    checkout: Path,
    machine: Machine,
    find_tracked: FindTracked,
    *,
    with_environments: bool = True,
) -> LocalView:
    """Return what a sandbox for a checkout shows of this machine.

    Without `with_environments` that is no virtual environment and no `node_modules`:
    a repository that prepares itself could not write there.
    """
    view = _View(checkout, machine)
    if with_environments:
        view.add_environments(find_tracked)
    for one in find_toolchains(
        checkout, machine.home, machine.environ, is_offline=machine.is_offline
    ):
        view.add_toolchain(one)
    return view.finish()


class _View:
    """Collects what is shown; a place that may not be shown is left out."""

    def __init__(self, checkout: Path, machine: Machine) -> None:
        self.guard = PlaceGuard(machine.home)
        self._checkout, self._machine = checkout, machine
        self._shown: dict[str, ShownPlace] = {}
        self._masked: dict[str, None] = {}
        self._inside: list[str] = []
        self._path: dict[str, None] = {}
        self._variables: dict[str, str] = {}
        self._labels: list[str] = []
        self._refused: list[str] = []
        self._is_checkout_shown = False

    def add_environments(self, find_tracked: FindTracked) -> None:
        home, environ = self._machine.home, self._machine.environ
        python = find_python_environment(
            self._checkout, home, environ, self._machine.own_prefix
        )
        packages = find_package_folders(self._checkout)
        gems = "vendor/bundle"
        is_bundled = (self._checkout / gems / "ruby").is_dir()
        named = [*packages, *((gems,) if is_bundled else ())]
        if python and self._checkout in python.place.parents:
            named.append(str(python.place.relative_to(self._checkout)))
        if named and (reason := self.guard.find_refusal(self._checkout)):
            names = ", ".join(named)
            self._refused.append(f"The sandbox does not see {names}, because {reason}.")
            return
        tracked = find_tracked(named)
        for name in packages:
            if name not in tracked:
                self._add_inside(name)
        if is_bundled and gems not in tracked:
            self._add_own(self._checkout / gems)
            self._variables["BUNDLE_PATH"] = str(self._checkout / gems)
        if python and self._relative(python.place) not in tracked:
            self._add_python(python)

    def _add_python(self, python: PythonEnvironment) -> None:
        for base in python.bases:
            if not self._can_show(base):
                reason = self.guard.find_refusal(base)
                self._refuse(
                    python.place, f"of its Python in {self._label(base)}: {reason}"
                )
                return
        if not self._add_own(python.place):
            return
        relative = self._relative(python.place)
        if relative in INSIDE_NAMES:
            self._inside.append(relative)
        for base in python.bases:
            self._show(base)
        variable = "CONDA_PREFIX" if python.is_conda else "VIRTUAL_ENV"
        self._variables[variable] = str(python.place)
        self._add_to_path([python.place / "bin"])
        modules, folder = find_modules(self._checkout)
        if hides_clone(python, self._checkout, modules):
            # Else the change would be tested on code that it is not made to.
            clone = Path(WORKSPACE, CLONE, folder)
            self._variables["PYTHONPATH"] = str(clone)

    def _add_inside(self, name: str) -> None:
        """Show a folder of the checkout in the clone as well."""
        if self._add_own(self._checkout / name):
            self._inside.append(name)

    def _add_own(self, place: Path) -> bool:
        """Show a folder that is installed for the checkout; say so if that fails."""
        if not self._show(place):
            self._refuse(place, self.guard.find_refusal(place))
            return False
        self._is_checkout_shown = True
        self._labels.append(self._label(place))
        return True

    def _refuse(self, place: Path, reason: str) -> None:
        text = f"The sandbox does not see {self._label(place)}, because {reason}."
        self._refused.append(text)

    def add_toolchain(self, toolchain: Toolchain) -> None:
        shown = [one for one in toolchain.places if self._show(one)]
        if not shown:
            return
        for one in shown:
            if not is_seen_anyway(one) and self._label(one) not in self._labels:
                self._labels.append(self._label(one))
        self._add_to_path(toolchain.path)
        for name, value in toolchain.variables.items():
            self._variables.setdefault(name, value)

    def _can_show(self, place: Path) -> bool:
        if is_seen_anyway(place) and is_seen_anyway(place.resolve()):
            return place.exists()
        return not self.guard.find_refusal(place)

    def _show(self, place: Path) -> bool:
        if not self._can_show(place):
            return False
        if is_seen_anyway(place) and is_seen_anyway(place.resolve()):
            return True
        for one in show(place):
            self._shown[one.place] = one
            for masked in find_masked(Path(one.source)):
                relative = os.path.relpath(masked, one.source)
                self._masked[str(Path(one.place, relative))] = None
        return True

    def _add_to_path(self, folders: Iterable[Path]) -> None:
        for folder in folders:
            if self._is_visible(folder):
                self._path.setdefault(str(folder))

    def _is_visible(self, folder: Path) -> bool:
        """Tell whether the sandbox shows the folder, or something right in it."""
        if is_seen_anyway(folder):
            return True
        places = [Path(one) for one in self._shown]
        return any(
            one == folder or one in folder.parents or folder == one.parent
            for one in places
        )

    def _relative(self, place: Path) -> str:
        is_below = self._checkout in place.parents
        return str(place.relative_to(self._checkout)) if is_below else ""

    def _label(self, place: Path) -> str:
        if relative := self._relative(place):
            return relative
        home = self._machine.home
        return f"~/{place.relative_to(home)}" if home in place.parents else str(place)

    def finish(self) -> LocalView:
        inside = tuple(dict.fromkeys(self._inside))
        places = HostPlaces(
            shown=tuple(self._outermost()),
            masked=(*self._masked, *self._masked_inside(inside)),
            checkout=str(self._checkout) if self._is_checkout_shown else "",
            inside=inside,
        )
        path = {"PATH": ":".join((*self._path, SYSTEM_PATH))} if self._path else {}
        return LocalView(
            places=places,
            environment={**path, **self._variables},
            shown=tuple(dict.fromkeys(self._labels)),
            refused=tuple(self._refused),
        )

    def _outermost(self) -> Iterator[ShownPlace]:
        """Yield the places that are not in another one: with that they are shown."""
        places = {Path(one) for one in self._shown}
        for name, one in self._shown.items():
            if places.isdisjoint(Path(name).parents):
                yield one

    def _masked_inside(self, inside: Sequence[str]) -> Iterator[str]:
        for name in inside:
            own, clone = self._checkout / name, Path(WORKSPACE, CLONE, name)
            for masked in self._masked:
                if own in Path(masked).parents:
                    yield str(clone / Path(masked).relative_to(own))
