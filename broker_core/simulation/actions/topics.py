from __future__ import annotations

from broker_core.messages import Message
from broker_core.operations import schemas, topics
from broker_core.plurals import counted
from broker_core.settings import PositiveNumber, TimeMs
from broker_core.simulation.actions.action import Action, RecordedEncoding, decoded

AT_ONCE_MAX = 10_000


class CreateTopic(topics.CreateTopic, Action, frozen=True, kw_only=True, tag="create_topic"):
    """A topic with the settings of `log`, the limits of `flow`, and values held to the schema of `rule`."""

    name: str
    partitions: int = 1

    @property
    def sentence(self) -> str:
        return f"created topic {self.name} with {counted(self.partitions, 'partition')}"


class DeleteTopic(topics.DeleteTopic, Action, frozen=True, kw_only=True, tag="delete_topic"):
    says = "deleted topic {topic}"


class RestoreDeleted(Action, frozen=True, tag="restore_deleted"):
    """The topic, queue or subscription `name`, which was deleted a short while ago, is there again as it was."""

    says = "brought {name} back"

    name: str


class AddPartitions(topics.AddPartitions, Action, frozen=True, kw_only=True, tag="add_partitions"):
    """`topic` has `total` partitions from now on, more than before. Keys may land elsewhere."""

    total: int

    @property
    def sentence(self) -> str:
        return f"gave {self.topic} {counted(self.total, 'partition')}"


class ConfigureTopic(topics.ConfigureTopic, Action, frozen=True, kw_only=True, tag="configure_topic"):
    """New settings of a topic or queue; one that is left out stays. A `flow` without limits lets everything in."""


class DeleteRecords(topics.DeleteRecords, Action, frozen=True, kw_only=True, tag="delete_records"):
    """Trim `topic`: in each partition of `before`, the messages below the offset are gone for good."""

    @property
    def sentence(self) -> str:
        return f"deleted records of {self.topic} in {counted(len(self.before), 'partition')}"


class Produce(Action, frozen=True, tag="produce"):
    """Send a message to topic or queue `to`, or `count` of them, in each of whose values $number is its number from 0.

    Without `rate_per_s` all go at once; with it a producer called `client` sends them one after the other, and goes.
    `encoding` is that of key, value and the values of headers; a `value` of None deletes its key in a compacted topic.
    """

    to: str
    value: str | None
    key: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    encoding: RecordedEncoding = "utf-8"
    partition: int | None = None
    priority: int = 0
    ttl_ms: TimeMs | None = None
    count: int = 1
    rate_per_s: PositiveNumber | None = None
    client: str = "user"

    def __post_init__(self) -> None:
        if self.count < 1 or (self.rate_per_s is None and self.count > AT_ONCE_MAX):
            raise ValueError(f"count must be from 1 to {AT_ONCE_MAX}, or have a rate_per_s")
        if self.rate_per_s is not None and self.partition is not None:
            raise ValueError("partition can only be chosen for messages that are sent at once")
        try:
            self.message()
        except ValueError:
            raise ValueError("value, key and headers must be base64, as encoding says") from None

    def message(self, number: int = 0) -> Message:
        value = self.value
        if value is not None and self.count > 1 and self.encoding == "utf-8":
            value = value.replace("$number", str(number))
        headers = tuple((name, decoded(text, self.encoding) or b"") for name, text in self.headers)
        return Message(
            decoded(value, self.encoding), decoded(self.key, self.encoding), headers, self.ttl_ms, self.priority
        )

    @property
    def sentence(self) -> str:
        pace = "" if self.rate_per_s is None else f" at {self.rate_per_s:g}/s"
        place = "" if self.partition is None else f"/{self.partition}"
        return f"sent {counted(self.count, 'message')} to {self.to}{place}{pace}"


class RegisterSchema(schemas.RegisterSchema, Action, frozen=True, kw_only=True, tag="register_schema"):
    says = "registered a version of {subject}"
