from __future__ import annotations

from typing import NamedTuple

import resources
from widgets.i18n import mark, tr


class StateStyle(NamedTuple):
    """A colour token of `Theme` (its soft fill is `token + "_soft"`), an icon name, and the word to show."""

    token: str
    icon: str
    word: str


_FOUND = resources.table("themes", "states.toml")
STATE_STYLES = {
    word.lower(): StateStyle(token, icon, word) for part in _FOUND.values() for word, (token, icon) in part.items()
}


# A state whose English word is also that of a button: other languages have two words for it.
_APART = {"Open": mark("open")}


def state_style(word: str) -> StateStyle:
    """The style of a state word in any case, the word in the language of the program.

    An unknown word is shown as it is, in the neutral colour.
    """
    style = STATE_STYLES.get(word.strip().lower())
    if style is None:
        return StateStyle("idle", "info", word)
    shown = tr(_APART.get(style.word, style.word))
    return style._replace(word=f"{shown[:1].upper()}{shown[1:]}")
