from __future__ import annotations

import re

NAMES = 6  # ranks from here on: not the name fits, but what more is told
_WORD = re.compile(r"\w+")


def fit(text: str, name: str, *more: str) -> int | None:
    """0 for the name itself, larger the worse it fits, None if it does not: names first, then what `more` tells.

    A phrase goes before its words, beginnings of words before their insides; case does not matter.
    """
    wanted, title = " ".join(text.casefold().split()), " ".join(name.casefold().split())
    words = wanted.split()
    if title == wanted:
        return 0
    if title.startswith(wanted):
        return 1
    rest = " ".join(part.casefold() for part in more)
    for rank, whole in ((2, title), (NAMES, f"{title} {rest}")):
        begins = re.search(rf"(?<!\w){re.escape(wanted)}", whole) is not None
        if begins:
            return rank
        known = _WORD.findall(whole)
        if all(any(one.startswith(word) for one in known) for word in words):
            return rank + 1
        if wanted in whole:
            return rank + 2
        if all(word in whole for word in words):
            return rank + 3
    return None
