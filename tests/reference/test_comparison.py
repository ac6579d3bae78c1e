"""What counts as a difference between two brokers."""

from __future__ import annotations

from typing import Any

from tests.reference.comparison import Difference, Judge, Meant, differences, meant_differences


def told(failed: str = "", **seen: str | tuple[str, str]) -> dict[str, Any]:
    """As the programs tell it: a text, or an error's name with its sentence."""
    calls = {
        call: {"text": text[0], "sentence": text[1]} if isinstance(text, tuple) else {"text": text, "sentence": None}
        for call, text in seen.items()
    }
    return {"seen": calls, **({"failed": failed} if failed else {})}


def test_what_is_told_alike_is_no_difference():
    assert (
        differences("T.t", told(one="1", two=("! Bad", "It is bad.")), told(one="1", two=("! Bad", "It is bad."))) == []
    )


def test_a_sentence_is_a_difference_of_its_own_and_no_news_where_the_kind_differs():
    (found,) = differences("T.t", told(a=("! Bad", "It is bad.")), told(a=("! Bad", "Bad it is.")))
    assert found == Difference("T.t/a (sentence)", "It is bad.", "Bad it is.")
    (found,) = differences("T.t", told(a=("! Bad", "It is bad.")), told(a="fine"))
    assert found == Difference("T.t/a", "! Bad", "fine")


def test_a_call_that_only_one_has_made_and_a_trial_that_failed_are_told():
    found = differences("T.t", told(a="1", b="2"), told("out of memory", a="1"))
    assert [each.where for each in found] == ["T.t/b", "T.t/the trial itself"]


def test_a_trial_that_breaks_off_with_both_has_compared_nothing():
    (found,) = differences("T.t", told("out of memory", a="1"), told("out of memory", a="1"))
    assert found.where == "T.t/the trial itself"


def test_an_entry_covers_what_its_patterns_match_and_says_when_nothing_does():
    judge = Judge(
        [Meant("T.*/a", "why", real=r"\d+", ours="none"), Meant("T.t/b", "why"), Meant("T.t/never", "nothing is so")]
    )
    left = judge.unmeant(
        [Difference("T.t/a", "12", "none"), Difference("T.t/a", "12", "13"), Difference("T.t/b", "x\ny", "z")]
    )
    assert left == [Difference("T.t/a", "12", "13")]
    assert [each.where for each in judge.unmatched] == ["T.t/never"]


def test_every_meant_difference_has_its_reason():
    assert all(len(each.reason) > 10 for each in meant_differences())
    wheres = [(each.where, each.real, each.ours) for each in meant_differences()]
    assert len(set(wheres)) == len(wheres)
