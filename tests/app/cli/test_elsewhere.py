"""A broker elsewhere: one that dies, is slow, comes back, speaks TLS, or is none; and what HTTP carries of messages."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.environment.exits import Exit
from broker_core import Admin, BrokerHost, HostConfig, HttpBroker, Producer
from broker_core.clients import http_publisher
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations.groups import DescribeGroup
from tests.app.cli.conftest import Shell, run, served, started
from tests.broker_core.listeners.certificates import make


@contextlib.contextmanager
def silent(answer: bytes = b"") -> Iterator[str]:
    """The URL of what takes every request, sends `answer`, and then nothing more."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            kept = []
            with contextlib.suppress(OSError):
                while True:
                    kept.append(server.accept()[0])
                    kept[-1].recv(65_536)
                    kept[-1].sendall(answer)
            over.wait(60)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        over.set()


@pytest.mark.promise("1")
def test_a_broker_that_is_killed_while_messages_are_published_is_one_sentence(tmp_path: Path, capsys: Any) -> None:
    data = str(tmp_path / "data")
    with served("--data", data) as (where, process):
        run("topics", "create", "orders", "--broker", where["http"], capsys=capsys)
        typist = started("produce", "orders", "--json", "--broker", where["http"], stdin=subprocess.PIPE, text=True)
        typist.stdin.write("one\ntwo\n")
        typist.stdin.flush()
        told = [json.loads(typist.stdout.readline())["offset"] for _ in range(2)]
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        out, error = typist.communicate("three\n", timeout=60)
    assert (told, out, typist.returncode) == ([0, 1], "", Exit.UNREACHABLE)
    assert error.startswith("brokerscope: There is no connection to the broker: ") and error.count("\n") == 1
    found = run("consume", "orders", "--count", "2", "--json", "--data", data, capsys=capsys)
    assert [json.loads(line)["value"] for line in found.splitlines()] == ["one", "two"], "what was told is there"


