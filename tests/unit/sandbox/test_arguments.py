"""What of this machine a bubblewrap sandbox gets to see."""

from pathlib import Path

from patchwright.sandbox.local.isolation import isolate, show_system


def test_the_network_is_always_the_sandboxes_own() -> None:
    for namespace in ("user", "pid", "ipc", "uts", "net"):
        assert f"--unshare-{namespace}" in isolate()


def test_system_folders_are_shown_read_only_and_links_stay_links(
    tmp_path: Path,
) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").symlink_to("usr/bin")
    words = " ".join(show_system(tmp_path))
    assert f"--ro-bind {tmp_path}/usr /usr" in words
    assert f"--ro-bind {tmp_path}/lib /lib" in words
    assert "--symlink usr/bin /bin" in words
    assert "--bind " not in words


def test_no_secret_of_the_machine_is_shown() -> None:
    words = show_system(Path("/"))
    assert not {"/etc", "/etc/shadow", "/etc/ssl", "/root", "/home"} & set(words)
    assert "/etc/resolv.conf" not in words


def test_what_a_machine_keeps_for_itself_below_usr_is_not_seen(tmp_path: Path) -> None:
    """Tokens of package registries stand there on some machines."""
    for name in ("usr/local/etc", "usr/etc", "usr/local/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "usr/pip.conf").write_text("index-url = https://token@host/")
    words = " ".join(show_system(tmp_path))
    shown = f"--ro-bind {tmp_path}/usr /usr"
    assert words.index(shown) < words.index("--tmpfs /usr/local/etc")
    assert "--tmpfs /usr/etc --remount-ro /usr/etc" in words
    assert "--ro-bind /dev/null /usr/pip.conf" in words
    assert "/usr/local/lib" not in words
