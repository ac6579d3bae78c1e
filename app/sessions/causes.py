"""Causes of rebalances in the language of the program. Recordings keep the sentences of the broker, in English."""

from __future__ import annotations

import re

from widgets.i18n import localized, mark, tr

_SENTENCES = (
    mark("{client} joined"),
    mark("{client} left"),
    mark("{client} changed its subscription"),
    mark("{client} asked for a rebalance"),
    mark("{client} came back as {name}"),
    mark("{client} came back during a rebalance"),
    mark("{client} did not rejoin within {time}"),
    mark("{client} did not sync within {time}"),
    mark("{client} did not give up its partitions within {time}"),
    mark("{client} was moved to the bench"),
    mark("{client} was removed"),
    mark("{client} unsubscribed"),
    mark("{client} missed its heartbeats for {time}"),
    mark("{client} did not poll for {time}"),
    mark("the broker was started again"),
    mark("and {count} more"),
)
_PATTERNS = [(re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(text))), text) for text in _SENTENCES]


def cause_text(cause: str) -> str:
    """`cause` with each sentence translated that is the broker's own; clients give causes of any wording."""
    return "; ".join(_sentence(part) for part in cause.split("; "))


def _sentence(text: str) -> str:
    for pattern, known in _PATTERNS:
        if found := pattern.fullmatch(text):
            values = found.groupdict()
            if "time" in values:
                values["time"] = localized(values["time"])
            return tr(known, **values)
    return text
