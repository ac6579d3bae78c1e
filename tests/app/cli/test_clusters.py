"""Commands on a Kafka cluster, which here is the listener of an embedded broker."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from app.cli import dead_letters
from app.cli.main import COMMANDS, main
from app.environment.exits import Exit
from app.environment.paths import deeds_file
from broker_core.events import Event
from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.kafka.peer import KafkaPeer
from broker_core.observation.kafka.redriving import Redriving
from broker_core.observation.kafka.resetting import Resetting
from broker_core.observation.observed_session import ObservedSession
from broker_core.operations.guarded import LetterPlace, PlanTopicRedrive, RedriveTopic
from broker_core.recording.metadata import STOPPED, read_metadata
from broker_core.recording.playback import FolderPlayback
from broker_core.schemas.rule import SchemaRule
from broker_core.testing import EmbeddedBroker
from tests.broker_core.admin import SchemaAdmin
from tests.broker_core.observation.kafka.tap import WRITING, tap


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def cluster() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=2)
        for number in range(3):
            broker.publish("orders", {"number": number}, partition=0)
        reader = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing", "log_level": 0})
        reader.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
        reader.close()
        yield broker


def told(capsys: Any, *words: str) -> list[Any]:
    capsys.readouterr()
    assert main(list(words)) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_topics_and_groups_of_a_cluster(cluster: EmbeddedBroker, capsys: Any):
    where = ("--kafka", cluster.bootstrap_servers, "--json")
    assert told(capsys, "topics", "list", *where) == [
        {"topic": "orders", "partitions": 2, "messages": 3, "bytes": None}
    ]
    (topic,) = told(capsys, "topics", "describe", "orders", *where)
    assert [(each["end_offset"], each["bytes"]) for each in topic["partitions"]] == [(3, None), (0, None)]
    (group,) = told(capsys, "groups", "list", *where)
    assert (group["group"], group["state"], group["generation"], group["lag"]) == ("billing", "Empty", None, 2)
    (group,) = told(capsys, "groups", "describe", "billing", *where)
    assert group["offsets"][0]["lag"] == 2
    assert group["offsets"][0]["lag_s"] > 0


def test_what_is_not_there(cluster: EmbeddedBroker, capsys: Any):
    assert main(["topics", "describe", "none", "--kafka", cluster.bootstrap_servers]) == Exit.NOT_FOUND
    assert main(["groups", "describe", "none", "--kafka", cluster.bootstrap_servers]) == Exit.NOT_FOUND


def test_a_cluster_is_watched_recorded_and_summed_up(cluster: EmbeddedBroker, tmp_path: Path, capsys: Any):
    folder = tmp_path / "seen"
    words = ("--every", "0.1", "--topics", "ord*", "--session", str(folder), "--until", "0.5", "--without", "hosts")
    (summary,) = told(capsys, "watch", cluster.bootstrap_servers, *words)
    group = summary["groups"]["billing"]
    assert (summary["topics"], summary["published"], group["lag"], group["state"]) == (1, 0, 2, "Empty")
    assert group["lag_ms"] > 0
    assert "deliveries" in summary["not_known"]
    assert not {"delivered", "redelivered"} & summary.keys()
    metadata = read_metadata(folder)
    assert metadata.ended == STOPPED
    assert (summary["broker"], metadata.scenario) == (cluster.bootstrap_servers, "host-1")
    assert not metadata.knows("deliveries")
    assert [topic.name for topic in FolderPlayback(folder, None).at(0).topics] == ["orders"]


def test_another_broker_is_watched_too(cluster: EmbeddedBroker, tmp_path: Path, capsys: Any):
    words = ("--session", str(tmp_path / "seen"), "--until", "0.3")
    (summary,) = told(capsys, "watch", cluster.http_url, *words)
    assert summary["groups"]["billing"]["lag"] == 2
    assert "delivered" in summary
    assert main(["watch", cluster.http_url, "--topics", "orders"]) == Exit.USAGE
    assert "--topics is for a Kafka cluster" in capsys.readouterr().err


def test_who_is_not_there_is_one_sentence(capsys: Any, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        where = f"127.0.0.1:{server.getsockname()[1]}"
    for words in (("watch", where, "--session", str(tmp_path / "none")), ("topics", "list", "--kafka", where)):
        assert main(list(words)) == Exit.UNREACHABLE
        error = capsys.readouterr().err
        assert "nothing listens at" in error
        assert error.count("\n") == 1
    assert not (tmp_path / "none").exists()


def test_a_setting_that_is_not_known_and_a_password_in_the_arguments(capsys: Any, tmp_path: Path):
    file = tmp_path / "client.properties"
    file.write_text("\nsasl.mechanism=GSSAPI\n")
    assert main(["watch", "kafka:9092", "--config", str(file)]) == Exit.USAGE
    assert f"{file}:2: sasl.mechanism: GSSAPI is not supported" in capsys.readouterr().err
    for address, where in (("shop:secret@kafka:9092", "--config"), ("http://shop:secret@kafka:8080", "--token-file")):
        with pytest.raises(SystemExit) as refused:
            main(["watch", address])
        assert refused.value.code == Exit.USAGE
        told = capsys.readouterr().err
        assert where in told
        assert "secret" not in told
    assert main(["topics", "list", "--config", str(file)]) == Exit.USAGE


def redrive_of(cluster: EmbeddedBroker) -> tuple[str, ...]:
    """The command for three dead letters of a program, which are made."""
    cluster.create_topic("orders-dlt", partitions=1)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    for number in range(3):
        headers = [
            ("kafka_dlt-original-topic", b"orders"),
            ("kafka_dlt-original-partition", (1).to_bytes(4, "big")),
            ("kafka_dlt-original-offset", number.to_bytes(8, "big")),
        ]
        producer.produce("orders-dlt", f"v{number}", f"k{number}", headers=headers)
    assert producer.flush(30) == 0
    return "dlq", "redrive", "orders-dlt", "--kafka", cluster.bootstrap_servers


def test_dead_letters_of_a_cluster_are_redriven_if_that_is_allowed(cluster: EmbeddedBroker, capsys: Any):
    words = redrive_of(cluster)
    (plan,) = told(capsys, *words, "--dry-run", "--json")
    assert [(target["topic"], target["letters"]) for target in plan["targets"]] == [("orders", {"1": 3})]
    assert main([*words]) == Exit.REFUSED
    assert "--allow redrive" in capsys.readouterr().err
    assert cluster.admin.describe_topic("orders").partitions[1].end_offset == 0, "nothing was sent"
    (run,) = told(capsys, *words, "--allow", "redrive", "--json")
    assert (run["done"], run["duplicates"], run["refused"]) == (3, [], [])
    assert [message.value for message in cluster.messages("orders") if message.partition == 1] == [b"v0", b"v1", b"v2"]
    (plan,) = told(capsys, *words, "--dry-run", "--json")
    assert (plan["targets"], plan["stays"]) == ([], {"redriven": 3})
    assert [deed["outcome"] for deed in told(capsys, "deeds", "--json")] == ["begun", "done"]


#: Each command that takes --kafka, as it would write if it was let.
OF_CLUSTERS = {
    "topics list": (),
    "topics describe": ("orders",),
    "groups list": (),
    "groups describe": ("billing",),
    "groups members": ("billing",),
    "groups reset-offsets": ("billing", "--to-latest", "--apply"),
    "groups undo-reset": ("billing",),
    "dlq redrive": ("orders-dlt", "--to", "orders"),
}


@pytest.mark.promise("47")
def test_no_command_writes_to_a_locked_cluster(
    cluster: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    redrive_of(cluster)
    there = {
        f"{name} {verb}"
        for name, make in COMMANDS.items()
        for action in make()[0]._actions
        for verb, parser in (action.choices.items() if isinstance(action.choices, dict) else ())
        if "--kafka" in parser._option_string_actions
    }
    assert there == set(OF_CLUSTERS)
    tapped = tap(monkeypatch)
    where = ("--kafka", cluster.bootstrap_servers)
    for words, more in OF_CLUSTERS.items():
        code = main([*words.split(), *more, *where])
        assert (code == Exit.REFUSED) is (words in {"groups reset-offsets", "groups undo-reset", "dlq redrive"}), words
    # What is allowed is not what they do.
    assert main(["groups", "reset-offsets", *OF_CLUSTERS["groups reset-offsets"], *where, "--allow", "redrive"])
    assert main(["dlq", "redrive", "orders-dlt", *where, "--allow", "offsets"])
    assert main(["watch", cluster.bootstrap_servers, "--until", "0.1", "--session", str(tmp_path / "seen")]) == 0
    assert tapped and not WRITING & set(tapped)


def test_a_redrive_and_its_deeds_as_a_person_reads_them(cluster: EmbeddedBroker, tmp_path: Path, capsys: Any):
    words = redrive_of(cluster)
    peer = KafkaPeer(connection_config(cluster.bootstrap_servers), every_s=0.05, journal=DeedJournal(deeds_file()))
    events: list[Event] = []
    session = ObservedSession(peer, folder=tmp_path / "seen", sinks=[events.append])
    assert main(["deeds"]) == Exit.DONE
    assert "Nothing was done to a cluster." in capsys.readouterr().out
    assert main([*words, "--dry-run"]) == Exit.DONE
    out = capsys.readouterr().out
    assert "3 dead letters of orders-dlt to redrive, in transactions, at 100 per second" in out
    assert ["orders", "1", "3", "not", "known", "nobody"] in [line.split() for line in out.splitlines()]
    peer.guarded.guard.unlock(["redrive"], 60.0)
    plan = peer.ask(PlanTopicRedrive(topic="orders-dlt", places=(LetterPlace(partition=0, offset=1),)))
    peer.ask(RedriveTopic(topic="orders-dlt", plan=plan))
    while not any(": done" in event.cause for event in events):
        time.sleep(0.05)
    session.close()
    assert main([*words, "--allow", "redrive"]) == Exit.DONE
    out = capsys.readouterr().out
    assert "Redriven before: 1." in out and "Redrove 2 of 2 dead letters of orders-dlt." in out
    assert [deed["outcome"] for deed in told(capsys, "deeds", "--json")] == ["begun", "done"] * 2
    assert [deed["outcome"] for deed in told(capsys, "deeds", str(tmp_path / "seen"), "--json")] == ["begun", "done"]
    assert main(["deeds", str(tmp_path / "seen")]) == Exit.DONE
    assert "redrive 1 dead letter of orders-dlt to orders: done, 1 of 1" in capsys.readouterr().out
    assert main(["deeds", str(tmp_path)]) == Exit.NOT_FOUND


@pytest.mark.parametrize("times", [1, 2])
def test_a_redrive_that_is_interrupted_exits_with_130_and_the_same_command_goes_on(
    cluster: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, capsys: Any, times: int
):
    words = (*redrive_of(cluster), "--allow", "redrive")
    left = iter(range(times))

    def interrupted(pause_s: float) -> None:
        time.sleep(pause_s)
        if cluster.admin.describe_topic("orders").partitions[1].end_offset and next(left, None) is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(dead_letters, "time", SimpleNamespace(sleep=interrupted))
    assert main([*words, "--rate", "0.1"]) == Exit.INTERRUPTED
    captured = capsys.readouterr()
    assert "the same command goes on" in captured.err
    assert ("Redrove 1 of 3" in captured.out) is (times == 1)
    (run,) = told(capsys, *words, "--json")
    assert run["done"] == run["plan"]["parts"][0]["letters"] == 2
    assert [message.value for message in cluster.messages("orders") if message.partition == 1] == [b"v0", b"v1", b"v2"]


def test_a_ctrl_c_before_a_redrive_has_begun_does_not_wait_for_it(
    cluster: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    def interrupted(*_request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Redriving, "check", interrupted)
    assert main([*redrive_of(cluster), "--allow", "redrive"]) == Exit.INTERRUPTED
    assert "the same command goes on" in capsys.readouterr().err


def test_a_plan_that_has_become_stale_is_refused_with_what_has_changed(
    cluster: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    words = (*redrive_of(cluster), "--allow", "redrive")

    shown = dead_letters._show

    def meanwhile(*_shown: Any) -> None:
        monkeypatch.setattr(dead_letters, "_show", shown)
        assert main([*words, "--json"]) == Exit.DONE

    monkeypatch.setattr(dead_letters, "_show", meanwhile)
    assert main([*words]) == Exit.REFUSED
    assert "0 letters of orders-dlt would go back now, not 3" in capsys.readouterr().err


def test_what_a_schema_refuses_on_a_broker_of_ours_is_named_and_exits_with_1(cluster: EmbeddedBroker, capsys: Any):
    words = redrive_of(cluster)[:3]
    schemas = SchemaAdmin(cluster.host)
    schemas.register("number", '{"type": "integer"}')
    schemas.set_rule("orders", SchemaRule("number", "refuse"))
    assert main([*words, "--broker", cluster.http_url]) == Exit.PARTLY
    out = capsys.readouterr().out
    assert "Redrove 0 of 3 dead letters of orders-dlt." in out and "orders-dlt/0@0: The message was refused" in out


def test_offsets_of_a_cluster_are_set_and_put_back_if_that_is_allowed(cluster: EmbeddedBroker, capsys: Any):
    where = ("--kafka", cluster.bootstrap_servers)
    reset = ("groups", "reset-offsets", "billing", "--to-latest", *where)

    def committed() -> int:
        return max(view.committed or 0 for view in cluster.admin.lag("billing"))

    first = told(capsys, *reset, "--json")[0]
    assert (first["topic"], first["partition"], first["from"], first["to"]) == ("orders", 0, 1, 3)
    assert main([*reset, "--apply"]) == Exit.REFUSED
    assert "--allow offsets" in capsys.readouterr().err
    assert committed() == 1
    told(capsys, *reset, "--apply", "--allow", "offsets", "--json")
    assert committed() == 3
    undo = ("groups", "undo-reset", "billing", *where, "--json")
    would = told(capsys, *undo, "--dry-run")
    assert ([(row["from"], row["to"]) for row in would], committed()) == ([(3, 1), (0, None)], 3)
    assert told(capsys, *undo, "--allow", "offsets") == would
    assert committed() == 1


def test_the_undo_of_a_reset_names_the_members_that_must_stop_first(
    cluster: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    where = ("billing", "--kafka", cluster.bootstrap_servers)
    assert main(["groups", "reset-offsets", *where, "--to-latest", "--apply", "--allow", "offsets"]) == Exit.DONE
    monkeypatch.setattr(Resetting, "members", lambda *_group: ["till"])
    assert main(["groups", "undo-reset", *where, "--dry-run"]) == Exit.DONE
    assert "It has 1 member, which must stop first: till." in capsys.readouterr().out
