"""All settings of topics and of groups that Kafka 4.4 has, and what each does here.

Names, types, ranges and defaults are Kafka's, as it answers them (`tests/reference/settings.py` asks it). A setting
with a `field` has an effect, and the help of that field says which. One without is kept and told, and `word` says why
it does nothing. Where less is possible than in Kafka, the nearest value is in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import msgspec

from broker_core.errors import ConfigError
from broker_core.groups.config import FROM_AGE, GroupSettings
from broker_core.log.config import LogConfig
from broker_core.operations.field_info import field_info
from resources import table

APPEND, SUBTRACT = 2, 3  # Kafka's numbers of operations
C = TypeVar("C", bound=msgspec.Struct)
_TYPES = {"boolean": 1, "string": 2, "int": 3, "long": 5, "double": 6, "list": 7}  # Kafka's numbers
_MOST = {"int": (1 << 31) - 1, "long": (1 << 63) - 1}
NEVER = str(_MOST["long"])

_TABLES = table("kafka", "settings.toml")
_WORDS: dict[str, str] = {"NEVER": NEVER, "AGE": FROM_AGE.pattern, **_TABLES["words"]}


def _spelled(cell: str) -> str:
    for key, word in _WORDS.items():
        cell = cell.replace(key, word)
    return cell


_LIKE = {_spelled(pattern): words for pattern, words in _TABLES["like"].items()}


class Setting(NamedTuple):
    """A row of the tables; `range` is (least, most, another value that is allowed), or None for what is no number."""

    name: str
    kind: str
    default: str
    range: tuple[float, float, float] | None
    pattern: str
    broker: str
    field: str
    word: str

    @classmethod
    def of(cls, row: str) -> Self:
        name, kind, default, limits, broker, does = (cell.strip() for cell in re.split(r" \|(?= |$)", row))
        default, limits, does = map(_spelled, (default, limits, does))
        numbers = None
        if kind in {"int", "long", "double"}:
            least, most, also, *_ = [*map(float if kind == "double" else int, limits.split()), None, None]
            most = _MOST[kind] if most is None else most
            numbers = (least, most, least if also is None else also)
        broker = {"=": name, "log": f"log.{name}", "group": f"group.{name}"}.get(broker, broker)
        field = does if " " not in does else ""
        return cls(name, kind, default, numbers, limits, broker, field, "" if field else does)

    @property
    def type(self) -> int:
        return _TYPES[self.kind]

    def normal(self, text: str) -> str:
        """`text` as Kafka tells it afterwards. Raises INVALID_CONFIG, which says the range."""
        plain = text.strip()
        if self.kind == "boolean":
            plain = plain.lower()
            good, words = plain in {"true", "false"}, "true or false"
        elif self.range is not None:
            least, most, also = self.range
            plain, good = self._number(plain)
            words = f"a {'' if self.kind == 'double' else 'whole '}number from {least} to {most}"
            words += "" if also == least else f", or {also}"
        else:
            parts = [part for each in plain.split(",") if (part := each.strip())] if self.kind == "list" else [plain]
            good = re.fullmatch(self.pattern, ",".join(parts)) is not None
            plain = ",".join(dict.fromkeys(parts))
            words = _LIKE.get(self.pattern, f"one of {self.pattern.replace('|', ', ')}")
        if not good:
            raise ConfigError(f"{self.name} {text[:60]!r} must be {words}")
        return plain

    def _number(self, text: str) -> tuple[str, bool]:
        assert self.range is not None
        least, most, also = self.range
        try:
            value = float(text) if self.kind == "double" else int(text)
        except ValueError:
            return text, False
        return str(value), text.isascii() and "_" not in text and (least <= value <= most or value == also)


class Settings:
    """A table by name. `config` is the struct whose fields take effect."""

    def __init__(self, what: str, config: type[msgspec.Struct], rows: str) -> None:
        self._what = what
        self.by_name = {each.name: each for each in map(Setting.of, rows.strip().splitlines())}
        self._infos = {each.name: field_info(config, each.field) for each in self.by_name.values() if each.field}

    def __iter__(self) -> Iterator[Setting]:
        return iter(self.by_name.values())

    def about(self, setting: Setting) -> str:
        """What the setting does here, or why it has no effect, in a sentence."""
        if not setting.field:
            return f"No effect here: {setting.word}."
        about = self._infos[setting.name].about
        return f"{about[0].upper()}{about[1:]}."

    def named(self, name: str) -> Setting:
        """Raises INVALID_CONFIG."""
        found = self.by_name.get(name)
        if found is None:
            raise ConfigError(f"{name[:100]!r} is not a setting of {self._what}; there are {', '.join(self.by_name)}")
        return found

    def chosen(self, before: Mapping[str, str], changes: Iterable[tuple[str, str | None]]) -> dict[str, str]:
        """The settings that somebody has chosen, after `changes`; None takes one back. Raises INVALID_CONFIG."""
        found = dict(before)
        for name, text in changes:
            if text is not None:
                found[name] = self.named(name).normal(text)
            else:
                found.pop(name, None)
        if found.get("remote.storage.enable") == "true":
            raise ConfigError(f"remote.storage.enable must be false: {_WORDS['REMOTE']}")
        return found

    def on(self, config: C, brokers: C, chosen: Mapping[str, str], changes: Iterable[tuple[str, str | None]]) -> C:
        """`config` with what `changes` say, as `chosen` has it; what is taken back is that of `brokers`."""
        fields = {
            each.field: getattr(brokers, each.field) if text is None else self.value(each, chosen[name])
            for name, text in changes
            if (each := self.by_name.get(name)) is not None and each.field
        }
        return msgspec.structs.replace(config, **fields)

    def value(self, setting: Setting, text: str) -> Any:
        """The value of the setting's field for `text`: the nearest that is possible here."""
        info = self._infos[setting.name]
        if setting.kind == "boolean":
            return text == "true"
        if setting.kind == "list":  # cleanup.policy, the only one with a field
            return ",".join(sorted(text.split(","), reverse=True)) or "none"
        if setting.range is None:
            return text
        number = float(text) if setting.kind == "double" else int(text)
        least, most = (number if limit is None else limit for limit in (info.least, info.most))
        return None if info.nullable and number < 0 else min(max(number, least), most)

    def text(self, setting: Setting, value: Any) -> str:
        """The value of a field as Kafka tells it."""
        if setting.kind == "list":
            return "" if value == "none" else str(value)
        return "-1" if value is None else str(value).lower() if setting.kind == "boolean" else str(value)

    def told(self, setting: Setting, chosen: Mapping[str, str], config: Any) -> str | None:
        """The text that was set, as long as it is in force; None if it was never set, or has been replaced."""
        text = chosen.get(setting.name)
        if text is None or not setting.field:
            return text
        return text if self.value(setting, text) == getattr(config, setting.field) else None


TOPIC_SETTINGS = Settings("topics", LogConfig, _TABLES["topics"])
GROUP_SETTINGS = Settings("groups", GroupSettings, _TABLES["groups"])


def listed(setting: Setting, before: str, operation: int, text: str) -> str:
    """The list `before` with (APPEND) or without (SUBTRACT) what `text` names. Raises INVALID_CONFIG."""
    if setting.kind != "list":
        word = "appended to it" if operation == APPEND else "subtracted from it"
        raise ConfigError(f"{setting.name} is not a list, so nothing can be {word}")
    named = [each.strip() for each in text.split(",")]
    there = before.split(",")
    if operation == APPEND:
        return ",".join(each for each in dict.fromkeys((*there, *named)) if each)
    return ",".join(each for each in there if each and each not in named)
