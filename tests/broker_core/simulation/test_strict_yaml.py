"""Strict YAML: data only, with lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.simulation.strict_yaml import MAX_DEPTH, Document, YamlError


def test_words_stay_words() -> None:
    text = "a: on\nb: 12:30\nc: no\nd: 2024-01-01\ne: 0o7\nf: true\ng: null\nh: 1_000\ni: 2.5\nj: '7'\nk: 1e3\n"
    assert Document(text).value == {
        "a": "on",
        "b": "12:30",
        "c": "no",
        "d": "2024-01-01",
        "e": "0o7",
        "f": True,
        "g": None,
        "h": 1000,
        "i": 2.5,
        "j": "7",
        "k": 1000.0,
    }


@pytest.mark.promise("24")
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "'a' is there twice"),
        ("a: &x 1\nb: *x\n", 1, "anchors"),
        ("a: 1\nb: !!python/object/apply:os.system ['true']\n", 2, "tag"),
        ("a: [1, 2\nb: 3\n", 2, "not YAML"),
        ("? [1, 2]\n: 3\n", 1, "plain word"),
        ("x: " + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), 1, "deep"),
        ("x: " + "[" * 5_000, 1, "deep"),
        ("a: 1\n---\nb: 2\n", 2, "there is a second document"),
        ("  a: 1\nb: 2\n", 2, "does not belong to what is above"),
        ("a: [b:,c]\n", 1, "a text with a colon in quotes"),
        ("a: b\nc: &x\n", 2, "anchors"),
        ("&x a: b\n", 1, "anchors"),
        ("a: 1\n!x b: 2\n", 2, "tag"),
        ("a: \x07\n", 1, "not YAML"),
        ("x" * 2_000_000, 1, "larger"),
        ("a: 1\nb: " + "1" * 5_000, 2, "more than 400 digits"),
        ("a: 1\n\tb: 2\n", 2, "there is a tab"),
        ("a: 1\n  b: 2\n", 2, "check the indentation"),
        ("- a: 1\n b: 2\n", 2, "indentation matches no line above"),
        ("a:\n  - b\nc\nd: 1\n", 4, "has no colon"),
        ("a: @b\n", 1, "must be in quotes"),
        ('a: "b\n', 2, "a quote is not closed"),
        ("a: 1\nb: \x07\n", 2, "the character 0x7 is not allowed"),
    ],
)
def test_what_is_refused_and_at_which_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError, match=words) as caught:
        Document(text)
    assert caught.value.line == line


def test_every_place_has_its_line() -> None:
    document = Document("topics:\n  - name: a\n    partitions: 3\n  - name: b\n")
    assert document.line_of(("topics", 0, "partitions")) == 3
    assert document.line_of(("topics", 1)) == 4
    assert document.line_of(("topics", 1, "missing")) == 4


@pytest.mark.parametrize("unit", ["9", "9_", ".9"])
def test_a_megabyte_that_is_almost_a_number_is_read_at_once(unit: str) -> None:
    """With a pattern that tries every place for the point, it would take hours."""
    text = unit * (1_000_000 // len(unit)) + "x"
    assert Document(f"a: {text}").value == {"a": text}


@pytest.mark.parametrize(
    ("text", "number"),
    [("1_.5", 1.5), ("1__0.5", 10.5), (".5", 0.5), ("007", 7.0), ("0_7", 7.0), ("-.5e-1", -0.05), ("1_0e2", 1_000.0)],
)
def test_what_is_a_number(text: str, number: float) -> None:
    assert Document(f"a: {text}").value == {"a": number}


@pytest.mark.parametrize("text", ["5.", "01_", "_1", ".", "1._5", "1e", "1.5_0", "1..5", "+", ""])
def test_what_is_no_number(text: str) -> None:
    assert Document(f"a: {text}").value == {"a": text or None}


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        Document(text)
    except YamlError as error:
        assert str(error).startswith("line ")
