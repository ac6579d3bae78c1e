"""Recorded conversations of Kafka's clients with a broker of Apache Kafka: their form, and how one is replayed.

A conversation is what all connections of a client said, in the order in which it was said: requests as bytes, answers
decoded. Ids, times and addresses of an answer are placeholders: where the same placeholder stands, the same value must
stand. `make reference-record` writes them; they are replayed against our listener, without Java.
"""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import lzma
import socket
import struct
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from aiokafka.record.memory_records import MemoryRecords
from crc32c import crc32c
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from tests.reference.comparison import NOT_TOLD, Difference

FOLDER = Path(__file__).parent / "recorded"
PATIENCE_S = 60
MOST_WAIT_MS = 10_000
# Fields whose values are made by a broker. The same value is the same everywhere, under whatever name.
IDS = {
    "topic_id": "topic",
    "member_id": "member",
    "leader": "member",
    "producer_id": "producer",
    "session_id": "session",
    "cluster_id": "cluster",
    "port": "port",
}
NUMBERS = ("producer", "session", "port", "epoch")  # that other fields may have, too
EPOCHS = ("member_epoch", "producer_epoch", "generation_id", "generation_id_or_member_epoch")
# What says the time, how long something takes or how it is worded.
BY_CHANCE = {"error_message", "throttle_time", "log_append_time", "log_append_time_ms", "acquisition_lock_timeout_ms"}
BY_CHANCE |= {"batch_index_error_message", "log_dir", "total_bytes", "usable_bytes"}
BY_CHANCE |= {"group_epoch", "assignment_epoch"}  # raised by what a broker notices, sooner or later


def is_id(name: str, value: Any) -> bool:
    """Whether a field has an id in it, and not the word for none."""
    return name in IDS and value not in (None, "", -1, UUID(int=0)) and not (value == 0 and name == "session_id")


class Step(msgspec.Struct, array_like=True):
    """A request of a connection, or the answer to one; `number` says to which."""

    number: int
    connection: int
    request: bytes | None = None
    answer: Any = None


class Conversation(msgspec.Struct):
    """`ids` has the values of the placeholders, as they were recorded."""

    name: str
    client: str
    steps: list[Step]
    ids: dict[str, Any]


def stored(folder: Path = FOLDER) -> list[Conversation]:
    """All that are kept."""
    found = []
    for path in sorted(folder.glob("*.json.xz")):
        found += msgspec.json.decode(lzma.decompress(path.read_bytes()), type=list[Conversation])
    return found


def store(path: Path, conversations: list[Conversation]) -> None:
    """As small as it gets."""
    path.write_bytes(lzma.compress(msgspec.json.encode(conversations), preset=9 | lzma.PRESET_EXTREME))


# Requests


class Asked(msgspec.Struct, frozen=True):
    """The header of a request, and where its body begins."""

    key: int
    version: int
    correlation: int
    start: int


def asked(frame: bytes) -> Asked:
    """Of a request without its length."""
    key, version, correlation, length = struct.unpack_from(">hhih", frame)
    start = 10 + max(length, 0)
    if load_request_schema(key, version).__header_schema__.__version__ > 1:
        start += 1  # no client writes tags there
    return Asked(key, version, correlation, start)


def api_name(key: int) -> str:
    """As Kafka calls it."""
    return load_request_schema(key, _FIRST.get(key, 0)).__name__.removesuffix("Request")


_FIRST: dict[int, int] = {}


def _names() -> None:
    """The oldest version of each API that there is."""
    for key in range(100):
        for version in range(20):
            try:
                load_request_schema(key, version)
            except Exception:  # kio says it in several ways
                continue
            _FIRST[key] = version
            break


_names()


def read_request(frame: bytes) -> Any:
    """The body of a request without its length."""
    header = asked(frame)
    return entity_reader(load_request_schema(header.key, header.version))(frame, header.start)[0]


def read_answer(frame: bytes, header: Asked) -> Any:
    """The body of an answer without its length."""
    schema = load_response_schema(header.key, header.version)
    start = 4 + (schema.__header_schema__.__version__ > 0)
    return entity_reader(schema)(frame, start)[0]


# Answers as they are kept


