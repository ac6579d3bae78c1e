from __future__ import annotations

from itertools import islice

import msgspec

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, choices, name_error, place_names, request_field
from app.commands.registry import Command
from app.commands.undo import UNDO_WINDOW_MINUTES
from broker_core.limits import MAX_PARTITIONS, SEGMENT_BYTES
from broker_core.operations.topics import CreateTopic as NewTopic
from broker_core.operations.topics import LogSettings, TopicConfig
from broker_core.schemas.rule import SchemaRule
from broker_core.simulation.actions.topics import AddPartitions, ConfigureTopic, CreateTopic, DeleteRecords, DeleteTopic
from broker_core.snapshots import PartitionView, TopicView
from widgets.dialogs.form import Field, Values
from widgets.i18n import mark, tr

KIB = 1_024
PARTITIONERS = {"crc32": "CRC-32", "murmur2": mark("Murmur2, like Kafka's own clients")}
CLEANUPS = {
    "delete": mark("age and size: delete old segments"),
    "compact": mark("key: keep the last message of each"),
    "delete,compact": mark("age, size and key: both"),
    "none": mark("nothing: keep everything"),
}
TIMESTAMP_TYPES = {
    "CreateTime": mark("of the producer (CreateTime)"),
    "LogAppendTime": mark("of the broker (LogAppendTime)"),
}
COMPRESSION_TYPES = {"producer": mark("as the producer sends them"), "uncompressed": mark("none")}
RULES = {"refuse": mark("are refused"), "dead_letter": mark("become dead letters")}


