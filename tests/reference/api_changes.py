"""What of a change to the API's document breaks the programs that use it."""

from collections.abc import Iterator, Mapping
from typing import Any

_Tree = Mapping[str, Any]


def breaking_changes(kept: _Tree, new: _Tree) -> list[str]:
    """Return what programs that were written for the kept document would miss.

    That is an operation, an answer or one of its fields that is gone or has another
    type; an input that is gone, new and required, or allows less.
    """
    return [*_operations(kept, new), *_schemas(kept, new)]


def _operations(kept: _Tree, new: _Tree) -> Iterator[str]:
    for path, methods in kept["paths"].items():
        for method, before in methods.items():
            after = new["paths"].get(path, {}).get(method)
            name = f"{method.upper()} {path}"
            if after is None:
                yield f"{name} is gone"
                continue
            yield from (f"{name}: {one}" for one in _operation(before, after))


def _operation(before: _Tree, after: _Tree) -> Iterator[str]:
    if after["operationId"] != before["operationId"]:
        yield f"its name is now {after['operationId']}"
    yield from _parameters(before, after)
    yield from _bodies(before, after)
    for status, answer in before["responses"].items():
        if not status.startswith("2"):
            continue
        if answer["content"] != after["responses"].get(status, {}).get("content"):
            yield f"the answer {status} is another one"


def _parameters(before: _Tree, after: _Tree) -> Iterator[str]:
    known = {(one["in"], one["name"]): one for one in before["parameters"]}
    found = {(one["in"], one["name"]): one for one in after["parameters"]}
    for key, one in known.items():
        if key not in found:
            yield f"the parameter {key[1]} is gone"
        elif _narrows(one["schema"], found[key]["schema"]):
            yield f"the parameter {key[1]} allows less"
    for key, one in found.items():
        was_required = known.get(key, {}).get("required", False)
        if one["required"] and not was_required:
            yield f"the parameter {key[1]} is required now"


def _bodies(before: _Tree, after: _Tree) -> Iterator[str]:
    known, found = before.get("requestBody"), after.get("requestBody")
    if known is None:
        if found and found["required"]:
            yield "a body is required now"
    elif found is None or found["content"] != known["content"]:
        yield "the body is another one"


# Where what is smaller, or larger, allows less.
_LEAST = ("minimum", "minLength", "minItems")
_MOST = ("maximum", "maxLength", "maxItems")


def _narrows(before: _Tree, after: _Tree) -> bool:
    bounds = {*before, *after}
    return (
        _type_of(before) != _type_of(after)
        or any(after.get(one, 0) > before.get(one, 0) for one in _LEAST)
        or any(
            after.get(one, float("inf")) < before.get(one, float("inf"))
            for one in _MOST
        )
        or ("pattern" in bounds and after.get("pattern") != before.get("pattern"))
    )


def _type_of(schema: _Tree) -> _Tree:
    kept = ("type", "format", "$ref", "anyOf", "items", "additionalProperties")
    return {name: schema[name] for name in kept if name in schema}


def _schemas(kept: _Tree, new: _Tree) -> Iterator[str]:
    sent = set(_sent_schemas(kept))
    for name, before in kept["components"]["schemas"].items():
        after = new["components"]["schemas"].get(name)
        if after is None:
            yield f"{name} is gone"
            continue
        if missing := set(before.get("enum", ())) - set(after.get("enum", ())):
            yield f"{name} lacks {', '.join(sorted(missing))}"
        yield from _fields(name, before, after, is_sent=name in sent)


def _sent_schemas(document: _Tree) -> Iterator[str]:
    """Yield the names of the schemas that programs send."""
    for methods in document["paths"].values():
        for one in methods.values():
            for content in one.get("requestBody", {}).get("content", {}).values():
                yield content["schema"]["$ref"].rpartition("/")[2]


def _fields(name: str, before: _Tree, after: _Tree, *, is_sent: bool) -> Iterator[str]:
    known, found = before.get("properties", {}), after.get("properties", {})
    for field, schema in known.items():
        if field not in found:
            yield f"{name}.{field} is gone"
        elif is_sent and _narrows(schema, found[field]):
            yield f"{name}.{field} allows less"
        elif not is_sent and _type_of(schema) != _type_of(found[field]):
            yield f"{name}.{field} has another type"
    was, now = set(before.get("required", ())), set(after.get("required", ()))
    if is_sent:
        yield from (f"{name}.{one} is required now" for one in sorted(now - was))
    else:
        gone = sorted(one for one in was - now if one in found)
        yield from (f"{name}.{one} may be left out now" for one in gone)