def records_of(data: bytes) -> list[Any]:
    """What is in stored batches: offset, whether it is a marker, key and value."""
    found = []
    batches = MemoryRecords(data)
    while (batch := batches.next_batch()) is not None:
        control = bool(getattr(batch, "is_control_batch", False))
        for record in batch:
            parts = [None if part is None else base64.b85encode(part).decode() for part in (record.key, record.value)]
            found.append([record.offset, control, *(["marker"] if control else parts)])
    return found


def plain(value: Any, name: str = "") -> Any:
    """An answer as what JSON has. Ids are tuples of their kind and value, for who gives them placeholders."""
    if name in BY_CHANCE:
        return "(by chance)"
    if name in EPOCHS and value > 0:
        return ("epoch", value)
    if is_id(name, value):
        return (IDS[name], str(value) if isinstance(value, UUID) else value)
    if dataclasses.is_dataclass(value):
        return {each.name: plain(getattr(value, each.name), each.name) for each in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [plain(each, name) for each in value]
    if isinstance(value, datetime):
        return "(a time)"
    if isinstance(value, timedelta):
        return value / timedelta(milliseconds=1)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return records_of(bytes(value)) if name == "records" and value else base64.b85encode(bytes(value)).decode()
    if "timestamp" in name and isinstance(value, int) and value > 1_500_000_000_000:
        return "(a time)"
    return value


def with_placeholders(value: Any, ids: dict[str, Any]) -> Any:
    """What `plain` has made, with a placeholder for each id; new ones are added to `ids`."""
    if isinstance(value, tuple):
        kind, made = value
        found = next((key for key, each in ids.items() if each == made and key.startswith(f"<{kind} ")), None)
        if found is None:
            found = f"<{kind} {sum(key.startswith(f'<{kind} ') for key in ids) + 1}>"
            ids[found] = made
        return found
    if isinstance(value, dict):
        return {key: with_placeholders(each, ids) for key, each in value.items()}
    if isinstance(value, list):
        return [with_placeholders(each, ids) for each in value]
    return value


# Replaying


class Replay:
    """One conversation, said again to a broker at `port`."""

    def __init__(self, conversation: Conversation, port: int) -> None:
        self._conversation, self._port = conversation, port
        self._sockets: dict[int, socket.socket] = {}
        self._asked: dict[int, Asked] = {}
        self._here: dict[str, Any] = {}  # what stands for a placeholder in this broker's answers
        self._there = {_known(key.strip("<").split()[0], value): key for key, value in conversation.ids.items()}
        answers = {step.number: step.answer for step in conversation.steps if step.request is None}
        self._empty = {number for number, answer in answers.items() if _has_no_records(answer)}
        self._answered = set(answers)

    def differences(self) -> Iterator[Difference]:
        """What is answered differently, in the order of the conversation."""
        try:
            for step in self._conversation.steps:
                if step.request is not None:
                    self._send(step.number, step.connection, step.request)
                else:
                    header = self._asked[step.number]
                    where = f"{self._conversation.name}/{api_name(header.key)}"
                    frame = self._received(step)
                    if frame is None:
                        yield Difference(where, _short(step.answer), f"no answer to request {step.number}")
                        return
                    try:
                        answer = plain(read_answer(frame, header))
                    except SerialError as error:  # kio reads no negative times
                        yield Difference(where, _short(step.answer), f"not readable: {error}")
                        continue
                    yield from self._compared(where, step.answer, answer)
        finally:
            for each in self._sockets.values():
                each.close()

    def _send(self, number: int, connection: int, frame: bytes) -> None:
        if connection not in self._sockets:
            self._sockets[connection] = socket.create_connection(("127.0.0.1", self._port), PATIENCE_S)
        header = self._asked[number] = asked(frame)
        body = read_request(frame)
        ours = self._as_here(body)
        wait = getattr(ours, "max_wait", None)
        if wait is not None and number in self._answered:  # an empty answer at once, one with records when it may
            milliseconds = 1 if number in self._empty else MOST_WAIT_MS
            ours = dataclasses.replace(ours, max_wait=type(wait)(milliseconds=milliseconds))
        if ours != body:
            out = io.BytesIO()
            entity_writer(load_request_schema(header.key, header.version))(out, ours)
            frame = frame[: header.start] + out.getvalue()
        self._sockets[connection].sendall(struct.pack(">i", len(frame)) + frame)

    def _received(self, step: Step) -> bytes | None:
        """An answer without its length; None if there is none."""
        incoming = self._sockets[step.connection]
        try:
            head = incoming.recv(4, socket.MSG_WAITALL)
            return incoming.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL) if len(head) == 4 else None
        except (TimeoutError, ConnectionError):
            return None

    def _as_here(self, value: Any, name: str = "") -> Any:
        """A request with the ids that this broker has given."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            changed = {
                each.name: new
                for each in dataclasses.fields(value)
                if (new := self._as_here(old := getattr(value, each.name), each.name)) is not old
            }
            return dataclasses.replace(value, **changed) if changed else value
        if isinstance(value, tuple):
            made = tuple(self._as_here(each, name) for each in value)
            return made if any(one is not other for one, other in zip(made, value, strict=True)) else value
        if name == "records" and value:
            return self._batch_here(bytes(value), value)
        if isinstance(value, str | UUID | int) and not isinstance(value, bool):
            kind = "producer" if name.endswith("producer_id") else "epoch" if _is_epoch(name) else IDS.get(name, "")
            if kind or not isinstance(value, int):
                here = self._here.get(self._there.get(_known(kind, value), ""))
                return value if here is None else type(value)(here)
        return value

    def _batch_here(self, data: bytes, as_it_was: Any) -> Any:
        """A batch of a producer whose id this broker has given."""
        (producer, epoch) = struct.unpack_from(">qh", data, 43)
        here = self._here.get(self._there.get(_known("producer", producer), ""), producer)
        epoch_here = self._here.get(self._there.get(_known("epoch", epoch), ""), epoch)
        if producer < 0 or (here, epoch_here) == (producer, epoch):
            return as_it_was
        rest = data[21:43] + struct.pack(">qh", here, epoch_here) + data[53:]
        return data[:17] + struct.pack(">I", crc32c(rest)) + rest

    def _compared(self, where: str, real: Any, ours: Any) -> Iterator[Difference]:
        if isinstance(real, dict) and isinstance(ours, dict):
            for key in real:
                yield from self._compared(f"{where}.{key}", real[key], ours.get(key, NOT_TOLD))
        elif isinstance(real, list) and isinstance(ours, list) and _are_named(real) and _are_named(ours):
            told, own = _by_name(real), _by_name(ours)
            for name in told | own:
                yield from self._compared(f"{where}[{name}]", told.get(name, NOT_TOLD), own.get(name, NOT_TOLD))
        elif isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
            for one, other in zip(real, ours, strict=True):
                yield from self._compared(where, one, other)
        elif isinstance(ours, tuple) and isinstance(real, str) and real.startswith("<"):
            if ours[0] == "epoch":  # counted by each broker in its own way
                self._here[real] = ours[1]
            here = self._here.setdefault(real, ours[1])
            if here != ours[1]:
                yield Difference(where, real, f"another {ours[0]}")
        elif real != ours:
            yield Difference(where, _short(real), _short(ours))


def _is_epoch(name: str) -> bool:
    return name.endswith(EPOCHS)


def _known(kind: str, value: Any) -> tuple[str, str]:
    """What a recorded id is found by."""
    return kind if kind in NUMBERS else "", str(value)


def _short(value: Any) -> str:
    return value if value == NOT_TOLD else json.dumps(value)[:2_000]


# What an item of an array is known by: arrays of a message have no order.
NAMES = (
    "name",
    "topic",
    "topic_name",
    "partition_index",
    "index",
    "partition",
    "group_id",
    "config_name",
    "resource_name",
    "key",
)


def _name_of(item: Any) -> str | None:
    if not isinstance(item, dict):
        return None
    return next((str(item[key]) for key in NAMES if item.get(key) not in (None, "")), None)


def _are_named(items: list[Any]) -> bool:
    return all(_name_of(item) is not None for item in items)


def _by_name(items: list[Any]) -> dict[str, Any]:
    """The items of an array; the second of a name has its number behind it."""
    found: dict[str, Any] = {}
    for item in items:
        name = str(_name_of(item))
        found[name if name not in found else f"{name} {len(found)}"] = item
    return found


def _has_no_records(answer: Any) -> bool:
    """Whether it is one to Fetch or ShareFetch in which no partition has any."""
    if not isinstance(answer, Mapping) or "responses" not in answer:
        return False
    partitions = [each for topic in answer["responses"] for each in topic.get("partitions", ())]
    return not any(each.get("records") or each.get("error_code") != "none" for each in partitions)
