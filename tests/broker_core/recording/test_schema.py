from __future__ import annotations

from pathlib import Path

from broker_core.recording import schema


def test_a_stream_whose_name_no_recording_uses_is_none(tmp_path: Path) -> None:
    (tmp_path / schema.UNSEALED).mkdir()
    for name in ("messages-00001.arrow", "messages-00001 (copy).arrow", "messages-.arrow", "control-00001.arrow"):
        (tmp_path / schema.UNSEALED / name).touch()
    assert [path.name for path in schema.unsealed(tmp_path, "messages")] == ["messages-00001.arrow"]
