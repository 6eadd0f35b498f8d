"""Answer review threads, and settle them."""

from patchwright.core.types.threads import ThreadRef
from patchwright.integrations.github.api import Api


def answer_review(api: Api, ref: ThreadRef, review_thread: str, text: str) -> str:
    raise NotImplementedError


def find_review_answer(
    api: Api, ref: ThreadRef, review_thread: str, mark: str, own_login: str
) -> str | None:
    raise NotImplementedError


def resolve_review(api: Api, ref: ThreadRef, review_thread: str) -> None:
    raise NotImplementedError
