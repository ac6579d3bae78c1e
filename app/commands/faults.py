from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, client_names, for_s, queue_names, topic_names
from app.commands.registry import Command
from app.presenters.active_faults import fault_text
from broker_core.limits import MAX_TTL_MS
from broker_core.observation.requests import AdvanceClock
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.faults import (
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
from broker_core.snapshots import ActorView, FaultView
from widgets.dialogs.form import Field, Values
from widgets.formats import sentence
from widgets.i18n import mark, tr

CLIENTS = ("consumer", "producer", "worker")
READERS = ("consumer", "worker")
_SELECT = {
    CLIENTS: mark("Select a client on the canvas first."),
    READERS: mark("Select a consumer or a worker on the canvas first."),
    ("consumer",): mark("Select a consumer on the canvas first."),
}
DISK = ""


class Fault(NamedTuple):
    """A fault as the window offers it: its command, its targets, its form, and the action, whose fields are the form's.

    `roles` are those of clients that can be selected for it, () for a fault of the whole broker; `title` may name
    {name}.
    """

    command: Command
    roles: tuple[str, ...]
    title: str
    about: str
    fields: Callable[[], tuple[Field, ...]]
    does: type[UserAction]
    accept: str = ""
    why_not: Callable[[Values], str] = lambda _values: ""


# A new fault is added here: menus, the palette and its dialog come from its entry.
FAULTS = (
    Fault(
        Command(
            "crash",
            "Crash...",
            "Faults",
            "Ctrl+Alt+X",
            "crashed",
            "Crashes the client: it neither leaves its group nor releases its leases.",
        ),
        CLIENTS,
        mark("Crash {name}"),
        mark("Like kill -9: the broker is not told. It comes back after this time."),
        lambda: (for_s(10),),
        Crash,
    ),
    Fault(
        Command(
            "pause_client", "Pause client...", "Faults", "", "paused", "Stops the client, including its heartbeats."
        ),
        CLIENTS,
        mark("Pause {name}"),
        mark("Like a long garbage collection: afterwards it continues where it was."),
        lambda: (for_s(10),),
        Pause,
    ),
    Fault(
        Command("slow_client", "Slow down...", "Faults", "", "waiting", "Multiplies the processing time."),
        READERS,
        mark("Slow {name} down"),
        mark("Processing takes this many times as long."),
        lambda: (Field("factor", tr("Factor"), "decimal", 5, least=0.1, most=10_000), for_s(20)),
        SlowDown,
        mark("Slow down"),
    ),
    Fault(
        Command("drop_heartbeats", "Drop heartbeats...", "Faults", "", "warning", "Heartbeats get lost on their way."),
        ("consumer",),
        mark("Drop the heartbeats of {name}"),
        mark("Its group considers it dead while it continues to process."),
        lambda: (for_s(10),),
        DropHeartbeats,
    ),
    Fault(
        Command("fill_disk", "Fill the disk...", "Faults", "", "layers", "The broker can store nothing more."),
        (),
        mark("Fill the disk"),
        mark("Nothing more can be stored; reading continues."),
        lambda: (for_s(10),),
        FillDisk,
    ),
    Fault(
        Command("jump_clock", "Set the wall clock...", "Faults", "", "clock", "Session time does not change."),
        (),
        mark("Set the wall clock"),
        mark("Leases, sessions and retention use session time, which does not change."),
        lambda: (Field("by_s", tr("By"), "decimal", 3_600, least=-10_000_000, most=10_000_000, suffix=" s"),),
        JumpClock,
        mark("Set"),
        lambda v: "" if v["by_s"] else tr("Enter how far the clock jumps."),
    ),
    Fault(
        Command("advance_clock", "Advance the clock...", "Faults", "", "clock", "Everything due by then happens."),
        (),
        mark("Advance the broker's clock"),
        mark("Leases, sessions and retention periods that expire by then do so in order, each at its time."),
        lambda: (Field("by_ms", tr("By"), "decimal", 60_000, least=1, most=MAX_TTL_MS, suffix=" ms"),),
        AdvanceClock,
        mark("Advance"),
    ),
)


class FaultHandlers(Handlers):
    COMMANDS = (
        *(fault.command for fault in FAULTS),
        Command("restart_client", "Restart client", "Faults", "", "restart", "Starts it with empty memory."),
        Command(
            "fail_matching", "Make messages fail...", "Faults", "Ctrl+Alt+F", "filter", "Sets a rule for messages."
        ),
        Command(
            "end_faults", "End faults and rules...", "Faults", "Ctrl+Alt+E", "check", "Ends faults that still last."
        ),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind = context.registry.bind
        for fault in FAULTS:
            bind(fault.command.id, partial(self.ask, fault), partial(self._why_not, fault), fault.does)
        bind("restart_client", self.restart, self._why_no_restart, Restart)
        self.bind_action("fail_matching", FailMatching, self.ask_rule)
        none = tr("No fault is active.")
        self.bind_action("end_faults", EndRequestFault, self.ask_end, self._lasting, none)

    def _lasting(self) -> list[FaultView]:
        """All faults, but for those that hold clients on the bench: from there they are let in."""
        benched = {(actor.name.partition("#")[0], actor.since_ns) for actor in self._snapshot.actors if actor.held_from}
        return [fault for fault in self._snapshot.faults if (fault.client, fault.since_ns) not in benched]

    def _client(self, roles: tuple[str, ...] = CLIENTS) -> ActorView | None:
        name = next((name for role in roles if (name := self._context.selected(role))), "")
        return next((actor for actor in self._snapshot.actors if actor.name == name), None)

    def _why_not(self, fault: Fault) -> str:
        if why := self._context.why_ended():
            return why
        if not fault.roles:
            full = any(lasting.client == DISK for lasting in self._snapshot.faults)
            return tr("The disk is already full.") if full and fault.command.id == "fill_disk" else ""
        actor = self._client(fault.roles)
        if actor is None:
            return tr(_SELECT[fault.roles])
        return tr("{name} has crashed; restart it first.", name=actor.name) if actor.state == "crashed" else ""

    def _why_no_restart(self) -> str:
        if why := self._context.why_ended():
            return why
        actor = self._client()
        if actor is None:
            return tr("Select a client that has crashed first.")
        return "" if actor.state == "crashed" else tr("{name} has not crashed.", name=actor.name)

    def restart(self) -> None:
        actor = self._client()
        if actor is not None:
            self._context.perform(Restart(actor.name))

    def ask(self, fault: Fault) -> None:
        actor = self._client(fault.roles) if fault.roles else None
        of = {} if actor is None else {"client": actor.name}
        title = tr(fault.title, name=of.get("client", ""))
        self.form(
            title,
            tr(fault.about),
            fault.fields(),
            tr(fault.accept) if fault.accept else title,
            lambda v: fault.does(**of, **v),
            why_not=fault.why_not,
        )

    def ask_rule(self) -> None:
        context = self._context
        snapshot = context.controller.snapshot
        readers = [actor.name for actor in snapshot.actors if actor.role != "producer"]
        groups = [group.name for group in snapshot.groups]
        places = list(dict.fromkeys([*queue_names(snapshot), *groups, *topic_names(snapshot), *readers]))
        actor = self._client(READERS)
        selected = [context.selected(kind) for kind in ("queue", "workers", "group", "topic")]
        chosen = ("" if actor is None else actor.name) or next((name for name in selected if name), "")
        self.form(
            tr("Make messages fail"),
            tr("Every n-th matching message fails in processing there, until the rule ends."),
            (
                choice("at", tr("At"), places, chosen),
                Field("every", tr("Every n-th message"), "whole", 10, least=1, most=1_000_000),
                Field("key", tr("With key"), hint=tr("any key")),
                Field("text", tr("Containing"), hint=tr("any text")),
                choice(
                    "outcome",
                    tr("What happens"),
                    {
                        "nack": tr("it fails: returned to the queue, or skipped"),
                        "hang": tr("its reader hangs on it"),
                        "forget": tr("its reader forgets it"),
                        "crash": tr("its reader crashes and comes back"),
                    },
                    "nack",
                ),
                Field("cause", tr("Cause"), value=tr("failed by a rule")),
                for_s(None),
            ),
            tr("Set the rule"),
            _rule,
            tell=lambda v: sentence(_rule(v).what),
        )

    def ask_end(self) -> None:
        snapshot = self._snapshot
        actor = self._client()
        faults = {f"{fault.client}|{fault.fault}": fault for fault in self._lasting()}
        chosen = next((key for key, fault in faults.items() if actor is not None and fault.client == actor.name), None)
        self.form(
            tr("End faults and rules"),
            tr("All faults of a client end together; each rule ends separately."),
            (
                choice(
                    "fault",
                    tr("What to end"),
                    {key: fault_text(fault, snapshot.time_ns) for key, fault in faults.items()},
                    chosen or next(iter(faults), None),
                ),
            ),
            tr("End it"),
            lambda v: _ending(faults[v["fault"]]),
        )

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        action = self._context.registry.action
        if kind in {"queue", "workers", "group", "topic", "lane"}:
            menu.addAction(action("fail_matching"))
            return
        if kind in CLIENTS:
            if name not in client_names(self._snapshot):
                return  # another program's; its requests can be broken
            commands = [fault.command.id for fault in FAULTS if kind in fault.roles]
            commands += ["restart_client"] if kind == "producer" else ["restart_client", "fail_matching"]
        elif not name:
            commands = ["fail_matching", *(fault.command.id for fault in FAULTS if not fault.roles)]
        else:
            return
        faults = menu.addMenu(tr("Faults"))
        faults.setToolTipsVisible(True)
        for command in (*commands, "end_faults"):
            faults.addAction(action(command))


def _rule(values: Values) -> FailMatching:
    return FailMatching(**{**values, "key": values["key"] or None, "cause": values["cause"] or "failed by a rule"})


def _ending(fault: FaultView) -> UserAction:
    if fault.fault.startswith("rule "):
        return EndRule(fault.fault.removeprefix("rule "))
    if fault.fault.startswith("fault "):
        return EndRequestFault(fault.fault.removeprefix("fault "))
    return Restart(fault.client) if fault.fault == "crash" else EndFaults(fault.client)
