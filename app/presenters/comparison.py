"""The table of two sessions side by side: what differs, whether that is better or worse, and what it comes of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.sessions.compare import LENGTH, Figures, Key, likely_cause
from resources.measures import Unit, Verdict, unlike, verdict
from resources.otherwise import Otherwise, otherwise
from widgets.dialogs.facts_table import FactsTable
from widgets.formats import NOT_APPLICABLE, byte_size, duration, per_second, session_time
from widgets.i18n import localized, mark, tr

_CAUSES_TOLD = 4
_ORDER: tuple[Verdict, ...] = ("worse", "better", "different", "", "noise", "same")
_VERDICTS: dict[Verdict, str] = {
    "": "",
    "same": "",
    "noise": mark("may be chance"),
    "better": mark("better"),
    "worse": mark("worse"),
    "different": mark("different"),
}
_LOOKS: dict[Verdict, tuple[str, str]] = {"better": ("stable", "check"), "worse": ("failure", "warning")}
_FORMATS: dict[Unit, Callable[[float], str]] = {
    "count": lambda value: localized(f"{value:,.0f}"),
    "duration": lambda value: duration(round(value)),
    "rate": per_second,
    "size": byte_size,
}


def comparison(figures: Figures, others: Figures) -> FactsTable:
    """The differences of `figures` from `others`, the worse first; better or worse as the report judges them, and what
    each comes of as far as that can be told. What does not differ is folded."""
    lengths_differ = unlike(figures.values.get(LENGTH, 0), others.values.get(LENGTH, 0))
    mine, theirs = figures.setup, others.setup
    causes = otherwise(mine.settings, theirs.settings, mine.done, theirs.done)
    judged: dict[Key, Verdict] = {}
    for key in dict.fromkeys((*figures.values, *others.values)):
        measure = figures.measures.get(key) or others.measures[key]
        judged[key] = verdict(measure, figures.values.get(key), others.values.get(key), lengths_differ=lengths_differ)
    keys = sorted(judged, key=lambda key: _ORDER.index(judged[key]))
    # Of sessions of different lengths, any difference may come of that.
    explained = set() if lengths_differ else {"better", "worse", "different"}
    telling = [key for key in keys if judged[key] not in ("same", "noise")]
    sentence = (
        tr("{count} of {all} figures differ.", count=len(telling), all=len(keys))
        if telling
        else tr("No figure differs by more than a tenth and by more than chance would explain.")
        if any(found != "same" for found in judged.values())
        else tr("The two runs agree in every figure.")
    )
    notes = [_told(causes)] if causes else []
    if lengths_differ:
        notes.append(tr("Of sessions of different lengths, what grows with them is not judged, and no cause is named."))
    notes.append(
        tr(
            "Figures that differ by at most 2 % or 1 ms count as the same. Differences of up to a tenth, and "
            "differences between counts that may be chance, are not judged. Greatest lag and depth are taken from the "
            "recorded moments, about one per second."
        )
    )
    return FactsTable(
        sentence,
        (tr("Figure"), tr("Of"), figures.name, others.name, tr("Difference"), tr("Verdict"), tr("Comes from")),
        tuple(_row(key, figures, others, judged[key], causes if judged[key] in explained else ()) for key in keys),
        numeric=frozenset({2, 3, 4}),
        note=" ".join(notes),
        wide=6,
        folded=frozenset(range(len(telling), len(keys))),
        verdicts={row: (5, *_LOOKS[judged[key]]) for row, key in enumerate(telling) if judged[key] in _LOOKS},
    )


def _row(key: Key, figures: Figures, others: Figures, judged: Verdict, causes: Sequence[Otherwise]) -> tuple[str, ...]:
    measure = figures.measures.get(key) or others.measures[key]
    mine, theirs = figures.values.get(key), others.values.get(key)
    cause = likely_cause(causes, figures.parting_ns(others, key[1])) if causes else None
    return (
        tr(measure.label),
        key[1] or tr("all"),
        _text(mine, measure.unit),
        _text(theirs, measure.unit),
        _difference(mine, theirs, measure.unit),
        tr(_VERDICTS[judged]),
        "" if cause is None else words_of(cause),
    )


def words_of(one: Otherwise) -> str:
    if one.at_ns is None:
        value, base = one.value or tr("not set"), one.base or tr("not set")
        return tr("{name} is {value} instead of {base}", name=one.what, value=value, base=base)
    at = session_time(one.at_ns).partition(".")[0]
    if one.done:
        return tr("{what} at {time}", what=one.what, time=at)
    return tr("no {what} at {time}", what=one.what, time=at)


def _told(causes: Sequence[Otherwise]) -> str:
    words = [words_of(one) for one in causes]
    if len(words) > _CAUSES_TOLD:
        words = [*words[:_CAUSES_TOLD], tr("{count:,} more", count=len(words) - _CAUSES_TOLD)]
    return tr("Differences: {what}.", what="; ".join(words))


def _text(value: float | None, unit: Unit) -> str:
    return NOT_APPLICABLE if value is None else _FORMATS[unit](value)


def _difference(mine: float | None, theirs: float | None, unit: Unit) -> str:
    if mine is None or theirs is None or mine == theirs:
        return "" if mine == theirs else NOT_APPLICABLE
    change = mine - theirs
    sign = "+" if change > 0 else "−"
    share = f" ({change / theirs:+.0%})" if theirs else ""
    return f"{sign}{_FORMATS[unit](abs(change))}{share}"
