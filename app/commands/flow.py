from __future__ import annotations

import msgspec

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, topic_names
from broker_core.flow.config import FlowConfig
from broker_core.operations.topics import TopicConfig, TopicSettings
from broker_core.simulation.actions.topics import ConfigureTopic
from widgets.dialogs.form import Values
from widgets.i18n import tr
from widgets.panels.backpressure import BackpressurePanel, Limits


class FlowHandlers(Handlers):
    MENU = ((("topic", "lane", "queue"), ("set_flow",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        none = tr("There is no topic or queue to limit; create one first.")
        self.bind_action("set_flow", ConfigureTopic, self.ask_limits, self._targets, none)
        panel = context.window.tab(BackpressurePanel)
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

    def ask_limits(self) -> None:
        targets = self._targets()
        chosen = choice(targets, self._selected() or next(iter(targets), ""))
        self.form(
            "set_flow",
            _action,
            {"target": chosen},
            of=(FlowConfig,),
            known=lambda v: TopicConfig(topic=v["target"]),
            values=lambda settings: msgspec.structs.asdict(settings.flow or FlowConfig()),
            by="target",
        )

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
            self._controller.perform(ConfigureTopic(topic=target, flow=made))

        self._answers.ask(TopicConfig(topic=target), change)

    def _follow(self, link: str) -> None:
        self._context.canvas.reveal(link)
        self._context.views.select(link)
        self._context.registry.refresh()


def _action(values: Values) -> ConfigureTopic:
    limits = {name: value for name, value in values.items() if name != "target"}
    return ConfigureTopic(topic=values["target"], flow=FlowConfig(**limits))
