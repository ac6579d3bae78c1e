"""What has changed between two lists of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

MAX_RANGES = 64


@dataclass(frozen=True, slots=True)
class RowChanges:
    """Removals as (first, last) in the old list, from the bottom up; then insertions as (first, last) in the new list,
    from the top down. `moved` says that this is not enough, because rows changed places or the ranges are too many.
    """

    removals: tuple[tuple[int, int], ...] = ()
    insertions: tuple[tuple[int, int], ...] = ()
    moved: bool = False


def common_prefix(old: Sequence[object], new: Sequence[object]) -> int:
    """How many rows at the beginning are equal; slices are compared, so that the loop runs in C."""
    low, high = 0, min(len(old), len(new))
    if old[:high] == new[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        is_equal = old[low:middle] == new[low:middle]
        low, high = (middle, high) if is_equal else (low, middle - 1)
    return low


def common_suffix(old: Sequence[object], new: Sequence[object], first: int = 0) -> int:
    """How many rows at the end are equal, without the `first` ones of both."""
    low, high = 0, min(len(old), len(new)) - first
    while low < high:
        middle = (low + high + 1) // 2
        # Only what is not known yet to be equal is compared.
        is_equal = old[len(old) - middle : len(old) - low] == new[len(new) - middle : len(new) - low]
        low, high = (middle, high) if is_equal else (low, middle - 1)
    return low


def row_changes(old: Sequence[Hashable], new: Sequence[Hashable], first: int = 0) -> RowChanges:
    """The changes that turn the keys `old` into `new`, unique in each; `first` is added to every position."""
    if old == new:
        return RowChanges()
    stays, comes_from = set(new), set(old)
    if [key for key in old if key in stays] != [key for key in new if key in comes_from]:
        return RowChanges(moved=True)
    removals = _ranges([place for place, key in enumerate(old, first) if key not in stays])
    insertions = _ranges([place for place, key in enumerate(new, first) if key not in comes_from])
    if len(removals) + len(insertions) > MAX_RANGES:
        return RowChanges(moved=True)
    return RowChanges(tuple(reversed(removals)), tuple(insertions))


def _ranges(places: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for place in places:
        if found and found[-1][1] == place - 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
