"""`python -m tests.reference.schemas`: generated pairs of schemas, judged by Apache Avro, Apicurio and us.

With a number so many pairs of each language; `--all` prints what is meant, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
from collections import Counter
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from tests.reference.java_programs import NotHere
from tests.reference.schemas import oracles, own
from tests.reference.schemas.pairs import PAIRS

SEED = 42
_MEANT = Path(__file__).parent / "meant.yaml"


class Meant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A difference that we mean. `theirs` and `ours` are patterns of the whole answers, "" for any."""

    language: str
    reason: str
    theirs: str = ""
    ours: str = ""

    def covers(self, language: str, theirs: str, ours: str) -> bool:
        pairs = ((self.theirs, theirs), (self.ours, ours))
        return language == self.language and all(
            not pattern or re.fullmatch(pattern, told, re.DOTALL) for pattern, told in pairs
        )


def compare(count: int, show_all: bool) -> int:
    """The exit code: 1 if something differs that is not meant."""
    meant = msgspec.yaml.decode(_MEANT.read_bytes(), type=list[Meant])
    matched: Counter[Meant] = Counter()
    table = Table(title=f"{count:,} pairs a language, seed {SEED}", title_justify="left")
    for heading in ("", "same", "compatible", "meant", "different"):
        table.add_column(heading, justify="left" if not heading else "right")
    different: list[tuple[str, str, str]] = []
    for language, pair in PAIRS.items():
        rng = random.Random(f"{SEED} {language}")
        pairs = [(language, *pair(rng)) for _ in range(count)]
        same, compatible, before, differing = 0, 0, matched.total(), len(different)
        told = oracles.judged(pairs)
        with multiprocessing.Pool(2) as pool:
            own_answers = pool.starmap(
                own.judged, [(*asked, theirs) for asked, theirs in zip(pairs, told, strict=True)], 50
            )
        for asked, theirs, ours in zip(pairs, told, own_answers, strict=True):
            kind = ours.partition(":")[0]
            if theirs.partition(":")[0] == kind:  # compatible with a counterexample is neither
                same += 1
                compatible += ours == "compatible"
                continue
            entry = next((each for each in meant if each.covers(language, theirs, ours)), None)
            if entry is not None:
                matched[entry] += 1
            if entry is None or show_all:
                print(f"{language}{'' if entry is None else ' (meant)'}\n  {asked[1]}\n  {asked[2]}")
                print(f"    theirs: {theirs}\n    ours:   {ours}")
            if entry is None:
                different.append(asked)
        row = (same, compatible, matched.total() - before, len(different) - differing)
        table.add_row(language, *map(str, row))
    Console(width=100).print(table)
    for entry in meant:
        print(f"{matched[entry]:6} {entry.language}: {entry.reason}")
    return 1 if different else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reference.schemas")
    parser.add_argument("count", nargs="?", type=int, default=2_000)
    parser.add_argument("--all", action="store_true", help="print what differs as it is meant to, too")
    arguments = parser.parse_args()
    try:
        return compare(arguments.count, arguments.all)
    except NotHere as error:
        print(f"Nothing was compared with Apache Avro and Apicurio. {error}")
        return 0


if __name__ == "__main__":
    sys.exit(main())
