"""Commands that only read a data directory change nothing in it, so that they work on a full disk, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core import Admin, BrokerHost, GroupConsumer, Producer
from broker_core.operations.schemas import RegisterSchema, SchemaText
from tests.broker_core.engine.test_read_only import contents

READING = [
    ("topics", "list"),
    ("topics", "describe", "orders"),
    ("groups", "list"),
    ("groups", "describe", "billing"),
    ("groups", "members", "billing"),
    ("queues", "list"),
    ("queues", "describe", "jobs"),
    ("queues", "peek", "jobs"),
    ("dlq", "list"),
    ("dlq", "causes", "jobs"),
    ("schemas", "list"),
    ("schemas", "compatibility"),
    ("schemas", "compatibility", "order"),
    ("schemas", "rule", "orders"),
    ("metrics", "list"),
    ("metrics", "slow"),
    ("metrics", "damage"),
    ("consume", "orders", "--count", "1"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "kept"
    with BrokerHost(root) as host:
        Admin(host).create_topic("orders")
        Admin(host).create_queue("jobs")
        host.ask(RegisterSchema(subject="order", text=SchemaText(schema="{}")))
        with Producer(host) as producer:
            producer.publish("orders", "one")
            producer.publish("jobs", "mend")
        with GroupConsumer(host, "billing", ["orders"]) as consumer:
            while not consumer.poll(0.1):
                pass
            consumer.commit()
    return root


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_changes_no_byte(data: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    from app.cli.main import main

    before = contents(data)
    assert main([*words, "--data", str(data)]) in (0, None)
    assert capsys.readouterr().out
    assert contents(data) == before


def test_a_queue_is_taken_from_all_the_same(data: Path, capsys: pytest.CaptureFixture[str]):
    from app.cli.main import main

    assert main(["consume", "jobs", "--count", "1", "--data", str(data)]) in (0, None)
    assert "mend" in capsys.readouterr().out
    with BrokerHost(data) as host:
        assert Admin(host).describe_queue("jobs").acknowledged == 1


def test_no_path_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from app.cli.main import main

    monkeypatch.chdir(tmp_path)
    for words in (["topics", "list", "--data", ""], ["serve", "--data", ""]):
        with pytest.raises(SystemExit):
            main(words)
        assert "'' is not a directory" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
