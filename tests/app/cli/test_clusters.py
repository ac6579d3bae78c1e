"""Commands on a Kafka cluster, which here is the listener of an embedded broker."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from app.cli.main import main
from app.environment.exits import Exit
from broker_core.recording.metadata import STOPPED, read_metadata
from broker_core.recording.playback import FolderPlayback
from broker_core.testing import EmbeddedBroker


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
