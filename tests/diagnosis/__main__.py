"""`make diagnosis`: findings measured against known causes, as a confusion matrix."""

from __future__ import annotations

import argparse
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from spark_reports.findings.find import find
from spark_reports.findings.finding import Finding
from tests.diagnosis.advice import follow
from tests.diagnosis.judge import Judged, judge, matrix
from tests.diagnosis.scenarios import Case, cases, draw
from tests.diagnosis.sessions import events_of, made


def judged(which: tuple[int, tuple[str, ...]], folder: Path, again: bool) -> Judged:
    """One case; its events and tables are kept in `folder`. `again` makes the tables anew."""
    case = draw(*which)
    events = events_of(case, folder)
    kept = folder / f"{case.seed}-{len(events[0])}.tables"
    if again or not kept.exists():
        tables = made(*events)
        kept.write_bytes(pickle.dumps((tables.rows(), tables.scale)))
    rows, scale = pickle.loads(kept.read_bytes())
    found = find(rows, scale, scenario=case.text)
    return judge(case, found)


def followed(which: tuple[int, tuple[str, ...]], folder: Path) -> str:
    """What came of the advice of the first finding: its kind, and whether there is less harm."""
    case = draw(*which)
    before = _findings(case, folder)
    first = next((one for one in before if one.harm.weight_s > 0), None)
    again = follow(case, first) if first is not None else None
    if first is None or again is None:
        return f"{first.kind if first else 'nothing'}: no advice"
    harms = [sum(one.harm.weight_s for one in found) for found in (before, _findings(again, folder))]
    return (
        f"{first.kind}: {'better' if harms[1] < 0.8 * harms[0] else 'not better'} ({harms[0]:,.0f} to {harms[1]:,.0f})"
    )


def _findings(case: Case, folder: Path) -> list[Finding]:
    tables = made(*events_of(case, folder))
    rows = tables.rows()
    return find(rows, tables.scale, scenario=case.text)


def main() -> int:
    """Prints the matrix, and each case that is not as it should be."""
    parser = argparse.ArgumentParser(prog="make diagnosis", description=__doc__)
    parser.add_argument("--cases", type=int, default=400, help="with one cause or none")
    parser.add_argument("--pairs", type=int, default=60, help="with two causes")
    parser.add_argument("--first", type=int, default=0, help="the first seed: from 10000 on nothing was tuned on them")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth")
    parser.add_argument("--only", default="", help="only this cause")
    parser.add_argument("--follow", type=int, default=100, help="of so many the advice is followed, and judged")
    parser.add_argument("--again", action="store_true", help="make the tables anew from the events that are kept")
    parser.add_argument("--folder", type=Path, default=Path("build/diagnosis"), help="where events and tables are kept")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    wanted = cases(asked.cases, asked.pairs, asked.first)[:: asked.every]
    if asked.only:
        wanted = [one for one in wanted if asked.only in one[1] or (asked.only == "healthy" and not one[1])]
    with ProcessPoolExecutor(asked.processes) as pool:
        found = list(pool.map(partial(judged, folder=asked.folder, again=asked.again), wanted))
        single = [one for one in wanted if len(one[1]) == 1]
        some = single[:: max(1, len(single) // max(asked.follow, 1))][: asked.follow]
        came = list(pool.map(partial(followed, folder=asked.folder), some))
    for one in found:
        if not one.is_good:
            print(f"{one.case.seed} {one.case.cause}: {one.first}; {', '.join(one.innocent)}")
    print(matrix(found))
    print(*(one for one in came if ": better" not in one), sep="\n")
    print(f"advice followed: better in {sum(': better' in one for one in came)} of {len(came)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
