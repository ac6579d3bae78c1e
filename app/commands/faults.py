"""Faults by click: on a client, the disk, the clock, or by a rule; and their end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext
from app.commands.forms import choices, open_form, queue_names, topic_names
from app.commands.registry import Command
from app.presenters.lasting import lasting_words
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
from widgets.dialogs.form import Field
from widgets.formats import sentence
from widgets.i18n import mark, tr

CLIENTS = ("consumer", "producer", "worker")
_SELECT = {
    CLIENTS: mark("Select a client on the canvas first."),
    ("consumer", "worker"): mark("Select a consumer or a worker on the canvas first."),
    ("consumer",): mark("Select a consumer on the canvas first."),
}
DISK = ""


class FaultHandlers(QObject):
    """The menu Faults."""

    COMMANDS = (
        Command("crash", "Crash...", "Faults", "Ctrl+Alt+X", "crashed", "It dies without a word."),
        Command("restart_client", "Restart client", "Faults", "", "restart", "It comes back with nothing in memory."),
        Command("pause_client", "Pause client...", "Faults", "", "paused", "It stands still, heartbeats included."),
        Command("slow_client", "Slow down...", "Faults", "", "waiting", "Whatever it processes takes longer."),
        Command("drop_heartbeats", "Drop heartbeats...", "Faults", "", "warning", "They get lost on their way."),
        Command("fail_matching", "Make messages fail...", "Faults", "Ctrl+Alt+F", "filter", "A rule for messages."),
        Command("fill_disk", "Fill the disk...", "Faults", "", "layers", "The broker can store nothing more."),
        Command("jump_clock", "Set the wall clock...", "Faults", "", "clock", "Session time does not notice."),
        Command("end_faults", "End faults and rules...", "Faults", "Ctrl+Alt+E", "check", "What still lasts is over."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context.window)
        self._context = context
        bind = context.registry.bind
        bind("crash", lambda: self.ask("crash"), lambda: self._why_not_client(CLIENTS))
        bind("restart_client", self.restart, self._why_no_restart)
        bind("pause_client", lambda: self.ask("pause_client"), lambda: self._why_not_client(CLIENTS))
        bind("slow_client", self.ask_slow, lambda: self._why_not_client(("consumer", "worker")))
        bind("drop_heartbeats", lambda: self.ask("drop_heartbeats"), lambda: self._why_not_client(("consumer",)))
        bind("fail_matching", self.ask_rule, context.why_ended)
        bind("fill_disk", lambda: self.ask("fill_disk"), self._why_no_disk)
        bind("jump_clock", self.ask_clock, context.why_ended)
        bind("end_faults", self.ask_end, self._why_no_end)
        context.menu_parts.append(self._add_to_menu)

    # -- who is meant

    def _client(self, roles: tuple[str, ...] = CLIENTS) -> ActorView | None:
        name = next((name for role in roles if (name := self._context.selected(role))), "")
        return next((actor for actor in self._context.controller.snapshot.actors if actor.name == name), None)

    def _why_not_client(self, roles: tuple[str, ...]) -> str:
        if why := self._context.why_ended():
            return why
        actor = self._client(roles)
        if actor is None:
            return tr(_SELECT[roles])
        return tr("{name} has crashed; restart it first.", name=actor.name) if actor.state == "crashed" else ""

    def _why_no_restart(self) -> str:
        if why := self._context.why_ended():
            return why
        actor = self._client()
        if actor is None:
            return tr("Select a client that has crashed first.")
        return "" if actor.state == "crashed" else tr("{name} has not crashed.", name=actor.name)

    def _why_no_disk(self) -> str:
        full = any(fault.client == DISK for fault in self._context.controller.snapshot.faults)
        return self._context.why_ended() or (tr("The disk is full already.") if full else "")

    def _why_no_end(self) -> str:
        lasts = self._context.controller.snapshot.faults if self._context.controller.scenario is not None else ()
        return self._context.why_ended() or ("" if lasts else tr("Nothing is wrong."))

    # -- what is done

    def restart(self) -> None:
        """A crashed client comes back."""
        actor = self._client()
        if actor is not None:
            self._context.perform(Restart(actor.name))

    def ask(self, what: str) -> None:
        """How long a fault is to last."""
        actor = self._client()
        name = "" if actor is None else actor.name
        make: dict[str, tuple[str, str, Callable[[float | None], UserAction]]] = {
            "crash": (
                tr("Crash {name}", name=name),
                tr("Its leases expire, its group misses it. It comes back after this long."),
                lambda for_s: Crash(name, for_s),
            ),
            "pause_client": (
                tr("Pause {name}", name=name),
                tr("As in a long garbage collection: then it goes on where it stood."),
                lambda for_s: Pause(name, for_s),
            ),
            "drop_heartbeats": (
                tr("Drop the heartbeats of {name}", name=name),
                tr("Its group takes it for dead, while it works on."),
                lambda for_s: DropHeartbeats(name, for_s),
            ),
            "fill_disk": (
                tr("Fill the disk"),
                tr("Nothing more can be stored; reading goes on."),
                FillDisk,
            ),
        }
        title, about, made = make[what]
        open_form(self._context, title, about, (_for_s(10),), title, lambda v: made(v["for_s"]))

    def ask_slow(self) -> None:
        """How much slower, and how long."""
        actor = self._client(("consumer", "worker"))
        if actor is None:
            return
        name = actor.name
        open_form(
            self._context,
            tr("Slow {name} down", name=name),
            tr("Whatever it processes takes so many times as long."),
            (Field("factor", tr("Times as long"), "decimal", 5, least=0.1, most=10_000), _for_s(20)),
            tr("Slow down"),
            lambda v: SlowDown(name, v["factor"], v["for_s"]),
        )

    def ask_clock(self) -> None:
        """By how much the wall clock jumps."""
        open_form(
            self._context,
            tr("Set the wall clock"),
            tr("Leases, sessions and retention go by session time, which does not notice."),
            (Field("by_s", tr("By"), "decimal", 3_600, least=-10_000_000, most=10_000_000, suffix=" s"),),
            tr("Set"),
            lambda v: JumpClock(v["by_s"]),
            why_not=lambda v: "" if v["by_s"] else tr("Give it a jump."),
        )

    def ask_rule(self, at: str = "") -> None:
        """The rule by which messages fail: where, which, how often, and how."""
        context = self._context
        snapshot = context.controller.snapshot
        readers = [actor.name for actor in snapshot.actors if actor.role != "producer"]
        groups = [group.name for group in snapshot.groups]
        places = list(dict.fromkeys([*queue_names(snapshot), *groups, *topic_names(snapshot), *readers]))
        actor = self._client(("consumer", "worker"))
        selected = [context.selected(kind) for kind in ("queue", "workers", "group", "topic")]
        chosen = at or ("" if actor is None else actor.name) or next((name for name in selected if name), "")
        open_form(
            context,
            tr("Make messages fail"),
            tr("A rule that lasts: every n-th message that fits fails, for whoever processes it there."),
            (
                Field("at", tr("At"), "choice", chosen, choices=choices(places)),
                Field("every", tr("Every n-th message"), "whole", 10, least=1, most=1_000_000),
                Field("key", tr("Of key"), hint=tr("any key")),
                Field("text", tr("Holding the text"), hint=tr("any text")),
                Field(
                    "outcome",
                    tr("What happens"),
                    "choice",
                    "nack",
                    choices=(
                        ("nack", tr("it fails: given back, or passed over")),
                        ("hang", tr("its reader hangs on it")),
                        ("forget", tr("its reader forgets it")),
                        ("crash", tr("its reader crashes, and comes back")),
                    ),
                ),
                Field("cause", tr("Cause"), value=tr("failed by rule")),
                _for_s(None),
            ),
            tr("Set the rule"),
            lambda v: FailMatching(
                v["at"],
                v["every"],
                v["key"] or None,
                v["text"],
                v["outcome"],
                v["cause"] or "failed by rule",
                v["for_s"],
            ),
            tell=lambda v: _told(v["at"], v["every"], v["key"], v["text"], v["outcome"]),
        )

    def ask_end(self) -> None:
        """Which of what lasts is to end."""
        snapshot = self._context.controller.snapshot
        actor = self._client()
        faults = {f"{fault.client}|{fault.fault}": fault for fault in snapshot.faults}
        chosen = next((key for key, fault in faults.items() if actor is not None and fault.client == actor.name), None)
        open_form(
            self._context,
            tr("End faults and rules"),
            tr("What lasts on a client ends together; a rule ends alone."),
            (
                Field(
                    "fault",
                    tr("What lasts"),
                    "choice",
                    chosen or next(iter(faults), None),
                    choices=tuple((key, lasting_words(fault, snapshot.time_ns)) for key, fault in faults.items()),
                ),
            ),
            tr("End it"),
            lambda v: _ending(faults[v["fault"]]),
        )

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        action = self._context.registry.action
        if kind in CLIENTS:
            faults = menu.addMenu(tr("Faults"))
            faults.setToolTipsVisible(True)
            commands = ["crash", "restart_client", "pause_client"]
            commands += ["slow_client", "fail_matching"] if kind != "producer" else []
            commands += ["drop_heartbeats"] if kind == "consumer" else []
        elif kind in {"queue", "workers", "group", "topic", "lane"}:
            menu.addAction(action("fail_matching"))
            return
        elif not name:
            faults = menu.addMenu(tr("Faults"))
            faults.setToolTipsVisible(True)
            commands = ["fail_matching", "fill_disk", "jump_clock"]
        else:
            return
        for command in (*commands, "end_faults"):
            faults.addAction(action(command))


def _for_s(value: float | None) -> Field:
    return Field(
        "for_s", tr("For"), "decimal", value, most=86_400, suffix=tr(" s of session time"), none=tr("until it is ended")
    )


def _told(at: str, every: int, key: str, text: str, outcome: str) -> str:
    rule = FailMatching(at, every, key or None, text, outcome)  # type: ignore[arg-type]
    return sentence(rule.what)


def _ending(fault: FaultView) -> UserAction:
    if fault.fault.startswith("rule "):
        return EndRule(fault.fault.removeprefix("rule "))
    if fault.fault.startswith("fault "):
        return EndRequestFault(fault.fault.removeprefix("fault "))
    return Restart(fault.client) if fault.fault == "crash" else EndFaults(fault.client)
