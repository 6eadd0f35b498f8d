"""Artifacts are kept as `actions/upload-artifact` keeps them.

https://github.com/actions/upload-artifact#usage
"""

from pathlib import Path

import pytest

from tests.runner.artifacts import Artifacts, UploadError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("run/patch.diff", "run/deep/events.jsonl", "run/.hidden", "other.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return tmp_path


def kept(folder: Path, **arguments: str) -> set[str]:
    artifacts = Artifacts()
    artifacts.upload({"path": str(folder), **arguments})
    return set(artifacts.kept["artifact"])


def test_a_folder_is_kept_without_what_is_hidden(folder: Path) -> None:
    assert kept(folder / "run") == {"patch.diff", "deep/events.jsonl"}


def test_hidden_files_are_kept_when_asked_for(folder: Path) -> None:
    assert ".hidden" in kept(folder / "run", **{"include-hidden-files": "true"})


def test_several_patterns_meet_in_their_folder(folder: Path) -> None:
    patterns = f"{folder}/run/**\n{folder}/other.txt\n!{folder}/run/deep/**"
    assert kept(folder, path=patterns) == {"run/patch.diff", "other.txt"}


def test_a_name_is_taken_once(folder: Path) -> None:
    artifacts = Artifacts()
    artifacts.upload({"path": str(folder), "name": "one"})
    with pytest.raises(UploadError, match="already exists"):
        artifacts.upload({"path": str(folder), "name": "one"})
    artifacts.upload({"path": str(folder), "name": "one", "overwrite": "true"})


@pytest.mark.parametrize("name", ["a/b", "a:b", "", "a\nb"])
def test_some_names_are_refused(folder: Path, name: str) -> None:
    with pytest.raises(UploadError, match="not valid"):
        Artifacts().upload({"path": str(folder), "name": name})


def test_nothing_to_keep_is_told_as_asked(folder: Path) -> None:
    artifacts, nowhere = Artifacts(), str(folder / "nowhere")
    artifacts.upload({"path": nowhere, "if-no-files-found": "ignore"})
    assert artifacts.warnings == []
    artifacts.upload({"path": nowhere})
    assert len(artifacts.warnings) == 1
    with pytest.raises(UploadError, match="No files were found"):
        artifacts.upload({"path": nowhere, "if-no-files-found": "error"})


def test_unknown_inputs_are_refused(folder: Path) -> None:
    with pytest.raises(UploadError, match="Unexpected"):
        Artifacts().upload({"path": str(folder), "names": "x"})
