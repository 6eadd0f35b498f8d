"""Sign commits with an SSH key, which lies in a file for as long as git needs it."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr


@contextmanager
def signing_options(key: SecretStr | None) -> Iterator[Sequence[str]]:
    """Give git's options for signing with this key; there are none without a key.

    `key` is an OpenSSH private key without a passphrase.
    """
    if key is None:
        yield ()
        return
    # Only its owner can look into this folder.
    with tempfile.TemporaryDirectory(prefix="patchwright-key-") as folder:
        file = Path(folder) / "key"
        file.touch(mode=0o600)
        file.write_text(f"{key.get_secret_value().strip()}\n", encoding="ascii")
        # https://git-scm.com/docs/git-config#Documentation/git-config.txt-usersigningKey
        yield ("-c", "gpg.format=ssh", "-c", f"user.signingKey={file}")
