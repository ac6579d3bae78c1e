from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from app.presenters.dead_letter_facts import dead_letter_sections
from app.presenters.dead_letter_models import DeadLettersModel, EditedLetter, RedrivenModel, letter_key
from app.presenters.panel_presenter import Sources, TablePresenter, overfull_words
from app.sessions.browsing.beyond_snapshot import DeadLetterSync
from app.sessions.browsing.dead_letter_topics import DeadLetterTopics
from app.sessions.history.life import Place
from app.sessions.history.redriven import redriven_messages
from broker_core.clock import NS_PER_S
from broker_core.queues.dead_letter_record import DeadLetterEdit
from broker_core.simulation.actions.dead_letters import EditDeadLetter, RevertDeadLetter
from broker_core.simulation.handlers import Performed
from broker_core.snapshots import DeadLetterView, Snapshot
from widgets.i18n import mark, tr
from widgets.panels.dead_letters import DeadLettersPanel

OF_TOPICS = mark(
    "Topics with names such as orders.DLT, orders-dlq and dlq.orders contain dead letters; to mark another one, use "
    "Dead letters > Dead-letter topic."
)


class DeadLettersPresenter(TablePresenter[DeadLettersPanel]):
    panel_class = DeadLettersPanel

    def __init__(self, sources: Sources) -> None:
        controller, times = sources.controller, sources.times
        topics = self.topics = DeadLetterTopics(controller, times, sources.dead_letter_topics)
        self._edits: dict[Hashable, DeadLetterEdit] = {}  # by the key of the row
        self._sync = DeadLetterSync(controller)
        self.model = DeadLettersModel(
            times,
            self._sync.rows,
            self._sync.size_of,
            lambda snapshot: topics.bins(snapshot, live=controller.live),
            lambda: dict(self._edits) if controller.live else {},
        )
        self.redriven = RedrivenModel(times)
        super().__init__(sources, self.model, self.redriven)
        for reader in (topics, self._sync):
            reader.setParent(self)
            reader.changed.connect(self.show_again)
        self._history, self._times, self._redriven_ns = sources.history, times, -1
        self._chosen: Hashable = None
        self._letter: DeadLetterView | None = None  # the one that is shown beside the table
        self.model.causes_changed.connect(self.panel.set_causes)
        self.panel.causeChosen.connect(self.model.set_cause)
        self.panel.currentChanged.connect(self._show_chosen)
        controller.acted.connect(self._acted)
        self.panel.secondShown.connect(self._turn)

    def restart(self) -> None:
        super().restart()
        self.model.forget()
        self._edits.clear()
        self.topics.restart()
        self._sync.restart()
        self._redriven_ns = -1
        self.redriven.set_rows(())

    def _acted(self, performed: Performed, _source: str) -> None:
        self.topics.look_again()
        match performed.action:
            case EditDeadLetter() as edited:
                self._edits[edited.queue, edited.offset] = edited.edit()
            case RevertDeadLetter(queue=queue, offset=offset):
                self._edits.pop((queue, offset), None)
            case _:
                return
        self.show_again()
        self._show_chosen(self._chosen)

    def as_edited(self, letter: DeadLetterView) -> DeadLetterView:
        """The dead letter as a redrive appends it."""
        return EditedLetter.of(letter, self._edits.get(letter_key(letter)))

    def _turn(self, redriven: bool) -> None:
        self.filter_in(self.redriven if redriven else self.model)
        self._redriven_ns = -1
        self.show_again()

    def thing_of(self, key: Any) -> str:
        letter = self.model.row_of(key)
        if letter is None or letter.origin_offset < 0:
            return ""
        return Place(letter.origin_topic, letter.origin_partition, letter.origin_offset).id

    def _look_redriven(self, now_ns: int) -> None:
        least_ns = NS_PER_S if self._controller.live else 1
        if self._redriven_ns < 0 or abs(now_ns - self._redriven_ns) >= least_ns:
            self._redriven_ns = now_ns
            self._history.ask(
                lambda past: redriven_messages(past, now_ns), lambda found: self.redriven.set_rows(tuple(found))
            )

    def show_around(self, snapshot: Snapshot) -> None:
        if self._controller.live:
            self._sync.update(snapshot)
        self.panel.set_totals(snapshot.totals.dead_lettered, snapshot.totals.redriven)
        if self.panel.shows_second:
            self._look_redriven(snapshot.time_ns)
        elif self.topics.problem and not self.model.rowCount():
            self.panel.set_empty_words(tr("The dead letters of topics cannot be read."), self.topics.problem)
        elif not self._controller.source.knows("leases"):
            self.panel.set_empty_words(tr("No dead-letter topic has a message."), tr(OF_TOPICS))
        whole = self.model.whole + sum(self.topics.counts(snapshot).values())
        self.panel.set_note(overfull_words(self.model.total, whole, tr("dead letters")))
        # What was chosen may have been redriven or purged meanwhile, and an undo brings it back.
        if (self.panel.selected_count() > 0) != (self._letter is not None):
            self._show_chosen(self._chosen)

    def tab_count(self, snapshot: Snapshot) -> int:
        return sum(queue.dead for queue in snapshot.queues) + sum(self.topics.counts(snapshot).values())

    def _show_chosen(self, key: Hashable) -> None:
        self._chosen = key
        self.show_letter(self.model.row_of(key) if self.panel.selected_count() else None)

    def show_letter(self, letter: DeadLetterView | None) -> None:
        if letter == self._letter:
            return
        self._letter = letter
        if letter is None:
            self.panel.details.set_nothing(tr("Select a dead letter to read it here."))
        else:
            self.panel.details.set_message(dead_letter_sections(letter, self._times), letter.value, letter.cause)
