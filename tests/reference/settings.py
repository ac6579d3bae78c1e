"""The settings of topics, groups and the broker, as a broker answers them.

    python -m tests.reference.settings PORT record     # write settings.json, from a real broker that is on PORT
    python -m tests.reference.settings page            # write the page of the guides about them
    python -m tests.reference.settings PORT            # what a broker on PORT, a real one or ours, answers otherwise

For each setting: type, default, the broker's setting behind it, and of many values of its type which are taken (only
validated, nothing is changed). The real broker is Apache Kafka 4.4.0 with nothing configured but its addresses.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from broker_core.listeners.kafka.setting_table import GROUP_SETTINGS, TOPIC_SETTINGS
from tests.broker_core.listeners.kafka.raw import KEYS, Raw

RECORDED = Path(__file__).with_name("settings.json")
PAGE = Path(__file__).parents[2] / "resources/guides/kafka-settings.md"
TOPIC, BROKER, GROUP = 2, 4, 32
_NUMBERS = """-131073 -131072 -3 -2 -1 0 1 2 3 4 9 10 11 17 18 22 23 99 100 999 1000 3999 4000 4001 4999 5000 14999
15000 15001 44999 45000 60000 60001 1048575 1048576 1073741825 2147483639 2147483640 2147483647 2147483648
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 1.5 1e3 1_000 x +7 007""".split()  # noqa: SIM905
_TEXTS = """producer uncompressed gzip snappy lz4 zstd none CreateTime LogAppendTime createtime latest earliest
by_duration:PT1H by_duration:P1DT2H3M4.5S by_duration:1h by_duration:-PT1H by_duration: read_committed read_uncommitted
READ_COMMITTED sticky failed __failed""".split()  # noqa: SIM905
_LISTS = "delete compact delete,compact compact,delete none delete,delete none,delete * 0:1 0:1,1:1 a,b a,a".split()  # noqa: SIM905
VALUES: dict[int, list[str]] = {
    1: ["true", "false", "True", "FALSE", " true ", "yes", "1", "", "x"],
    2: [*_TEXTS, "", " "],
    3: [*_NUMBERS, "", " 7 "],
    5: [*_NUMBERS, "", " 7 "],
    6: ["-0.1", "0", "0.5", "1", "1.0", "1.1", "2", "1e-1", "x", ""],
    7: [*_LISTS, "", " delete , compact "],
}


class Asked:
    """One broker, asked for its settings."""

    def __init__(self, port: int) -> None:
        self._raw = Raw(port)
        nodes = self._raw.asked(KEYS["DescribeCluster"], 2, {"include_cluster_authorized_operations": False}).brokers
        self.node = str(nodes[0].broker_id)
        topic = {"name": "of-settings", "num_partitions": 1, "replication_factor": 1}
        self._raw.asked(KEYS["CreateTopics"], 7, {"topics": [topic], "timeout": 5_000})
        while self.described(TOPIC, "of-settings").error_code:
            time.sleep(0.1)

    def described(self, kind: int, name: str) -> Any:
        resource = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
        body = {"resources": [resource], "include_synonyms": True, "include_documentation": True}
        return self._raw.asked(KEYS["DescribeConfigs"], 4, body).results[0]

    def error_of(self, kind: int, name: str, setting: str, value: str) -> int:
        config = {"name": setting, "config_operation": 0, "value": value}
        resource = {"resource_type": kind, "resource_name": name, "configs": [config]}
        body = {"resources": [resource], "validate_only": True}
        return int(self._raw.asked(KEYS["IncrementalAlterConfigs"], 1, body).responses[0].error_code)

    def all(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for kind, title, name in ((TOPIC, "topics", "of-settings"), (GROUP, "groups", "of-settings")):
            rows = sorted(self.described(kind, name).configs, key=lambda row: row.name)
            found[title] = {row.name: {**_row(row), **self._tried(kind, name, row)} for row in rows}
        rows = sorted(self.described(BROKER, self.node).configs, key=lambda row: row.name)
        found["broker"] = {row.name: _row(row) for row in rows}
        return found

    def _tried(self, kind: int, name: str, row: Any) -> dict[str, Any]:
        errors = {value: self.error_of(kind, name, row.name, value) for value in VALUES[row.config_type]}
        refused = {value: error for value, error in errors.items() if error}
        assert set(refused.values()) <= {40}, refused
        return {"taken": [value for value in errors if value not in refused], "refused": list(refused)}

    def close(self) -> None:
        self._raw.close()


def _row(row: Any) -> dict[str, Any]:
    own = None if row.config_source == 4 else row.value  # 4: the broker's own file says it
    default = next((each.value for each in reversed(row.synonyms) if each.source == 5), own)
    broker = next((each.name for each in reversed(row.synonyms)), "")
    return {"type": row.config_type, "default": default, "broker": broker, "sensitive": row.is_sensitive}


def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text())
    return found


def differences(found: dict[str, Any]) -> list[str]:
    """What is otherwise in `found` than in what was recorded, a line each."""
    lines = []
    for kind, known in recorded().items():
        for name in sorted({*known, *found[kind]} if kind != "broker" else known.keys() & found[kind].keys()):
            real, ours = known.get(name, {}), found[kind].get(name, {})
            lines += [
                f"{kind} {name}: {field} {real.get(field)!r} is {ours.get(field)!r}"
                for field in {**real, **ours}
                if real.get(field) != ours.get(field)
            ]
    return lines


def page() -> str:
    """`resources/guides/kafka-settings.md`: every setting, and what it does here."""
    lines = ["# Kafka's settings, and what they do here", ""]
    lines += [
        "Names, types and defaults are those of Kafka 4.4. A setting without effect is kept and told to who asks."
    ]
    for title, table in (("Topics", TOPIC_SETTINGS), ("Groups", GROUP_SETTINGS)):
        lines += ["", f"## {title}", "", "| Setting | Type | Default | Here |", "|---|---|---|---|"]
        lines += [
            f"| `{each.name}` | {each.kind} | {f'`{each.default}`' if each.default else ''} | {table.about(each)} |"
            for each in table
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1] == "page":
        PAGE.write_text(page())
        sys.exit()
    asked = Asked(int(sys.argv[1]))
    if sys.argv[2:] == ["record"]:
        lines = ["{"]
        for kind, found in asked.all().items():
            rows = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
            lines += [f'"{kind}": {{', ",\n".join(rows), "},"]
        RECORDED.write_text("\n".join([*lines[:-1], "}", "}"]) + "\n")
    else:
        print("\n".join(differences(asked.all())))
    asked.close()
