"""What the full name of a repository looks like on a forge."""

from typing import Final

# https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
# A login of a managed user ends with an underscore and the enterprise's short code.
# https://docs.github.com/en/enterprise-cloud@latest/admin/concepts/identity-and-access-management/enterprise-managed-users
OWNER_PATTERN: Final = r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}"
# A full stop at the end belongs to the sentence, not to the name.
NAME_PATTERN: Final = r"(?!\.{1,2}(?![\w.-]))[A-Za-z0-9_.-]{0,99}[A-Za-z0-9_-]"
# A group may be in another group.
# https://docs.gitlab.com/user/reserved_names/
_GROUP: Final = r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9_-])?"
# A hyphen alone ends the name in an address.
_IN_GROUP: Final = rf"/(?!-(?![\w.-])){NAME_PATTERN}"


def name_pattern(*, has_groups: bool) -> str:
    """Return a regular expression for `owner/name`, or for a longer path of groups."""
    if has_groups:
        return rf"{_GROUP}(?:{_IN_GROUP}){{1,20}}"
    return f"{OWNER_PATTERN}/{NAME_PATTERN}"
