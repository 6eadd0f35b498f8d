"""The files of a commit are listed and read, and no link leads out of it."""

from patchwright.integrations.git.trees import UnreadReason
from tests.adapters.git.workshop import WorkTree


def test_files_and_links_are_listed_and_folders_are_not(origin: WorkTree) -> None:
    (origin.path / "link").symlink_to("src")
    head = origin.commit()
    assert origin.objects.list_files(head) == (
        "dos.txt",
        "link",
        "notes.txt",
        "scripts/run.sh",
        "src/app.py",
    )


def test_submodules_are_not_listed(origin: WorkTree) -> None:
    head = origin.head
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    origin.git("commit", "--quiet", "--message", "Add a submodule")
    assert "sub" not in origin.objects.list_files(origin.head)


def test_files_are_read_byte_for_byte(origin: WorkTree) -> None:
    origin.write("empty", b"")
    origin.write(
        "odd \xff name".encode("latin-1").decode("utf-8", "surrogateescape"), b"x"
    )
    head = origin.commit()
    paths = origin.objects.list_files(head)
    found = origin.objects.read_files(head, paths, 1_000)
    assert found["dos.txt"] == b"one\r\ntwo\r\n"
    assert found["notes.txt"] == b"caf\xe9\nsecond line\n"
    assert found["empty"] == b""
    assert found["odd \udcff name"] == b"x"


def test_links_are_followed_inside_the_commit_alone(origin: WorkTree) -> None:
    links = {
        "a/inside": "../notes.txt",
        "a/again": "inside",
        "outside": "../secret",
        "absolute": "/etc/hostname",
        "dangling": "nothing",
        "loop": "loop",
        "folder": "src",
        "through": "notes.txt/x",
    }
    (origin.path / "a").mkdir()
    (origin.path.parent / "secret").write_text("secret")
    for name, target in links.items():
        (origin.path / name).symlink_to(target)
    found = origin.objects.read_files(origin.commit(), [*links, "dos.txt"], 1_000)
    assert found == {
        "a/inside": b"caf\xe9\nsecond line\n",
        "a/again": b"caf\xe9\nsecond line\n",
        "outside": UnreadReason.OUTSIDE,
        "absolute": UnreadReason.OUTSIDE,
        "dangling": UnreadReason.NOT_THERE,
        "loop": UnreadReason.NOT_THERE,
        "folder": UnreadReason.NOT_THERE,
        "through": UnreadReason.NOT_THERE,
        "dos.txt": b"one\r\ntwo\r\n",
    }


def test_what_is_too_large_or_missing_is_said(origin: WorkTree) -> None:
    origin.write("large", b"x" * 1_001)
    head = origin.commit()
    asked = ["large", "missing", "line\nbreak", "notes.txt"]
    assert origin.objects.read_files(head, asked, 1_000) == {
        "large": UnreadReason.TOO_LARGE,
        "missing": UnreadReason.NOT_THERE,
        "line\nbreak": UnreadReason.NOT_THERE,
        "notes.txt": b"caf\xe9\nsecond line\n",
    }
    assert origin.objects.read_files(head, [], 1_000) == {}
