"""A worker that takes from a queue by HTTP."""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

from tests.figures.programs.program import Log, obey


class Program:
    """`told` has `http`, `client`, the queue as `group`, and of a subscription its topic as `source`."""

    def __init__(self, told: dict[str, Any], log: Log) -> None:
        self._log, self._source, self._client = log, told.get("source", told["group"]), told["client"]
        self._url = f"{told['http']}/v1/queues/{told['group']}"
        self._held: list[dict[str, Any]] = []

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{self._url}/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.loads(answer.read() or b"null")

    def take(self, count: int) -> None:
        for lease in self._ask("take", {"holder": self._client, "max_messages": count, "timeout_ms": 10_000}):
            self._log.write("polled", self._source, lease["partition"], lease["offset"])
            self._held.append(lease)

    def settle(self, how: str) -> None:
        """`how` is ack, nack or release."""
        done = self._ask(how, {"leases": [lease["lease"] for lease in self._held]})
        refused = {each["lease"] for each in done["refused"]}
        for lease in self._held:
            did = "refused" if lease["lease"] in refused else "committed" if how == "ack" else how
            self._log.write(did, self._source, lease["partition"], lease["offset"])
        self._held = []


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    log = Log(told["log"], told["client"])
    obey(Program(told, log), log)
