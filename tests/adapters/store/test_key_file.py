"""The service's own key, in a file."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from patchwright.core.types.errors import SettingsError
from patchwright.workers.store.secrets import load_or_make_key


def test_a_key_is_made_once_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "patchwright.key"
    key = load_or_make_key(path)
    assert len(key) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_or_make_key(path) == key
    assert list(tmp_path.iterdir()) == [path]


def test_all_who_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "patchwright.key"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: load_or_make_key(path), range(16)))
    assert len(keys) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "patchwright.key"
    load_or_make_key(path)
    path.chmod(0o640)
    with pytest.raises(SettingsError, match="can be read by others"):
        load_or_make_key(path)


def test_a_file_that_is_no_key_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "patchwright.key"
    path.touch(0o600)
    with pytest.raises(SettingsError, match="is not a key"):
        load_or_make_key(path)
    assert path.read_bytes() == b""
