from __future__ import annotations

from collections.abc import Iterable


def meant(word: str, known: Iterable[str]) -> str:
    """ " (did you mean topics?)", or nothing if no known word is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""
