from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import msgspec
from PySide6.QtCore import Signal

from app.presenters.columns import Column, facts_of, number_column, time_column
from app.presenters.lookups import Lookup
from app.presenters.panel_presenter import PanelPresenter, Sources
from app.presenters.table import TableModel
from app.sessions.collectors.schemas import Refusal, Registered
from app.sessions.event_text import error_text
from broker_core.errors import BrokerError
from broker_core.schemas.diff import SchemaChange
from broker_core.schemas.registry import SchemaVersion
from broker_core.snapshots import Snapshot
from widgets.facts import Fact
from widgets.formats import Times
from widgets.i18n import tr
from widgets.panels.inspector import InspectorFacts, Section
from widgets.panels.schemas import SchemaDetails, SchemasPanel

CHECK_CHARS = 1_000_000


class VersionRow(NamedTuple):
    """`changes` are those against the version before."""

    found: SchemaVersion
    compatibility: str
    topics: str
    changes: tuple[SchemaChange, ...]


def version_rows(known: Registered, there: frozenset[str]) -> tuple[VersionRow, ...]:
    """Every version that is live, the latest of each subject first; `there` are the topics and queues."""
    registry = known.registry
    users: dict[str, list[str]] = {}
    for name, rule in known.rules.items():
        if name in there:
            does = "refuses" if rule.mode == "refuse" else "dead-letters"
            users.setdefault(rule.subject, []).append(f"{name} ({does})")
    rows = []
    for subject in registry.subjects():
        versions = registry.versions(subject)
        for place in range(len(versions) - 1, -1, -1):
            changed = registry.diff(subject, versions[place - 1], versions[place]) if place else []
            rows.append(
                VersionRow(
                    registry.version(subject, versions[place]),
                    registry.compatibility_of(subject).value,
                    ", ".join(users.get(subject, ())),
                    tuple(changed),
                )
            )
    return tuple(rows)


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
            Column("Topics", lambda row: row.topics or tr("none"), (120, 2), about="Topics that use it."),
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
            self.model.set_rows(version_rows(known, there))
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
        topics, newest = {topic.name for topic in snapshot.topics}, max(each.found.version for each in versions)
        used = [one.strip() for one in row.topics.split(",") if one.strip()]
        facts: list[Fact] = [
            (tr("Version"), tr("{version} of {count}", version=number, count=newest)),
            *facts_of(model.columns, row, "Kind", "Compatibility", "Id"),
            *(_used(one, topics) for one in used),
        ]
        facts += [
            (tr("Other version"), str(each.found.version), f"schema:{subject}/{each.found.version}")
            for each in versions
            if each is not row
        ]
        sections: list[Section] = [("", tuple(facts))]
        if row.changes:
            changes = tuple(
                (one.what, " ".join(part for part in (one.pointer, one.before, one.after) if part))
                for one in row.changes
            )
            sections.append((tr("Changed"), changes))
        return InspectorFacts(
            tr("Schema"), subject, "", tuple(sections), payload=row.found.text.encode(), has_payload=True
        )


def _used(words: str, topics: set[str]) -> Fact:
    name = words.partition(" (")[0]
    return (tr("Used by"), words, f"topic:{name}") if name in topics else (tr("Used by"), words)
