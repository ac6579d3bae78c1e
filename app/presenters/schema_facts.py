"""A version of a schema in the inspector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.presenters.schemas import VersionRow
from broker_core.snapshots import Snapshot
from widgets.facts import Fact
from widgets.i18n import tr
from widgets.panels.inspector import InspectorFacts, Section


class SchemaLookup:
    """A version, by subject/version; `rows` gives those that the panel Schemas lists."""

    def __init__(self, rows: Callable[[], Sequence[VersionRow]]) -> None:
        self._rows = rows

    def restart(self) -> None:
        """Nothing is kept."""

    def facts(self, snapshot: Snapshot, name: str) -> InspectorFacts | None:
        """Where it is used, what it changed, and its text."""
        subject, _, number = name.rpartition("/")
        versions = [row for row in self._rows() if row.subject == subject]
        row = next((row for row in versions if str(row.version) == number), None)
        if row is None:
            return None
        topics = {topic.name for topic in snapshot.topics}
        used = [one.strip() for one in row.topics.split(",") if one.strip()]
        facts: list[Fact] = [
            (
                tr("Version"),
                tr("{version} of {count}", version=row.version, count=max(each.version for each in versions)),
            ),
            (tr("Kind"), row.kind),
            (tr("Compatibility"), row.compatibility),
            (tr("Id"), str(row.id)),
            *(_used(one, topics) for one in used),
        ]
        facts += [
            (tr("Other version"), str(each.version), f"schema:{subject}/{each.version}")
            for each in versions
            if each is not row
        ]
        sections: list[Section] = [("", tuple(facts))]
        if row.changes:
            changes = tuple((change[0], " ".join(part for part in change[1:] if part)) for change in row.changes)
            sections.append((tr("Changed"), changes))
        return InspectorFacts(tr("Schema"), subject, "", tuple(sections), payload=row.text.encode(), has_payload=True)


def _used(words: str, topics: set[str]) -> Fact:
    """ "orders (refuses)", with a link to the topic where there is one."""
    name = words.partition(" (")[0]
    return (tr("Used by"), words, f"topic:{name}") if name in topics else (tr("Used by"), words)
