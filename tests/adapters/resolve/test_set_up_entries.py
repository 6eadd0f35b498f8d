"""Entries of the cache of set-ups: which are found, and which are removed when."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Barrier, Thread
from typing import IO

import pytest

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SandboxError
from patchwright.resolver.set_up.cache import SetUpCache, SetUpKey
from tests.fakes.clock import FakeClock

KEY = SetUpKey("shop", ("make",), "image")
BLOBS = {"Makefile": "100644 blob 1", "uv.lock": "100644 blob 2", "main.py": "x"}


def cache_in(folder: Path, clock: FakeClock, **limits: int) -> SetUpCache:
    limits = {"max_bytes": 1000, **limits}
    return SetUpCache(folder / "cache", clock, max_age=timedelta(days=7), **limits)


def writes(content: bytes, *read: str) -> Callable[[IO[bytes]], tuple[str, ...]]:
    def write(file: IO[bytes]) -> tuple[str, ...]:
        file.write(content)
        return read

    return write


def content(
    cache: SetUpCache, key: SetUpKey = KEY, changed: Mapping[str, str] = {}
) -> bytes | None:
    found = cache.find(key, {**BLOBS, **changed})
    if found is None:
        return None
    with found.archive as archive:
        return archive.read()


@pytest.fixture
def clock() -> FakeClock:
    # The file system's clock is not ours.
    return FakeClock(SystemClock().now())


def test_an_entry_fits_while_what_it_read_and_the_lock_files_are_the_same(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    cache.store(KEY, writes(b"made", "Makefile"), BLOBS, 1.0)
    assert content(cache) == content(cache, changed={"main.py": "y"}) == b"made"
    assert content(cache, changed={"Makefile": "another"}) is None
    # Nobody has read this one.
    assert content(cache, changed={"uv.lock": "another"}) is None
    assert content(cache, changed={"package.json": "new"}) is None
    assert cache.find(KEY, {"uv.lock": BLOBS["uv.lock"]}) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, repository="other"),
        replace(KEY, commands=("make", "more")),
        replace(KEY, origin="another image"),
        replace(KEY, scope="run-1"),
    ],
)
def test_entries_of_another_key_are_not_found(
    tmp_path: Path, clock: FakeClock, other: SetUpKey
) -> None:
    cache = cache_in(tmp_path, clock)
    cache.store(KEY, writes(b"made"), BLOBS, 1.0)
    assert content(cache, other) is None


def test_the_longest_unused_goes_first_when_there_is_no_room(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    keys = [replace(KEY, repository=f"shop-{number}") for number in range(3)]
    for key in keys[:2]:
        cache.store(key, writes(bytes(400)), BLOBS, 1.0)
        clock.advance(10)
    assert content(cache, keys[0])
    clock.advance(10)
    cache.store(keys[2], writes(bytes(400)), BLOBS, 1.0)
    assert [content(cache, key) is None for key in keys] == [False, True, False]


def test_of_one_set_up_only_a_few_states_are_kept(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    for number in range(6):
        cache.store(KEY, writes(b"x"), {"uv.lock": str(number)}, 1.0)
        clock.advance(10)
    found = [cache.find(KEY, {"uv.lock": str(number)}) for number in range(6)]
    assert [one is None for one in found] == [True, True, False, False, False, False]
    for one in found:
        if one is not None:
            one.archive.close()


def test_an_old_one_is_not_used_and_is_removed(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    cache.store(KEY, writes(b"made"), BLOBS, 1.0)
    clock.advance(timedelta(days=6, hours=23).total_seconds())
    assert content(cache)
    clock.advance(7200)
    assert content(cache) is None
    cache.evict()
    assert list((tmp_path / "cache").rglob("*")) == []


def test_what_is_too_large_or_not_wanted_leaves_nothing(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    assert cache.store(KEY, writes(bytes(2000)), BLOBS, 1.0) is None
    assert cache.store(KEY, lambda _: None, BLOBS, 1.0) is None
    with pytest.raises(SandboxError):
        cache.store(KEY, _fail_half_way, BLOBS, 1.0)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    full = cache_in(tmp_path, clock, min_free_bytes=1 << 60)
    assert full.store(KEY, writes(b"x"), BLOBS, 1.0) is None


def _fail_half_way(file: IO[bytes]) -> tuple[str, ...]:
    file.write(b"half")
    raise SandboxError("the sandbox is gone")


def test_what_a_killed_process_left_counts_for_nothing_and_goes_later(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    cache.store(KEY, writes(b"made"), BLOBS, 1.0)
    [record] = (tmp_path / "cache").rglob("*.json")
    # Killed while it wrote the archive; after that, and before the record was there.
    for name in ("one.part", "two.tar"):
        (record.parent / name).write_bytes(b"half")
    cache.evict()
    assert len(list(record.parent.iterdir())) == 4
    clock.advance(3601)
    cache.evict()
    assert sorted(path.suffix for path in record.parent.iterdir()) == [".json", ".tar"]
    assert content(cache) == b"made"
    record.write_text("{")
    assert content(cache) is None
    cache.evict()
    assert not record.exists()


def test_an_archive_that_is_read_may_be_removed_meanwhile(
    tmp_path: Path, clock: FakeClock
) -> None:
    cache = cache_in(tmp_path, clock)
    cache.store(KEY, writes(b"made"), BLOBS, 1.0)
    found = cache.find(KEY, BLOBS)
    assert found is not None
    cache.clear()
    with found.archive as archive:
        assert archive.read() == b"made"
    assert content(cache) is None


def test_two_that_store_the_same_at_once_do_not_disturb_each_other(
    tmp_path: Path, clock: FakeClock
) -> None:
    both = Barrier(2)

    def write(file: IO[bytes], what: bytes) -> tuple[str, ...]:
        file.write(what * 100)
        both.wait(10)
        file.write(what * 100)
        return ()

    def store(what: bytes) -> None:
        cache_in(tmp_path, clock).store(KEY, partial(write, what=what), BLOBS, 1.0)

    threads = [Thread(target=store, args=(what,)) for what in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert content(cache_in(tmp_path, clock)) in {b"a" * 200, b"b" * 200}
