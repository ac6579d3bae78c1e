"""The files for docker compose and GitHub Actions: their commands are run, as far as that goes without Docker."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import urllib.request
from typing import Any

import yaml
from confluent_kafka import Producer

from app.cli.serve import command
from broker_core.operations.catalogue import CATALOGUE
from tests.app.cli.conftest import ROOT, served

FOLDER = ROOT / "resources" / "examples" / "compose"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]
WORKFLOW = yaml.safe_load((FOLDER / "github-actions.yaml").read_text(encoding="utf-8"))


def serve_words(script: str) -> list[str]:
    """The arguments of `brokerscope serve` in a line of shell."""
    (found,) = re.findall(r"brokerscope serve ([^&\n]*)", script)
    return shlex.split(found)


def on_free_ports(words: list[str]) -> list[str]:
    """With any port in place of those that are named."""
    return [
        word if before not in {"--http", "--kafka"} else "0" for before, word in zip(["", *words], words, strict=False)
    ]


def test_the_broker_of_the_compose_file_is_served_as_its_programs_are_told(monkeypatch: Any) -> None:
    broker, tests = COMPOSE["broker"], COMPOSE["tests"]
    words = serve_words(broker["command"][-1])
    options = command()[0].parse_args(words)
    assert tests["environment"]["BOOTSTRAP_SERVERS"] == f"broker:{options.kafka}"
    assert tests["environment"]["BROKER_URL"] == f"http://broker:{options.http}"
    assert options.name == ["broker"]
    token = tests["environment"]["BROKER_TOKEN"]
    monkeypatch.setenv("BROKERSCOPE_TOKEN", broker["environment"]["BROKERSCOPE_TOKEN"])
    with served(*on_free_ports(words)) as (where, _process):
        url = where["http"].replace("0.0.0.0", "127.0.0.1")
        assert broker["healthcheck"]["test"][:3] == ["CMD", "python", "-c"]
        check = broker["healthcheck"]["test"][3].replace(f"http://127.0.0.1:{options.http}", url)
        subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
        asked = urllib.request.Request(
            f"{url}/v1/clock/advance",
            data=b'{"by_ms": 3600000}',
            headers={
                "Authorization": f"Bearer {token}",
                "Content-Type": "application/json",
                "Host": f"broker:{where['http'].split(':')[-1]}",
            },
        )
        with urllib.request.urlopen(asked, timeout=20) as answer:
            assert json.load(answer)["time_ms"] >= 3_600_000
        outcome: list[object] = []
        producer = Producer(
            {
                "bootstrap.servers": where["kafka"].replace("0.0.0.0", "127.0.0.1"),
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.username": "anybody",
                "sasl.password": token,
            }
        )
        producer.produce("orders", b"1", on_delivery=lambda error, _message: outcome.append(error))
        producer.flush(20)
        assert outcome == [None]


def test_what_the_files_name_is_there() -> None:
    routes = {entry.route for entry in CATALOGUE}
    named = set(re.findall(r"(?:GET|POST|DELETE) /v1/[a-z/]+", (FOLDER / "compose.yaml").read_text(encoding="utf-8")))
    assert named and named <= routes
    assert COMPOSE["tests"]["depends_on"] == {"broker": {"condition": "service_healthy"}}


def test_the_workflow_waits_for_the_broker_that_it_starts() -> None:
    python, other = WORKFLOW["jobs"]["python"]["steps"], WORKFLOW["jobs"]["other"]
    assert any(step.get("run") == "python -m pytest" for step in python)
    (kept,) = [step["with"]["path"] for step in python if "with" in step and "path" in step["with"]]
    assert kept == ".brokerscope"
    runs = [step["run"] for step in other["steps"] if "run" in step]
    options = command()[0].parse_args(serve_words("\n".join(runs)))
    assert other["env"] == {
        "BOOTSTRAP_SERVERS": f"127.0.0.1:{options.kafka}",
        "BROKER_URL": f"http://127.0.0.1:{options.http}",
    }
    (waits,) = [run for run in runs if run.startswith("curl")]
    assert waits.endswith(f"http://127.0.0.1:{options.http}/health")
