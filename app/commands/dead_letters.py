from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, open_review
from app.commands.forms import Given, form_of
from app.commands.undo import UNDO_WINDOW_MINUTES
from app.presenters.dead_letters import DeadLettersPresenter, dead_letter_facts, is_programs
from app.presenters.dead_letters import place_of as place_of_redriven
from app.presenters.message_facts import request_of
from app.presenters.reviews import redrive_review
from app.sessions.history.life import place_of
from app.sessions.queries import Cancelled, Work
from broker_core.errors import BrokerError, ErrorCode
from broker_core.filters import quoted
from broker_core.guarded.redrive import DEFAULT_RATE, RedriveRun
from broker_core.operations.browse import DeadLetterPage, ListDeadOffsets, Present, ReadDeadLetters
from broker_core.operations.dead_letters import Redrive as RedriveRequest
from broker_core.operations.dead_letters import Redriven
from broker_core.operations.guarded import LetterPlace, PlanTopicRedrive, TopicRedriveProgress
from broker_core.simulation.actions.dead_letters import (
    EditDeadLetter,
    PurgeDeadLetters,
    Redrive,
    RedriveTopic,
    StopRedrive,
    StopTopicRedrive,
)
from broker_core.simulation.handlers import Performed
from widgets.dialogs.form import FormDialog, Values
from widgets.dialogs.message_form import EditDeadLetterDialog, MessageText
from widgets.dialogs.review import Review
from widgets.formats import plain_text, sentence
from widgets.i18n import tr
from widgets.panels.dead_letters import DeadLettersPanel

WATCH_S = 0.05
# What is redriven in one step of the engine: more of them would hold up the window.
AT_ONCE = 500


class Redrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: deque[Redrive] = deque()
        self._paced: dict[str, None] = {}  # queues whose redrive was given a rate, in order
        context.controller.acted.connect(lambda *_args: self._next())
        context.controller.refused.connect(lambda *_args: self._next())

    def forget(self) -> None:
        self._waiting.clear()
        self._paced.clear()

    def add(self, letters: Mapping[str, tuple[int, ...]], rate_per_s: float | None = None) -> None:
        if why := self._context.controller.why_not():
            self._context.show_message(why)
            return
        for queue, offsets in letters.items():
            if rate_per_s is not None:
                self._context.controller.perform(Redrive(queue=queue, offsets=list(offsets), rate_per_s=rate_per_s))
                self._paced[queue] = None
                continue
            self._waiting += [
                Redrive(queue=queue, offsets=list(offsets[first : first + AT_ONCE]))
                for first in range(0, len(offsets), AT_ONCE)
            ]
        if len(self._waiting) > 1:
            self._as_job()
        self._next()

    def stop(self) -> None:
        if not self._waiting and not self._paced:
            self._context.show_message(tr("No redrive is under way."))
        self._waiting.clear()
        for queue in self._paced:
            self._context.controller.perform(StopRedrive(queue=queue))
        self._paced.clear()

    def _next(self) -> None:
        if self._waiting and not self._context.controller.why_not():
            self._context.controller.perform(self._waiting.popleft())
        else:
            self._waiting.clear()

    def _as_job(self) -> None:
        waiting, parts = self._waiting, len(self._waiting)
        total = sum(len(part.offsets or ()) for part in waiting)

        def watch(work: Work) -> int:
            try:
                while waiting:
                    left = len(waiting)
                    done = tr("{done} of {total} parts", done=f"{parts - left:,}", total=f"{parts:,}")
                    work.report(max(0.0, 1 - left / parts), done)
                    time.sleep(WATCH_S)
            except Cancelled:
                waiting.clear()
                raise
            return total

        def over(count: int) -> str:
            return tr("The redrive of {count} has finished; the view Redriven lists the results.", count=f"{count:,}")

        self._context.jobs.work(tr("Redrive of dead letters: {count}", count=f"{total:,}"), watch, over)


TRIED = 100


class DeadLetterHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._redrives = Redrives(context, self)
        self._topics = TopicRedrives(context, self)
        self._shown = context.views.presenter(DeadLettersPresenter)
        panel = self._panel = context.window.tab(DeadLettersPanel)
        panel.currentChanged.connect(self._read)
        panel.redriveRequested.connect(self.redrive)
        panel.redrivenChosen.connect(self._look_at_redriven)
        # What can be planned can be redriven; a cluster that is locked says so in the plan.
        plan, purge, selected, shown = PlanTopicRedrive, PurgeDeadLetters, panel.selected_keys, panel.shown_keys
        for command, does, do, why_not in (
            ("redrive_selected", plan, panel.redrive_selected, panel.why_not_selected),
            ("redrive_all", plan, panel.redrive_all, panel.why_not_all),
            ("try_redrive", plan, lambda: self._try(selected() or shown()), panel.why_not_all),
            ("try_redrive_all", plan, lambda: self._try(shown()), panel.why_not_all),
            ("purge_selected", purge, lambda: self.ask_purge(selected()), lambda: panel.why_not_own(selected=True)),
            ("purge_all", purge, lambda: self.ask_purge(shown()), lambda: panel.why_not_own(selected=False)),
        ):
            self.bind_action(command, does, do, why_not=self._or_unseen(why_not))
        self.bind_action(
            "edit_letter", EditDeadLetter, lambda: self.ask_edit(panel.current_key()), why_not=panel.why_not_current
        )
        self.bind_action("stop_redrive", plan, self._stop)
        context.registry.bind("show_redriven", self._show_redriven)
        topic = tr("Choose a topic first.")
        self.bind_with("mark_dead_letters", self._mark, lambda: context.selected("topic"), topic)
        self._shown.topics.by_hand = lambda: context.settings.dead_letter_topics
        more = (("try_redrive", "try_redrive_all", "edit_letter"), ("purge_selected", "purge_all"), ("stop_redrive",))
        panel.set_more([[context.registry.action(command) for command in part] for part in more])
        of_rows = ("redrive_selected", "redrive_all", *more[0], *more[1])
        panel.selectionChanged.connect(lambda _count: context.registry.refresh(*of_rows))
        context.views.ways["dead_letters"] = self._list
        context.controller.opened.connect(self._forget)

    def _forget(self) -> None:
        self._answers.drop()
        self._redrives.forget()
        self._topics.forget()

    def _read(self, key: Hashable) -> None:
        if not isinstance(key, tuple):
            return
        queue, offset = str(key[0]), int(key[1])
        if (place := place_of(f"{queue}/{offset}")) is not None:
            self._answers.ask(request_of(place), partial(self._show_whole, key))
            return

        def answered(found: DeadLetterPage) -> None:
            if found.letters and self._panel.current_key() == key:
                self._panel.details.set_facts(dead_letter_facts(found.letters[0], self._context.views.times))

        self._answers.ask(ReadDeadLetters(queue=queue, offsets=[offset]), answered)

    def _show_whole(self, key: tuple[str, int], found: Present) -> None:
        letter = self._shown.model.row_of(key)
        if found.message is not None and letter is not None and self._panel.current_key() == key:
            whole = msgspec.structs.replace(letter, value=found.message.value, headers=found.message.headers)
            self._panel.details.set_facts(dead_letter_facts(whole, self._context.views.times))

    def _mark(self) -> None:
        topic, settings = self._context.selected("topic"), self._context.settings
        marked = {*settings.dead_letter_topics} ^ {topic}
        settings.dead_letter_topics = tuple(sorted(marked))
        self._context.show_message(
            tr("{topic} contains dead letters.", topic=topic)
            if topic in marked
            else tr("{topic} does not contain dead letters.", topic=topic)
        )

    def _or_unseen(self, why_not: Callable[[], str]) -> Callable[[], str]:
        """The panel's own reason; but of dead letters that it has not been asked to show it knows nothing."""

        def reason() -> str:
            why = why_not()
            unseen = not self._panel.isVisible() and not self._controller.why_not()
            if why and unseen and any(queue.dead for queue in self._snapshot.queues):
                return tr("The panel Dead letters (Ctrl+4) lists them; open it first.")
            return why

        return reason

    def redrive(self, keys: Sequence[tuple[str, int]], rate_per_s: float | None = None) -> None:
        if letters := letters_of(keys):
            self._redrives.add(_by_queue(letters), rate_per_s)
        self._topics.ask([key for key in keys if is_programs(key)])

    def _stop(self) -> None:
        if not self._topics.stop():
            self._redrives.stop()

    def _try(self, rows: Sequence[Hashable]) -> None:
        self._topics.ask([key for key in rows if is_programs(key)])
        for queue, offsets in _by_queue(letters_of(rows)).items():
            open_review(
                self._context,
                form_of("redrive_letters", {}, queue=queue, count=f"{len(offsets):,}"),
                partial(_dry_run, queue, offsets),
                partial(_review, max(0, len(offsets) - TRIED)),
                partial(self._redrive_tried, queue, offsets),
                Redrive,
            )

    def _redrive_tried(self, queue: str, offsets: tuple[int, ...], values: Values, _tried: Redriven) -> None:
        self._redrives.add({queue: offsets}, values["rate"])

    def ask_edit(self, key: Hashable) -> None:
        if not isinstance(key, tuple):
            return
        queue, offset = str(key[0]), int(key[1])

        def answered(found: DeadLetterPage) -> None:
            if not found.letters:
                self._context.show_message(str(BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} of {queue}")))
                return
            (letter,) = found.letters
            origin = f"{letter.origin_topic}/{letter.origin_partition}"
            dialog = EditDeadLetterDialog(letter.cause, origin, self._context.window)
            dialog.form.set_message(letter.value, letter.key, letter.headers)
            dialog.editRequested.connect(lambda text, redrive: self._edit(queue, offset, text, redrive))
            dialog.open()

        self._answers.ask(ReadDeadLetters(queue=queue, offsets=[offset]), answered, self._context.show_message)

    def _edit(self, queue: str, offset: int, text: MessageText, redrive: bool) -> None:
        self._controller.perform(EditDeadLetter(queue, offset, **text._asdict()))
        if redrive:
            self._controller.perform(Redrive(queue=queue, offsets=[offset]))

    def ask_purge(self, rows: Sequence[Hashable]) -> FormDialog:
        keys = letters_of(rows)
        form = form_of("purge_letters", {}, count=f"{len(keys):,}", minutes=UNDO_WINDOW_MINUTES)
        dialog = form.dialog(self._context.window, lambda _values: "")
        dialog.chosen.connect(lambda _values: self.purge(keys))
        dialog.open()
        return dialog

    def purge(self, keys: Sequence[tuple[str, int]]) -> None:
        for queue, offsets in _by_queue(keys).items():
            self._controller.perform(PurgeDeadLetters(queue=queue, offsets=list(offsets)))

    def _show_redriven(self) -> None:
        self._context.window.show_tab("dead_letters")
        self._panel.show_redriven(True)

    def _look_at_redriven(self, seq: Hashable) -> None:
        row = self._shown.redriven.row_of(seq)
        if row is not None:
            self._context.views.select(place_of_redriven(row).id)

    def _list(self, queue: str) -> None:
        self._context.window.show_tab(DeadLettersPanel.info.name)
        self._panel.show_redriven(False)
        self._panel.causes.setCurrentRow(0)
        self._panel.set_filter_text(f"queue = {quoted(queue)}")

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        if kind not in {"queue", "dlq"}:
            return
        queues = self._snapshot.queues
        count = next((queue.dead for queue in queues if queue.name == name), 0)
        why = self._controller.why_not() or ("" if count else tr("There are no dead letters."))
        tip = tr("{count} dead letters", count=f"{count:,}")
        self.add_entry(menu, tr("Redrive all ({shown:,})", shown=count), lambda: self._redrive_queue(name), why, tip)
        self.add_entry(menu, tr(DeadLettersPanel.info.title), lambda: self._list(name))
        for command in ("show_redriven", "show_in_flight"):
            menu.addAction(self._context.registry.action(command))

    def _redrive_queue(self, queue: str) -> None:
        self._answers.ask(
            ListDeadOffsets(queue=queue),
            lambda found: self._redrives.add({queue: tuple(found)}),
            self._context.show_message,
        )


def letters_of(keys: Sequence[Hashable]) -> list[tuple[str, int]]:
    """Keys of rows as (queue, offset among its dead letters). Those of topics are their programs'."""
    return [(str(key[0]), int(key[1])) for key in keys if isinstance(key, tuple) and not is_programs(key)]


def _by_queue(keys: Sequence[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    by_queue: dict[str, list[int]] = {}
    for queue, offset in keys:
        by_queue.setdefault(queue, []).append(offset)
    return {queue: tuple(sorted(offsets)) for queue, offsets in by_queue.items()}


def _dry_run(queue: str, offsets: tuple[int, ...], _values: Values) -> RedriveRequest:
    return RedriveRequest(queue=queue, offsets=list(offsets[:TRIED]), dry_run=True)


def _review(more: int, _values: Values, found: Redriven) -> Review:
    going, refused = len(found.redriven), len(found.refused)
    words = tr("Dry run: {going} would be appended.", going=f"{going:,}")
    if refused:
        words += " " + tr("{refused} would stay.", refused=f"{refused:,}")
    if more:
        words += " " + tr("The other {more} were not tried.", more=f"{more:,}")
    rows = [
        (
            f"{one.offset:,}",
            f"{one.size_bytes or 0:,}",
            tr("no key") if one.key is None else plain_text(one.key, 30),
            one.to_topic,
        )
        for one in found.redriven
    ]
    rows += [(f"{one.offset:,}", "", "", one.message) for one in found.refused]
    columns = (tr("Dead letter"), tr("Bytes"), tr("Key"), tr("Goes to"))
    return Review(columns, tuple(rows), words, "" if going or more else words)


_LOOK_S, _PATIENCE_S = 0.2, 5.0


class TopicRedrives(QObject):
    def __init__(self, context: CommandContext, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._running: dict[str, None] = {}
        context.controller.acted.connect(self._begun)

    def forget(self) -> None:
        self._running.clear()

    def stop(self) -> bool:
        """Whether one was under way."""
        stopped = list(self._running)
        self._running.clear()
        for topic in stopped:
            self._context.controller.perform(StopTopicRedrive(topic=topic))
        return bool(stopped)

    def ask(self, keys: Sequence[Hashable]) -> None:
        """Plan the redrive of these letters, a topic at a time, and show what it would do."""
        by_topic: dict[str, list[LetterPlace]] = {}
        for key in keys:
            if isinstance(key, tuple) and (place := place_of(f"{key[0]}/{key[1]}")) is not None:
                at = LetterPlace(partition=place.partition, offset=place.offset)
                by_topic.setdefault(place.topic, []).append(at)
        for topic, places in by_topic.items():
            self._open(topic, tuple(places))

    def _open(self, topic: str, places: tuple[LetterPlace, ...]) -> None:
        context = self._context
        topics = [each.name for each in context.controller.snapshot.topics if each.name != topic]
        fields: Given = {"to": {"choices": topics}, "rate": {"value": DEFAULT_RATE}}
        open_review(
            context,
            form_of("redrive", fields, count=len(places), topic=topic),
            lambda values: PlanTopicRedrive(
                topic=topic, places=places, to=values["to"] or None, again=values["again"], rate_per_s=values["rate"]
            ),
            lambda _values, plan: redrive_review(plan),
            lambda _values, plan: context.controller.perform(RedriveTopic(topic=topic, plan=plan)),
            RedriveTopic,
        )

    def _begun(self, performed: Performed, _source: str) -> None:
        action = performed.action
        if isinstance(action, RedriveTopic):
            self._running[action.topic] = None
            title = tr("Redrive of dead letters: {count}", count=f"{action.plan.letters:,}")
            self._context.jobs.work(title, partial(self._watch, action), told)

    def _watch(self, action: RedriveTopic, work: Work) -> RedriveRun:
        """In the job's thread. Cancelling it stops the redrive."""
        controller, total = self._context.controller, max(1, action.plan.letters)
        asked = TopicRedriveProgress(topic=action.topic)
        try:
            while True:
                run: RedriveRun = controller.source.ask(asked).result(_PATIENCE_S)
                if not run.running:
                    break
                work.report(run.done / total, tr("{done} of {total}", done=f"{run.done:,}", total=f"{total:,}"))
                time.sleep(_LOOK_S)
        except Cancelled:
            controller.source.perform(StopTopicRedrive(topic=action.topic)).result(_PATIENCE_S)
            raise
        self._running.pop(action.topic, None)
        return run


def told(run: RedriveRun) -> str:
    topic, counts = run.plan.choice.topic, {"done": f"{run.done:,}", "total": f"{run.plan.letters:,}"}
    found = tr("{done} of {total} dead letters of {topic} were redriven.", topic=topic, **counts)
    if run.duplicates:
        found += " " + tr("Two copies, for a run was killed: {places}.", places=", ".join(run.duplicates))
    more = [run.error, *run.refused[:3]]
    return " ".join((found, *(sentence(each) for each in more if each)))
