"""Filter, order and page what a query asks for.

https://linear.app/developers/filtering
https://linear.app/developers/pagination
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.fakes.linear.exchange import Json, RefusedError, invalid

DEFAULT_PAGE, MAX_PAGE = 50, 250


def connect(shown: Iterable[Json], args: Mapping[str, Any]) -> Json:
    """Return one page, the newest first unless it is told otherwise."""
    kept = [one for one in shown if _is_shown(one, args)]
    order = str(args.get("orderBy") or "createdAt")
    # Of two with the same time, the later one is the newer one.
    placed = sorted(enumerate(kept), key=lambda one: (str(one[1][order]), one[0]))
    kept = [one for _, one in reversed(placed)]
    size = args.get("first") or args.get("last") or DEFAULT_PAGE
    if not 0 < size <= MAX_PAGE:
        raise invalid("first", f"it must be between 1 and {MAX_PAGE}")
    begin = _after(kept, args.get("after"))
    end = len(kept) if args.get("before") is None else _at(kept, args["before"])
    span = kept[begin:end]
    page = span[-size:] if args.get("last") else span[:size]
    return {
        "nodes": page,
        "edges": [{"cursor": one["id"], "node": one} for one in page],
        "pageInfo": _page_info(kept, page),
    }


def _page_info(kept: list[Json], page: list[Json]) -> Json:
    return {
        "hasNextPage": bool(page) and kept[-1] is not page[-1],
        "hasPreviousPage": bool(page) and kept[0] is not page[0],
        "startCursor": page[0]["id"] if page else None,
        "endCursor": page[-1]["id"] if page else None,
    }


def _after(kept: list[Json], cursor: str | None) -> int:
    return 0 if cursor is None else _at(kept, cursor) + 1


def _at(kept: list[Json], cursor: str) -> int:
    for place, one in enumerate(kept):
        if one["id"] == cursor:
            return place
    raise RefusedError(f"Invalid cursor: {cursor}")


def _is_shown(shown: Json, args: Mapping[str, Any]) -> bool:
    if shown.get("archivedAt") and not args.get("includeArchived"):
        return False
    return fits(shown, args.get("filter") or {})


def fits(shown: Json | None, wanted: Mapping[str, Any]) -> bool:
    """Tell whether all conditions hold for one thing, which may be absent."""
    return all(_holds(shown, key, value) for key, value in wanted.items())


def _holds(shown: Json | None, key: str, wanted: Any) -> bool:
    match key:
        case "and":
            return all(fits(shown, one) for one in wanted)
        case "or":
            return any(fits(shown, one) for one in wanted)
        case "null":
            return bool((shown is None) == wanted)
        case _:
            pass
    if shown is None:
        return False
    if key == "id" and "previousIdentifiers" in shown:
        # An issue is found by its identifiers too.
        names = (shown["id"], shown["identifier"], *shown["previousIdentifiers"])
        return any(_value_fits(name, wanted) for name in names)
    if key not in shown:
        raise RefusedError(f"The fake cannot filter by {key}")
    value = shown[key](None) if callable(shown[key]) else shown[key]
    return _value_fits(value, wanted)


def _value_fits(value: Any, wanted: Json) -> bool:
    if isinstance(value, dict) and "nodes" in value:
        return _collection_fits(value["nodes"], wanted)
    is_nested = any(isinstance(one, dict) for one in wanted.values())
    if isinstance(value, dict) or (value is None and (is_nested or "and" in wanted)):
        return fits(value, wanted)
    return all(_compare(value, name, operand) for name, operand in wanted.items())


def _collection_fits(nodes: list[Json], wanted: Json) -> bool:
    """Whatever is asked of a collection itself is asked of any of its members."""
    for key, value in wanted.items():
        match key:
            case "every":
                holds = all(fits(one, value) for one in nodes)
            case "some":
                holds = any(fits(one, value) for one in nodes)
            case "null":
                holds = (not nodes) == value
            case "length":
                holds = _value_fits(float(len(nodes)), value)
            case "and":
                holds = all(_collection_fits(nodes, one) for one in value)
            case "or":
                holds = any(_collection_fits(nodes, one) for one in value)
            case _:
                holds = any(fits(one, {key: value}) for one in nodes)
        if not holds:
            return False
    return True


def _compare(value: Any, name: str, operand: Any) -> bool:
    if name == "null":
        return bool((value is None) == operand)
    if name in ("neq", "nin") and value is None:
        return True
    if value is None:
        return False
    comparator = _COMPARATORS[name]
    if isinstance(operand, list):
        return comparator(_comparable(value), [_comparable(one) for one in operand])
    return comparator(_comparable(value), _comparable(operand))


def _comparable(value: Any) -> Any:
    """Compare moments as such, however precisely they are written."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value


_COMPARATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, operand: bool(value == operand),
    "neq": lambda value, operand: bool(value != operand),
    "in": lambda value, operand: value in operand,
    "nin": lambda value, operand: value not in operand,
    "lt": lambda value, operand: bool(value < operand),
    "lte": lambda value, operand: bool(value <= operand),
    "gt": lambda value, operand: bool(value > operand),
    "gte": lambda value, operand: bool(value >= operand),
    "contains": lambda value, operand: operand in value,
    "notContains": lambda value, operand: operand not in value,
    "containsIgnoreCase": lambda value, operand: operand.lower() in value.lower(),
    "startsWith": lambda value, operand: value.startswith(operand),
    "endsWith": lambda value, operand: value.endswith(operand),
    "eqIgnoreCase": lambda value, operand: value.lower() == operand.lower(),
    "neqIgnoreCase": lambda value, operand: value.lower() != operand.lower(),
}
