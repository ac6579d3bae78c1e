from __future__ import annotations

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import choice, not_there
from app.sessions.collectors.alerts import AlertCollector, Raised
from broker_core.broker.occurrences import FIELDS
from broker_core.events import EventKind
from broker_core.filters import parse
from broker_core.simulation.actions.alerts import RemoveAlert, SetAlert
from widgets.formats import session_time
from widgets.hint_bar import Notice
from widgets.i18n import tr
from widgets.panels.events import EventsPanel


class AlertHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._opened()
        there_are_any = lacking(lambda: self._collector.alerts, tr("There is no alert."))
        bind, why_not = context.registry.bind, self._why_impossible
        bind("set_alert", self.ask, why_not(SetAlert))
        bind("remove_alert", self.ask_remove, why_not(RemoveAlert), there_are_any)
        context.controller.opened.connect(self._opened)
        context.views.refreshed.connect(self._refresh)

    @property
    def _collector(self) -> AlertCollector:
        return self._controller.collectors.alerts

    def ask(self) -> None:
        name = self._context.selected("queue") or self._context.selected_group()
        what = "depth" if self._context.selected("queue") else "lag"
        called, when = tr("{name} behind", name=name) if name else "", f'{what}("{name}") > 100' if name else ""
        self.form(
            "set_alert",
            lambda v: SetAlert(v["name"].strip(), v["when"].strip(), v["for_s"]),
            {"name": {"value": called}, "when": {"value": when}},
            why_not=lambda v: not_there(self._snapshot, parse(v["when"], FIELDS)),
            examples='lag("billing") > 100; dead("jobs") > 0 and ready("jobs") > 20',
        )

    def ask_remove(self) -> None:
        known = {alert.name: f"{alert.name}: {alert.condition}" for alert in self._collector.alerts.values()}
        self.form("remove_alert", lambda v: RemoveAlert(v["name"]), {"name": choice(known, next(iter(known)))})

    def _opened(self) -> None:
        self._told = self._told_corrupt = 0
        self._hint = ""  # the sentence that was told last
        self._lasting: Raised | None = None  # that alert, until it is told that it is over

    def _refresh(self) -> None:
        """Each alert that was raised since is told once, with what else lasts; the tab of the events counts those."""
        context, collector = self._context, self._collector
        context.window.set_tab_count(EventsPanel.info.name, len(collector.lasting))
        self._tell_corrupt()
        if context.controller.travel.looking_back:
            return  # what the present tells does not stand above the past
        fresh = collector.raised[self._told :]
        self._told += len(fresh)
        if context.controller.stored is not None:
            return
        last = fresh[-1] if fresh else self._lasting
        if last is None:
            return
        others = collector.lasting - {last.name}
        if not fresh and last.name not in collector.lasting:
            if not others:
                self._tell_over(last)
                return
            last = next(each for each in reversed(collector.raised) if each.name in others)
            others -= {last.name}
        self._lasting = last
        words = tr("Alert at {at}: {condition}", at=session_time(last.time_ns), condition=last.when)
        if others:
            words += tr(". Also: {names}", names=", ".join(sorted(others)))
        if fresh or words != self._hint:
            is_shown = context.window.hint.take_back(self._hint)  # else somebody has dismissed it
            if fresh or is_shown:
                self._tell(last, words)
        if fresh:
            context.show_message(f"{last.name}. {words}")

    def _tell_over(self, last: Raised) -> None:
        self._lasting = None
        if self._context.window.hint.take_back(self._hint):
            at, over = session_time(last.time_ns), session_time(self._collector.over_ns[last.name])
            words = tr("Alert at {at}, over at {over}: {condition}", at=at, over=over, condition=last.when)
            self._tell(last, words, look="hint")

    def _tell_corrupt(self) -> None:
        found = self._collector.corrupt[self._told_corrupt :]
        self._told_corrupt += len(found)
        if not found:
            return
        first = found[0]
        what = f"{first.topic}-{first.partition}: {first.cause}" if first.topic else first.cause
        more = tr(" And {count} more.", count=len(found) - 1) if len(found) > 1 else ""
        self._context.window.hint.show_notice(
            Notice(f"{what}.{more}", tr("Show all"), self._show_corrupt, heading=tr("Disk problems"), look="problem")
        )

    def _show_corrupt(self) -> None:
        window = self._context.window
        window.show_tab(EventsPanel.info.name)
        window.tab(EventsPanel).set_filter_text(f"kind = {EventKind.DAMAGE.value}")

    def _tell(self, raised: Raised, sentence: str, look: str = "problem") -> None:
        self._hint = sentence
        self._context.window.hint.show_notice(
            Notice(sentence, tr("Show that moment"), lambda: self._show(raised), heading=raised.name, look=look)
        )

    def _show(self, raised: Raised) -> None:
        self._context.window.hint.take_back(self._hint)
        self._context.controller.travel.to(raised.time_ns)
