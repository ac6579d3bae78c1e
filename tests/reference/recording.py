"""`make reference-record`: writes down what Kafka's clients ask a broker of Apache Kafka, and what it answers.

A pipe between the two copies bytes. Answers to ApiVersions are cut to the versions that our listener has, so that what
is recorded can be replayed against it.
"""

from __future__ import annotations

import contextlib
import io
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kio.index import load_response_schema
from kio.serial import entity_writer
from kio.serial.errors import SerialError
from kio.static.primitive import i16

from broker_core.listeners.kafka import apis  # noqa: F401 - fills the table
from broker_core.listeners.kafka.call import TABLE
from tests.reference import brokers
from tests.reference.conversations import (
    FOLDER,
    Conversation,
    Step,
    asked,
    plain,
    read_answer,
    store,
    with_placeholders,
)
from tests.reference.java_programs import NotHere, Trials, libraries, versions
from tests.reference.librdkafka_programs import PROGRAMS

API_VERSIONS, UNSUPPORTED_VERSION = 18, 35
# Trials whose requests follow from what they were answered, and not from how long that took.
OF_JAVA = {
    "Topics": ["create", "names_that_collide", "describe", "grow", "offsets", "delete_records", "delete"],
    "Settings": ["of_a_topic", "of_a_group", "change", "ranges_of_topics", "ranges_of_groups"],
    "Groups": ["assigned_by_hand", "that_are_not_there", "classic", "consumer_protocol"],
    "Producers": ["acknowledged", "content", "compressed", "times"],
    "Transactions": ["committed_and_aborted", "open", "fenced_by_another", "with_offsets"],
    "ShareGroups": ["implicit", "renewed"],
    "Cluster": ["described", "rights", "quotas", "users", "replicas"],
}
# Errors that only say: not yet.
NOT_YET = {"coordinator_load_in_progress", "coordinator_not_available", "not_coordinator", "concurrent_transactions"}
MOST_BYTES = 2_000_000


