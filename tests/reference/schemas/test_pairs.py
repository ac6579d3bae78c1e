"""Generated pairs are the same for a seed, and every one gets an answer from us; the judges in Java are not needed."""

from __future__ import annotations

import random

import pytest

from broker_core.schemas.json_schema import JsonSchema
from tests.reference.schemas import own
from tests.reference.schemas.pairs import PAIRS


@pytest.mark.parametrize("language", PAIRS)
def test_pairs_are_generated_and_judged(language: str) -> None:
    first, again = ([PAIRS[language](rng) for _ in range(12)] for rng in (random.Random(1), random.Random(1)))
    assert first == again
    told = [own.judged(language, *pair, "compatible").partition(":")[0] for pair in first]
    assert set(told) == {"compatible", "not"}


def test_a_document_shows_what_a_reader_refuses() -> None:
    writer, reader = JsonSchema('{"type": "integer", "minimum": 1}'), JsonSchema('{"type": "integer", "minimum": 2}')
    assert own.counterexample(writer, reader) == [1]
    assert own.counterexample(reader, writer) is None