@pytest.mark.parametrize(
    "words",
    [
        ("topics", "list"),
        ("produce", "t", "a"),
        ("consume", "t"),
        ("http-produce", "--topic", "t"),
        ("dlq", "purge", "q", "--all"),
    ],
    ids=" ".join,
)
def test_no_broker_is_one_sentence_and_a_code_of_its_own(words: tuple[str, ...], capsys: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert main([*words, "--broker", url]) == Exit.UNREACHABLE
    told = capsys.readouterr()
    assert told.err == (
        f"brokerscope: There is no connection to the broker: nothing listens at {url}; brokerscope serve opens a "
        "broker.\n"
    )


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", b"SSH-2.0-x\r\n"])
def test_a_slow_or_half_answer_ends_in_time(answer: bytes, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hasty(HttpBroker):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, timeout_s=0.3, **more)

    monkeypatch.setattr("app.cli.target.HttpBroker", Hasty)
    with silent(answer) as url:
        assert main(["topics", "list", "--broker", url]) == Exit.UNREACHABLE
    told = capsys.readouterr().err
    assert told.startswith("brokerscope: ") and told.count("\n") == 1


def test_a_group_reads_on_when_the_broker_is_back(tmp_path: Path) -> None:
    config = HostConfig()
    with BrokerHost(tmp_path / "data", config) as host:
        Admin(host).create_topic("orders")
        with HttpListener(host) as listener:
            reader = started("consume", "orders", "--group", "g", "--count", "2", "--broker", listener.url, text=True)
            with Producer(host) as producer:
                producer.publish("orders", b"one")
            assert reader.stdout.readline() == "orders/0 @0  one\n"
            while host.ask(DescribeGroup(group="g")).offsets[0].committed != 1:
                time.sleep(0.01)
        assert reader.stderr.readline() in {
            "The connection to the broker is lost; retrying, Ctrl+C gives up.\n",
            "Waiting for messages of orders in the group g; Ctrl+C ends it.\n",
        }
        with Producer(host) as producer:
            producer.publish("orders", b"two")
        with HttpListener(host, port=listener.port):
            out, error = reader.communicate(timeout=90)
    assert (out, reader.returncode) == ("orders/0 @1  two\n", 0), error
    assert "The broker is back.\n" in error


def test_reading_creates_nothing(capsys: Any) -> None:
    with BrokerHost(config=HostConfig(auto_create_partitions=2)) as host, HttpListener(host) as listener:
        reading = ("consume nothing", "consume nothing --group g", "topics describe nothing")
        for words in map(str.split, reading):
            assert main([*words, "--broker", listener.url]) == Exit.NOT_FOUND
        assert Admin(host).topics() == () and Admin(host).groups() == []
        capsys.readouterr()
        for created in (True, False):
            assert main(["produce", "new", "a", "--broker", listener.url]) == Exit.DONE
            assert Admin(host).topics() == ("new",)
            told = "There was no topic new; the broker has created it with 2 partitions.\n" if created else ""
            assert capsys.readouterr() == ("Published 1 message to new.\n", told)


def test_bytes_that_are_no_text_arrive_as_they_are(shell: Shell) -> None:
    shell("topics", "create", "t")
    raw = os.fsdecode(b"\xff\xfe")
    shell("produce", "t", raw, "--key", raw)
    shell("produce", "t", "\N{SNOWMAN} [1]", "--key", "k")
    first, second = shell.rows("consume", "t", "--count", 2)
    assert first["key"] == first["value"] == {"base64": "//4="}
    assert second["value"] == "\N{SNOWMAN} [1]"


def test_values_may_stand_behind_options(shell: Shell) -> None:
    shell("topics", "create", "t")
    assert shell("produce", "t", "a", "--key", "k", "b", "c") == "Published 3 messages to t.\n"
    assert [row["value"] for row in shell.rows("consume", "t", "--count", 3)] == ["a", "b", "c"]
    with pytest.raises(SystemExit):
        shell("dlq", "redrive", "t", "--dry-run", "first")


def test_many_messages_go_in_batches_and_come_in_their_order(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_publisher, "_BATCH_MESSAGES", 7)
    shell("topics", "create", "t")
    lines = "".join(f"{number}\n" for number in range(50))
    assert shell("produce", "t", typed=lines) == "Published 50 messages to t.\n"
    assert [int(row["value"]) for row in shell.rows("consume", "t", "--count", 50)] == list(range(50))


def test_messages_that_wait_for_space_keep_their_order(shell: Shell) -> None:
    shell("topics", "create", "slow", "--rate", 20, "--burst", 3, "--policy", "reject")
    assert shell("produce", "slow", *"abcdefgh", "--timeout", 30) == "Published 8 messages to slow.\n"
    assert "".join(row["value"] for row in shell.rows("consume", "slow", "--count", 8)) == "abcdefgh"


def test_a_topic_is_created_with_log_limits_and_schema_in_one_call(shell: Shell) -> None:
    shell("topics", "create", "t", "--schema", "s")
    assert shell.code == Exit.NOT_FOUND
    assert shell.rows("topics", "list") == [], "nothing is left behind"
    shell("schemas", "register", "s", "-", typed='{"type": "object"}')
    words = ("--schema", "s", "--schema-mode", "dead_letter", "--cleanup", "compact", "--max-messages", 9)
    shell("topics", "create", "t", "--partitions", 3, "--partitioner", "murmur2", *words)
    (facts,) = shell.rows("topics", "describe", "t")
    assert (facts["schema"], facts["schema_mode"], facts["partitioner"]) == ("s", "dead_letter", "murmur2")
    assert (facts["cleanup"], facts["limits"]["max_messages"], len(facts["partitions"])) == ("compact", 9, 3)
    shell("topics", "create", "u", "--schema-mode", "refuse")
    assert (shell.code, "--schema-mode needs --schema; give both." in shell.error) == (Exit.USAGE, True)


def test_a_broker_that_speaks_tls_is_trusted_by_its_certificate(tmp_path: Path, capsys: Any) -> None:
    tls = make(tmp_path)
    with BrokerHost() as host, HttpListener(host, tls=tls) as listener:
        assert main(["topics", "create", "t", "--broker", listener.url, "--tls-ca", str(tls.certificate)]) == Exit.DONE
        assert main(["topics", "list", "--broker", listener.url]) == Exit.UNREACHABLE
        assert "TLS fails" in capsys.readouterr().err
        assert main(["topics", "list", "--broker", listener.url, "--tls-ca", str(tls.key)]) == Exit.USAGE
        assert "contains no certificates to trust" in capsys.readouterr().err


def test_a_token_that_http_cannot_carry_is_a_wrong_call(capsys: Any) -> None:
    assert main(["topics", "list", "--broker", "127.0.0.1:1", "--token", "ä" * 20]) == Exit.USAGE
    assert "ASCII" in capsys.readouterr().err


def test_the_options_that_went_are_unknown(capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--wire", "off"])
    assert ended.value.code == Exit.USAGE
    assert "there is no --wire here" in capsys.readouterr().err
