"""`brokerscope with`: a command beside a fresh broker, its exit code, and what is asserted."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.cli.with_broker import _fault
from app.environment.exits import Exit
from broker_core import BrokerHost
from broker_core.listeners.kafka.listener import KafkaListener
from tests.app.cli.conftest import ROOT, started

PYTHON = ("--", sys.executable, "-S", "-c")
EXAMPLES = ROOT / "resources" / "examples"
ASK = """
import json, os, urllib.request
def ask(path, body):
    data, where = json.dumps(body).encode(), os.environ["BROKERSCOPE_URL"] + path
    request = urllib.request.Request(where, data, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))
"""
SEND = ASK + "ask('/v1/queues/mail/messages', {'messages': [{'value': 'a letter'}]})\n"
TAKE = "(lease,) = ask('/v1/queues/mail/take', {})\n"
ACK = "ask('/v1/queues/mail/ack', {'leases': [lease['lease']]})\n"


def test_the_command_finds_the_broker_and_its_exit_code_is_kept(capfd: Any) -> None:
    code = "import json, os, sys; print(json.dumps(dict(os.environ))); sys.exit(7)"
    options = ("--topic", "orders:3", "--env", "BROKERS=kafka://{bootstrap_servers}", "--env", "URL={http_url}/x")
    assert main(["with", *options, *PYTHON, code]) == 7
    told = capfd.readouterr()
    environment = json.loads(told.out)
    assert environment["BROKERS"] == f"kafka://{environment['KAFKA_BOOTSTRAP_SERVERS']}"
    assert environment["URL"] == f"{environment['BROKERSCOPE_URL']}/x"
    assert "topic_created orders" in told.err  # it failed: what happened


def test_an_assertion_that_does_not_hold_fails_what_has_passed(capfd: Any, tmp_path: Path) -> None:
    session = tmp_path / "session"
    options = ("--queue", "mail", "--assert", "everything_done", "--session", str(session))
    assert main(["with", *options, *PYTHON, SEND + TAKE]) == Exit.PARTLY
    told = capfd.readouterr().err
    assert "delivered mail" in told
    assert re.search("an assertion failed: .*not yet acknowledged or dead-lettered: 1; ", told)
    assert f"brokerscope open {session} shows the recording." in told
    assert (session / "session.json").is_file()
    # Said before the command has run.
    assert main(["with", "--session", str(session), *PYTHON, f"open({str(tmp_path / 'ran')!r}, 'w')"]) == Exit.REFUSED
    assert "give another one" in capfd.readouterr().err
    assert not (tmp_path / "ran").exists()
    page = tmp_path / "page.html"
    options = ("--queue", "mail", "--assert", "everything_done", "--page", str(page))
    assert main(["with", *options, *PYTHON, SEND + TAKE + ACK]) == 0
    assert capfd.readouterr() == (f"{page}\n", "")
    written = page.read_text(encoding="utf-8")
    assert "</html>" in written
    title = re.search("<title>(.*)", written)
    assert title and title[1].startswith(f"{Path(sys.executable).name} -S -c "), "no -- and no folder"


def test_a_condition_is_asserted_and_a_fault_that_nobody_meets_is_told(capfd: Any) -> None:
    fault = ("--fault", "error Produce NOT_LEADER_OR_FOLLOWER times=3 topic=ordres")
    assert main(["with", "--topic", "orders", *fault, "--assert", "topic = orders and messages = 0", *PYTHON, ""]) == 0
    assert "there is no topic ordres; did you mean orders?\n" in capfd.readouterr().err


def test_faults_of_the_line_are_typed_as_their_effect_needs() -> None:
    assert _fault("bandwidth * 20000").what == "at 20000 bytes/s: *"
    assert _fault("slice Fetch 100 5").what == "reply in pieces of 100 bytes, each after 5 ms: Fetch"
    assert _fault("delay Fetch 100 jitter_ms=50").jitter_ms == 50


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "There is no command to run; write it after --"),
        (("--", "no-such-program"), "no-such-program cannot be run"),
        (("--assert", "nothing_los", *PYTHON, ""), "not a verdict (did you mean nothing_lost?)"),
        (("--assert", "lagg = 0", *PYTHON, ""), "did you mean lag?"),
        (("--env", "X", *PYTHON, ""), "--env X: write NAME=VALUE"),
        (("--topic", "orders:x", *PYTHON, ""), "'x' is no number of partitions"),
        (("--topic", "orders:²", *PYTHON, ""), "'²' is no number of partitions"),
        (("--topic", "no/slash", *PYTHON, ""), "no/slash"),
    ],
)
def test_what_makes_no_sense_is_said(capfd: Any, words: tuple[str, ...], told: str) -> None:
    assert main(["with", *words]) in {Exit.USAGE, Exit.NOT_FOUND}
    assert told in capfd.readouterr().err


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("erorr Produce", "does not begin with an effect (did you mean error?)"),
        ("move_leader *", "does not begin with an effect (did you mean leader_change?)"),
        ("full_disk", "only a test in Python has that"),
        ("error Prodcue NOT_COORDINATOR", "did you mean Produce?"),
        ("drop Produce often", "'often' in 'drop Produce often' is one word too many"),
        ("drop Produce time=3", "a fault has no time (did you mean times?)"),
        ("delay Produce soon", "delay_ms"),
        ("slice Fetch 100", "effect slice needs delay_ms"),
    ],
)
def test_a_fault_that_makes_no_sense_is_said(capfd: Any, fault: str, told: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["with", "--fault", fault, *PYTHON, ""])
    assert ended.value.code == Exit.USAGE
    assert told in capfd.readouterr().err


def test_the_command_ends_with_it() -> None:
    waits = "import os, signal; print(os.getpid(), flush=True); signal.pause()"
    with started("with", *PYTHON, waits, stderr=None, text=True) as process:
        command = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == Exit.TERMINATED
    with pytest.raises(ProcessLookupError):
        os.kill(command, 0)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the example needs curl")
def test_the_example_of_a_shell_passes(capfd: Any) -> None:
    script = str(EXAMPLES / "shell" / "test.sh")
    assert main(["with", "--queue", "mail", "--assert", "everything_done", "--", "sh", script]) == 0
    assert "the letter came again" in capfd.readouterr().out


def test_the_example_in_node_passes(capfd: Any) -> None:
    """Where Node is, and its client: npm install in the folder of the example, or NODE_PATH."""
    folder = EXAMPLES / "node"
    node = shutil.which("node")
    if (
        node is None
        or subprocess.run([node, "-e", "require('kafkajs')"], cwd=folder, check=False, capture_output=True).returncode
    ):
        pytest.skip("there is no Node, or no kafkajs")
    words = json.loads((folder / "package.json").read_text())["scripts"]["test"]
    options = ("--topic", "orders:3", "--topic", "invoices", "--assert", "nothing_lost")
    assert " ".join(options) in words
    assert main(["with", *options, "--", node, "--test", str(folder / "invoices.test.js")]) == 0, capfd.readouterr()


SHOP = """
import os
from confluent_kafka import Consumer, Producer
servers = {"bootstrap.servers": os.environ["KAFKA_BOOTSTRAP_SERVERS"], "log_level": 0}
producer = Producer({**servers, "client.id": "shop", "retry.backoff.ms": 10})
producer.produce("orders", b"x")
assert producer.flush(30) == 0
if "BILLS" in os.environ:
    more = {"group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({**servers, **more})
    consumer.subscribe(["orders"])
    while (message := consumer.poll(0.1)) is None or message.error():
        pass
    consumer.commit(message, asynchronous=False)
    consumer.close()
"""


def test_a_cluster_in_the_place_of_our_broker(capfd: Any, tmp_path: Path) -> None:
    """The same options, from between: a fault is met, and what the program left unread is what the assertion says."""
    with BrokerHost() as host, KafkaListener(host, port=0) as cluster:
        options = ("--cluster", cluster.bootstrap_servers, "--topic", "orders:2")
        fault = ("--fault", "error Produce NOT_ENOUGH_REPLICAS times=1", "--assert", "nothing_lost")
        run = ("--", sys.executable, "-c", SHOP)
        done = ("--assert", 'group = "billing" and lag = 0', "--env", "BILLS=1", "--session", str(tmp_path / "session"))
        assert main(["with", *options, *fault, *done, *run]) == 0
        asked = [each for each in cluster.connections.requests() if each.api == "Produce"]
        assert len(asked) == 1 and cluster.host.broker.logs.partition_count("orders") == 2
        assert (tmp_path / "session" / "session.json").is_file()
        assert (
            main(["with", "--cluster", cluster.bootstrap_servers, "--assert", "everything_done", *run]) == Exit.PARTLY
        )
        assert "not yet acknowledged or dead-lettered: " in capfd.readouterr().err
        for more, said in (
            (("--queue", "mail"), "--queue is for a broker of our own"),
            (("--topic", "orders:3"), "orders is there with 2 partitions, not 3"),
        ):
            assert main(["with", "--cluster", cluster.bootstrap_servers, *more, *run]) != 0
            assert said in capfd.readouterr().err
    assert main(["with", "--cluster", "127.0.0.1:1", *run]) == Exit.UNREACHABLE
    assert "nothing listens at 127.0.0.1:1" in capfd.readouterr().err
