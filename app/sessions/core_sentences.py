"""Sentences of the core, which recordings keep in English, in the language of the program."""

from __future__ import annotations

import re
from functools import cache

import resources
from broker_core.errors import BrokerError
from widgets.i18n import localized, tr

_NUMBERS = frozenset({"count", "factor", "most", "rate", "time"})
_WITHOUT_SPACES = frozenset({"error", "group", "queue", "topic"})
_PARTS_OF_RULES = frozenset({"messages", "requests", "what"})


def _pattern(text: str) -> re.Pattern[str]:
    def value(found: re.Match[str]) -> str:
        return f"(?P<{found[1]}>{r'[^ ]+' if found[1] in _WITHOUT_SPACES else '.+'})"

    return re.compile(re.sub(r"\\\{(\w+)\\\}", value, re.escape(text)))


@cache
def _written(of_rules: bool) -> list[tuple[re.Pattern[str], str]]:
    """The sentences, each with its pattern. Parts of rules are words such as "of", which others use otherwise."""
    parts = dict(resources.table("sentences.toml"))
    rules = parts.pop("rules_of_faults")
    return [(_pattern(text), text) for part in ([rules] if of_rules else parts.values()) for text in part.values()]


def error_text(error: BaseException) -> str:
    """`str(error)`; what has happened is translated, what it is about is as the broker has it."""
    said = error.code.sentence if isinstance(error, BrokerError) else ""
    return tr(said) + str(error).removeprefix(said)


def rule_text(what: str) -> str:
    """A fault in words: what it does to which requests or messages."""
    return _sentence(what, of_rules=True)


def cause_text(cause: str) -> str:
    """`cause`, or what was done, with each sentence translated that is the broker's own; clients use any wording."""
    return "; ".join(_sentence(part) for part in cause.split("; "))


def _sentence(text: str, of_rules: bool = False) -> str:
    known, values = _found(text, of_rules)
    if not known:
        return text

    def told(name: str, value: str) -> str:
        if name in _NUMBERS:
            return localized(value)
        if of_rules and name not in _PARTS_OF_RULES:
            return value
        return _sentence(value, of_rules or name == "rule")

    return tr(known, **{name: told(name, value) for name, value in values.items()})


@cache
def _found(text: str, of_rules: bool) -> tuple[str, dict[str, str]]:
    """The sentence of the core that `text` is, and its values; "" if it is none."""
    for pattern, known in _written(of_rules):
        if found := pattern.fullmatch(text):
            return known, found.groupdict()
    return "", {}
