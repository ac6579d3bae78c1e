"""The words that a place of a request may have."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.operations.faults import BeginFault
from broker_core.operations.spec_kinds import words_at
from broker_core.simulation import Scenario


@pytest.mark.parametrize(
    ("kind", "steps", "begins"),
    [
        (BeginFault, ".effect", ["delay", "error", "drop"]),
        (Scenario, ".durability", ["memory", "file"]),
        (Scenario, ".topics[3].partitioner", ["crc32", "murmur2"]),
        (Scenario, ".workers[...].failures[0].kind", ["nack", "hang", "forget"]),
        (BeginFault, ".client", []),
        (BeginFault, ".nothing.there[0]", []),
        (BeginFault, "", ["effect", "client"]),
        (Any, ".effect", []),
        (dict[str, int], "[...]", []),
    ],
)
def test_words_are_found_along_the_steps_of_an_error(kind: Any, steps: str, begins: list[str]) -> None:
    found = words_at(kind, steps)
    assert found[: len(begins)] == begins and bool(found) == bool(begins)
