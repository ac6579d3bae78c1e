"""The checklist of the core (A1 to D5) and the promises (1 to 48): each is held by tests with the mark `promise`.

Not every test of a row has it, only those that show it best: `pytest -m "promise" --collect-only` lists them.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parent
#: What each row is about, and how many tests hold it at least: who takes one away says so here.
ROWS = {
    "A1": ("partitions and keys", 4),
    "A2": ("groups and their assignors", 4),
    "A3": ("rebalances", 9),
    "A4": ("dead consumers", 2),
    "A5": ("committed offsets", 5),
    "A6": ("seek and reset", 4),
    "A7": ("lag", 2),
    "A8": ("queues", 5),
    "A9": ("priorities", 3),
    "A10": ("leases", 4),
    "A11": ("attempts", 2),
    "A12": ("retry policies", 3),
    "A13": ("dead letters", 8),
    "A14": ("the log", 5),
    "A15": ("a restart", 3),
    "A16": ("rates and depths", 4),
    "A17": ("slow readers", 1),
    "A18": ("schemas", 5),
    "A19": ("serializers", 3),
    "A21": ("middleware", 4),
    "A22": ("figures", 2),
    "A23": ("the producer", 6),
    "A24": ("messages", 5),
    "C1": ("fan-out", 2),
    "C2": ("several topics", 1),
    "C3": ("publishers and subscribers", 1),
    "C4": ("backpressure policies", 3),
    "C5": ("guarantees", 2),
    "C6": ("load balancing", 2),
    "C7": ("counters that add up", 3),
    "C8": ("the measured figures", 4),
    "D1": ("three forms", 1),
    "D2": ("stored on return", 1),
    "D3": ("pull and acknowledge", 1),
    "D4": ("replay", 1),
    "D5": ("storage, priorities, several", 1),
    "1": ("the death of the process", 4),
    "2": ("a power cut", 1),
    "3": ("a torn tail", 1),
    "4": ("no wrong byte", 6),
    "5": ("a full disk", 3),
    "6": ("a failed fsync", 1),
    "7": ("one value per offset", 3),
    "8": ("at least once", 2),
    "9": ("at most once", 2),
    "10": ("effectively once", 3),
    "11": ("order and starvation", 3),
    "12": ("one holder", 2),
    "13": ("poison", 5),
    "14": ("one owner", 2),
    "15": ("slow consumers", 2),
    "16": ("depths and sums", 2),
    "17": ("the wall clock", 2),
    "18": ("the same run", 1),
    "19": ("malformed frames", 6),
    "20": ("oversize", 3),
    "21": ("silent and slow connections", 5),
    "22": ("loopback, Host and Origin", 6),
    "23": ("names", 3),
    "24": ("loading never executes", 2),
    "25": ("a payload is never markup", 7),
    "26": ("exported CSV", 2),
    "27": ("a compression bomb", 3),
    "28": ("a damaged SQLite file", 7),
    "29": ("schemas", 2),
    "30": ("nothing leaks", 4),
    "31": ("one moment, one set of figures", 3),
    "32": ("what failed", 5),
    "33": ("settings are judged when they are made", 2),
    "34": ("durable acknowledgements", 3),
    "35": ("a real client loses nothing that it was told is stored", 2),
    "36": ("a transaction is all or nothing", 3),
    "37": ("what is opened for one is closed to others", 2),
    "38": ("the work of a request is bounded", 8),
    "39": ("what is not asked for costs nothing", 3),
    "40": ("what may not be read is not named", 5),
    "41": ("no correct program is accused", 5),
    "42": ("looking changes nothing", 3),
    "43": ("what Kafka answers, we answer", 1),
    "44": ("window, report, kit and recount say one thing", 9),
    "46": ("between changes addresses, and nothing else where no fault is set", 8),
    "47": ("nothing is written to a cluster while it is locked", 6),
    "48": ("a redrive loses nothing and names each duplicate, and an undo is exact", 3),
}


def marked() -> Counter[str]:
    """How many marks of tests name each row."""
    found = Counter[str]()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "mark.promise(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.promise":
                found.update(str(each.value) for each in node.args if isinstance(each, ast.Constant))
    return found


def test_each_row_is_held_by_its_tests_and_no_mark_names_another() -> None:
    found = marked()
    assert found.keys() == ROWS.keys()
    assert {row: found[row] for row, (_about, least) in ROWS.items() if found[row] < least} == {}
