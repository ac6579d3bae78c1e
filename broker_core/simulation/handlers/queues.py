from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from broker_core.clock import NS_PER_MS
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations.dead_letters import PurgeLetters, Redrive, StoredEdit
from broker_core.plurals import counted
from broker_core.queues.config import QueueConfig
from broker_core.queues.dead_letters import DeadLetters, RedriveResult
from broker_core.queues.lease import Held
from broker_core.queues.paced_redrive import PacedRedrive
from broker_core.queues.subscription import BacklogConfig
from broker_core.simulation.actions import dead_letters, queues
from broker_core.simulation.actions.topics import RestoreDeleted
from broker_core.simulation.context import SimulationContext
from broker_core.simulation.handlers.plan import Handler, Plan, needed, refuse

LeaseAction = queues.AckLease | queues.NackLease | queues.ExtendLease | queues.ReleaseLease


class QueueHandler(Handler):
    """The queue itself does everything, and emits the events."""

    def _create(self, action: queues.CreateQueue) -> Plan:
        self._check_names(action.name, action.settings)
        action.log.on(self._context.broker.logs.config)
        return Plan(action, partial(self._context.handle, action), queues.DeleteQueue(queue=action.name))

    def _check_names(self, name: str, config: QueueConfig) -> None:
        bin_name = config.dead_letter_topic_of(name)
        for each in (name, bin_name):
            self._context.broker.logs.check_new(each)
        if name.lower() == bin_name.lower():
            raise refuse(f"{name} cannot be its own dead-letter queue")

    def _subscribe(self, action: queues.CreateSubscription) -> Plan:
        context, name, config = self._context, action.name, action.settings
        self._check_names(name, config)
        context.broker.logs.partition_count(action.topic)
        if action.topic in context.broker.queues:
            raise refuse(f"{action.topic} is a queue; a subscription reads a topic")
        BacklogConfig(action.max_messages, action.policy)

        return Plan(action, partial(context.handle, action), queues.DeleteQueue(queue=name))

    def _delete(self, action: queues.DeleteQueue) -> Plan:
        self._context.broker.queues.queue(action.queue)
        return Plan(action, partial(self._context.handle, action), RestoreDeleted(action.queue))

    def _purge(self, action: queues.PurgeQueue) -> Plan:
        queue = self._context.broker.queues.queue(action.queue)
        if not queue.ready + queue.delayed:
            raise refuse(f"no messages are waiting in {action.queue}")

        def do() -> str:
            count = self._context.handle(action).messages
            return f"purged {counted(count, 'message')} of {action.queue}"

        return Plan(action, do, queues.UndoPurgeQueue(queue=action.queue))

    def _undo_purge(self, action: queues.UndoPurgeQueue) -> Plan:
        queue = self._context.broker.queues.queue(action.queue)
        if not queue.can_undo_purge(self._context.now_ns):
            raise refuse(f"the purge of {action.queue} was too long ago, or there was none")

        def do() -> str:
            count = self._context.handle(action).messages
            return f"brought {counted(count, 'message')} of {action.queue} back"

        return Plan(action, do, queues.PurgeQueue(queue=action.queue), reported=True)

    def _lease(self, action: LeaseAction) -> Plan:
        table = self._context.broker.queues.queue(action.queue).levels.table(action.partition)
        ((span, _first, _end),) = table.held(
            self._context.now_ns, Held(action.partition, action.offset, action.holder, action.attempt)
        )

        def do() -> str | None:
            until_ns = self._context.handle(action.request).deadline_ns
            if until_ns is None:
                return None
            return f"extended the lease of {action.place} by {(until_ns - span.lease.deadline_ns) / NS_PER_MS:,.0f} ms"

        return Plan(action, do, final="The holder of a lease sees its outcome at once.", client=action.holder)


