"""What was set or done otherwise in one session than in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

#: What a scenario says of itself is no setting.
_WORDS = frozenset({"title", "about", "watch", "try", "lesson"})
#: Settings of what is then among the faults and actions.
_TOLD_WHEN_DONE = "schedule."


class Otherwise(NamedTuple):
    """A setting, whose value was `value` instead of `base` ("" where it was not set); or, where `at_ns` says when,
    something that was `done`, or that was done in the other session alone.
    """

    what: str
    value: str = ""
    base: str = ""
    at_ns: int | None = None
    done: bool = True


def flat_settings(scenario: Mapping[str, Any], seed: int | None = None) -> dict[str, str]:
    """Each setting of a scenario by its path, as text: groups.billing.assignor, range. `seed` is the one that it ran
    with, where that is known: it may be another than the scenario's own.
    """
    settings = {name: one for name, one in scenario.items() if name not in _WORDS}
    return dict(_flat(settings if seed is None else {**settings, "seed": seed}))


def done_in_words(cause: str, client: str) -> str:
    """A fault or an action by its effect, with its target where the text does not name it."""
    return f"{cause} ({client})" if client and client not in cause else cause


def otherwise(
    settings: Mapping[str, str], base_settings: Mapping[str, str], done: Mapping[str, int], base_done: Mapping[str, int]
) -> list[Otherwise]:
    """The differences from the base: settings by path, then faults and actions in words with their first times."""
    names = dict.fromkeys((*base_settings, *settings))
    told = [
        Otherwise(name, settings.get(name, ""), base_settings.get(name, ""))
        for name in names
        if settings.get(name) != base_settings.get(name) and not name.startswith(_TOLD_WHEN_DONE)
    ]
    told += [Otherwise(what, at_ns=at) for what, at in done.items() if what not in base_done]
    return told + [Otherwise(what, at_ns=at, done=False) for what, at in base_done.items() if what not in done]


def _flat(found: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(found, dict):
        for name, one in found.items():
            yield from _flat(one, f"{path}.{name}" if path else str(name))
    elif isinstance(found, list):
        for number, one in enumerate(found, 1):
            name = one.get("name") if isinstance(one, dict) else None
            yield from _flat(one, f"{path}.{name or number}")
    else:
        yield path, str(found)
