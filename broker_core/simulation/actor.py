from __future__ import annotations

import random
from collections.abc import Mapping

from broker_core.broker.broker import Broker
from broker_core.broker.publishing import Published
from broker_core.engine.loop import Loop, Task
from broker_core.errors import BrokerError, ErrorCode
from broker_core.messages import Message, StoredMessage
from broker_core.replies import Reply
from broker_core.simulation.actions.faults import FailMatching
from broker_core.simulation.durations import Duration
from broker_core.simulation.lasting_faults import FailureRules
from broker_core.simulation.specs import GroupSpec
from broker_core.snapshots import ActorState, ActorView

# A deleted topic or queue may come back: actors check again after this long.
GONE_RETRY_S = 0.5
_GONE = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_QUEUE, ErrorCode.CLOSED})


class Actor:
    """One actor. A subclass gives `run`, which uses the broker and the loop; both are there once it was added.

    `Simulation.add` puts it to work. While it runs, it may draw from `numbers`, say what it is doing by `enter`,
    and count what it has finished by `count`. Faults come from outside: it can crash, pause, slow down, at any
    wait.
    """

    role = "worker"
    broker: Broker
    loop: Loop
    rules: FailureRules

    def __init__(self, name: str) -> None:
        self.name = name
        self.numbers = random.Random()
        self.state: ActorState = "waiting"
        self.since_ns = 0
        self.processed = 0
        self.failed = 0
        self.slowness = 1.0
        self.processing: Duration | None = None  # in place of the usual one, as a person has set it
        self.usual_processing: Duration | None = None
        self._before_pause: ActorState | None = None
        self._task: Task | None = None

    def attach(self, broker: Broker, loop: Loop, rules: FailureRules, seed: int) -> None:
        self.broker, self.loop, self.rules = broker, loop, rules
        self.since_ns = loop.now_ns
        # Seeded by name, so that one more actor does not change what the others draw.
        self.numbers = random.Random(f"{seed}/{self.name}")

    # -- what a subclass gives, and uses

    async def run(self) -> None:
        raise TypeError(f"{type(self).__name__} has no run method.")

    def sleep(self, seconds: float) -> Reply[None]:
        return self.loop.sleep(seconds)

    def publish(self, to: str, value: str | bytes, key: str | bytes | None = None) -> Reply[Published | None]:
        message = Message(as_bytes(value), None if key is None else as_bytes(key))
        return self.broker.publishing.publish(self.loop.now_ns, to, message, client=self.name)

    async def work(self, processing: Duration) -> None:
        """Be busy for a time drawn from `processing`, longer where something slows it down."""
        self.enter("processing")
        await self.loop.wait_ns(round((self.processing or processing).draw_ns(self.numbers) * self.slowness))

    async def fails_by_rule(self, message: StoredMessage) -> FailMatching | None:
        """The rule by which it fails at `message`; if that is a crash, it does not come back from here."""
        rule = self.rules.failing(self.name, self.target, message)
        if rule is not None and rule.outcome == "crash":
            self.failed += 1
            self.rules.crash(self.name)
            await Reply()
        return rule

    @property
    def processing_time(self) -> Duration | None:
        """How long the actor works on a message at present; None if it works on none."""
        return self.processing or self.usual_processing

    def enter(self, state: ActorState) -> None:
        if state != self.state:
            self.state = state
            self.since_ns = self.loop.now_ns

    def count(self, messages: int = 1) -> None:
        self.processed += messages

    # -- life and faults

    def start(self) -> None:
        self._task = self.loop.spawn(self._live(), self.name)

    async def _live(self) -> None:
        while True:
            try:
                await self.run()
            except BrokerError as error:
                if error.code not in _GONE:
                    raise
                self.enter("waiting")
                await self.sleep(GONE_RETRY_S)
                self.forget_deleted()
            else:
                break
        self.enter("stopped")

    def forget_deleted(self) -> None:
        """Let go of what was deleted: `run` is called again next."""

    def retire(self) -> None:
        """Stop for good; leave the group or release the leases."""
        self._disconnect("stopped")

    def come_back(self, groups: Mapping[str, GroupSpec]) -> None:
        """Go on after `retire`; `groups` are those that can be joined now."""
        self.restart()

    def cancel_task(self) -> None:
        """End `run` where it is; the state stays, and nothing is given back."""
        self._before_pause = None
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def crashed(self) -> bool:
        return self.state == "crashed"

    @property
    def paused(self) -> bool:
        """True while a fault keeps it from doing anything."""
        return self._before_pause is not None

    def crash(self) -> None:
        """Crash without leaving, as a killed process does: the broker only sees the closed connection."""
        self._disconnect("crashed")

    def _disconnect(self, state: ActorState) -> None:
        self.cancel_task()
        self.broker.backpressure.disconnect(self.loop.now_ns, self.name)
        self.enter(state)

    def restart(self) -> None:
        """Go on after a crash."""
        self.enter("waiting")
        self.start()

    def pause(self) -> None:
        """Stand still as a whole, as in a long garbage collection."""
        if self._task is not None and not self.paused:
            self._task.hold()
            self._before_pause = self.state
            self.enter("paused")

    def resume(self) -> None:
        before, self._before_pause = self._before_pause, None
        if self._task is not None and before is not None:
            self.enter(before)
            self._task.release()

    # -- what is seen

    @property
    def target(self) -> str:
        """The topic, group or queue it works with."""
        return ""

    @property
    def topics(self) -> tuple[str, ...]:
        return (self.target,) if self.target else ()

    def view(self) -> ActorView:
        return ActorView(self.name, self.role, self.state, self.target, self.topics, 0, 0, self.since_ns)


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