class DeadLetterHandler(Handler):
    """`edits` holds the changes that a redrive makes, by queue and offset of the dead letter."""

    def __init__(self, context: SimulationContext) -> None:
        super().__init__(context)
        # They stay when it has been redriven: an undo brings it back as it was edited.
        self.edits: dict[tuple[str, int], dead_letters.EditDeadLetter] = {}

    # -- redrive

    def _redrive(self, action: dead_letters.Redrive) -> Plan:
        letters = self._letters(action.queue)
        if action.offsets is None:
            return self._redriving(action, self._matching(action))
        if not action.offsets:
            raise refuse("no dead letters are selected")
        # A second click finds them gone: what is recorded is what is really redriven.
        there = _still_there(letters, action.offsets)
        return self._redriving(msgspec.structs.replace(action, offsets=there), there)

    def _matching(self, action: Redrive | PurgeLetters) -> list[int]:
        """Offsets of the dead letters that match. Raises UNKNOWN_DEAD_LETTER if none does."""
        found = [letter.offset for letter in self._letters(action.queue).list(action.accepts, limit=None)]
        if not found:
            raise refuse(f"no dead letter of {action.queue} matches", ErrorCode.UNKNOWN_DEAD_LETTER)
        return found

    def _redriving(self, action: dead_letters.Redrive, offsets: Sequence[int]) -> Plan:
        self._context.broker.redrives.paced.check(action.queue)
        if action.rate_per_s is not None:
            begin = partial(self._begin, action.queue, offsets, action.rate_per_s)
            return Plan(action, begin, dead_letters.StopRedrive(queue=action.queue))
        withdrawn = self._context.broker.redrives.can_be_undone(action.queue)
        return Plan(
            action,
            lambda: self._redrive_now(action, offsets),
            dead_letters.UndoRedrive(queue=action.queue) if withdrawn else None,
            f"They went back to a topic, where the readers of {action.queue} already have them.",
        )

    def _redrive_now(self, action: dead_letters.Redrive, offsets: Sequence[int]) -> str | None:
        result = self._append(action.queue, offsets)
        if not result.refused:
            return f"redrove {counted(len(offsets), 'dead letter')} of {action.queue}"
        first = result.refused[0]
        return (
            f"redrove {len(result.redriven)} of {len(offsets)} dead letters of {action.queue}; "
            f"the one at {first.offset} stays: {first.message}"
        ).rstrip(".")

    def _append(self, queue: str, offsets: Sequence[int]) -> RedriveResult:
        edits = tuple(
            StoredEdit(offset=offset, edit=self.edits[queue, offset].edit())
            for offset in offsets
            if (queue, offset) in self.edits
        )
        return self._context.handle(Redrive(queue=queue, offsets=list(offsets), edits=edits)).result()

    def _begin(self, queue: str, offsets: Sequence[int], rate_per_s: float) -> None:
        # Each is a request of its own, which takes the edits of its time.
        paced = PacedRedrive(
            self._context.loop.timers, offsets, rate_per_s, lambda _now_ns, offset: self._append(queue, [offset])
        )
        self._context.broker.redrives.paced.start(self._context.now_ns, queue, paced)

    def _stop(self, action: dead_letters.StopRedrive) -> Plan:
        none = f"no redrive of {action.queue} is in progress"
        paced = needed(self._context.broker.redrives.paced.running(action.queue), none)

        def do() -> str:
            self._context.handle(action)
            return f"stopped the redrive of {action.queue} after {paced.handled_count:,} of {paced.letter_count:,}"

        return Plan(action, do, final="Redrive the rest to continue.")

    def _redrive_topic(self, action: dead_letters.RedriveTopic | dead_letters.StopTopicRedrive) -> Plan:
        return Plan(
            action,
            lambda: self._context.handle(action),
            final="The copies are in a topic, whose readers already have them.",
            reported=True,
        )

    def _undo_redrive(self, action: dead_letters.UndoRedrive) -> Plan:
        letters = self._letters(action.queue)
        if not self._context.broker.redrives.can_be_undone(action.queue):
            raise refuse(f"the dead letters of {action.queue} went back to a topic, whose readers already have them")
        if not letters.can_undo_redrive(self._context.now_ns):
            raise refuse(f"the redrive of {action.queue} was too long ago, or there was none")

        def do() -> str:
            back = self._context.handle(action).messages
            if not back:
                return f"the redrive of {action.queue} could not be undone: all messages were already taken"
            return f"took {counted(back, 'dead letter')} of {action.queue} back"

        return Plan(action, do, final="Redrive them again.")

    # -- edits

    def _edit(self, action: dead_letters.EditDeadLetter) -> Plan:
        place = self._held_place(action)
        return Plan(
            action,
            partial(self.edits.__setitem__, place, action),
            self.edits.get(place) or dead_letters.RevertDeadLetter(*place),
        )

    def _revert(self, action: dead_letters.RevertDeadLetter) -> Plan:
        place = self._held_place(action)
        before = needed(self.edits.get(place), f"dead letter {action.offset} of {action.queue} is not edited")
        return Plan(action, partial(self.edits.pop, place), before)

    def _held_place(self, action: dead_letters.EditDeadLetter | dead_letters.RevertDeadLetter) -> tuple[str, int]:
        if not self._letters(action.queue).holds(action.offset):
            raise BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{action.offset} of {action.queue}")
        return action.queue, action.offset

    # -- purge

    def _purge(self, action: dead_letters.PurgeDeadLetters) -> Plan:
        letters = self._letters(action.queue)
        if action.offsets is not None:
            offsets = _still_there(letters, action.offsets)
            action = msgspec.structs.replace(action, offsets=offsets)
        else:
            offsets = self._matching(action)

        def do() -> str:
            result = self._context.handle(PurgeLetters(queue=action.queue, offsets=offsets))
            return f"purged {counted(result.purged, 'dead letter')} of {action.queue}"

        return Plan(action, do, dead_letters.UndoPurgeDeadLetters(queue=action.queue))

    def _undo_purge(self, action: dead_letters.UndoPurgeDeadLetters) -> Plan:
        letters = self._letters(action.queue)
        if not letters.can_undo_purge(self._context.now_ns):
            raise refuse(f"the purge of dead letters of {action.queue} was too long ago, or there was none")

        def do() -> str:
            count = self._context.handle(action).messages
            return f"brought {counted(count, 'dead letter')} of {action.queue} back"

        return Plan(action, do, final="Purge them again.", reported=True)

    def _letters(self, queue: str) -> DeadLetters:
        return self._context.broker.queues.dead_letters(queue)


def _still_there(letters: DeadLetters, offsets: Sequence[int]) -> list[int]:
    """The `offsets` that are still dead letters. Raises UNKNOWN_DEAD_LETTER if none is."""
    there = [offset for offset in dict.fromkeys(offsets) if letters.holds(offset)]
    if not there:
        count = len(offsets)
        raise refuse(
            f"{'it is' if count == 1 else f'all {count} are'} already redriven or purged", ErrorCode.UNKNOWN_DEAD_LETTER
        )
    return there
