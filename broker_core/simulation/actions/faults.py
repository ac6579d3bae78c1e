"""Faults. What takes `for_s` ends by itself; without it, it lasts until `EndFaults`, a crash until `Restart`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from broker_core.operations.faults import BeginFault
from broker_core.plurals import ordinal
from broker_core.settings import PositiveNumber
from broker_core.simulation.actions.action import Action, Lasting

FailsBy = Literal["nack", "hang", "forget", "crash"]


class Fault(Lasting, frozen=True):
    """A fault of a client, the disk or the clock. A new one needs a class here and a case in `FaultInjector`."""

    #: Whom it concerns: any actor, a consumer, or, "", nobody.
    concerns: ClassVar[Literal["actor", "consumer", ""]] = "actor"

    @property
    def inverse(self) -> AnyFault | None:
        """The action that undoes it, the end of a lasting fault; None if the fault is set again instead."""
        return EndFaults(getattr(self, "client", "")) if hasattr(self, "for_s") else None


class Crash(Fault, frozen=True, tag="crash"):
    """`client` crashes without leaving: its leases and its session expire. It restarts after `for_s`."""

    says = "crashed {client}{lasts}"

    client: str
    for_s: PositiveNumber | None = None

    @property
    def inverse(self) -> AnyFault | None:
        return Restart(self.client)


class Restart(Fault, frozen=True, tag="restart"):
    says = "restarted {client}"

    client: str


class Pause(Fault, frozen=True, tag="pause"):
    """`client` stands still, heartbeats included, as in a long garbage collection; then it goes on where it stood."""

    says = "paused {client}{lasts}"

    client: str
    for_s: PositiveNumber | None = None


class SlowDown(Fault, frozen=True, tag="slow_down"):
    """`client` needs `factor` times as long for whatever it processes."""

    says = "slowed {client} down {factor:g} times{lasts}"

    client: str
    factor: Annotated[float, Meta(gt=0, le=1_000_000)]
    for_s: PositiveNumber | None = None


class DropHeartbeats(Fault, frozen=True, tag="drop_heartbeats"):
    """The heartbeats of consumer `client` get lost on their way, all else arrives."""

    says = "dropped the heartbeats of {client}{lasts}"

    concerns = "consumer"

    client: str
    for_s: PositiveNumber | None = None


class FillDisk(Fault, frozen=True, tag="fill_disk"):
    says = "filled the disk{lasts}"

    concerns = ""

    for_s: PositiveNumber | None = None


class JumpClock(Fault, frozen=True, tag="jump_clock"):
    """The wall clock of the machine is set by `by_s` seconds; session time does not notice."""

    says = "set the wall clock by {by_s:+g} s"

    concerns = ""

    by_s: float

    @property
    def inverse(self) -> AnyFault | None:
        return JumpClock(-self.by_s)


class EndFaults(Fault, frozen=True, tag="end_faults"):
    """Whatever still lasts on `client` is over; "" is the disk."""

    client: str = ""

    @property
    def sentence(self) -> str:
        return f"ended the faults of {self.client or 'the disk'}"


class HoldSchedule(Fault, frozen=True, tag="hold_schedule"):
    """Makes the schedule of the scenario wait, or continue (not `on`): the first action at once, the rest with the same
    delay."""

    on: bool

    @property
    def sentence(self) -> str:
        return "the schedule waits for the lesson" if self.on else "the schedule goes on"


class FailMatching(Lasting, frozen=True, tag="fail_matching"):
    """A lasting rule: at `at` (a client, or all of a group, queue or subscription), every n-th message that fits fails.

    A message fits where its key is `key` and its value has `text` in it, as far as those are given. `nack` gives it
    back at once, `hang` stands still until the lease has expired, `forget` goes on without a word, `crash` takes the
    client down with it. In a consumer group, which gives nothing back, `nack` counts the message as failed and goes
    on. `rule` is the name it is ended by; "" lets the session choose one.
    """

    says = "set a rule: {what}{lasts}"

    at: str
    every: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 1
    key: str | None = None
    text: str = ""
    outcome: FailsBy = "nack"
    cause: str = "failed by a rule"
    for_s: PositiveNumber | None = None
    rule: str = ""

    @property
    def what(self) -> str:
        """The effect of the fault, such as "every 10th message of key X fails"."""
        which = "every message" if self.every == 1 else f"every {ordinal(self.every)} message"
        of_key = "" if self.key is None else f" of key {self.key}"
        holding = f" holding {self.text!r}" if self.text else ""
        return f"{which}{of_key}{holding} {_OUTCOMES[self.outcome]} at {self.at}"


class EndRule(Action, frozen=True, tag="end_rule"):
    says = "ended the rule {rule}"

    rule: str


_OUTCOMES: dict[FailsBy, str] = {"nack": "fails", "hang": "hangs", "forget": "is forgotten", "crash": "is a crash"}


AnyFault = Crash | Restart | Pause | SlowDown | DropHeartbeats | FillDisk | JumpClock | EndFaults | HoldSchedule


class BreakRequests(Action, frozen=True, tag="break_requests"):
    """Requests of Kafka's clients from outside meet `fault`; without a name it gets one."""

    says = "broke requests: {fault.what}"

    fault: BeginFault


class EndRequestFault(Action, frozen=True, tag="end_request_fault"):
    says = "ended the fault {name}"

    name: str


RuleAction = FailMatching | EndRule | BreakRequests | EndRequestFault