class Pipe:
    """Listens for clients and passes on to `target`; keeps what is said while `steps` is not None."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self._steps: list[tuple[int, int, bytes | None, Any]] = []
        self._connections = self._requests = 0
        self._clients: dict[int, socket.socket] = {}

    def start(self) -> None:
        """Pass on from now."""
        threading.Thread(target=self._accept, daemon=True).start()

    def begin(self) -> None:
        """Forget what was said."""
        with self._lock:
            self._steps = []

    def said(self) -> list[tuple[int, int, bytes | None, Any]]:
        """What was said since `begin`."""
        with self._lock:
            return list(self._steps)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                upstream = socket.create_connection(self._target)
                self._connections += 1
                self._clients[self._connections] = client
                pending: dict[int, tuple[int, Any]] = {}
                number = self._connections
                for source, sink, seen in ((client, upstream, self._request), (upstream, client, self._answer)):
                    arguments = (source, sink, seen, number, pending)
                    threading.Thread(target=self._copy, args=arguments, daemon=True).start()

    def _copy(
        self,
        source: socket.socket,
        sink: socket.socket,
        seen: Callable[[bytes, int, dict[int, tuple[int, Any]]], bytes],
        connection: int,
        pending: dict[int, tuple[int, Any]],
    ) -> None:
        with contextlib.suppress(OSError), source.makefile("rb") as incoming:
            while len(head := incoming.read(4)) == 4:
                frame = seen(incoming.read(struct.unpack(">i", head)[0]), connection, pending)
                if frame:
                    sink.sendall(struct.pack(">i", len(frame)) + frame)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _request(self, frame: bytes, connection: int, pending: dict[int, tuple[int, Any]]) -> bytes:
        with self._lock:
            self._requests += 1
            key, version, correlation = struct.unpack_from(">hhi", frame)
            if key == API_VERSIONS and version > TABLE[key].newest:  # as Kafka answers what is newer than itself
                told = struct.pack(">ihihhh", correlation, UNSUPPORTED_VERSION, 1, key, 0, TABLE[key].newest)
                self._clients[connection].sendall(struct.pack(">i", len(told)) + told)
                return b""
            if key in TABLE and TABLE[key].oldest <= version <= TABLE[key].newest:
                header = asked(frame)
                pending[header.correlation] = self._requests, header
                self._steps.append((self._requests, connection, frame, None))
        return frame

    def _answer(self, frame: bytes, connection: int, pending: dict[int, tuple[int, Any]]) -> bytes:
        (correlation,) = struct.unpack_from(">i", frame)
        if correlation not in pending:
            return frame
        number, header = pending.pop(correlation)
        try:
            body = read_answer(frame, header)
        except SerialError:  # kio reads no negative times
            body = None
        if header.key == API_VERSIONS:
            frame, body = self._cut(frame, header, body)
        with self._lock:
            self._steps.append((number, connection, None, body))
        return frame

    @staticmethod
    def _cut(frame: bytes, header: Any, body: Any) -> tuple[bytes, Any]:
        """An answer to ApiVersions with what both brokers have."""
        kept = tuple(
            replace(each, max_version=i16(min(each.max_version, TABLE[each.api_key].newest)))
            for each in body.api_keys
            if each.api_key in TABLE and each.min_version <= TABLE[each.api_key].newest
        )
        body = replace(body, api_keys=kept)
        out = io.BytesIO()
        entity_writer(load_response_schema(header.key, header.version))(out, body)
        return frame[:4] + out.getvalue(), body


Said = list[tuple[int, int, bytes | None, Any]]


def conversation(name: str, client: str, said: Said, strangers: tuple[str, ...]) -> Conversation:
    """What is kept: without ApiVersions, what cannot be read or only says "not yet", and what others have made."""
    ids: dict[str, Any] = {}
    kept: list[Step] = []
    unwanted = {number for number, _, frame, _ in said if frame is not None and asked(frame).key == API_VERSIONS}
    for number, _, frame, body in said:
        if frame is None and (body is None or NOT_YET & set(error_names(plain(body)))):
            unwanted.add(number)
    for number, connection, frame, body in said:
        if number not in unwanted:
            answer = None if frame is not None else with_placeholders(without(strangers, plain(body)), ids)
            kept.append(Step(number, connection, frame, answer))
    return Conversation(name, client, kept, ids)


def without(strangers: tuple[str, ...], value: Any) -> Any:
    """An answer without the topics, groups and others whose names begin so."""
    if isinstance(value, dict):
        return {key: without(strangers, each) for key, each in value.items()}
    if isinstance(value, list):
        return [without(strangers, each) for each in value if not _is_of(strangers, each)]
    return value


def _is_of(strangers: tuple[str, ...], item: Any) -> bool:
    names = ("name", "group_id", "transactional_id", "topic", "topic_name", "resource_name", "entity_name")
    return isinstance(item, dict) and any(str(item.get(key)).startswith(strangers) for key in names)


def error_names(value: Any) -> list[str]:
    """Of all errors in an answer."""
    if isinstance(value, dict):
        own = [each for key, each in value.items() if key.endswith("error_code") and isinstance(each, str)]
        return own + [name for each in value.values() for name in error_names(each)]
    return [name for each in value for name in error_names(each)] if isinstance(value, list) else []


def record(names: list[str]) -> int:
    jars = libraries()
    external = brokers.free_port()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reference-")))
        pipe = Pipe(f"127.0.0.1:{external}")
        real = stack.enter_context(brokers.kafka(jars, folder, clients=(external, pipe.port)))
        trials = stack.enter_context(contextlib.closing(Trials(jars, folder / "programs.log")))
        pipe.start()
        through = f"127.0.0.1:{pipe.port}"

        def run_java(trial: str, prefix: str) -> str:
            program, _, name = trial.partition(".")
            trials.ask(program, name, through, real, prefix).get()
            return f"Java {versions()['kafka_2.13']}"

        every = [f"{program}.{trial}" for program, of_program in OF_JAVA.items() for trial in of_program]
        prefixes = {name: f"c{number}-" for number, name in enumerate([*every, *PROGRAMS])}
        found: dict[str, list[Conversation]] = {}
        for name, prefix in prefixes.items():
            if names and name not in names:
                continue
            pipe.begin()
            client = PROGRAMS[name](through, prefix) if name in PROGRAMS else run_java(name, prefix)
            strangers = tuple({*prefixes.values(), "__"} - {prefix})
            found.setdefault(client.split()[0].lower(), []).append(conversation(name, client, pipe.said(), strangers))
    for client, conversations in found.items():
        if not names:
            store(FOLDER / f"{client}.json.xz", conversations)
        for each in conversations:
            print(f"{each.name}: {len(each.steps)} steps", flush=True)
    size = sum(path.stat().st_size for path in FOLDER.glob("*.xz"))
    print(f"{size:,} bytes")
    print("What our listener answers differently: python -m tests.reference.replaying")
    return 0 if size <= MOST_BYTES else 1


if __name__ == "__main__":
    try:
        sys.exit(record(sys.argv[1:]))
    except NotHere as error:
        print(f"Nothing was recorded. {error}")
