from __future__ import annotations

from dataclasses import asdict

import msgspec

from app.commands.context import CommandContext, Handlers, lacking, named_or_only
from app.commands.forms import Given, as_is, choice, name_error, part_names, place_names, queue_names, topic_names
from app.commands.undo import UNDO_WINDOW_MINUTES
from broker_core.flow.config import FlowConfig
from broker_core.limits import MAX_PARTITIONS, SEGMENT_BYTES
from broker_core.operations.topics import CreateTopic as NewTopic
from broker_core.operations.topics import LogSettings, TopicConfiguration, TopicSettings
from broker_core.schemas.rule import SchemaRule
from broker_core.simulation.actions.topics import AddPartitions, ConfigureTopic, CreateTopic, DeleteRecords, DeleteTopic
from broker_core.snapshots import PartitionView, TopicView
from widgets.dialogs.form import Values
from widgets.i18n import tr
from widgets.panels.backpressure import BackpressurePanel, Limits

_LOG = {"segment_bytes": {"value": SEGMENT_BYTES}}


class TopicHandlers(Handlers):
    MENU = (
        ("topic lane", "| add_partitions configure_topic delete_records delete_topic"),
        ("topic lane queue", "set_flow"),
        ("", "create_topic"),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, why_not = context.registry.bind, self._why_impossible
        unselected = lacking(self._topic, tr("Select a topic on the canvas first."))
        bind("create_topic", self.ask_topic, why_not(CreateTopic))
        bind("add_partitions", self.ask_partitions, why_not(AddPartitions), unselected)
        bind("configure_topic", self.ask_settings, why_not(ConfigureTopic), unselected)
        bind("delete_records", self.ask_records, why_not(DeleteRecords), unselected)
        bind("delete_topic", self.ask_delete, why_not(DeleteTopic), unselected)
        none = lacking(self._targets, tr("There is no topic or queue to limit; create one first."))
        forbidden = why_not(ConfigureTopic)
        bind("set_flow", self.ask_limits, forbidden, none, self._why_not_limited)
        panel = context.window.tab(BackpressurePanel)
        panel.followed.connect(self._follow)
        panel.limitsChosen.connect(self._set_limits)
        context.registry.action("set_flow").changed.connect(lambda: panel.forbid(forbidden()))

    def _topic(self) -> TopicView | None:
        queues = set(queue_names(self._snapshot))
        own = [topic for topic in self._snapshot.topics if topic.name not in queues]
        return named_or_only(own, self._context.selected_topic())

    def ask_topic(self) -> None:
        taken, controller = place_names(self._snapshot), self._controller
        subjects = tuple(controller.collectors.schemas.at(controller.snapshot.time_ns).registry.subjects())
        of_rule: Given = {"subject": {"choices": subjects}, "mode": {"shown_for": ("subject", subjects)}}
        self.form(
            "create_topic",
            lambda v: CreateTopic(
                name=v["topic"],
                partitions=v["partitions"],
                partitioner=v["partitioner"],
                log=_log(v),
                rule=SchemaRule(subject=v["subject"], mode=v["mode"]) if v.get("subject") else None,
            ),
            {**_LOG, **(of_rule if subjects else dict.fromkeys(of_rule))},
            of=(NewTopic, LogSettings, SchemaRule),
            why_not=lambda v: name_error(v["topic"], "topic", taken),
        )

    def ask_partitions(self) -> None:
        if topic := self._topic():
            there = len(topic.partitions)
            self.form(
                "add_partitions",
                lambda v: AddPartitions(topic=topic.name, total=v["partitions"]),
                {"partitions": {"value": there + 1, "least": there + 1, "most": MAX_PARTITIONS}},
                topic=topic.name,
                count=there,
            )

    def ask_settings(self) -> None:
        if topic := self._topic():
            name = topic.name
            dialog = self.form(
                "configure_topic",
                lambda v: ConfigureTopic(topic=name, log=_log(v)),
                _LOG,
                of=(LogSettings,),
                topic=name,
            )
            known = TopicConfiguration(topic=name)
            self.begin_with(dialog, lambda _v: known, lambda found: msgspec.structs.asdict(found.log))

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

        known = {**as_is(parts), "": tr("all of them, up to their ends")}
        self.form(
            "delete_records",
            lambda v: DeleteRecords(topic=topic.name, before=before(v)),
            {
                "partition": choice(known, lane or next(iter(parts), "")),
                "offset": {"shown_for": ("partition", (*parts,))},
            },
            why_not=lambda v: (
                _why_not_trimmed(v, parts) or ("" if gone(v) else tr("There are no messages below that offset."))
            ),
            tell=lambda v: tr("{count} messages will be deleted for good.", count=f"{gone(v):,}"),
            topic=topic.name,
        )

    def ask_delete(self) -> None:
        if topic := self._topic():
            readers = [group.name for group in self._snapshot.groups if topic.name in group.topics]
            self.form(
                "delete_topic",
                lambda _v: DeleteTopic(topic=topic.name),
                minutes=UNDO_WINDOW_MINUTES,
                topic=topic.name,
                count=f"{sum(part.messages_count for part in topic.partitions):,}",
                partitions=len(topic.partitions),
                read=tr(" It is read by {groups}.", groups=", ".join(readers)) if readers else "",
            )

    def _targets(self) -> list[str]:
        """Topics and queues, without subscriptions, whose limits are made with them."""
        return topic_names(self._snapshot) + [queue.name for queue in self._snapshot.queues if not queue.reads]

    def _why_not_limited(self) -> str:
        queue = self._snapshot.queue(self._context.selected("queue"))
        return tr("Its limits are made with the subscription.") if queue and queue.reads else ""

    def _limited(self) -> str:
        context = self._context
        producer = context.selected("producer")
        of_producer = next((each.target for each in context.controller.snapshot.actors if each.name == producer), "")
        return context.selected_topic() or context.selected("queue") or of_producer

    def ask_limits(self) -> None:
        targets = self._targets()
        chosen = choice(targets, self._limited() or next(iter(targets), ""))
        self.begin_with(
            self.form("set_flow", _action, {"target": chosen}, of=(FlowConfig,)),
            lambda v: TopicConfiguration(topic=v["target"]),
            lambda settings: msgspec.structs.asdict(settings.flow or FlowConfig()),
            by="target",
        )

    def _set_limits(self, target: str, limits: Limits) -> None:
        """Changed in place: what the gauge does not show stays as it is."""

        def change(settings: TopicSettings) -> None:
            flow = settings.flow or FlowConfig()
            burst = flow.burst if limits.rate_per_s else None
            made = msgspec.structs.replace(flow, burst=burst, **asdict(limits))
            self._controller.perform(ConfigureTopic(topic=target, flow=made))

        self._answers.ask(TopicConfiguration(topic=target), change)

    def _follow(self, link: str) -> None:
        self._context.canvas.reveal(link)
        self._context.views.select(link)
        self._context.registry.refresh()


def _log(values: Values) -> LogSettings:
    return LogSettings(**{name: values.get(name) for name in part_names("log")})


def _why_not_trimmed(values: Values, parts: dict[str, PartitionView]) -> str:
    part = parts.get(values["partition"])
    if part is not None and values["offset"] > part.end_offset:
        return tr("The partition ends at {end}.", end=f"{part.end_offset:,}")
    return ""


def _action(values: Values) -> ConfigureTopic:
    limits = {name: value for name, value in values.items() if name != "target"}
    return ConfigureTopic(topic=values["target"], flow=FlowConfig(**limits))
