from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import msgspec
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import form_of
from app.commands.redrives import Redrives
from app.commands.review import open_review
from app.commands.undo import UNDO_WINDOW_MINUTES
from app.presenters.dead_letter_models import is_topic_letter
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.message_facts import request_of
from app.presenters.reviews import redrive_review
from app.sessions.history.life import place_of
from broker_core.errors import BrokerError, ErrorCode
from broker_core.filters import quoted
from broker_core.guarded.redrive import DEFAULT_RATE
from broker_core.messages import grouped
from broker_core.operations.browse import DeadLetterPage, ListDeadOffsets, Present, ReadDeadLetters
from broker_core.operations.dead_letters import Redrive as RedriveRequest
from broker_core.operations.dead_letters import RedriveAnswer
from broker_core.operations.guarded import LetterPlace, PlanTopicRedrive
from broker_core.simulation.actions.dead_letters import EditDeadLetter, PurgeDeadLetters, Redrive, RedriveTopic
from widgets.dialogs.form import FormDialog
from widgets.dialogs.message_form import EditDeadLetterDialog, MessageText
from widgets.dialogs.review import Review
from widgets.formats import plain_text
from widgets.i18n import mark, tr
from widgets.panels.dead_letters import DeadLettersPanel

TRIED = 100
OF_PROGRAMS = mark("The dead letters that a program has put into a topic stay there.")


class DeadLetterHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._redrives = Redrives(context, self)
        self._shown = context.views.presenter(DeadLettersPresenter)
        panel = self._panel = context.window.tab(DeadLettersPanel)
        panel.currentChanged.connect(self._read)
        panel.redrivenChosen.connect(self._look_at_redriven)
        # What can be planned can be redriven; a cluster that is locked says so in the plan.
        plan, purge, selected, listed = PlanTopicRedrive, PurgeDeadLetters, panel.selected_keys, panel.shown_keys
        bind, why_not = context.registry.bind, self._why_impossible
        why_nothing, why_nothing_selected = self._why_not, partial(self._why_not, selected=True)
        for command, does, do, rows, why in (
            ("redrive_selected", plan, self.redrive, selected, why_nothing_selected),
            ("redrive_all", plan, self.redrive, listed, why_nothing),
            ("try_redrive", plan, self._try, lambda: selected() or listed(), why_nothing),
            ("try_redrive_all", plan, self._try, listed, why_nothing),
            ("purge_selected", purge, self.ask_purge, selected, partial(why_nothing_selected, own=True)),
            ("purge_all", purge, self.ask_purge, listed, partial(why_nothing, own=True)),
        ):
            bind(command, lambda do=do, rows=rows: do(rows()), why_not(does), why)  # type: ignore[misc]
        bind("edit_letter", lambda: self.ask_edit(panel.current_key()), why_not(EditDeadLetter), self._why_not_edited)
        bind("stop_redrive", self._redrives.stop, why_not(plan), self._redrives.why_no_stop)
        bind("show_redriven", self._show_redriven)
        bind("mark_dead_letters", self._mark, lacking(lambda: context.selected("topic"), tr("Choose a topic first.")))
        context.views.ways["dead_letters"] = self._list
        context.controller.opened.connect(self._forget)

    def _forget(self) -> None:
        self._answers.drop()
        self._redrives.forget()

    def _read(self, key: Hashable) -> None:
        if not isinstance(key, tuple):
            return
        queue, offset = str(key[0]), int(key[1])
        if (place := place_of(f"{queue}/{offset}")) is not None:
            self._answers.ask(request_of(place), partial(self._show_whole, key))
            return

        def answered(found: DeadLetterPage) -> None:
            if found.letters and self._panel.current_key() == key:
                self._shown.show_letter(self._shown.as_edited(found.letters[0]))

        self._answers.ask(ReadDeadLetters(queue=queue, offsets=[offset]), answered)

    def _show_whole(self, key: tuple[str, int], found: Present) -> None:
        letter = self._shown.model.row_of(key)
        if (message := found.message) is not None and letter is not None and self._panel.current_key() == key:
            self._shown.show_letter(msgspec.structs.replace(letter, value=message.value, headers=message.headers))

    def _mark(self) -> None:
        topic, settings = self._context.selected("topic"), self._context.settings
        marked = {*settings.dead_letter_topics} ^ {topic}
        settings.dead_letter_topics = tuple(sorted(marked))
        self._context.show_message(
            tr("{topic} contains dead letters.", topic=topic)
            if topic in marked
            else tr("{topic} does not contain dead letters.", topic=topic)
        )

    def _why_not(self, *, selected: bool = False, own: bool = False) -> str:
        """Why there is nothing to be redriven in the panel, or among its `selected` rows; `own` are the broker's own
        dead letters, which can be edited and purged.
        """
        panel, topic_letter_count = self._panel, self._shown.model.topic_letter_count
        listed = panel.listed_count
        count = panel.selected_count() if selected and listed else listed
        if not count:
            return self._why_none(listed)
        topic_letters = topic_letter_count() if own else 0
        if topic_letters and selected:
            topic_letters = topic_letter_count(panel.selected_keys())
        return tr(OF_PROGRAMS) if topic_letters == count else ""

    def _why_none(self, listed: int) -> str:
        panel = self._panel
        if not panel.isVisible() and any(queue.dead for queue in self._snapshot.queues):
            return tr("The panel Dead letters (Ctrl+4) lists them; open it first.")
        if listed:
            return tr("Select dead letters first: click one, or Ctrl+A for all.")
        filtered = panel.filter_text and panel.problem.isHidden()
        return tr("The filter matches nothing.") if filtered else tr("There are no dead letters.")

    def _why_not_edited(self) -> str:
        key = self._panel.current_key()
        chosen = tr("Choose a dead letter first.") if key is None else tr(OF_PROGRAMS) if is_topic_letter(key) else ""
        return self._why_not(own=True) or chosen

    def redrive(self, keys: Sequence[Hashable]) -> None:
        if letters := letters_of(keys):
            self._redrives.add(_by_queue(letters))
        self._plan(keys)

    def _plan(self, keys: Sequence[Hashable]) -> None:
        """Plan the redrive of the letters of topics among these, a topic at a time, and show what it would do."""
        places = [place_of(f"{key[0]}/{key[1]}") for key in keys if isinstance(key, tuple) and is_topic_letter(key)]
        found = ((each.topic, LetterPlace(partition=each.partition, offset=each.offset)) for each in places if each)
        for topic, letters in grouped(found).items():
            self._plan_topic(topic, tuple(letters))

    def _plan_topic(self, topic: str, places: tuple[LetterPlace, ...]) -> None:
        to = {"choices": [each.name for each in self._snapshot.topics if each.name != topic]}
        open_review(
            self._context,
            form_of("redrive", {"to": to, "rate": {"value": DEFAULT_RATE}}, count=len(places), topic=topic),
            lambda values: PlanTopicRedrive(
                topic=topic, places=places, to=values["to"] or None, again=values["again"], rate_per_s=values["rate"]
            ),
            lambda _values, plan: redrive_review(plan),
            lambda _values, plan: self._controller.perform(RedriveTopic(topic=topic, plan=plan)),
            RedriveTopic,
        )

    def _try(self, rows: Sequence[Hashable]) -> None:
        self._plan(rows)
        for queue, offsets in _by_queue(letters_of(rows)).items():
            self._try_queue(queue, offsets)

    def _try_queue(self, queue: str, offsets: tuple[int, ...]) -> None:
        open_review(
            self._context,
            form_of("redrive_letters", {}, queue=queue, count=f"{len(offsets):,}"),
            lambda _values: RedriveRequest(queue=queue, offsets=list(offsets[:TRIED]), dry_run=True),
            lambda _values, found: _review(found, max(0, len(offsets) - TRIED)),
            lambda values, _tried: self._redrives.add({queue: offsets}, values["rate"]),
            Redrive,
        )

    def ask_edit(self, key: Hashable) -> None:
        if not isinstance(key, tuple):
            return
        queue, offset = str(key[0]), int(key[1])

        def answered(found: DeadLetterPage) -> None:
            if not found.letters:
                self._context.show_message(str(BrokerError(ErrorCode.UNKNOWN_DEAD_LETTER, f"{offset} of {queue}")))
                return
            letter = self._shown.as_edited(found.letters[0])
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
        self._panel.second_button.setChecked(True)

    def _look_at_redriven(self, seq: Hashable) -> None:
        if (row := self._shown.redriven.row_of(seq)) is not None:
            self._context.views.select(row.place.id)

    def _list(self, queue: str) -> None:
        self._context.window.show_tab(DeadLettersPanel.info.name)
        self._panel.second_button.setChecked(False)
        self._panel.causes.setCurrentRow(0)
        self._panel.set_filter_text(f"queue = {quoted(queue)}")

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        if kind not in {"queue", "dlq"}:
            return
        count = next((queue.dead for queue in self._snapshot.queues if queue.name == name), 0)
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
    return [(str(key[0]), int(key[1])) for key in keys if isinstance(key, tuple) and not is_topic_letter(key)]


def _by_queue(keys: Sequence[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    return {queue: tuple(sorted(offsets)) for queue, offsets in grouped(keys).items()}


def _review(found: RedriveAnswer, more: int) -> Review:
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
