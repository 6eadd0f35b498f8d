"""Send a message through the broker and take it out again."""

from queue import Empty
from typing import Any, Final

from kombu.exceptions import OperationalError

from patchwright.core.types.ids import RandomIds
from patchwright.workers.queue.app import make_celery
from patchwright.workers.queue.errors import BrokerUnavailableError

_WITHIN_S: Final = 3.0


def check_round_trip(broker_url: str) -> None:
    """Use a queue of its own, which is gone afterwards.

    Raises `BrokerUnavailableError`.
    """
    name = f"patchwright.trial.{RandomIds().new()}"
    try:
        with make_celery(broker_url).connection_for_write() as connection:
            _send_and_take(connection, name)
    except (OperationalError, OSError) as error:
        raise BrokerUnavailableError(f"the broker does not answer: {error}") from error
    except Empty as error:
        words = "the broker took a message and did not give it out"
        raise BrokerUnavailableError(words) from error
    except KeyError as error:
        words = f"queue.broker_url: {error.args[0]}"
        raise BrokerUnavailableError(words) from error


def _send_and_take(connection: Any, name: str) -> None:  # noqa: ANN401 - Celery's
    with connection.SimpleBuffer(name) as trial:
        try:
            trial.put("there and back")
            trial.get(timeout=_WITHIN_S)
        finally:
            trial.queue.delete()
