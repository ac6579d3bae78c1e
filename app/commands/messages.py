from __future__ import annotations

from collections import deque
from collections.abc import Hashable

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, lacking
from app.commands.forms import choice, form_of
from app.presenters.message_facts import message_json, request_of
from app.presenters.segments import LogOnDiskPanel
from app.sessions.history.life import Place, place_of
from broker_core.errors import BrokerError
from broker_core.messages import StoredMessage
from broker_core.operations.browse import Present
from broker_core.simulation.actions.topics import Produce
from widgets.dialogs.form import Values
from widgets.dialogs.produce import ProduceDialog, ProduceTarget
from widgets.facts import Fact
from widgets.formats import exact_size, plain_text, sentence, session_time
from widgets.i18n import tr
from widgets.panels.messages import MessagesPanel, Start

PRODUCE = "produce"


class MessageHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._message: StoredMessage | None = None
        self._place: Place | None = None
        # Those that were sent from and not answered yet, in order.
        self._asking: deque[ProduceDialog] = deque()
        context.controller.opened.connect(self._asking.clear)
        context.controller.acted.connect(lambda done, source: self._report(sentence(done.sentence), source))
        context.controller.refused.connect(lambda why, source, _later: self._report(why, source, wrong=True))
        panel = self._panel = context.window.tab(MessagesPanel)
        logs = context.window.tab(LogOnDiskPanel)
        context.views.ways |= {"browse": self._browse, "filter": self._list}
        for empty in (panel, logs):
            empty.offerTaken.connect(lambda: context.registry.trigger(self._offered))
        logs.linkFollowed.connect(context.views.select)
        panel.currentChanged.connect(self._read)
        panel.opened.connect(lambda _key: self._show_life())
        bind, why_no_produce = context.registry.bind, self._why_impossible(Produce)
        unselected = tr("Select a message in the panel Messages first.")
        bind(PRODUCE, self.ask_produce, why_no_produce)
        bind("show_life", self._show_life, lacking(lambda: self._place, unselected))
        bind("copy_message", self._copy, lacking(lambda: self._place, unselected))
        bind("produce_again", self._produce_again, why_no_produce, lacking(lambda: self._message, unselected))
        context.controller.travel.changed.connect(lambda: self._read(self._place) if self._place is not None else None)
        context.controller.opened.connect(self._forget)

    @property
    def _offered(self) -> str:
        return "follow_live" if self._controller.stored is None else "branch"

    def _forget(self) -> None:
        self._message = self._place = None
        self._panel.details.set_nothing(tr("Select a message to read it here."))

    def _browse(self, name: str) -> None:
        """To "topic/partition", or to the message in "topic/partition/offset", which is inspected, too."""
        self._context.window.show_tab("messages")
        self._panel.clear_filter()
        if (place := place_of(name)) is None:
            topic, _, number = name.rpartition("/")
            self._panel.browse(topic, int(number))
            return
        self._panel.browse(place.topic, place.partition, Start("offset", place.offset))
        self._context.canvas.reveal(f"lane:{place.topic}/{place.partition}")
        self._context.views.select(place.id)
        self._panel.table.setFocus()

    def _list(self, name: str) -> None:
        """The messages of "topic/partition/filter" that fit the filter; of all partitions if none is named."""
        topic, number, text = name.split("/", 2)
        self._context.window.show_tab("messages")
        self._panel.browse(topic, int(number) if number else None, Start("newest"))
        self._panel.set_filter_text(text)
        self._panel.table.setFocus()

    def _read(self, key: Hashable) -> None:
        self._message, self._place = None, key if isinstance(key, Place) else None
        place = self._place
        if place is None:
            self._panel.details.set_nothing(tr("Select a message to read it here."))
            return
        self._context.views.select(place.id)

        def answered(present: Present) -> None:
            if place == self._place:
                self._show(present)

        self._answers.ask(request_of(place), answered, lambda why: answered(Present(why=why)))

    def _show(self, present: Present) -> None:
        message, details = present.message, self._panel.details
        if message is not None and message.published_ns > self._snapshot.time_ns:
            self._message = None
            details.set_nothing(tr("At this moment the message is not published yet."))
            return
        self._message = message
        if message is None:
            details.set_nothing(tr("This message cannot be read: {why}", why=present.why))
            return
        size = len(message.value or b"")
        facts: list[Fact] = [
            (tr("Place"), str(Place(message.topic, message.partition, message.offset))),
            (tr("Key"), tr("none") if message.key is None else plain_text(message.key, 400)),
            (tr("Published"), session_time(message.published_ns)),
            (tr("Size"), tr("no value") if message.value is None else exact_size(size)),
        ]
        if wall := self._context.views.times.wall(message.published_ns):
            facts.insert(3, (tr("Wall time"), wall))
        headers = [(name, plain_text(value, 2_000)) for name, value in message.headers]
        details.set_message([("", facts), (tr("Headers"), headers)], message.value)
        self._context.registry.refresh("show_life", "copy_message", "produce_again")

    def _show_life(self) -> None:
        if self._place is not None:
            self._context.views.select(self._place.id)
            self._context.window.open_right(True)

    def _copy(self) -> None:
        if self._message is None:
            self._context.show_message(tr("The message is not loaded, so it cannot be copied."))
            return
        QGuiApplication.clipboard().setText(message_json(self._message))
        self._context.show_message(tr("Copied the message as JSON."))

    def _produce_again(self) -> None:
        dialog = self.ask_produce()
        message = self._message
        if dialog is not None and message is not None:
            dialog.form.set_message(message.value, message.key, message.headers)

    def ask_produce(self, target: str = "") -> ProduceDialog | None:
        context = self._context
        if why := context.controller.why_not():
            context.show_message(why)
            return None
        snapshot = context.controller.snapshot
        topics = [ProduceTarget(topic.name, len(topic.partitions), is_queue=False) for topic in snapshot.topics]
        known = {topic.name for topic in topics}
        own_logs = self._panel.sources.keys()
        queues = [
            ProduceTarget(queue.name, queue.priorities, is_queue=True)
            for queue in snapshot.queues
            if queue.name not in known and (queue.name in own_logs or not own_logs)
        ]
        targets = [*topics, *queues]
        to = choice([one.name for one in targets], target or self._panel.where().topic)
        dialog = ProduceDialog(*form_of("produce", {"to": to})[:4], targets, context.window)
        dialog.chosen.connect(lambda produced: self._produce(dialog, produced))
        dialog.show()
        return dialog

    def _produce(self, dialog: ProduceDialog, produced: Values) -> None:
        try:
            action = Produce(**produced)
        except (ValueError, BrokerError) as error:
            dialog.show_message(sentence(str(error)), wrong=True)
            return
        if why := self._controller.why_not(Produce):
            dialog.show_message(why, wrong=True)
            return
        self._asking.append(dialog)
        self._controller.perform(action, PRODUCE)

    def _report(self, what: str, source: str, *, wrong: bool = False) -> None:
        if source == PRODUCE:
            self._asking.popleft().show_message(what, wrong=wrong)

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        target = name.rpartition("/")[0] if kind == "lane" else name
        if kind not in {"topic", "lane", "queue"}:
            return
        self.add_entry(menu, tr("Browse messages"), lambda: self._browse_from_menu(kind, name))
        self.add_entry(menu, tr("Produce..."), lambda: self.ask_produce(target), self._controller.why_not())

    def _browse_from_menu(self, kind: str, name: str) -> None:
        if kind == "lane":
            self._browse(name)
        else:
            self._context.window.show_tab("messages")
            self._panel.browse(name, None)
