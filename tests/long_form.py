"""Parameters of which `make test` takes a few, and the long form in `make long` the rest."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

# Bundled scenarios that together have everything: groups, queues, dead letters, gates, faults, schemas, transactions.
TELLING = frozenset(
    {
        "backpressure-policies",
        "first-session",
        "full-disk",
        "group-protocols",
        "poison-message",
        "schema-evolution",
        "share-group",
        "transactions",
    }
)

Value = TypeVar("Value")

on = False
"""Whether this is the long form."""


def examples(many: int) -> int:
    """How many of `many` examples Hypothesis tries now."""
    return many if on else max(many // 5, 10)


def form(short: Value, long: Value) -> Value:
    """What a test takes now."""
    return long if on else short


def both(test: Value) -> Value:
    """A test that has both forms: the long one is run by what runs the tests that are marked as long."""
    if on:
        pytest.mark.long(test)
    return test


def some(values: Iterable[Any], always: Container[Any] = TELLING) -> list[Any]:
    """All `values`; those that `always` does not have, by the stem of a path, are marked as long."""
    return [
        pytest.param(value, id=name, marks=() if name in always else pytest.mark.long)
        for value, name in ((value, value.stem if isinstance(value, Path) else str(value)) for value in values)
    ]
