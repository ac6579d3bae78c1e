"""Differences between two versions of a schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from broker_core.schemas.json_text import write_json
from broker_core.schemas.problem import pointer_to

Path = tuple[object, ...]


class SchemaChange(msgspec.Struct, frozen=True):
    """A difference. `what` is added, removed or changed; `before` and `after` are JSON texts or None.

    `pointer` is a JSON pointer into the newer text, for a removal into the older one.
    """

    what: str
    pointer: str
    before: str | None
    after: str | None


def changes(before: Any, after: Any) -> list[SchemaChange]:
    """The differences between two JSON values, in the order of the newer one.

    Lists of named objects, such as Avro's fields, are matched by name, lists of texts (`required`, `symbols`) as sets.
    """
    return list(_between(before, after, (), ()))


def _between(before: Any, after: Any, old: Path, new: Path) -> Iterator[SchemaChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(before, after, old, new, {name: name for name in before}, {name: name for name in after})
    elif isinstance(before, list) and isinstance(after, list):
        names_before, names_after = _names(before), _names(after)
        if names_before is not None and names_after is not None:
            yield from _members(before, after, old, new, names_before, names_after)
            if [*names_before] != [*names_after] and set(names_before) == set(names_after):
                yield SchemaChange("changed", pointer_to(*new), write_json([*names_before]), write_json([*names_after]))
        else:
            places = {index: index for index in range(len(before))}, {index: index for index in range(len(after))}
            yield from _members(before, after, old, new, *places)
    elif write_json(before) != write_json(after):
        yield SchemaChange("changed", pointer_to(*new), write_json(before), write_json(after))


def _members(
    before: Any, after: Any, old: Path, new: Path, names: dict[Any, Any], later: dict[Any, Any]
) -> Iterator[SchemaChange]:
    """`names` and `later` map the matching key of a member to its key or index."""
    for name, place in names.items():
        if name not in later:
            yield SchemaChange("removed", pointer_to(*old, place), write_json(before[place]), None)
    for name, place in later.items():
        if name in names:
            yield from _between(before[names[name]], after[place], (*old, names[name]), (*new, place))
        else:
            yield SchemaChange("added", pointer_to(*new, place), None, write_json(after[place]))


def _names(items: list[Any]) -> dict[str, int] | None:
    """Index by name of the items of a list, or None if they have no unique names."""
    names: dict[str, int] = {}
    for place, item in enumerate(items):
        name = item.get("name") if isinstance(item, dict) else item
        if not isinstance(name, str) or name in names:
            return None
        names[name] = place
    return names
