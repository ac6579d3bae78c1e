"""Headings of a few letters tell groups apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.canvas.topic_words import LETTERS, short_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("indexers", "auditors", "mailers"), ("ind", "aud", "mai")),
        (("at-most-once", "at-least-once", "effectively-once"), ("atm", "atl", "eff")),
        (("auditors", "audit-log"), ("aor", "al")),
        (("group-1", "group-2", "group-12"), ("g1", "g2", "g12")),
        (("billing", "billings"), ("bi1", "bs")),
        ((), ()),
    ],
)
def test_names_that_begin_alike_are_told_apart(names, short):
    found = short_names(names)
    assert len(set(found)) == len(names)
    assert all(len(one) <= LETTERS for one in found)
    assert found == short


@given(st.lists(st.text("abc-1", min_size=1, max_size=8), max_size=6, unique=True))
def test_no_two_names_are_short_for_the_same(names):
    assert len(set(short_names(names))) == len(names)
