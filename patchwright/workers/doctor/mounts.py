"""Which file system a path is on, from what Linux tells of its mounts."""

from pathlib import PurePosixPath
from typing import Final

# SQLite's locks, and its write-ahead log above all, do not hold across a network.
# https://www.sqlite.org/wal.html and https://www.sqlite.org/faq.html#q5
NETWORK_FILE_SYSTEMS: Final = frozenset(
    {
        "9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs",
        "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
    }
)  # fmt: skip
_MOUNT_POINT: Final = 4
# How blanks and the like are written there.
# https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
_ESCAPES: Final = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


def file_system_type(path: PurePosixPath, mountinfo: str) -> str:
    """Return the type of the file system, or an empty text where it is not told."""
    above = {str(path), *map(str, path.parents)}
    found = [_read_mount(line) for line in mountinfo.splitlines() if " - " in line]
    # A later mount hides an earlier one in the same place.
    fitting = sorted(
        (len(at), n, kind) for n, (at, kind) in enumerate(found) if at in above
    )
    return fitting[-1][2] if fitting else ""


def _read_mount(line: str) -> tuple[str, str]:
    before, _, after = line.partition(" - ")
    place = before.split(" ")[_MOUNT_POINT]
    for written, meant in _ESCAPES:
        place = place.replace(written, meant)
    return place, after.split(" ")[0]
