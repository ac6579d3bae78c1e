from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import msgspec
from PySide6.QtCore import Signal

from app.presenters.columns import Column, facts_of, number_column, time_column
from app.presenters.lookups import Lookup
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from app.sessions.collectors.schemas import Refusal, VersionRow
from app.sessions.core_sentences import error_text
from broker_core.errors import BrokerError
from broker_core.schemas.diff import SchemaChange
from broker_core.snapshots import Snapshot
from widgets.facts import Facts, with_rows
from widgets.formats import Times
from widgets.i18n import tr
from widgets.panels.inspector import InspectorFacts
from widgets.panels.schemas import SchemaDetails, SchemasPanel

CHECK_CHARS = 1_000_000


class VersionsModel(TableModel[VersionRow]):
    def __init__(self) -> None:
        columns: tuple[Column[VersionRow], ...] = (
            Column("Subject", lambda row: row.found.subject, (120, 2)),
            number_column("Version", lambda row: row.found.version, (70,)),
            number_column("Id", lambda row: row.found.id, (44, 0, 2), shown=str),
            Column("Kind", lambda row: row.found.kind.value, (64, 0, 1)),
            Column(
                "Compatibility",
                lambda row: row.compatibility,
                (120, 1),
                about="Defines which versions the next one must be able to read or be readable by.",
            ),
            Column("Topics", _users, (120, 2), about="Topics that use it."),
        )
        super().__init__(columns, key=lambda row: (row.found.subject, row.found.version))


class RefusalsModel(TableModel[Refusal]):
    def __init__(self, times: Times) -> None:
        columns: tuple[Column[Refusal], ...] = (
            time_column("Last (session)", lambda row: row.last_ns, times, (110,)),
            number_column("Messages", lambda row: row.messages, (84,)),
            Column("Topic", lambda row: row.topic, (100, 1)),
            Column("Producer", lambda row: row.client, (100, 1)),
            Column("Became", lambda row: tr(row.became), (96, 0, 1)),
            Column("Reason", lambda row: row.cause, (200, 4)),
        )
        super().__init__(columns, key=lambda row: (row.topic, row.client, row.cause, row.became))


class SchemasPresenter(PanelPresenter[SchemasPanel]):
    """Shows the schemas of the moment. `reported(sentence)` is emitted for errors."""

    panel_class = SchemasPanel

    reported = Signal(str)

    def __init__(self, sources: Sources) -> None:
        self.model, self.refusals = VersionsModel(), RefusalsModel(sources.times)
        super().__init__(sources, self.model, self.refusals)
        self._shown = self._controller.collectors.schemas.at(0)
        self._there: frozenset[str] = frozenset()
        self._current: Hashable = None
        self.panel.currentChanged.connect(self._show_details)
        self.panel.checkRequested.connect(self._check)

    def thing_of(self, key: Any) -> str:
        return f"schema:{key[0]}/{key[1]}"

    def restart(self) -> None:
        self.model.set_rows(())
        self.refusals.set_rows(())
        self._show_details(None)

    def show(self, snapshot: Snapshot) -> None:
        rows = self._controller.collectors.refusals.rows(snapshot.time_ns)
        self.refusals.set_rows(rows)
        self.panel.set_refused(sum(row.messages for row in rows))
        there = frozenset(topic.name for topic in snapshot.topics) | {queue.name for queue in snapshot.queues}
        known = self._controller.collectors.schemas.at(snapshot.time_ns)
        if known is not self._shown or there != self._there:
            self._shown, self._there = known, there
            self.model.set_rows(known.versions(there))
            self._show_details(self._current)

    def _show_details(self, key: Hashable) -> None:
        self._current = key
        row = self.model.row_of(key)
        if row is None:
            self.panel.set_details(None)
            return
        found, changes = row.found, tuple(map(_change, row.changes))
        self.panel.set_details(
            SchemaDetails(
                found.subject,
                tr("{subject}, version {version}", subject=found.subject, version=found.version),
                pretty(found.text),
                changes or (tr("The first version: there is no earlier one to compare with."),),
            )
        )

    def _check(self, subject: str, text: str) -> None:
        if len(text) > CHECK_CHARS:
            self.panel.set_verdict(False, (tr("It is too long to check here: the limit is a million characters."),))
            return
        try:
            problems = tuple(map(str, self._shown.registry.problems_of(subject, text.encode())))
        except BrokerError as error:
            self.reported.emit(error_text(error))
        else:
            self.panel.set_verdict(not problems, problems or (tr("The latest version accepts this message."),))


def _change(change: SchemaChange) -> str:
    place = change.pointer or tr("the whole")
    values = {"place": place, "before": change.before or "", "after": change.after or ""}
    if change.what == "added":
        return tr("Added at {place}: {after}", **values)
    if change.what == "removed":
        return tr("Removed from {place}: {before}", **values)
    return tr("Changed at {place}: {before} became {after}", **values)


def pretty(text: str) -> str:
    try:
        return msgspec.json.format(text.encode(), indent=2).decode()
    except msgspec.DecodeError:
        return text


class SchemaLookup(Lookup):
    """A version, by subject/version; `model` gives that of the panel Schemas."""

    def __init__(self, model: Callable[[], TableModel[VersionRow]]) -> None:
        super().__init__()
        self._model = model

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        subject, _, number = name.rpartition("/")
        model = self._model()
        versions = [row for row in model.rows if row.found.subject == subject]
        row = next((row for row in versions if str(row.found.version) == number), None)
        if row is None:
            return None
        newest, used = max(each.found.version for each in versions), tr("Used by")
        others = [each.found.version for each in versions if each is not row]
        facts: Facts = (
            (tr("Version"), tr("{version} of {count}", version=number, count=newest)),
            *facts_of(model.columns, row, "Kind", "Compatibility", "Id"),
            *((used, _user(at, mode), f"topic:{at}" if snapshot.topic(at) else "") for at, mode in row.users),
            *((tr("Other version"), str(version), f"schema:{subject}/{version}") for version in others),
        )
        changes = tuple((one.what, " ".join(filter(None, (one.pointer, one.before, one.after)))) for one in row.changes)
        sections = with_rows(("", facts), (tr("Changed"), changes))
        return InspectorFacts(tr("Schema"), subject, "", sections, payload=row.found.text.encode(), has_payload=True)


def _users(row: VersionRow) -> str:
    return ", ".join(_user(*each) for each in row.users) or tr("none")


def _user(name: str, mode: str) -> str:
    return tr("{name} (refuses)", name=name) if mode == "refuse" else tr("{name} (dead-letters)", name=name)
