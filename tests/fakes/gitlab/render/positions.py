"""Lines of a diff as the API and the webhooks show them."""

from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.thread_state import Position


def position_json(place: Position | None) -> Json | None:
    if place is None:
        return None
    return {
        "base_sha": place.base_sha,
        "start_sha": place.start_sha,
        "head_sha": place.head_sha,
        "old_path": place.old_path,
        "new_path": place.new_path,
        "position_type": "text",
        "old_line": place.old_line,
        "new_line": place.new_line,
        "line_range": _range_json(place),
    }


def _range_json(place: Position) -> Json | None:
    if place.start_old is None and place.start_new is None:
        return None
    first = _end_json(place.start_old, place.start_new)
    return {"start": first, "end": _end_json(place.old_line, place.new_line)}


def _end_json(old: int | None, new: int | None) -> Json:
    kind = "new" if old is None else ("old" if new is None else None)
    code = f"{'0' * 40}_{old or 0}_{new or 0}"
    return {"line_code": code, "type": kind, "old_line": old, "new_line": new}


def read_position(asked: Json) -> Position | None:
    """Return the place that was asked for, or None where a part is missing."""
    needed = ("base_sha", "start_sha", "head_sha")
    if any(not asked.get(name) for name in needed):
        return None
    old, new = _number(asked.get("old_line")), _number(asked.get("new_line"))
    path = asked.get("new_path") or asked.get("old_path")
    if path is None or (old is None and new is None):
        return None
    ends = asked.get("line_range")
    start = ends.get("start", {}) if isinstance(ends, dict) else {}
    return Position(
        base_sha=str(asked["base_sha"]),
        start_sha=str(asked["start_sha"]),
        head_sha=str(asked["head_sha"]),
        old_path=str(asked.get("old_path") or path),
        new_path=str(path),
        old_line=old,
        new_line=new,
        start_old=_number(start.get("old_line")),
        start_new=_number(start.get("new_line")),
    )


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isdecimal() else None
