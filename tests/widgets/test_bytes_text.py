"""Bytes for people: nothing is hidden, nothing is torn, and what is cut is said."""

from hypothesis import given
from hypothesis import strategies as st

from widgets.bytes_text import JSON_BYTES, hex_dump, json_of, readable

SHOWN = "\n\t\u200c\u200d"


@given(st.binary(max_size=300), st.integers(1, 300))
def test_whatever_the_bytes_are_only_what_can_be_seen_is_shown(data, limit):
    shown = readable(data, limit)
    assert all(char.isprintable() or char in SHOWN for char in shown.text)
    assert shown.shown_bytes <= min(limit, len(data))
    assert shown.shown_bytes >= min(limit, len(data)) - 3


@given(st.text(max_size=120), st.integers(1, 200))
def test_a_text_is_cut_between_characters_only(text, limit):
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return
    shown = readable(data, limit)
    head = data[: shown.shown_bytes].decode()
    assert text.startswith(head)
    if len(data) <= limit:
        assert shown.shown_bytes == len(data)


@given(st.binary(max_size=300))
def test_a_hex_dump_holds_every_byte(data):
    shown = hex_dump(data)
    rows = [line[10:58].replace(" ", "") for line in shown.text.splitlines()]
    assert bytes.fromhex("".join(rows)) == data
    assert hex_dump(data, 5).shown_bytes == min(5, len(data))


def test_what_is_no_tree_says_why():
    assert json_of(b'{"a": [1, null]}') == (True, {"a": [1, None]}, "")
    assert json_of(b"{")[0] is False
    assert "not JSON" in json_of(b"{")[2]
    assert "too many" in json_of(b"[" + b" " * JSON_BYTES + b"]")[2]
    assert json_of(b"[" * 100_000)[0] is False
