"""`make reference`: every program on a broker of Apache Kafka and on ours, and a table of what differs.

`make reference-between`: on Kafka directly, and through the ports of `brokerscope between`, which change nothing.

With names of programs or trials (`Topics`, `Topics.create`) only those; `--all` prints everything that was told.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.reference import brokers
from tests.reference.comparison import Difference, Judge, Verdict, call_of, differences, meant_differences, told_by_call
from tests.reference.faults import short
from tests.reference.java_programs import NotHere, Trials, libraries, versions

#: What differs between any two brokers: a number of tries, and the time of now in a sentence.
BY_THE_CLOCK = frozenset(
    {"Topics.offsets_of_no_partition/asked for (sentence)", "Producers.times/two hours to come (sentence)"}
)
MOST_ALONE = 10  # where more differ, it is not for the machine


class Comparison:
    """Both brokers, the programs, and what they have told."""

    def __init__(self, trials: Trials, real: str, ours: str, judge: Judge, show_all: bool) -> None:
        self._trials, self._servers, self._judge, self._show_all = trials, {"real": real, "ours": ours}, judge, show_all
        self._runs = 0

    def _begun(self, where: str) -> dict[str, Any]:
        self._runs += 1
        program, trial = where.split(".")
        prefix = f"r{self._runs}-{trial.replace('_', '-')}-"
        real = self._servers["real"]
        return {
            name: self._trials.ask(program, trial, servers, real, prefix) for name, servers in self._servers.items()
        }

    def _told(self, wheres: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """What both have told in these trials, several of which run at a time."""
        for where, begun in [(where, self._begun(where)) for where in wheres]:
            told = {name: answer.get() for name, answer in begun.items()}
            if self._show_all:
                show(where, told)
            yield where, told

    def run(self, wanted: Sequence[str]) -> dict[str, Verdict]:
        """Every trial on both, by program.

        What differs is tried again, with the others that differ and then alone: on a busy machine a call may end late.
        A difference counts if it is there each time.
        """
        verdicts = {where.partition(".")[0]: Verdict() for where in wanted}
        left: dict[str, list[Difference]] = {}
        for where, told in self._told(wanted):
            verdict, found = verdicts[where.partition(".")[0]], differences(where, told["real"], told["ours"])
            left[where] = self._judge.unmeant(found)
            told_apart = {each.call for each in found}
            verdict.meant += len(told_apart - {each.call for each in left[where]})
            calls = {f"{where}/{call_of(call)}" for each in told.values() for call in told_by_call(each)}
            verdict.same += len(calls - told_apart)
        for alone in (False, True):
            doubtful = [where for where, found in left.items() if found]
            if alone and len(doubtful) > MOST_ALONE:
                break
            for some in [[each] for each in doubtful] if alone else [doubtful]:
                for where, told in self._told(some):
                    again = self._judge.unmeant(differences(where, told["real"], told["ours"]))
                    repeated = {each.where for each in again}
                    verdicts[where.partition(".")[0]].same += len(
                        {e.call for e in left[where] if e.where not in repeated}
                    )
                    left[where] = [each for each in left[where] if each.where in repeated]
        for where, found in left.items():
            verdicts[where.partition(".")[0]].different += found
        return verdicts


def show(where: str, told: dict[str, Any]) -> None:
    """Everything that both have told."""
    print(f"== {where}: real {told['real']['seconds']:.1f} s, ours {told['ours']['seconds']:.1f} s", flush=True)
    real, ours = told_by_call(told["real"]), told_by_call(told["ours"])
    for call in real | ours:
        print(f"{call}\n  real {real.get(call)}\n  ours {ours.get(call)}")


def print_table(verdicts: dict[str, Verdict], title: str) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("program")
    for heading in ("same", "meant", "different"):
        table.add_column(heading, justify="right")
    for name, verdict in verdicts.items():
        table.add_row(name, str(verdict.same), str(verdict.meant), str(len(verdict.different)))
    every = verdicts.values()
    table.add_section()
    sums = (
        sum(each.same for each in every),
        sum(each.meant for each in every),
        sum(len(each.different) for each in every),
    )
    table.add_row("", *map(str, sums))
    Console(width=100).print(table)


def compare(chosen: list[str], show_all: bool, between: bool) -> int:
    """The exit code: 1 if something differs that is not meant; through `between` nothing is."""
    began_s = time.monotonic()
    jars = libraries()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reference-")))
        real = stack.enter_context(brokers.kafka(jars, folder))
        (behind := folder / "behind").mkdir()
        through = stack.enter_context(brokers.kafka(jars, behind)) if between else ""
        own = stack.enter_context(brokers.ours(folder, through))
        trials = stack.enter_context(contextlib.closing(Trials(jars, folder / "programs.log")))
        wanted = [
            f"{program}.{trial}"
            for program, names in trials.programs.items()
            for trial in names
            if not chosen or {program, f"{program}.{trial}"} & set(chosen)
        ]
        judge = Judge([] if between else meant_differences())
        verdicts = Comparison(trials, real, own, judge, show_all).run(wanted)
        is_seen = bool(chosen) or between or short(real, jars, folder)
    version = versions()["kafka_2.13"]
    elapsed_s = time.monotonic() - began_s
    other = "itself through between" if between else "Brokerscope"
    print_table(verdicts, f"Apache Kafka {version} and {other}: {len(wanted)} trials, {elapsed_s:.0f} s")
    unmeant = [
        each
        for verdict in verdicts.values()
        for each in verdict.different
        if not (between and each.where in BY_THE_CLOCK)
    ]
    for difference in unmeant:
        print(difference)
    if not chosen:
        for entry in judge.unmatched:
            print(f"meant.yaml: nothing differs any more as {entry.where!r} says ({entry.reason})")
    if unmeant:
        print(
            f"{len(unmeant)} differences are not meant: mend them, or give their reason in tests/reference/meant.yaml."
        )
    if not is_seen:
        print("What attach shows of Kafka is not what Kafka's administrator tells: see above.")
    return 1 if unmeant or not is_seen else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reference")
    parser.add_argument("only", nargs="*", metavar="PROGRAM[.TRIAL]")
    parser.add_argument("--all", action="store_true", help="print everything that both have told")
    parser.add_argument("--between", action="store_true", help="Kafka through brokerscope between, and directly")
    arguments = parser.parse_args()
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, lambda number, _frame: sys.exit(128 + number))
    try:
        return compare(arguments.only, arguments.all, arguments.between)
    except NotHere as error:
        print(f"Nothing was compared with Apache Kafka. {error}")
        return 0
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