class TopicHandlers(Handlers):
    COMMANDS = (
        Command("create_topic", "Create topic...", "Topics", "Ctrl+Alt+T", "add", "A topic with some partitions."),
        Command(
            "add_partitions",
            "Add partitions...",
            "Topics",
            "",
            "layers",
            "More lanes; keys may move to other partitions.",
        ),
        Command("configure_topic", "Configure topic...", "Topics", "", "settings", "Retention and compaction."),
        Command("delete_records", "Delete records...", "Topics", "", "", "Trims the beginning of a log."),
        Command("delete_topic", "Delete topic...", "Topics", "", "close", "With its messages; can be undone."),
    )

    MENU = (
        (("topic", "lane"), (None, "add_partitions", "configure_topic", "delete_records", "delete_topic")),
        (("",), ("create_topic",)),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, select = self.bind_action, tr("Select a topic on the canvas first.")
        bind("create_topic", CreateTopic, self.ask_topic)
        bind("add_partitions", AddPartitions, self.ask_partitions, self._topic, select)
        bind("configure_topic", ConfigureTopic, self.ask_settings, self._topic, select)
        bind("delete_records", DeleteRecords, self.ask_records, self._topic, select)
        bind("delete_topic", DeleteTopic, self.ask_delete, self._topic, select)

    def _topic(self) -> TopicView | None:
        context = self._context
        name = context.selected("topic") or context.selected("lane").rpartition("/")[0]
        queues = {queue.name for queue in context.controller.snapshot.queues}
        own = (topic for topic in context.controller.snapshot.topics if topic.name not in queues)
        if name:
            return next((topic for topic in own if topic.name == name), None)
        first = list(islice(own, 2))
        return first[0] if len(first) == 1 else None

    def ask_topic(self) -> None:
        taken = place_names(self._snapshot)
        self.form(
            tr("Create topic"),
            "",
            (
                Field("topic", tr("Name"), hint=tr("such as payments")),
                request_field(NewTopic, "partitions", tr("Partitions"), value=3),
                request_field(NewTopic, "partitioner", tr("Keys go by"), words=PARTITIONERS),
                *_log_fields(),
                *self._rule_fields(),
            ),
            tr("Create"),
            lambda v: CreateTopic(
                name=v["topic"],
                partitions=v["partitions"],
                partitioner=v["partitioner"],
                log=_log(v),
                rule=SchemaRule(subject=v["subject"], mode=v["mode"]) if v.get("subject") else None,
            ),
            why_not=lambda v: name_error(v["topic"], "topic", taken),
        )

    def _rule_fields(self) -> tuple[Field, ...]:
        controller = self._controller
        subjects = tuple(controller.collectors.schemas.at(controller.snapshot.time_ns).registry.subjects())
        if not subjects:
            return ()
        return (
            choice(
                "subject", tr("Values follow"), {"": tr("no schema"), **{subject: subject for subject in subjects}}, ""
            ),
            request_field(
                SchemaRule, "mode", tr("Those that do not match"), words=RULES, shown_for=("subject", subjects)
            ),
        )

    def ask_partitions(self) -> None:
        topic = self._topic()
        if topic is None:
            return
        there = len(topic.partitions)
        self.form(
            tr("Add partitions to {topic}", topic=topic.name),
            tr("It has {count}. Keys may land in other partitions from then on. This cannot be undone.", count=there),
            (Field("partitions", tr("Partitions in all"), "whole", there + 1, least=there + 1, most=MAX_PARTITIONS),),
            tr("Add"),
            lambda v: AddPartitions(topic=topic.name, total=v["partitions"]),
        )

    def ask_settings(self) -> None:
        topic = self._topic()
        if topic is None:
            return
        name = topic.name
        self.form(
            tr("Configure {topic}", topic=name),
            tr(
                "Retention deletes whole segments within a second of their expiry. Deleted segments cannot be restored."
            ),
            _log_fields(),
            tr("Configure"),
            lambda v: ConfigureTopic(topic=name, log=_log(v)),
            known=TopicConfig(topic=name),
            values=lambda settings: msgspec.structs.asdict(settings.log),
        )

    def ask_records(self) -> None:
        topic = self._topic()
        if topic is None:
            return
        parts = {str(part.partition): part for part in topic.partitions}
        lane = self._context.selected("lane").rpartition("/")[2]

        def before(values: Values) -> dict[str, int]:
            if values["partition"]:
                return {values["partition"]: values["offset"]}
            return {str(part.partition): part.end_offset for part in topic.partitions}

        def gone(values: Values) -> int:
            return sum(max(0, offset - parts[number].start_offset) for number, offset in before(values).items())

        self.form(
            tr("Delete records of {topic}", topic=topic.name),
            tr("Deletes the messages below an offset from the log. This cannot be undone."),
            (
                choice(
                    "partition",
                    tr("Partition"),
                    {**choices(parts), "": tr("all of them, up to their ends")},
                    lane or next(iter(parts), ""),
                ),
                Field(
                    "offset",
                    tr("Below offset"),
                    "whole",
                    0,
                    most=2_000_000_000,
                    shown_for=("partition", tuple(parts)),
                ),
            ),
            tr("Delete"),
            lambda v: DeleteRecords(topic=topic.name, before=before(v)),
            why_not=lambda v: (
                _why_not_trimmed(v, parts) or ("" if gone(v) else tr("There are no messages below that offset."))
            ),
            tell=lambda v: tr("{count} messages will be deleted for good.", count=f"{gone(v):,}"),
            danger=True,
        )

    def ask_delete(self) -> None:
        topic = self._topic()
        if topic is None:
            return
        count = sum(part.messages_count for part in topic.partitions)
        readers = [group.name for group in self._snapshot.groups if topic.name in group.topics]
        read = tr(" It is read by {groups}.", groups=", ".join(readers)) if readers else ""
        self.form(
            tr("Delete topic"),
            tr(
                "{topic} has {count} messages in {partitions} partitions.{read} It can be restored for {minutes} "
                "minutes of session time (Ctrl+Z).",
                minutes=UNDO_WINDOW_MINUTES,
                topic=topic.name,
                count=f"{count:,}",
                partitions=len(topic.partitions),
                read=read,
            ),
            (),
            tr("Delete {topic}", topic=topic.name),
            lambda _v: DeleteTopic(topic=topic.name),
            danger=True,
        )


def _limit(name: str, label: str, unit: int, suffix: str, for_cleanup: str = "") -> Field:
    shown_for = ("cleanup", (for_cleanup, "delete,compact")) if for_cleanup else None
    return request_field(LogSettings, name, label, unit=unit, suffix=suffix, none=tr("no limit"), shown_for=shown_for)


def _log_fields() -> tuple[Field, ...]:
    return (
        request_field(LogSettings, "cleanup", tr("Cleaned up by"), words=CLEANUPS),
        _limit("retention_ms", tr("Keep for"), 1_000, tr(" s"), for_cleanup="delete"),
        _limit("retention_bytes", tr("Keep at most"), KIB, tr(" KiB a partition"), for_cleanup="delete"),
        _limit("segment_ms", tr("A new segment every"), 1_000, tr(" s")),
        request_field(
            LogSettings,
            "segment_bytes",
            tr("Segments of"),
            unit=KIB,
            value=SEGMENT_BYTES // KIB,
            least=1,
            suffix=tr(" KiB"),
        ),
        request_field(LogSettings, "timestamp_type", tr("Time of messages"), words=TIMESTAMP_TYPES),
        request_field(LogSettings, "compression_type", tr("Compression"), words=COMPRESSION_TYPES),
    )


def _log(values: Values) -> LogSettings:
    return LogSettings(**{field.name: values.get(field.name) for field in _log_fields()})


def _why_not_trimmed(values: Values, parts: dict[str, PartitionView]) -> str:
    part = parts.get(values["partition"])
    if part is not None and values["offset"] > part.end_offset:
        return tr("The partition ends at {end}.", end=f"{part.end_offset:,}")
    return ""
