"""The forms in which people write the name of a repository, an issue or a ticket."""

import re
from typing import Final

from patchwright.core.types.threads import ThreadKind
from patchwright.resolver.placing.places import NAME_PATTERN, OWNER_PATTERN

THREAD_KINDS: Final = {
    "issues": ThreadKind.ISSUE,
    "pull": ThreadKind.PULL_REQUEST,
    "discussions": ThreadKind.DISCUSSION,
}
_NUMBER: Final = r"(?P<number>[1-9]\d{0,9})(?![\w-])"
_KEY: Final = r"[A-Z][A-Z0-9_]+-[1-9]\d{0,9}"
# Chinese, Japanese and Korean put no blanks between words.
_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
# What goes on to one of both sides is a longer word: a path, an address, a version.
_FREE: Final = rf"(?<!{_LETTER})(?<![/@.#:&=+~-])"
_ENDS: Final = rf"(?!{_LETTER}|[/@-]|[.#:]\w)"
_IN_ADDRESS: Final = r"[^\s<>()\[\]\"'`|]+"
_HOST: Final = r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/"

# Below the address of the forge.
REPOSITORY_PATH: Final = re.compile(
    rf"(?P<repo>{OWNER_PATTERN}/{NAME_PATTERN})(?=[/?#.,;:!*~]|\Z)"
    rf"(?:/(?P<kind>{'|'.join(THREAD_KINDS)})/{_NUMBER})?"
)
# Below the address of the ticket system.
TICKET_PATH: Final = re.compile(
    rf"(?:browse/|\S*[?&]selectedIssue=)(?P<key>{_KEY})(?![\w-])", re.IGNORECASE
)
# In a text. What is `meant` is called a repository; what is `bare` may be a path.
REFERENCE_PATTERN: Final = re.compile(
    rf"(?P<address>(?:https?://|{_FREE}(?={_HOST})){_IN_ADDRESS})"
    rf"|{_FREE}(?:ssh://)?git@(?P<host>[\w.-]+)[:/](?P<remote>{OWNER_PATTERN}/{NAME_PATTERN})"
    rf"|{_FREE}(?i:repo(?:sitory)?):[ \t]*(?P<meant>{OWNER_PATTERN}/{NAME_PATTERN}){_ENDS}"
    rf"|{_FREE}(?P<repo>{OWNER_PATTERN}/{NAME_PATTERN})#{_NUMBER}"
    rf"|{_FREE}(?P<bare>{OWNER_PATTERN}(?:/{NAME_PATTERN})+){_ENDS}"
    rf"|{_FREE}(?P<key>{_KEY}){_ENDS}"
)
ALONE_PATTERN: Final = re.compile(rf"\s*[`*_]*({OWNER_PATTERN}/{NAME_PATTERN})[`*_.!]*\s*\Z")
# What leads to the name of a repository rather than of a file, if it is both.
LEADING_WORDS: Final = re.compile(
    r"(?:\A|\b(?:in|for|of|to|on|at|from|use|repo|repository|project))\s*(?:the\s+)?\Z",
    re.IGNORECASE,
)
# What is a file or a folder rather than a repository, whatever leads to it.
FILE_PATH_PATTERN: Final = re.compile(
    r"(?:src|lib|tests?|docs?|app|pkg|cmd|bin|internal|packages|scripts|config)/"
    r"|.*\.(?:[ch]|cc|cfg|cpp|cs|css|go|html?|ini|java|json|jsx?|kt|lock|md|php|py|rb"
    r"|rs|rst|sh|sql|swift|toml|tsx?|txt|xml|ya?ml)\Z",
    re.IGNORECASE,
)
