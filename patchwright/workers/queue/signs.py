"""The signs of life of the queue: messages sent, messages taken, and its broker."""

from collections.abc import Callable

from celery import Celery
from celery.signals import after_task_publish, task_received
from kombu.exceptions import OperationalError


def on_message_taken(tell: Callable[[], None]) -> None:
    """Call `tell` each time that a worker of this process has taken a message."""

    def taken(**_: object) -> None:
        tell()

    task_received.connect(taken, weak=False)


def on_message_sent(tell: Callable[[], None]) -> None:
    """Call `tell` each time that the broker has got a message of this process."""

    def sent(**_: object) -> None:
        tell()

    after_task_publish.connect(sent, weak=False)


def broker_answers(app: Celery) -> bool:
    """Ask the broker; takes no longer than its connection may."""
    with app.connection_for_write() as connection:
        try:
            connection.channel().close()
        except (OperationalError, OSError, *connection.connection_errors):
            return False
    return True
