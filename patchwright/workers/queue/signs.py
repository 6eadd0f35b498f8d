"""The signs of life of the queue: messages sent, messages taken, and its broker."""

from collections.abc import Callable

from celery import Celery
from celery.signals import after_task_publish, task_received
from kombu.exceptions import OperationalError


def hear_taken(tell: Callable[[], None]) -> None:
    """Call `tell` each time that a worker of this process has taken a message."""

    def taken(**_: object) -> None:
        tell()

    task_received.connect(taken, weak=False)


def hear_sent(tell: Callable[[], None]) -> None:
    """Call `tell` each time that the broker has got a message of this process."""

    def sent(**_: object) -> None:
        tell()

    after_task_publish.connect(sent, weak=False)


def broker_answers(app: Celery) -> bool:
    """Ask the broker; takes no longer than its connection may."""
    try:
        with app.connection_for_write() as connection, connection.channel():
            return True
    except (OperationalError, OSError):
        return False
    except connection_errors(app):
        return False


def connection_errors(app: Celery) -> tuple[type[Exception], ...]:
    """Return what the broker's own client raises when it cannot reach it."""
    with app.connection_for_write() as connection:
        errors: tuple[type[Exception], ...] = connection.connection_errors
    return errors
