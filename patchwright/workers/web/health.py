"""Health and metrics on the web side's own port."""

from fastapi import FastAPI, Request, Response

from patchwright.workers.ops.access import ListenerKind
from patchwright.workers.ops.reporter import (
    LIVE,
    METRICS,
    READY,
    StatusAnswer,
    StatusRequest,
    Reporter,
)


def add_health(app: FastAPI, reporter: Reporter) -> None:
    # None is async: the database may let them wait, so FastAPI gives them a thread.
    @app.get(LIVE)
    def healthz() -> Response:
        """Tell whether the process answers and goes on with its work."""
        return _respond(reporter.live())

    @app.get(READY)
    def readyz() -> Response:
        """Tell whether the process can do its work, part by part."""
        return _respond(reporter.ready())

    @app.get(METRICS)
    def metrics(request: Request) -> Response:
        """Show the figures to who brings the token, and to nobody without one."""
        authorization = request.headers.get("authorization", "")
        asking = StatusRequest(METRICS, ListenerKind.PUBLIC, authorization=authorization)
        return _respond(reporter.metrics(asking))


def _respond(answer: StatusAnswer) -> Response:
    headers = {"WWW-Authenticate": answer.challenge} if answer.challenge else None
    return Response(
        answer.body, answer.status, headers=headers, media_type=answer.media_type
    )
