"""An edit of a dead letter, as a client sends it."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.messages import Headers
from broker_core.operations.dead_letters import Edit

JSON, PLAIN, OTHER = ("content-type", b"application/json"), ("content-type", b"text/plain"), ("to", b"a")


@pytest.mark.parametrize(
    ("edit", "before", "value", "headers"),
    [
        ({"value": "a text"}, (JSON, OTHER), b"a text", (OTHER,)),
        ({"value": "a text"}, (PLAIN,), b"a text", (PLAIN,)),
        ({"value": "eyJhIjoxfQ==", "encoding": "base64"}, (JSON, OTHER), b'{"a":1}', (JSON, OTHER)),
        ({"value": {"a": 1}}, (PLAIN, OTHER), b'{"a":1}', (OTHER, JSON)),
    ],
    ids=["a text is no JSON", "it may be another type", "bytes stay what they were", "JSON is JSON now"],
)
def test_a_new_value_is_of_its_own_type(edit: dict[str, Any], before: Headers, value: bytes, headers: Headers):
    edited = Edit(offset=0, **edit).on(before)
    assert (edited.value, edited.headers) == (value, headers)
