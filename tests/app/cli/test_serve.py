"""`brokerscope serve` as a process: opened, found by its clients, closed, everything there at the next start."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.cli.target_types import url_of
from app.environment.exits import Exit
from tests.app.cli.conftest import run, served, started
from tests.broker_core.listeners import certificates

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_everything_is_there_again_at_the_next_start(tmp_path: Path, capsys: Any, end: signal.Signals) -> None:
    data = str(tmp_path / "data")
    with served("--data", data) as (where, process):
        broker = where["http"]
        run("topics", "create", "orders", "--broker", broker, capsys=capsys)
        run("produce", "orders", "a", "b", "--broker", broker, capsys=capsys)
        run("consume", "orders", "--group", "g", "--count", "1", "--broker", broker, capsys=capsys)
        process.send_signal(end)
        assert process.wait(timeout=20) == 0
        assert process.stderr.read() == ""
    with served("--data", data) as (where, _process):
        told = run(
            "consume", "orders", "--group", "g", "--count", "1", "--json", "--broker", where["http"], capsys=capsys
        )
        assert json.loads(told)["value"] == "b"


def test_the_http_listener_answers_and_the_plain_clients_use_it(capsys: Any) -> None:
    with served() as (where, _process):
        with urllib.request.urlopen(where["http"] + "/health") as answer:
            assert json.loads(answer.read()) == {"status": "ok"}
        produced = run("http-produce", "--broker", where["http"], "--topic", "t", "--count", "3", capsys=capsys)
        assert produced.splitlines() == ["t @0", "t @1", "t @2"]
        words = ("--topic", "t", "--consumer-id", "c", "--poll-interval", "0.1", "--count", "3")
        consumed = run("http-consume", "--broker", where["http"], *words, capsys=capsys)
        assert len(consumed.splitlines()) == 3


def test_a_broker_for_tests_has_a_clock_that_is_moved_and_an_audit() -> None:
    def ask(verb: str, url: str) -> Any:
        with urllib.request.urlopen(urllib.request.Request(url, method=verb)) as answer:
            return json.load(answer)

    with served("--testing") as (where, _process):
        assert ask("POST", where["http"] + "/v1/clock/stop")["stopped"] is True
        verdicts = ask("GET", where["http"] + "/v1/audit")
        assert {each["name"]: each["holds"] for each in verdicts}["nothing_lost"] is True


def test_every_listener_speaks_tls_where_a_certificate_is_given(tmp_path: Path, capsys: Any) -> None:
    tls = certificates.make(tmp_path)
    files = ("--tls-certificate", str(tls.certificate), "--tls-key", str(tls.key))
    with served("--kafka", "0", *files) as (where, _process):
        assert where["http"].startswith("https://")
        trusted = ssl.create_default_context(cafile=str(tls.certificate))
        with urllib.request.urlopen(where["http"] + "/health", context=trusted) as answer:
            assert json.loads(answer.read()) == {"status": "ok"}
        address, port = where["kafka"].rsplit(":", 1)
        with socket.create_connection((address, int(port))) as plain:
            assert trusted.wrap_socket(plain, server_hostname="127.0.0.1").version() in {"TLSv1.2", "TLSv1.3"}
    assert main(["serve", "--http", "0", *files[:2]]) == 2
    assert "go together" in capsys.readouterr().err
    assert main(["serve", "--http", "0", "--tls-certificate", files[3], "--tls-key", files[1]]) == 2
    assert "not a certificate and key for TLS" in capsys.readouterr().err


def test_other_machines_are_let_in_only_with_a_token(capsys: Any) -> None:
    """Promise 22."""
    assert main(["serve", "--address", "0.0.0.0", "--http", "0", "--kafka", "off"]) == 2
    assert "token" in capsys.readouterr().err


def test_a_token_is_asked_for(capsys: Any) -> None:
    with served("--token", TOKEN) as (where, _process):
        assert main(["topics", "list", "--broker", where["http"]]) == Exit.REFUSED
        assert main(["topics", "list", "--broker", where["http"], "--token", "x" * 20]) == Exit.REFUSED
        assert main(["topics", "list", "--broker", where["http"], "--token", TOKEN]) == 0
        assert main(["http-produce", "--broker", where["http"], "--topic", "t"]) == Exit.REFUSED
        assert main(["http-produce", "--broker", where["http"], "--topic", "t", "--token", TOKEN]) == 0
    capsys.readouterr()


def test_a_directory_that_is_open_is_refused_to_the_command_line(tmp_path: Path, capsys: Any) -> None:
    data = str(tmp_path / "data")
    with served("--data", data):
        assert main(["topics", "list", "--data", data]) == Exit.REFUSED
    told = capsys.readouterr().err
    assert data in told and "or go through its broker with --broker" in told


def test_a_broker_without_a_listener_and_two_kinds_of_access_are_refused(capsys: Any) -> None:
    assert main(["serve", "--http", "off", "--kafka", "off"]) == 2
    assert main(["serve", "--token", TOKEN, "--access", "b.toml"]) == 2
    assert main(["topics", "list", "--data", "/no/such/folder"]) == Exit.NOT_FOUND
    assert capsys.readouterr().err.count("brokerscope: ") == 3


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:9330", "http://127.0.0.1:9330"),
        ("https://broker.example", "https://broker.example"),
        ("127.0.0.1:9330", "http://127.0.0.1:9330"),
        ("localhost", "http://localhost:8080"),
        (":7", "http://127.0.0.1:7"),
        ("[::1]:80", "http://[::1]:80"),
        ("[::1]", "http://[::1]:8080"),
        ("9331", "http://127.0.0.1:9331"),
    ],
)
def test_where_a_broker_is(text: str, url: str) -> None:
    assert url_of(text) == url


@pytest.mark.parametrize("text", ["host:abc", "host:0", "host:70000", "ftp://host", "http://host/v1"])
def test_what_is_no_place_of_a_broker(text: str, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["topics", "list", "--broker", text])
    assert "is not a URL such as http://127.0.0.1:8080, nor HOST:PORT" in capsys.readouterr().err


def test_who_reads_no_further_and_who_interrupts_gets_no_traceback() -> None:
    with served() as (where, _process):
        broker = ("--broker", where["http"])
        assert main(["topics", "create", "t", *broker]) == 0
        assert main(["produce", "t", *("x" * 100 for _ in range(3_000)), *broker]) == 0

        head = started("consume", "t", "--timeout", "5", *broker)
        assert head.stdout.readline() == b"t/0 @0  " + b"x" * 100 + b"\n"
        head.stdout.close()
        assert (head.stderr.read(), head.wait(20)) == (b"", 141)
        head.stderr.close()

        typist = started("produce", "t", "--json", *broker, stdin=subprocess.PIPE)
        # Fits into the pipe: nobody reads what is told meanwhile.
        typist.stdin.write(b"one\n" * 10_000)
        typist.stdin.flush()
        for number in range(3_000, 13_000):
            assert json.loads(typist.stdout.readline())["offset"] == number, "all are told before the input ends"
        typist.send_signal(signal.SIGINT)
        _rest, told = typist.communicate(timeout=20)
        assert (told, typist.returncode) == (b"", 130)


@pytest.mark.parametrize("listener", ["http", "kafka"])
def test_a_port_in_use_is_one_sentence(listener: str, capsys: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        other = "kafka" if listener == "http" else "http"
        assert main(["serve", f"--{listener}", port, f"--{other}", "off"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{port} (Address already in use); choose another port." in told


def test_the_plain_clients_say_in_one_sentence_what_the_broker_has_against_it(capsys: Any) -> None:
    with served() as (where, _process):
        place = where["http"].removeprefix("http://")
        assert main(["http-produce", "--broker", place, "--topic", "a b"]) == 2
        told = capsys.readouterr().err
        assert told == "brokerscope: topic: expected a name of letters, digits, '.', '_' and '-'.\n"
        assert "{" not in told
    assert main(["http-consume", "--broker", place, "--topic", "t"]) == Exit.UNREACHABLE
    assert "nothing listens at http://" in capsys.readouterr().err
