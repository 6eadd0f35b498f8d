"""A validator that checks once what many answers share: a user, a repository."""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from openapi_schema_validator import OAS30Validator, oas30_format_checker

__all__ = ["RememberingValidator", "oas30_format_checker"]

REFERENCE = "$ref"
# Each fake listens on another port, which is as good as any.
PORT = re.compile(r"(//127\.0\.0\.1):\d+")
_check_reference = OAS30Validator.VALIDATORS[REFERENCE]
_check_every_choice = OAS30Validator.VALIDATORS["anyOf"]
_valid: set[bytes] = set()


def _check_once(
    validator: Any, reference: str, instance: object, schema: object
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        yield from _check_reference(validator, reference, instance, schema)
        return
    text = PORT.sub(r"\1", json.dumps([reference, instance], sort_keys=True))
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    if digest in _valid:
        return
    errors = list(_check_reference(validator, reference, instance, schema))
    if not errors:
        _valid.add(digest)
    yield from errors


def _check_any(
    validator: Any, choices: list[object], instance: object, schema: object
) -> Iterator[ValidationError]:
    """Look for what is wrong with each choice only when none of them fits."""
    if not any(validator.evolve(schema=one).is_valid(instance) for one in choices):
        yield from _check_every_choice(validator, choices, instance, schema)


# Its references are all of one document, GitHub's description.
RememberingValidator: Any = extend(  # type: ignore[no-untyped-call]
    OAS30Validator, {REFERENCE: _check_once, "anyOf": _check_any}
)
