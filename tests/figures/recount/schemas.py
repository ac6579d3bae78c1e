"""The versions of schemas, and what they refused."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Refusal = tuple[str, str, str, str]  # topic, producer, reason, what became of it


class Schemas:
    """`versions` holds the ids of a subject's versions; `refusals` how many messages, and when the last came."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.versions: dict[str, list[int]] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.refusals: dict[Refusal, tuple[int, int]] = {}
        self._ids: dict[str, int] = {}  # one text has one id
        for spec in scenario.get("schemas", ()):
            self.settings[spec["subject"]] = spec
            self._register(spec["subject"], spec["text"])

    def add(self, row: Row) -> None:
        """One more event."""
        if row["kind"] == "user_action" and "text" in row["detail"] and "subject" in row["detail"]:
            self.settings.setdefault(row["detail"]["subject"], {})
            self._register(row["detail"]["subject"], row["detail"]["text"])
        became = {"rejected": "refused", "dead_lettered": "dead-lettered"}.get(row["kind"])
        if became is not None and row["cause"].startswith("schema "):
            key = (row["topic"], row["client"], row["cause"], became)
            self.refusals[key] = (self.refusals.get(key, (0, 0))[0] + row["count"], row["time_ns"])

    def _register(self, subject: str, text: str) -> None:
        found = self._ids.setdefault(text, len(self._ids) + 1)
        ids = self.versions.setdefault(subject, [])
        if found not in ids:
            ids.append(found)
