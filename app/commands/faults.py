from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import as_is, choice, client_names, group_names, queue_names, topic_names
from app.presenters.active_faults import DISK_FULL, fault_text, state_of
from app.presenters.clients import other_producers
from app.sessions.core_sentences import rule_text
from broker_core.faults.client_faults import ClientFault
from broker_core.faults.kafka_names import FATAL, KAFKA_APIS, RETRIABLE
from broker_core.limits import MAX_PARTITIONS, MAX_TTL_MS
from broker_core.observation.requests import AdvanceClock
from broker_core.operations.faults import BeginFault
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import (
    BreakRequests,
    Crash,
    DropHeartbeats,
    EndFaults,
    EndRequestFault,
    EndRule,
    FailMatching,
    FillDisk,
    JumpClock,
    Pause,
    Restart,
    SlowDown,
)
from broker_core.snapshots import FAULT_PREFIX, RULE_PREFIX, ActorView, FaultView
from widgets.dialogs.form import Values
from widgets.formats import sentence
from widgets.hint_bar import Notice
from widgets.i18n import mark, tr

CLIENTS = ("consumer", "producer", "worker")
READERS = ("consumer", "worker")
_SELECT = {
    CLIENTS: mark("Select a client on the canvas first."),
    READERS: mark("Select a consumer or a worker on the canvas first."),
    ("consumer",): mark("Select a consumer on the canvas first."),
}
# A new fault is added here: the roles of clients that can be selected for it, none for a fault of the whole broker, and
# the action, whose fields are those of its form.
FAULTS: dict[str, tuple[tuple[str, ...], type[UserAction]]] = {
    "crash": (CLIENTS, Crash),
    "pause_client": (CLIENTS, Pause),
    "slow_client": (READERS, SlowDown),
    "drop_heartbeats": (("consumer",), DropHeartbeats),
    "fill_disk": ((), FillDisk),
    "jump_clock": ((), JumpClock),
    "advance_clock": ((), AdvanceClock),
}


