"""Columns: what comes out is what went in."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pages.columns import Columns
from tests.app.pages.read_page import GONE, tree
from tests.long_form import examples
from widgets.bytes_text import contained

TEXTS = st.one_of(
    st.text(max_size=8),
    st.from_regex(r"\A(\d{1,18}|\d{1,3}(,\d{3}){0,4}|[a-z]{0,2})( [a-z]-\d{1,4}|:\d\d\.\d{3}){0,2}\Z"),
    st.sampled_from(["__proto__", "</script>", "\u202ekcab", "0", "00", "1,234", "0,123", "12,34", "1e9", "٣ 3"]),
)
LEAVES = st.one_of(
    TEXTS, st.booleans(), st.none(), st.integers(-(2**40), 2**60), st.floats(allow_nan=False, allow_infinity=False)
)
# A leaf is a leaf at all moments, as in a page: names of leaves and of branches are apart.
NAMES = st.sampled_from(["a", "b", "constructor", "lane:x/1", "__proto__"])
ROWS = st.lists(st.fixed_dictionaries({"label": TEXTS, "value": LEAVES}), max_size=3)
TREES = st.fixed_dictionaries(
    {"clock": TEXTS}, optional={"facts": st.dictionaries(NAMES, LEAVES, max_size=4, min_size=1), "rows": ROWS}
)


def shown(value: Any) -> Any:
    """As a page shows it: marks that change the direction of text are escaped."""
    if isinstance(value, dict):
        return {name: shown(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shown(each) for each in value]
    return contained(value) if isinstance(value, str) else value


@settings(max_examples=examples(100))
@given(st.lists(TREES, min_size=1, max_size=6))
def test_each_moment_comes_out_as_it_went_in(moments: list[dict[str, Any]]) -> None:
    columns = Columns()
    for each in moments:
        columns.add(each)
    plain = json.loads(msgspec.json.encode(columns.plain()))
    for number, each in enumerate(moments):
        found = tree(plain["root"], number, plain["values"], plain["lists"])
        assert found is not GONE and found == shown(each)


def test_what_has_been_there_before_costs_next_to_nothing() -> None:
    columns = Columns()
    for second in range(1_000):
        columns.add({"state": f"{second % 5} idle", "name": "a"})
    assert len(columns.values) == 7


def test_an_empty_tuple_is_there_as_an_empty_list_is() -> None:
    columns = Columns()
    columns.add({"rows": (), "others": []})
    plain = json.loads(msgspec.json.encode(columns.plain()))
    assert tree(plain["root"], 0, plain["values"], plain["lists"]) == {"rows": [], "others": []}
