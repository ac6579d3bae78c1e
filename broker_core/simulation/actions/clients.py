from __future__ import annotations

from typing import Literal

from broker_core.settings import AtLeastOne, NotNegativeNumber, Positive, PositiveNumber
from broker_core.simulation.actions.action import Action
from broker_core.simulation.arrivals import Arrivals, RateArrivals
from broker_core.simulation.durations import Duration

Ack = Literal["after", "before"]  # when, relative to the processing of a message
Commit = Literal["after", "before", "with_effect"]


class AddConsumer(Action, frozen=True, tag="add_consumer"):
    """A new consumer, in `group` or, with "", on the bench. Its settings are those of a scenario's consumer."""

    consumer: str
    group: str = ""
    processing: Duration = Duration(mean_ms=100)
    max_poll_messages: Positive = 20
    commit: Commit = "after"
    static: bool = False

    @property
    def sentence(self) -> str:
        return f"added consumer {self.consumer} to {self.group or 'the bench'}"


class AddProducer(Action, frozen=True, tag="add_producer"):
    """A new producer for topic or queue `to`. The times of its `arrivals` count from now."""

    says = "added producer {producer} to {to}"

    producer: str
    to: str
    arrivals: Arrivals = RateArrivals(per_s=10)
    rate_per_s: PositiveNumber | None = None
    burst: AtLeastOne = 1.0
    retry_ms: PositiveNumber | None = None
    linger_ms: NotNegativeNumber = 0.0


class AddWorker(Action, frozen=True, tag="add_worker"):
    """A new worker of `queue`, which acknowledges `ack` the work."""

    says = "added worker {worker} to {queue}"

    worker: str
    queue: str
    processing: Duration = Duration(mean_ms=100)
    prefetch: Positive = 1
    ack: Ack = "after"


class DuplicateClient(Action, frozen=True, tag="duplicate_client"):
    client: str
    name: str = ""

    @property
    def sentence(self) -> str:
        return f"duplicated {self.client} as {self.name}" if self.name else f"duplicated {self.client}"


class RemoveClient(Action, frozen=True, tag="remove_client"):
    """`client` stops: it leaves its group, or releases its leases."""

    says = "removed {client}"

    client: str


class RestoreClient(Action, frozen=True, tag="restore_client"):
    """`client`, which was removed, is back where it was and goes on."""

    says = "brought {client} back"

    client: str


class SetProducerRate(Action, frozen=True, tag="set_producer_rate"):
    """Make `client` send `rate_per_s` messages a second from now on; None is the rate of the scenario."""

    client: str
    rate_per_s: PositiveNumber | None = None

    @property
    def sentence(self) -> str:
        if self.rate_per_s is None:
            return f"{self.client} sends at the pace of its scenario again"
        return f"set {self.client} to {self.rate_per_s:g} messages/s"


class SetProcessingTime(Action, frozen=True, tag="set_processing_time"):
    """Make consumer or worker `client` take `processing` for each message, from the next one on."""

    says = "set {client} to {processing.mean_ms:g} ms for each message"

    client: str
    processing: Duration
