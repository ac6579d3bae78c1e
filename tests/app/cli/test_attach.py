"""`brokerscope attach`: what cannot be attached to is one sentence, a code, and no window."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.cli import watch
from app.cli.main import main
from app.environment.exits import Exit
from broker_core import BrokerHost
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from tests.app.cli.test_elsewhere import silent
from tests.broker_core.listeners.certificates import make

RULES = """
[[principals]]
name = "reader"
token = "sixteen letters!"
[[rules]]
principal = "reader"
operations = ["read"]
broker = true
"""


@contextlib.contextmanager
def open_brokers(folder: Path) -> Iterator[dict[str, str]]:
    """Where they are: an open one, one that wants tokens, and one with TLS."""
    (folder / "access.toml").write_text(RULES, encoding="utf-8")
    with contextlib.ExitStack() as opened:
        host = opened.enter_context(BrokerHost())

        def listen(**settings: Any) -> str:
            return opened.enter_context(HttpListener(host, port=0, **settings)).url

        kafka = opened.enter_context(KafkaListener(host, port=0))
        yield {
            "open": listen(),
            "kafka": f"http://127.0.0.1:{kafka.port}",
            "tokens": listen(access=Access.of_file(folder / "access.toml")),
            "tls": listen(tls=make(folder)),
        }


def test_what_cannot_be_attached_to_is_one_sentence(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.observation.serve_peer._OPEN_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as free:
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    (tmp_path / "other").mkdir()
    other_ca = make(tmp_path / "other").certificate
    (tmp_path / "token").write_text("sixteen letters!\n", encoding="utf-8")
    (tmp_path / "wrong").write_text("another sixteen!\n", encoding="utf-8")
    with open_brokers(tmp_path) as at, silent() as mute, silent(b"SSH-2.0-x\r\n") as ssh:
        cases = (
            ((nobody,), Exit.UNREACHABLE, "nothing listens"),
            ((at["kafka"],), Exit.UNREACHABLE, f"Kafka, give {at['kafka'][7:]} without http://"),
            ((at["open"].removeprefix("http://"),), Exit.UNREACHABLE, "write http://"),
            (("http://no-such-host.invalid:8080",), Exit.UNREACHABLE, "is not known"),
            ((mute,), Exit.UNREACHABLE, "no reply"),
            ((ssh,), Exit.UNREACHABLE, "does not speak HTTP"),
            ((at["open"].replace("http:", "https:"),), Exit.UNREACHABLE, "does not speak TLS"),
            ((at["tls"].replace("https:", "http:"),), Exit.UNREACHABLE, "https address"),
            ((at["tls"],), Exit.UNREACHABLE, "--tls-ca"),
            ((at["tls"], "--tls-ca", str(other_ca)), Exit.UNREACHABLE, "--tls-ca"),
            ((at["tls"], "--tls-ca", str(tmp_path / "token")), Exit.USAGE, "contains no certificates"),
            ((at["tokens"],), Exit.REFUSED, "--token-file"),
            ((at["tokens"], "--token-file", str(tmp_path / "wrong")), Exit.REFUSED, "--token-file"),
            ((at["tokens"], "--token-file", str(tmp_path / "token")), Exit.REFUSED, "may not administer"),
        )
        assert main(["topics", "list", "--broker", at["kafka"]]) == Exit.UNREACHABLE
        assert f"if it speaks Kafka, give --kafka {at['kafka'][7:]}." in capsys.readouterr().err
        assert main(["produce", "orders", "one", "--broker", at["kafka"]]) == Exit.UNREACHABLE
        assert "if it speaks Kafka, give its HTTP port." in capsys.readouterr().err
        for words, code, told in cases:
            found = main(["attach", *words])
            said = capsys.readouterr().err
            assert (found, said.count("\n")) == (code, 1), (words, said)
            assert said.startswith("brokerscope: ") and told in said, (words, said)
        mine = ("--broker", at["tokens"], "--token-file", str(tmp_path / "token"))
        for kind in ("topic", "group", "queue", "schema"):
            assert main([f"{kind}s", "list", *mine]) == Exit.DONE
            assert f"There is no {kind} that this token may read; " in capsys.readouterr().out


def test_the_time_to_watch_begins_once_the_broker_is_observed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clock_s = 0.0

    def pass_time(seconds: float) -> None:
        nonlocal clock_s
        clock_s += seconds

    def slow_session(*_given: object, **_more: object) -> SimpleNamespace:
        pass_time(60)
        return SimpleNamespace(error="", problem="")

    monkeypatch.setattr(watch, "ObservedSession", slow_session)
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=lambda: clock_s, sleep=pass_time))
    peer: Any = None
    watch.Watched(peer, tmp_path, hides_hosts=False).wait(5)
    assert clock_s >= 65
