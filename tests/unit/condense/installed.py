"""Install a small distribution that brings plug-ins, for as long as a test runs."""

from pathlib import Path

import pytest


def install(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    module: str,
    source: str,
    group: str,
    names: dict[str, str],
) -> None:
    """Write a module and its metadata as an installer does, and put it on the path."""
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8"
    )
    points = "\n".join(f"{name} = {module}:{what}" for name, what in names.items())
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{points}\n", "utf-8")
    monkeypatch.syspath_prepend(folder)
