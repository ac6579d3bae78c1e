"""Conditions on payloads: typed, total, and nothing is ever executed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.simulation.specs import Comparison, Condition, Scalar

PAYLOAD = b'{"lines": 2500, "repo": "kafka", "by": {"name": "ann", "bot": false}, "tags": ["a"]}'


@pytest.mark.parametrize(
    ("field", "op", "value", "met"),
    [
        ("lines", "above", 2000, True),
        ("lines", "above", 2500, False),
        ("lines", "below", 2500.5, True),
        ("lines", "equals", 2500, True),
        ("lines", "differs", 2500, False),
        ("lines", "above", "2000", False),
        ("repo", "equals", "kafka", True),
        ("repo", "contains", "afk", True),
        ("repo", "above", "a", True),
        ("by.name", "equals", "ann", True),
        ("by.bot", "equals", False, True),
        ("by.bot", "above", -1, False),
        ("by.age", "differs", 3, False),
        ("repo.name", "equals", "x", False),
        ("tags", "contains", "a", False),
        ("", "contains", "kafka", True),
        ("", "equals", "kafka", False),
    ],
)
def test_a_field_is_compared_as_what_it_is(field: str, op: Comparison, value: Scalar, met: bool) -> None:
    assert Condition(field=field, op=op, value=value).met_by(PAYLOAD) is met


@pytest.mark.parametrize("payload", [None, b"", b"no json", b"\xff", b"[1]", b"[" * 100_000])
def test_a_payload_that_is_no_object_never_meets_a_condition_on_a_field(payload: bytes | None) -> None:
    assert not Condition(field="a", op="differs", value=1).met_by(payload)


@given(
    payload=st.one_of(
        st.binary(max_size=50),
        st.recursive(st.integers() | st.text() | st.none(), st.lists).map(json.dumps).map(str.encode),
    ),
    op=st.sampled_from(["equals", "differs", "above", "below", "contains"]),
    value=st.one_of(st.text(max_size=5), st.integers(), st.floats(), st.booleans()),
    field=st.sampled_from(["", "a", "a.b", "."]),
)
def test_any_payload_gives_an_answer(payload: bytes, op: Comparison, value: Scalar, field: str) -> None:
    assert Condition(field=field, op=op, value=value).met_by(payload) in {True, False}
