"""The process that keeps Spark: two reports from one Java, a bad line told, nothing left when its input ends."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spark_reports.jobs import warm
from spark_reports.jobs.cancellation import Cancellation
from spark_reports.pipeline.collect import PASSES
from spark_reports.request.parts import PARTS, tables_of
from tests.spark_reports.conftest import spoil

ROOT = Path(__file__).resolve().parents[3]


def outcome(process: subprocess.Popen[str], line: str) -> tuple[dict[str, Any], list[str]]:
    """The last thing that it says to a line, and the stages before."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()
    stages: list[str] = []
    for said in process.stdout:
        found = json.loads(said)
        if "stage" not in found:
            return found, stages
        if not stages:
            assert found["fraction"] < 0.2, "the beginning is not the end"
        stages.append(found["stage"])
    return {}, stages


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("ready", [False, True])
def test_two_reports_come_from_one_spark_and_nothing_is_left(recorded: Path, tmp_path: Path, ready: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "spark_reports.jobs.warm"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    if ready:
        process.stdin.write("[]\n")  # Spark is started and tried before anybody asks
    first, stages = outcome(process, json.dumps([str(recorded), "--out", str(tmp_path / "one"), "--parts", "lag"]))
    assert Path(first["report"]).is_file()
    assert ("Starting Spark" in stages) is not ready
    refused, _ = outcome(process, json.dumps(["/no/such/session", "--out", str(tmp_path / "none")]))
    assert "/no/such/session" in refused["error"]
    nonsense, _ = outcome(process, "this is not a list")
    assert "not a request" in nonsense["error"]
    second, stages = outcome(process, json.dumps([str(recorded), "--out", str(tmp_path / "two"), "--parts", "latency"]))
    assert Path(second["report"]).is_file()
    assert "Starting Spark" not in stages
    assert "Measuring latency" in stages
    asked = {step.text for wave in PASSES for step in wave if step.name in PARTS["latency"].passes}
    assert set(stages).isdisjoint({step.text for wave in PASSES for step in wave} - asked), "nobody asked for those"
    assert {path.stem for path in (tmp_path / "one" / "tables").iterdir()} == tables_of({"lag"}) | {"findings"}
    assert {path.stem for path in (tmp_path / "two" / "tables").iterdir()} == tables_of({"latency"}) | {"findings"}
    assert not (tmp_path / "none").exists()
    damaged = tmp_path / "damaged"
    shutil.copytree(recorded, damaged)
    spoil(damaged / "messages" / "part-00000.parquet")
    failed, stages = outcome(process, json.dumps([str(damaged), "--out", str(tmp_path / "three"), "--parts", "lag"]))
    assert failed["error"].startswith(f"The report failed: {damaged}/messages/part-00000.parquet cannot be read")
    assert "Caused by" in Path(failed["log"]).read_text(encoding="utf-8")
    assert not (tmp_path / "three").exists()
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=30) in {0, 130}


def test_one_that_waits_for_a_request_ends_at_a_signal_and_leaves_nothing(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "spark_reports.jobs.warm"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    refused, _ = outcome(process, json.dumps(["/no/such/session", "--out", str(tmp_path / "none")]))
    assert "/no/such/session" in refused["error"]
    assert list(tmp_path.glob("brokerscope-warm-*"))
    process.terminate()
    try:
        assert process.wait(timeout=8) == 0
    finally:
        process.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_asks_nothing_for_long_is_the_last_for_its_connection_is_still_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = Cancellation()
    server = warm.SparkServer(tmp_path, cancellation)
    read, write = os.pipe()
    requests = warm.Requests(read, cancellation, ends_all=False)
    with monkeypatch.context() as patch:
        patch.setattr(warm, "IDLE_S", 0.0)
        assert not requests.serve(server, io.StringIO())
    os.close(write)
    assert requests.serve(server, io.StringIO()), "it has hung up: the next one can be served"
    os.close(read)