class FaultHandlers(Handlers):
    MENU = (("consumer producer topic group", "break_requests"), ("", "break_requests"))

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, impossible = context.registry.bind, self._why_impossible
        for fault, (_roles, does) in FAULTS.items():
            bind(fault, partial(self.ask, fault), impossible(does), partial(self._why_no_fault, fault))
        bind("restart_client", self.restart, impossible(Restart), self._why_no_restart)
        bind("fail_matching", self.ask_rule, impossible(FailMatching))
        bind("break_requests", self.ask_break, impossible(BreakRequests))
        end = impossible(EndRequestFault)
        bind("end_faults", self.ask_end, end, lacking(self._lasting, tr("No fault is active.")))
        bind("stop_faults", self.stop_faults, end, lacking(self._request_faults, tr("No program meets a fault.")))
        self._banner = ""
        context.views.refreshed.connect(self._update_banner)
        context.controller.opened.connect(self._update_banner)

    def _lasting(self) -> list[FaultView]:
        """All faults, but for those that hold clients on the bench: from there they are let in."""
        benched = {(actor.name.partition("#")[0], actor.since_ns) for actor in self._snapshot.actors if actor.held_from}
        return [fault for fault in self._snapshot.faults if (fault.client, fault.since_ns) not in benched]

    def _client(self, roles: tuple[str, ...] = CLIENTS) -> ActorView | None:
        return self._snapshot.actor(self._context.selected(*roles))

    def _why_no_fault(self, fault: str) -> str:
        roles, _does = FAULTS[fault]
        if not roles:
            full = any(state_of(lasting) == DISK_FULL for lasting in self._snapshot.faults)
            return tr("The disk is already full.") if full and fault == "fill_disk" else ""
        actor = self._client(roles)
        if actor is None:
            return tr(_SELECT[roles])
        return tr("{name} has crashed; restart it first.", name=actor.name) if actor.state == "crashed" else ""

    def _why_no_restart(self) -> str:
        actor = self._client()
        if actor is None:
            return tr("Select a client that has crashed first.")
        return "" if actor.state == "crashed" else tr("{name} has not crashed.", name=actor.name)

    def restart(self) -> None:
        if (actor := self._client()) is not None:
            self._controller.perform(Restart(actor.name))

    def ask(self, fault: str) -> None:
        roles, does = FAULTS[fault]
        actor = self._client(roles) if roles else None
        of = {} if actor is None else {"client": actor.name}
        self.form(
            fault,
            lambda v: does(**of, **v),
            {"by_ms": {"most": MAX_TTL_MS}} if does is AdvanceClock else {},
            why_not=lambda v: "" if v.get("by_s", 1) else tr("Enter how far the clock jumps."),
            name=of.get("client", ""),
        )

    def ask_rule(self) -> None:
        snapshot = self._snapshot
        readers = [actor.name for actor in snapshot.actors if actor.role != "producer"]
        groups = [group.name for group in snapshot.groups]
        places = dict.fromkeys([*queue_names(snapshot), *groups, *topic_names(snapshot), *readers])
        actor = self._client(READERS)
        selected = self._context.selected("queue", "workers", "group", "topic")
        chosen = selected if actor is None else actor.name
        self.form(
            "fail_matching",
            lambda values: FailMatching(**_filled(values)),
            {"at": choice(as_is(places), chosen)},
            tell=lambda values: sentence(rule_text(FailMatching(**_filled(values)).what)),
        )

    def ask_end(self) -> None:
        snapshot = self._snapshot
        actor = self._client()
        faults = {f"{fault.client}|{fault.fault}": fault for fault in self._lasting()}
        chosen = next((key for key, fault in faults.items() if actor is not None and fault.client == actor.name), None)
        known = {key: fault_text(fault, snapshot.time_ns) for key, fault in faults.items()}
        fields = {"fault": choice(known, chosen or next(iter(faults), None))}
        self.form("end_faults", lambda v: _ending(faults[v["fault"]]), fields)

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        self._add_faults(kind, name, menu)
        super()._add_to_menu(kind, name, menu)

    def _add_faults(self, kind: str, name: str, menu: QMenu) -> None:
        action = self._context.registry.action
        if kind in {"queue", "workers", "group", "topic", "lane"}:
            menu.addAction(action("fail_matching"))
            return
        if kind in CLIENTS:
            if name not in client_names(self._snapshot):
                return  # another program's; its requests can be broken
            commands = [fault for fault, (roles, _does) in FAULTS.items() if kind in roles]
            commands += ["restart_client"] if kind == "producer" else ["restart_client", "fail_matching"]
        elif not name:
            commands = ["fail_matching", *(fault for fault, (roles, _does) in FAULTS.items() if not roles)]
        else:
            return
        faults = menu.addMenu(tr("Faults"))
        faults.setToolTipsVisible(True)
        for command in (*commands, "end_faults"):
            faults.addAction(action(command))

    def _request_faults(self) -> list[FaultView]:
        return [each for each in self._snapshot.faults if each.is_of_requests]

    def stop_faults(self) -> None:
        for each in self._request_faults():
            self._controller.perform(EndRequestFault(each.fault.removeprefix(FAULT_PREFIX)))

    def _update_banner(self) -> None:
        """A real cluster is never disturbed without a banner, nor are rights at it given away."""
        source = self._controller.source
        faults = source.latest.faults if source.passing is not None else ()
        what = "; ".join(rule_text(each.what) for each in faults)
        told = tr("Programs of a real cluster meet faults: {what}.", what=what) if faults else ""
        rights = source.rights if source.passing is not None else ""
        told = " ".join(filter(None, (told, rights)))
        if told == self._banner:
            return
        hint = self._context.window.hint
        hint.take_back(self._banner)
        self._banner = told
        if told:
            stops = partial(self._context.registry.trigger, "stop_faults")
            offer = tr("Stop all faults") if faults else ""
            hint.show_notice(Notice(told, offer, stops, look="problem" if faults else "hint", pinned=True))

    def ask_break(self) -> None:
        context, snapshot = self._context, self._snapshot
        ours = {actor.name for actor in snapshot.actors}
        members = {member.client for group in snapshot.groups for member in group.members} - ours
        producers = {other.name for other in other_producers(snapshot, context.views.sources.series)}
        selected = context.selected("consumer", "producer")
        self.form(
            "break_requests",
            lambda values: BreakRequests(BeginFault(**_filled(values))),
            {
                "error": {"choices": {name: tr("{name} (retriable)", name=name) for name in RETRIABLE} | as_is(FATAL)},
                "api": {"choices": KAFKA_APIS},
                "client": {"value": selected if selected in members | producers else ""},
                "topic": choice(topic_names(snapshot), context.selected_topic()),
                "partition": {"most": MAX_PARTITIONS - 1},
                "group": choice(group_names(snapshot), context.selected("group")),
            },
            of=(ClientFault,),
            tell=lambda values: sentence(rule_text(BeginFault(**_filled(values)).what)),
        )


def _ending(fault: FaultView) -> UserAction:
    if fault.is_rule:
        return EndRule(fault.fault.removeprefix(RULE_PREFIX))
    if fault.is_of_requests:
        return EndRequestFault(fault.fault.removeprefix(FAULT_PREFIX))
    return Restart(fault.client) if fault.fault == "crash" else EndFaults(fault.client)


def _filled(values: Values) -> Values:
    """Without the empty ones, for which the action has defaults."""
    return {name: value for name, value in values.items() if value not in (None, "")}
