"""The filter language: what it finds, and that it always says in a sentence what it cannot read."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.filters import AtLeast, Field, Fields, FilterError, parse
from broker_core.filters.parser import MAX_CHARS
from broker_core.filters.value import value_of

S = 1_000_000_000
FIELDS = Fields(
    (
        Field("group"),
        Field("lag", "number"),
        Field("time_left", "duration"),
        Field("size", "size"),
        Field("time", "time"),
        Field("redriven", "flag"),
    )
)
ROWS: dict[str, dict[str, object]] = {
    "a": {"group": "billing", "lag": 120, "time_left": 4 * S, "size": 2048, "time": 31 * S + 5, "redriven": True},
    "b": {"group": "Billing-2", "lag": 7, "time_left": 9 * S, "size": 4096, "time": 32 * S, "redriven": False},
    "c": {"group": "mail", "lag": None, "time_left": 0, "size": 10, "time": 3 * S, "redriven": False},
}


def found(text, fields=FIELDS):
    wanted = parse(text, fields)
    return "".join(name for name, row in ROWS.items() if wanted.matches(row))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "abc"),
        ("   ", "abc"),
        ("lag > 100", "a"),
        ("lag >= 7", "ab"),
        ("lag < 1,000", "ab"),
        ("LAG != 7", "ac"),
        ("lag = none", "c"),
        ('lag > 100 and group = "billing"', "a"),
        ("lag > 100 group = billing", "a"),
        ("group = BILLING", "a"),
        ("group contains bill", "ab"),
        ("group ~= '^(mail|bill.*2)$'", "bc"),
        ("group > m", "c"),
        ("~redriven", "a"),
        ("not ~redriven", "bc"),
        ("!~redriven and lag > 1", "b"),
        ("redriven = no", "bc"),
        ("lag = 7 or lag = 120", "ab"),
        ("lag = 7 or lag = 120 and group = mail", "b"),
        ("(lag = 7 or lag = 120) and not group = mail", "ab"),
        ("time_left < 5 s", "ac"),
        ("time-left > 4500ms", "b"),
        ("time_left = 0", "c"),
        ("size >= 2 KiB", "ab"),
        ("size > 3KiB", "b"),
        ("size < 100", "c"),
        ("time = 00:31", "a"),
        ("time > 00:31.5", "b"),
        ("time < 4 s", "c"),
        ("bill", "ab"),
        ('"bill" 7', "b"),
        ("not bill", "c"),
        ('"or"', ""),
    ],
)
def test_what_a_filter_finds(text, names):
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "number"),
    [("1:59", 119 * S), ("1:99", None), ("1.001 ms", 1_001_000), ("4.35 MB", 4_350_000), ("1.1 KiB", 1126.4)],
)
def test_a_value_is_exactly_what_is_written(text, number):
    value = value_of(*text.split())
    assert (value.number, type(value.number)) == (number, type(number))


@pytest.mark.parametrize(
    ("text", "fits"),
    [("lag > 6", True), ("lag >= 7", True), ("lag > 7", False), ("lag < 9", False), ("lag = 7", False)],
)
def test_of_a_number_that_is_at_least_so_much_only_what_is_above_is_known(text, fits):
    assert parse(text, FIELDS).matches({"lag": AtLeast(7)}) is fits


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("lgg > 100", 1, "did you mean lag"),
        ("lag > many", 7, "like 100"),
        ("lag > 5 and", 12, "missing at the end"),
        ("lag > 5 s", 7, "like 100"),
        ("time_left > 5", 13, "like 5 s"),
        ("lag >", 6, "a value is missing"),
        ("> 5", 1, "name of a field"),
        ("(lag > 5", 1, "not closed"),
        ("lag > 5)", 8, "never opened"),
        ('group = "x', 9, "not closed"),
        ("or lag = 1", 1, "both sides"),
        ("~dlq", 1, "~redriven"),
        ("~", 1, "~dlq"),
        ("group ~= '('", 10, "RE2"),
        ("'group' = x", 1, "without quotes"),
        ("()", 2, "nothing before"),
        ("x" * (MAX_CHARS + 1), MAX_CHARS + 1, "shorter"),
        ("not " * 200 + "x", 161, "too deeply"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_with_its_column(text, column, says):
    with pytest.raises(FilterError) as wrong:
        parse(text, FIELDS)
    assert says in wrong.value.sentence
    assert wrong.value.column == column
    assert str(column) in str(wrong.value)


def test_without_declared_fields_anything_may_be_asked():
    assert parse("whatever = 3 and ~odd").matches({"whatever": 3, "odd": 1})
    assert not parse("whatever = 3").matches({})
    assert parse("key = k1").matches({"key": b"K1"})
    assert parse("topic = b").matches({"topic": ("a", "b")})
    assert parse("lag > 1 min").matches({"lag": 61 * S})


@given(st.text(max_size=20), st.text(max_size=20))
def test_texts_are_equal_in_any_case(one, other):
    quoted = '"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert parse(f"name = {quoted}").matches({"name": other}) == (one.casefold() == other.casefold())
    assert parse(f"name = {quoted}").matches({"name": one.upper()}) == (one.casefold() == one.upper().casefold())


def test_bare_words_look_in_the_haystack_that_a_row_names():
    assert parse("needle").matches({"": "hay NEEDLE hay"})
    assert not parse("needle").matches({"": "hay", "name": "needle"})
    assert parse("needle").matches({"name": b"a needle"})


def test_a_tester_asks_only_for_what_the_filter_names():
    asked = []

    def lag(row):
        asked.append(row)
        return row

    test = parse("lag > 2", FIELDS).tester({"lag": lag}, lambda _row: pytest.fail("not asked for"))
    assert [row for row in range(5) if test(row)] == [3, 4]
    assert asked == [0, 1, 2, 3, 4]


pieces = st.sampled_from(
    [
        *"()!~=<>\"'\\ ",
        "and",
        "or",
        "not",
        "lag",
        "group",
        "~=",
        ">=",
        "contains",
        "5",
        "s",
        "KiB",
        "00:31",
        "1e999",
        "²",
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(pieces, max_size=40).map(" ".join), st.lists(pieces).map("".join)))
@example("lag = " + "9" * 400)
@example("time_left > 1e999 s")
@example("lag > ٣")
@example("\udcff = \ud800 or group ~= \ud800")
def test_reading_raises_nothing_but_a_filter_error(text):
    for fields in (FIELDS, None):
        try:
            read = parse(text, fields)
        except FilterError as error:
            assert error.sentence
            assert 1 <= error.column <= max(len(text), MAX_CHARS) + 1
            continue
        for row in ROWS.values():
            read.matches(row)


@given(st.text(min_size=1, max_size=40))
@example("none")
@example("N/A")
def test_any_text_can_be_looked_for_in_quotes(text):
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert parse(quoted).matches({"name": f"before{text}after"})
    assert parse(f"name = {quoted}").matches({"name": text})


def test_a_field_may_be_asked_of_one_thing():
    fields = Fields([Field("lag", "number", argument="a group"), Field("group")])
    row = {"lag": 9, "lag(billing)": 5, "lag(a b)": 7}
    assert parse('lag("billing") < 6 and lag(billing) = 5 and lag < 10 and lag("a b") = 7', fields).matches(row)
    assert not parse('lag("billing") > 5', fields).matches(row)
    # Where nothing may be asked of one thing, a bracket holds words as ever.
    assert parse("group (a or b)", FIELDS).matches({"": "a group a"})
    assert parse('group (a) "contains"').matches({"": "a group contains"})
    for text in ("lag() < 5", "lag(a b) < 5", "lag(", 'lag("a" < 5', "lag(5 or 6) < 7"):
        with pytest.raises(FilterError, match="one name, as in lag"):
            parse(text, fields)


def test_a_field_that_is_asked_of_one_thing_and_is_not_there_is_said():
    fields = Fields([Field("lag", "number", argument="billing"), Field("topic")])
    for text, says, column in (
        ('lagg("indexers") > 20', "There is no field lagg here; did you mean lag?", 1),
        ("lagg(indexers) contains 2", "did you mean lag?", 1),
        ('topic("orders") = x', "topic does not refer to a single thing; remove the brackets", 6),
        ('lag("a") 5 6', "After lag(a) comes an operator, such as =.", 10),
        ('lag("a") and topic = x', "After lag(a) comes an operator", 10),
        ('lag("a") "contains" 6', "After lag(a) comes an operator", 10),
        ('lag("a")', "After lag(a) comes an operator", 9),
    ):
        with pytest.raises(FilterError) as wrong:
            parse(text, fields)
        assert says in wrong.value.sentence and wrong.value.column == column
    assert parse("lag (a or b)", Fields([Field("lag")])).matches({"": "the lag of b"}), "words and a bracket of words"
    assert parse("lag(a) > 3").matches({"lag(a)": 4})


STATES = Fields([Field("state", words=("Stable", "Preparing rebalance")), Field("group")])


@pytest.mark.parametrize("text", ["stable", "STABLE", '"Stable"', "'sta-ble'"])
def test_a_word_of_a_field_is_known_in_any_spelling(text):
    assert parse(f"state = {text}", STATES).matches({"state": "Stable"})
    assert not parse(f"state != {text}", STATES).matches({"state": "Stable"})
    assert parse("state = PreparingRebalance", STATES).matches({"state": "Preparing rebalance"})
    assert parse("state = none", STATES).matches({"state": None})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("state = Stabel", "state is never Stabel; did you mean Stable?"),
        ("group = x and state != preparing", 'did you mean "Preparing rebalance"?'),
        ("state = 7", "state is never 7; it is one of Stable, Preparing rebalance."),
    ],
)
def test_a_value_that_a_field_never_has_is_said(text, says):
    with pytest.raises(FilterError, match=re.escape(says)):
        parse(text, STATES)


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("group = a", True),
        ("lag = 1", False),
        ("lag = none", True),
        ("lag != 1", True),
        ("not lag != 1", False),
        ("group = a and lag > 1", False),
        ("group = a or lag > 1", True),
        ("not (group = a or lag != 1)", False),
        ("kind = x", False),
        ("kind = group and group ~= b", True),
        ("kind = group and ~redriven", False),
        ("word", True),
        ("", True),
    ],
)
def test_whether_a_row_may_ever_fit_is_known(text, may):
    assert parse(text).may_match({"kind": "group"}, {"group"}) is may


def test_what_is_wrong_can_be_said_in_another_language():
    asked: list[str] = []

    def loud(text: str, **values: object) -> str:
        asked.append(text)
        return text.upper().format(**{name.upper(): value for name, value in values.items()})

    with pytest.raises(FilterError) as wrong:
        parse("time_left > 5", FIELDS)
    assert wrong.value.translated(loud) == "TIME_LEFT IS A LENGTH OF TIME; WRITE IT LIKE 5 S. (COLUMN 13)".replace(
        "TIME_LEFT", "time_left"
    ).replace("5 S.", "5 s.")
    assert asked == [
        "a length of time",
        "{name} is {kind}",
        "{what}; write it like {examples}.",
        "{sentence} (column {column})",
    ]
