"""Effectively once: offset and effect are committed together, whoever dies in between."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.clients.effects import SqliteEffects
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.producer import Producer
from broker_core.engine.broker_host import BrokerHost
from broker_core.messages import StoredMessage

MESSAGES = 12


def stored(offset: int) -> StoredMessage:
    return StoredMessage("orders", 0, offset, 0, 0, None, b"1")


def accounts(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS ledger (number INTEGER)")
    return connection


def test_an_error_undoes_the_effect_and_the_offset(tmp_path: Path):
    connection = accounts(tmp_path / "ledger.sqlite")
    effects = SqliteEffects(connection, "ledger")
    with effects.applying(stored(0)) as fresh:
        assert fresh
        connection.execute("INSERT INTO ledger VALUES (0)")
    with pytest.raises(ZeroDivisionError), effects.applying(stored(1)):
        connection.execute("INSERT INTO ledger VALUES (1)")
        raise ZeroDivisionError
    assert connection.execute("SELECT number FROM ledger").fetchall() == [(0,)]
    assert effects.offset("orders", 0) == 1
    connection.close()


def test_a_message_that_comes_again_to_another_reader_has_no_second_effect(tmp_path: Path):
    path = tmp_path / "ledger.sqlite"
    for _ in range(2):  # the second one is a reader that lost the partition, and does not know
        connection = accounts(path)
        effects = SqliteEffects(connection, "ledger")
        with effects.applying(stored(0)) as fresh:
            if fresh:
                connection.execute("INSERT INTO ledger VALUES (0)")
        connection.close()
    connection = accounts(path)
    assert connection.execute("SELECT count(*) FROM ledger").fetchone() == (1,)
    connection.close()


def work(folder: Path, die_before: str, die_at: int) -> None:
    """What the child does: effects for all messages, and at one of them, at one place, a kill -9 of itself."""
    connection = accounts(folder / "ledger.sqlite")
    effects = SqliteEffects(connection, "ledger")

    def die(where: str, number: int) -> None:
        if (where, number) == (die_before, die_at):
            os.kill(os.getpid(), signal.SIGKILL)

    with BrokerHost(folder / "broker") as host:
        consumer = GroupConsumer(
            host, "ledger", ["orders"], on_assigned=lambda partitions: effects.resume(consumer, partitions)
        )
        for message in consumer:
            number = int(message.value or b"")
            with effects.applying(message) as fresh:
                die("effect", number)
                if fresh:
                    connection.execute("INSERT INTO ledger VALUES (?)", (number,))
                die("commit", number)
            die("next", number)
            if number == MESSAGES - 1:
                break
    connection.close()


@pytest.mark.promise("10")
def test_a_kill_between_effect_and_commit_neither_loses_nor_repeats_one(tmp_path: Path):
    with BrokerHost(tmp_path / "broker") as host:
        Admin(host).create_topic("orders")
        with Producer(host) as producer:
            for number in range(MESSAGES):
                producer.send("orders", b"%d" % number)
    deaths = [("effect", 2), ("commit", 2), ("next", 4), ("commit", 7), ("nowhere", 0)]
    code = "import sys, pathlib; from tests.broker_core.clients.test_effects import work; "
    code += "work(pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))"
    statuses = []
    for where, number in deaths:
        child = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), where, str(number)],
            cwd=Path(__file__).parents[3],
            timeout=60,
            check=False,
        )
        statuses.append(child.returncode)
    assert statuses == [-signal.SIGKILL] * 4 + [0]
    connection = accounts(tmp_path / "ledger.sqlite")
    assert connection.execute("SELECT number FROM ledger").fetchall() == [(number,) for number in range(MESSAGES)]
    connection.close()
