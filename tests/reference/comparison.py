"""What two brokers have told in the same trial, and which differences are meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

MEANT = Path(__file__).parent / "meant.yaml"
NOT_TOLD = "(nothing)"
SENTENCE = " (sentence)"
ITSELF = "the trial itself"  # that broke off


class Meant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A difference that we mean. `where` is PROGRAM.TRIAL/CALL, with * for any text; `real` and `ours` are patterns."""

    where: str
    reason: str
    real: str = "(?s).*"
    ours: str = "(?s).*"

    def covers(self, difference: Difference) -> bool:
        return (
            fnmatchcase(difference.where, self.where.replace("[", "[[]"))
            and re.fullmatch(self.real, difference.real) is not None
            and re.fullmatch(self.ours, difference.ours) is not None
        )


class Difference(msgspec.Struct, frozen=True):
    """One call, and what each broker told."""

    where: str
    real: str
    ours: str

    @property
    def call(self) -> str:
        """PROGRAM.TRIAL/CALL, of a sentence, too."""
        return call_of(self.where)

    def __str__(self) -> str:
        return f"{self.where}\n    real: {_indented(self.real)}\n    ours: {_indented(self.ours)}"


def call_of(where: str) -> str:
    """The call that a sentence belongs to."""
    return where.removesuffix(SENTENCE)


def _indented(text: str) -> str:
    return text.replace("\n", "\n          ")


def meant_differences(path: Path = MEANT) -> list[Meant]:
    """Those of the file."""
    return msgspec.yaml.decode(path.read_bytes(), type=list[Meant])


def told_by_call(told: Mapping[str, Any]) -> dict[str, str]:
    """What a trial has told, by call. An error's sentence is a call of its own: the kinds may be the same."""
    found: dict[str, str] = {}
    for call, seen in told["seen"].items():
        found[call] = seen["text"]
        if seen["sentence"] is not None:
            found[f"{call}{SENTENCE}"] = seen["sentence"]
    if "failed" in told:
        found[ITSELF] = f"! {told['failed']}"
    return found


def differences(trial: str, real: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Difference]:
    """The calls that were answered differently; where the kind of an answer differs, its sentence is no news.

    A trial that breaks off is no comparison, even if it does so with both.
    """
    told, own = told_by_call(real), told_by_call(ours)
    found = []
    for call in told.keys() | own.keys():
        pair = told.get(call, NOT_TOLD), own.get(call, NOT_TOLD)
        told_apart = call.endswith(SENTENCE) and NOT_TOLD in pair
        if (pair[0] != pair[1] and not told_apart) or call == ITSELF:
            found.append(Difference(f"{trial}/{call}", *pair))
    return sorted(found, key=lambda each: each.where)


class Verdict(msgspec.Struct):
    """Of one program: calls that were told alike, that differ as meant, and others."""

    same: int = 0
    meant: int = 0
    different: list[Difference] = msgspec.field(default_factory=list)


class Judge:
    """Sorts differences, and keeps which entries of the file have matched."""

    def __init__(self, meant: Iterable[Meant]) -> None:
        self._meant = list(meant)
        self._matched: Counter[Meant] = Counter()

    def unmeant(self, found: Iterable[Difference]) -> list[Difference]:
        """Those that no entry covers."""
        left = []
        for difference in found:
            entry = next((each for each in self._meant if each.covers(difference)), None)
            if entry is None:
                left.append(difference)
            else:
                self._matched[entry] += 1
        return left

    @property
    def unmatched(self) -> list[Meant]:
        """Entries that nothing has matched."""
        return [each for each in self._meant if not self._matched[each]]
