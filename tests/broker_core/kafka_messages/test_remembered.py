"""What an answer has in common with the last is the same object, and every other answer is read as it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.kafka_messages.reading import Cursor, Memory, response_reader
from broker_core.kafka_messages.schemas import load_response_schema
from broker_core.kafka_messages.writing import Parts, writer
from tests.long_form import examples

LIST_OFFSETS, VERSION = 2, 8
Ends = dict[str, list[int]]


def response(ends: Ends) -> bytes:
    topics = [
        {"name": name, "partitions": [{"partition_index": at, "offset": end} for at, end in enumerate(parts)]}
        for name, parts in ends.items()
    ]
    parts: Parts = []
    writer(load_response_schema(LIST_OFFSETS, VERSION))({"topics": topics}, parts)
    return b"".join(parts)


def read(data: bytes, memory: Memory | None) -> Any:
    reader, _flexible = response_reader(LIST_OFFSETS, VERSION)
    return reader(Cursor(data, 0, 1_000_000, memory))


def as_ends(answer: SimpleNamespace) -> Ends:
    return {topic.name: [part.offset for part in topic.partitions] for topic in answer.topics}


ENDS = st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(0, 3), max_size=3), max_size=4)


@settings(max_examples=examples(100))
@given(st.lists(ENDS, max_size=5))
def test_answers_are_read_as_without_a_memory(answers: list[Ends]):
    memory: Memory = {}
    for ends in answers:
        assert as_ends(read(response(ends), memory)) == ends == as_ends(read(response(ends), None))


def test_only_what_differs_is_made_anew():
    memory: Memory = {}
    first = read(response({"a": [1, 2], "b": [3], "c": []}), memory).topics
    assert read(response({"a": [1, 2], "b": [3], "c": []}), memory).topics is first
    second = read(response({"a": [1, 2], "b": [4], "c": []}), memory).topics
    assert [now is before for now, before in zip(second, first, strict=True)] == [True, False, True]
    third = read(response({"a": [1, 5], "b": [4], "c": []}), memory).topics
    assert third[0].partitions[0] is second[0].partitions[0]
    assert third[0].partitions[1].offset == 5
