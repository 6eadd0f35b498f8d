"""Send what happened to the app's address, and keep what was sent."""

from dataclasses import dataclass, field

from tests.fakes.slack.sending import Delivery, Receipt, headers_of, of_event, send
from tests.fakes.slack.state import Json, World


@dataclass
class Outbox:
    """Without an address, what happens is kept and not sent."""

    world: World
    url: str = ""
    deliveries: list[Delivery] = field(default_factory=list)

    def redeliver(
        self, delivery: Delivery, reason: str = "http_timeout"
    ) -> Receipt | None:
        """Send it again, as Slack does up to three times after a bad answer."""
        delivery.tries += 1
        return self._carry(delivery, reason)

    def tell(self, told: list[Json]) -> None:
        for body in told:
            self.send(of_event(body))

    def send(self, delivery: Delivery) -> Receipt | None:
        self.deliveries.append(delivery)
        return self._carry(delivery)

    def _carry(self, delivery: Delivery, reason: str = "") -> Receipt | None:
        if not self.url:
            return None
        headers = headers_of(self.world, delivery, reason)
        receipt = send(self.url, headers, delivery.body)
        delivery.receipts.append(receipt)
        return receipt
