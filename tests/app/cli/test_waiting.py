"""Who waits is told once what for, on standard error; a program that reads JSON from both streams is not disturbed."""

from __future__ import annotations

import io
import os
import pty
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from app.cli.main import main
from app.cli.notes import Quiet
from app.environment.exits import Exit
from broker_core import BrokerHost, FlowConfig
from broker_core.clients.group_consumer import GroupConsumer
from broker_core.clients.http_readers import HttpGroupReader
from broker_core.clients.producer import Producer
from broker_core.errors import BrokerError, ErrorCode
from broker_core.listeners.http.listener import HttpListener
from tests.app.cli.conftest import Shell, started
from tests.broker_core.admin import Admin


class Place:
    """A broker with an empty topic and an empty queue, and a listener."""

    def __init__(self, host: BrokerHost, http: HttpListener) -> None:
        self.host, self.http = host, http.url

    @property
    def broker(self) -> tuple[str, str]:
        return ("--broker", self.http)


@pytest.fixture
def place() -> Iterator[Place]:
    with BrokerHost() as host, HttpListener(host, port=0) as http:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        yield Place(host, http)


def terminal() -> tuple[int, int]:
    """Both ends of one. A container may have none to give."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be made here ({error})")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("consume", "orders"), "messages of orders"),
        (("consume", "orders", "--partition", "0"), "messages of orders"),
        (("consume", "orders", "--group", "g"), "messages of orders in the group g"),
        (("consume", "jobs"), "messages of the queue jobs"),
        (("http-consume", "--topic", "orders", "--poll-interval", "0.1"), "messages of orders"),
    ],
)
def test_a_reader_of_nothing_is_told_once_and_ctrl_c_ends_it(place: Place, words: tuple[str, ...], what: str) -> None:
    where = ("--broker", place.http) if words[0] == "http-consume" else place.broker
    reader = started(*words, *where)
    assert reader.stderr.readline().decode() == f"Waiting for {what}; Ctrl+C ends it.\n"
    reader.send_signal(signal.SIGINT)
    out, rest = reader.communicate(timeout=30)
    assert (out, rest, reader.returncode) == (b"", b"", 130)


def test_who_gets_no_partition_is_told_why(place: Place) -> None:
    with GroupConsumer(place.host, "g", ["orders"]) as first:
        while not first.assignment:
            first.poll(0.05)
        reader = started("consume", "orders", "--group", "g", *place.broker)
        first.poll(3.0)
        told = reader.stderr.readline().decode()
        reader.send_signal(signal.SIGINT)
        reader.communicate(timeout=30)
    assert told.startswith("Waiting for ") and told.endswith("; Ctrl+C ends it.\n")


def test_a_reader_with_a_limit_is_told_the_limit_and_what_comes_is_heard(shell: Shell) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "a")
    assert shell("consume", "orders", "--timeout", 1.6).endswith("  a\n")
    assert shell.error == "Waiting for messages of orders, for 1.6 s at most; Ctrl+C ends it.\n"
    shell("consume", "orders", "--count", 1)
    assert shell.error == "", "who gets what was wanted waits for nothing"
    assert len(shell.rows("consume", "orders", "--timeout", 1.6)) == 1
    assert shell.error == "", "a program may have joined the streams"


def test_on_a_terminal_json_does_not_keep_a_person_from_being_told(place: Place) -> None:
    leader, follower = terminal()
    reader = started("consume", "orders", "--json", *place.broker, stderr=follower)
    os.close(follower)
    assert b"Waiting for messages of orders" in os.read(leader, 1_000)
    reader.send_signal(signal.SIGINT)
    assert reader.communicate(timeout=30)[0] == b""
    os.close(leader)


def test_what_is_waited_for_is_told_once_only(monkeypatch: Any, capsys: Any) -> None:
    now_s = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    quiet = Quiet(lambda: "rain", 9.0)
    assert not quiet.over() and capsys.readouterr().err == ""
    for second in (2.0, 4.0):
        now_s[0] = second
        assert not quiet.over()
    quiet.heard()
    now_s[0] = 12.0
    assert not quiet.over()
    now_s[0] = 13.0
    assert quiet.over()
    assert capsys.readouterr().err == "Waiting for rain, for 9 s at most; Ctrl+C ends it.\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("produce", "orders"), b"Type one message per line; Ctrl+D"),
        (("schemas", "register", "s", "-"), b"Type the schema; Ctrl+D"),
    ],
)
def test_who_types_is_told_how_that_ends(place: Place, words: tuple[str, ...], told: bytes) -> None:
    leader, follower = terminal()
    typist = started(*words, *place.broker, stdin=follower)
    os.close(follower)
    assert told in typist.stderr.readline()
    os.write(leader, b'{"type": "object"}\n\x04')
    out, err = typist.communicate(timeout=30)
    os.close(leader)
    assert (typist.returncode, err) == (0, b"")
    assert out.startswith((b"Published 1 message", b"s has version 1"))


def test_the_broker_that_holds_back_an_http_producer_is_told_beside_the_output(place: Place, capsys: Any) -> None:
    Admin(place.host).create_topic("slow", flow=FlowConfig(rate_per_s=1, policy="reject"))
    words = ("http-produce", "--topic", "slow", "--count", "3", "--broker", place.http)
    assert main(list(words)) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == ["slow @0", "slow @1", "slow @2"]
    assert "The broker asks to wait" in told.err


def test_a_redrive_that_takes_its_time_is_told_and_ctrl_c_leaves_the_rest(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    Admin(place.host).create_topic("t")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"type": "object"}')))
    for words in (
        ("schemas", "register", "s", "-"),
        ("schemas", "rule", "t", "--subject", "s", "--mode", "dead_letter"),
        ("produce", "t", *"123456"),
        ("schemas", "rule", "t", "--none"),
    ):
        assert main([*words, *place.broker]) == 0
    words = ("dlq", "redrive", "t", "--all", "--rate", "0.1", *place.broker)
    redrive = started(*words)
    assert redrive.stderr.readline() == b"Redriving 6 dead letters in 60 s; Ctrl+C leaves the rest.\n"
    redrive.send_signal(signal.SIGINT)
    out, err = redrive.communicate(timeout=30)
    assert (out, err, redrive.returncode) == (b"Redrove 1 dead letter of t.\n", b"", 130)
    assert sum(Admin(place.host).dead_letters_by_cause("t").values()) == 5


def test_who_waits_is_told_that_the_broker_is_gone_and_that_it_is_back() -> None:
    with BrokerHost() as host:
        Admin(host).create_topic("orders")
        listener = HttpListener(host)
        listener.start()
        words = ("consume", "orders", "--count", "1", "--broker", listener.url)
        reader = started(*words)
        assert reader.stderr.readline().startswith(b"Waiting for messages of orders")
        listener.close()
        assert reader.stderr.readline() == b"The connection to the broker is lost; retrying, Ctrl+C gives up.\n"
        with HttpListener(host, port=listener.port):
            assert reader.stderr.readline() == b"The broker is back.\n"
            with Producer(host) as producer:
                producer.publish("orders", b"late")
            out, err = reader.communicate(timeout=60)
    assert (out, err, reader.returncode) == (b"orders/0 @0  late\n", b"", 0)


def test_partitions_that_were_shared_out_anew_do_not_end_a_reader(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "a")
    commit = HttpGroupReader.commit

    def refused(reader: Any, *_offsets: Any) -> None:
        monkeypatch.setattr(HttpGroupReader, "commit", commit)
        raise BrokerError(ErrorCode.ILLEGAL_GENERATION, "1 of g")

    monkeypatch.setattr(HttpGroupReader, "commit", refused)
    assert shell("consume", "orders", "--group", "g", "--timeout", 0.8).endswith("  a\n")
    assert (shell.code, "the last messages printed may be repeated" in shell.error) == (0, True)


def test_a_reader_ends_when_its_topic_has_been_deleted(place: Place, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    asked: list[None] = []

    def over(_quiet: Quiet) -> bool:
        asked.append(None)
        if len(asked) == 2:
            main(["groups", "reset-offsets", "g", "--to-earliest", "--topic", "orders", "--apply", *place.broker])
        if len(asked) == 3:
            Admin(place.host).delete_topic("orders")
        return len(asked) > 1_000

    monkeypatch.setattr(Quiet, "over", over)
    assert main(["consume", "orders", "--group", "g", *place.broker]) == Exit.NOT_FOUND
    refused, over_now = capsys.readouterr().err.splitlines()
    assert refused.startswith(
        "brokerscope: The plan no longer holds, and nothing was done: g has 1 member: brokerscope-"
    )
    assert refused.endswith("; stop them first.")
    assert over_now == "brokerscope: orders was deleted, so nothing more will come."
