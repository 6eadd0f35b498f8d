"""Read what seldom changes: an answer that is still the same costs nothing.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final
from urllib.parse import urlencode

from github.Requester import Requester

MAX_KEPT: Final = 64
_NOT_MODIFIED: Final = 304
_REFUSED: Final = 400


@dataclass(frozen=True, slots=True)
class _CachedAnswer:
    tag: str
    answer: object


class ETagCache:
    """The newest answers with their ETags, kept for this process; any thread may ask.

    That we may still read it is GitHub's to say each time.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _CachedAnswer] = OrderedDict()
        self._lock = Lock()

    def fetch(
        self,
        requester: Requester,
        address: str,
        parameters: Mapping[str, str] | None = None,
    ) -> object:
        """Return the JSON at an address; raises the errors of PyGithub."""
        wanted = dict(parameters or {})
        key = f"{address}?{urlencode(wanted)}"
        known = self._find(key)
        headers = {"If-None-Match": known.tag} if known else {}
        status, told, text = requester.requestJson("GET", address, wanted, headers)
        if known is not None and status == _NOT_MODIFIED:
            return known.answer
        answer: object = _parse(text)
        if status >= _REFUSED:
            said = answer if isinstance(answer, dict) else {}
            raise requester.createException(status, told, said)
        if tag := told.get("etag"):
            self._keep(key, _CachedAnswer(tag, answer))
        return answer

    def _find(self, key: str) -> _CachedAnswer | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: str, cached_answer: _CachedAnswer) -> None:
        with self._lock:
            self._kept[key] = cached_answer
            self._kept.move_to_end(key)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # A proxy in between answers in a form of its own.
        return None
