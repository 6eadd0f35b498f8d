"""Make text fit for UTF-8: half of a surrogate pair is no character."""

from pydantic import JsonValue


def well_formed(text: str) -> str:
    """Return the text with surrogate pairs joined and lone halves as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def storable(text: str) -> str:
    """Return the text so that every database takes it: PostgreSQL knows no NUL."""
    return well_formed(text).replace("\0", "\ufffd")


def well_formed_tree(value: JsonValue) -> JsonValue:
    """Do the same for every key and text of a JSON value."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [well_formed_tree(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): well_formed_tree(item) for key, item in value.items()}
    return value
