from __future__ import annotations

import msgspec

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, request_field, topic_names
from app.commands.registry import Command
from broker_core.flow.config import FlowConfig
from broker_core.operations.topics import TopicConfig, TopicSettings
from broker_core.simulation.actions.topics import ConfigureTopic
from widgets.dialogs.form import Field, Values
from widgets.i18n import mark, tr
from widgets.panels.backpressure import BackpressurePanel, Limits

POLICIES = (
    ("block", mark("block: producers wait for room")),
    ("reject", mark("reject: producers get an error")),
    ("drop_newest", mark("drop the newest: the new message is lost")),
    ("drop_oldest", mark("drop the oldest: those that wait longest make room")),
    ("priority_evict", mark("evict by priority: less urgent ones make room")),
)


class FlowHandlers(Handlers):
    COMMANDS = (
        Command(
            "set_flow", "Limits...", "Topics", "Ctrl+Alt+M", "backpressure", "Depth, rate, and the policy at the limit."
        ),
    )

    MENU = ((("topic", "lane", "queue"), ("set_flow",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        none = tr("There is no topic or queue to limit; create one first.")
        self.bind_action("set_flow", ConfigureTopic, self.ask_limits, self._targets, none)
        panel = context.window.tab(BackpressurePanel)
        panel.limitsWanted.connect(self.ask_limits)
        panel.followed.connect(self._follow)
        panel.limitsChosen.connect(self._set_limits)
        shown = context.registry.action("set_flow")
        shown.changed.connect(lambda: panel.forbid(str(shown.data() or "")))

    def _targets(self) -> list[str]:
        snapshot = self._snapshot
        topics = {topic.name for topic in snapshot.topics}
        return topic_names(snapshot) + [queue.name for queue in snapshot.queues if queue.name not in topics]

    def _selected(self) -> str:
        context = self._context
        producer = context.selected("producer")
        of_producer = next((each.target for each in context.controller.snapshot.actors if each.name == producer), "")
        lane = context.selected("lane").rpartition("/")[0]
        return context.selected("topic") or lane or context.selected("queue") or of_producer

    def ask_limits(self, target: str = "") -> None:
        targets = self._targets()
        chosen = target or self._selected() or next(iter(targets), "")
        dialog = self.form(
            tr("Limits of {name}", name=chosen) if target else tr("Limits"),
            tr("A depth limit counts the messages that the slowest reader has not finished. It applies from now on."),
            (
                choice("target", tr("Topic or queue"), targets, chosen),
                _limit("max_messages", tr("Depth at most"), tr(" messages")),
                _limit("max_bytes", tr("Bytes at most"), tr(" bytes")),
                _limit("rate_per_s", tr("Rate at most"), tr(" messages/s")),
                request_field(FlowConfig, "policy", tr("When it is reached"), words=dict(POLICIES)),
                request_field(
                    FlowConfig,
                    "block_timeout_ms",
                    tr("Producers wait at most"),
                    decimals=0,
                    suffix=" ms",
                    none=tr("as long as it takes"),
                    shown_for=("policy", ("block",)),
                ),
            ),
            tr("Set"),
            _action,
        )
        if dialog is None:
            return

        def query() -> None:
            name = dialog.values()["target"]
            self._answers.drop()
            self._answers.ask(TopicConfig(topic=name), fill)

        def fill(settings: TopicSettings) -> None:
            dialog.set_values(msgspec.structs.asdict(settings.flow or FlowConfig()))

        dialog.widgets["target"].currentIndexChanged.connect(lambda _place: query())  # type: ignore[attr-defined]
        query()

    def _set_limits(self, target: str, limits: Limits) -> None:
        """Changed in place: what the gauge does not show stays as it is."""

        def change(settings: TopicSettings) -> None:
            flow = settings.flow or FlowConfig()
            made = msgspec.structs.replace(
                flow,
                max_messages=limits.max_messages,
                rate_per_s=limits.rate_per_s,
                burst=flow.burst if limits.rate_per_s else None,
                policy=limits.policy,
            )
            self._context.perform(ConfigureTopic(topic=target, flow=made))

        self._answers.ask(TopicConfig(topic=target), change)

    def _follow(self, link: str) -> None:
        self._context.canvas.reveal(link)
        self._context.views.select(link)
        self._context.registry.refresh()


def _action(values: Values) -> ConfigureTopic:
    limits = {name: value for name, value in values.items() if name != "target"}
    return ConfigureTopic(topic=values["target"], flow=FlowConfig(**limits))


def _limit(name: str, label: str, suffix: str) -> Field:
    return request_field(FlowConfig, name, label, suffix=suffix, none=tr("no limit"))
