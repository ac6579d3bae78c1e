"""The account as each face of the program shows it, held to the recount."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from resources.account import STATES
from tests.figures.recount.account import VERDICTS, Account
from widgets.dialogs.facts_table import FactsTable

#: The figures of a reader that are compared.
FIGURES = (
    *(
        "published",
        "redriven",
        "waiting",
        "in_hand",
        "acknowledged",
        "dead_lettered",
        "aborted",
        "expired",
        "evicted",
        "purged",
    ),
    *("deleted", "lost"),
)
SKIPPED = ("by a reset", "by its reader", "before it began")


def differences(shown: dict[str, Any], account: Account) -> list[str]:
    """What `shown`, as `brokerscope audit --json` writes it, says otherwise than the recount; [] if nothing."""
    return [
        *_rows(shown["readers"], account.readers()),
        *_verdicts(shown["verdicts"], account),
        *_again(shown, account),
    ]


def _rows(shown: Iterable[dict[str, Any]], counted: Iterable[dict[str, Any]]) -> list[str]:
    these, those = Counter(map(_flat, shown)), Counter(map(_flat, counted))
    found = [f"shown, and not counted: {line}" for line in these - those]
    return found + [f"counted, and not shown: {line}" for line in those - these]


def _flat(row: dict[str, Any]) -> str:
    figures = {name: row[name] for name in FIGURES} | {name: row["skipped"][name] for name in SKIPPED}
    came = figures["published"] + figures["redriven"]
    states = sum(figures.values()) - came - figures["lost"]
    assert states == came, f"the states of {row} do not add up to what was published and redriven"
    told = ", ".join(f"{name} {count}" for name, count in figures.items() if count)
    return f"{row['source']} for {row['reader'] or 'nobody'}: {told}"


def _verdicts(shown: dict[str, Any], account: Account) -> list[str]:
    holds = account.verdicts()
    found = []
    for name in VERDICTS:
        if shown[name]["holds"] != holds[name]:
            found.append(f"{name} is {shown[name]['holds']}, and not {holds[name]}: {shown[name]['because'][:2]}")
        elif bool(shown[name]["because"]) == holds[name]:
            found.append(f"{name} is {holds[name]} because {shown[name]['because'][:2]}")
    return found


def _again(shown: dict[str, Any], account: Account) -> list[str]:
    """Each delivery again with its reason; "" is a message that was only fetched again."""
    counted: Counter[tuple[Any, ...]] = Counter()
    for again in account.again:
        counted[again.source, again.partition, again.offset, again.reader, again.why, again.before, again.after] += 1
    these: Counter[tuple[Any, ...]] = Counter()
    for each in (*shown["delivered_again"], *shown["fetched_again"]):
        for offset in range(each["offset"], each["offset"] + each["count"]):
            these[
                each["source"],
                each["partition"],
                offset,
                *(each[name] for name in ("reader", "why", "before", "after")),
            ] += 1
    found = [f"told as given again, and not counted: {json.dumps(key)}" for key in these - counted]
    found += [f"counted as given again, and not told: {json.dumps(key)}" for key in counted - these]
    return found[:5] + ([f"and {len(found) - 5} more given again"] if len(found) > 5 else [])


def window_differences(shown: FactsTable, account: dict[str, Any]) -> list[str]:
    """What *Was anything lost?* says otherwise than the account as JSON: each count under the title of its state, each
    verdict with the first sentence of why, and whether it is green.
    """
    titles = {"Published": "published", "Redriven": "redriven", "Lost": "lost"} | {
        state.title: name for name, state in STATES.items()
    }
    these: Counter[str] = Counter()
    for source, reader, *figures in shown.rows:
        told: Counter[str] = Counter()
        for title, text in zip(shown.headers[2:], figures, strict=True):
            told[titles[title]] += _number(text)
        told["deleted"] += told.pop("compacted", 0)
        who = {"nobody": "", "queue": source}.get(reader, reader)
        these[f"{source} for {who}: {sorted((+told).items())}"] += 1
    those: Counter[str] = Counter()
    for row in account["readers"]:
        skipped = {"skipped_by_reset": "by a reset", "skipped_by_reader": "by its reader"}
        told = Counter({name: row[name] for name in FIGURES})
        told.update({name: row["skipped"][word] for name, word in skipped.items()})
        told["before_it_began"] = row["skipped"]["before it began"]
        those[f"{row['source']} for {row['reader']}: {sorted((+told).items())}"] += 1
    found = [f"shown, and not in the account: {line}" for line in these - those]
    found += [f"in the account, and not shown: {line}" for line in those - these]
    for verdict in account["verdicts"].values():
        for words in (verdict["answer"] or "", *verdict["because"][:1]):
            if words.casefold() not in shown.note.casefold():
                found.append(f"{words!r} is not in {shown.note!r}")
    holds = account["verdicts"]["nothing_lost"]["holds"]
    if (shown.state == "stable") != holds:
        found.append(f"{shown.sentence!r} is {shown.state}, and nothing_lost is {holds}")
    return found


def kit_differences(shown: dict[str, tuple[bool, list[str]]], account: dict[str, Any]) -> list[str]:
    """What the verdicts of the test kit, with the sentences of their findings, say otherwise than the account."""
    found = []
    for name in VERDICTS:
        told = account["verdicts"][name]
        if name == "in_order" and any("keys" in sentence for sentence in account["not_known"]):
            continue  # the test kit has the messages, and knows them all
        if shown.get(name) != (told["holds"], told["because"]):
            found.append(f"{name} is {shown.get(name)}, and not {told}")
    return found


def _number(text: str) -> int:
    return int("".join(each for each in text if each.isdigit()) or 0)
