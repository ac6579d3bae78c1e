"""A connection to one broker of a cluster. It sends requests that change nothing, and no other; but while a `Guard` is
open, for the plan that is under way, what that plan names.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import time
from collections.abc import Callable
from typing import Any, Final

from kio.schema.errors import ErrorCode as KafkaError
from kio.schema.index import api_key_map, schema_name_map

from broker_core.errors import BrokerError, ErrorCode, must
from broker_core.kafka_messages.reading import Cursor, Memory, response_reader
from broker_core.kafka_messages.schemas import load_request_schema
from broker_core.kafka_messages.writing import Body, Parts, message_writer
from broker_core.observation.guard import ALL_WRITES, Api, Guard
from broker_core.observation.kafka.authentication import authenticating
from broker_core.observation.kafka.config import ConnectionConfig
from broker_core.version import program_version

CLIENT_ID: Final = "brokerscope-observer"
_MOST_FRAME_BYTES: Final = 256 * 1_048_576
_NOT_KAFKA = "does not speak Kafka's protocol; if it speaks HTTP, write http:// before the address"
_HEADER, _LENGTH = struct.Struct(">hhi"), struct.Struct(">i")
_CORRELATION_AT: Final = 8  # behind length, key and version


#: All that is sent while the guard is closed. Each of them reads; none makes, changes, deletes or joins anything.
ALLOWED: Final = {
    "Fetch": Api(1, 12),
    "ListOffsets": Api(2, 8),
    "Metadata": Api(3, 12),
    "OffsetFetch": Api(9, 8),
    "FindCoordinator": Api(10, 4),
    "DescribeGroups": Api(15, 5),
    "ListGroups": Api(16, 5),
    "SaslHandshake": Api(17, 1),
    "ApiVersions": Api(18, 3),
    "DescribeConfigs": Api(32, 4),
    "SaslAuthenticate": Api(36, 2),
    "DescribeLogDirs": Api(35, 4),
    "DescribeQuorum": Api(55, 2),
    "ConsumerGroupDescribe": Api(69, 1),
    "ShareGroupDescribe": Api(77, 1),
    "StreamsGroupDescribe": Api(89, 0),
    "DescribeShareGroupOffsets": Api(90, 1),
}


class BrokerConnection:
    """Connected to `host`:`port` and authenticated. Raises CONNECTION_LOST, REQUEST_TIMED_OUT, UNAUTHORIZED, and
    UNSUPPORTED_SASL_MECHANISM, each with a sentence that says what to do.

    `not_before_s` is the monotonic time until which the broker has asked to wait.
    """

    def __init__(self, config: ConnectionConfig, host: str, port: int, guard: Guard | None = None) -> None:
        self.where = f"{host}:{port}"
        self.not_before_s = 0.0
        self.requests = self.bytes = 0
        self._config = config
        self._guard = guard or Guard()
        self._correlation = 0
        self._versions: dict[int, tuple[int, int]] = {}
        self._socket = self._connected(host, port)
        try:
            self._negotiate()
        except BaseException:
            self.close()
            raise

    def version(self, api: str) -> int | None:
        """The newest version that both sides have; None if the broker has none."""
        key, newest = ALLOWED.get(api) or ALL_WRITES[api]
        least, most = self._versions.get(key, (0, -1))
        there = [each for each in schema_name_map[api_key_map[key]] if least <= each <= min(newest, most)]
        return max(there, default=None)

    def ask(self, api: str, body: Body) -> Any:
        """The response, by the field names of its schema. Raises UNSUPPORTED_VERSION for an API that it has not."""
        return self.send(api, body)()

    def send(self, api: str, body: Body) -> Callable[[], Any]:
        """Send a request; the returned function waits for its response. One request at a time. Raises as `ask`."""
        version = must(self.version(api), ErrorCode.UNSUPPORTED_VERSION, f"{self.where} has no {api}")
        return self._sent(api, version, body)

    def close(self) -> None:
        """Close the connection, from any thread; a request that waits for its response fails at once."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._socket.close()

    # -- bytes

    def _sent(self, api: str, version: int, body: Body) -> Callable[[], Any]:
        key = (ALLOWED.get(api) or self._guard.check(api, body)).key
        self._correlation = (self._correlation + 1) & 0x7FFF_FFFF
        memory: Memory | None = None
        frame: bytearray | bytes
        if isinstance(body, Question):
            frame = body.frame(key, version, self._correlation)
            memory = body.memories.setdefault(version, {})
        else:
            frame = request_frame(key, version, self._correlation, body)
        with self._telling(api):
            self._socket.sendall(frame)
        self.requests += 1
        expected = self._correlation
        return lambda: self._received(api, version, expected, memory)

    def _received(self, api: str, version: int, correlation: int, memory: Memory | None) -> Any:
        with self._telling(api):
            (size,) = _LENGTH.unpack(self._bytes(_LENGTH.size))
            if not _LENGTH.size <= size <= _MOST_FRAME_BYTES:
                tls = _LENGTH.pack(size)[:2] == b"\x15\x03"
                about = "speaks TLS: set security.protocol to SSL or SASL_SSL" if tls else _NOT_KAFKA
                raise BrokerError(ErrorCode.CONNECTION_LOST, f"the server at {self.where} {about}")
            data = self._bytes(size)
        self.bytes += size
        read, flexible = response_reader((ALLOWED.get(api) or ALL_WRITES[api]).key, version)
        if _LENGTH.unpack_from(data)[0] != correlation:
            raise BrokerError(ErrorCode.CONNECTION_LOST, f"the server at {self.where} {_NOT_KAFKA}")
        cursor = Cursor(data, _LENGTH.size, _MOST_FRAME_BYTES, memory)
        try:
            if flexible:
                cursor.tags({}, {})
            found = read(cursor)
        except BrokerError as error:
            raise BrokerError(
                ErrorCode.CONNECTION_LOST, f"{self.where} answered {api} in an unknown form ({error.about})"
            ) from error
        throttled_ms = getattr(found, "throttle_time", 0)
        # Who has not this version of ApiVersions answers in another form: what is read of that is no time.
        if throttled_ms > 0 and getattr(found, "error_code", 0) != KafkaError.unsupported_version:
            self.not_before_s = time.monotonic() + min(throttled_ms / 1_000, 60)
        return found

    def _bytes(self, size: int) -> bytes:
        parts, left = [], size
        while left:
            part = self._socket.recv(min(left, 1 << 20))
            if not part:
                raise ConnectionResetError(0, "closed")
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    @contextlib.contextmanager
    def _telling(self, api: str) -> Any:
        try:
            yield
        except TimeoutError:
            hint = "" if self._versions else "; it may not be Kafka"
            about = f"{self.where} did not answer {api} in {self._config.timeout_s:g} s{hint}"
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, about) from None
        except OSError as error:
            hint = ""
            if not self._versions:
                hint = "; it is not Kafka, or it expects TLS" if not self._config.tls else "; it is not Kafka"
            elif not self._config.mechanism and api == "Metadata" and self.requests <= 2:  # the first after ApiVersions
                hint = "; it may expect SASL, which --config says"
            reason = "" if isinstance(error, ConnectionError) else f" ({error.strerror or error})"
            about = f"{self.where} closed the connection at {api}{reason}{hint}"
            raise BrokerError(ErrorCode.CONNECTION_LOST, about) from error

    # -- how a connection begins

    def _connected(self, host: str, port: int) -> socket.socket:
        config = self._config
        try:
            plain = socket.create_connection((host, port), config.timeout_s)
        except (socket.gaierror, UnicodeError):  # the latter of a name that can be no host's
            raise BrokerError(ErrorCode.CONNECTION_LOST, f"there is no host named {host}") from None
        except TimeoutError:
            about = f"{self.where} did not accept a connection in {config.timeout_s:g} s"
            raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, about) from None
        except OSError as error:
            refused = isinstance(error, ConnectionRefusedError)
            about = f"nothing listens at {self.where}" if refused else f"{self.where}: {error.strerror or error}"
            raise BrokerError(ErrorCode.CONNECTION_LOST, about) from None
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not config.tls:
            return plain
        try:
            return tls_context(config).wrap_socket(plain, server_hostname=host)
        except ssl.SSLCertVerificationError as error:
            plain.close()
            about = (
                f"the certificate of {self.where} is not trusted ({error.verify_message}); ssl.ca.location names a CA"
            )
            raise BrokerError(ErrorCode.UNAUTHORIZED, about) from None
        except (OSError, ValueError) as error:
            plain.close()
            why = getattr(error, "reason", None) or error
            about = f"{self.where} does not speak TLS ({why}): set security.protocol to PLAINTEXT if it has none"
            raise BrokerError(ErrorCode.CONNECTION_LOST, about) from None

    def _negotiate(self) -> None:
        newest = ALLOWED["ApiVersions"].newest
        names = {"client_software_name": "brokerscope", "client_software_version": program_version()}
        try:
            found = self._sent("ApiVersions", newest, names)()
            refused = found.error_code == KafkaError.unsupported_version
        except BrokerError as error:
            if "unknown form" not in error.about:  # an older broker answers as version 0
                raise
            refused = True
        if refused:
            found = self._sent("ApiVersions", 0, {})()
        self._versions = {each.api_key: (each.min_version, each.max_version) for each in found.api_keys}
        if self._config.mechanism:
            steps, answer = authenticating(self._config, self.where), None
            with contextlib.suppress(StopIteration):
                while True:
                    answer = self.ask(*steps.send(answer))


class Question(dict[str, Any]):
    """A body that is sent again and again, to one API: it is written once, and of the answer only those rows are read
    that differ from the last; the others are the same objects. Not to be changed.
    """

    def __init__(self, body: Body) -> None:
        super().__init__(body)
        self.memories: dict[int, Memory] = {}  # by version
        self._frames: dict[int, bytes] = {}

    def frame(self, key: int, version: int, correlation: int) -> bytearray:
        if version not in self._frames:
            self._frames[version] = request_frame(key, version, 0, self)
        frame = bytearray(self._frames[version])
        _LENGTH.pack_into(frame, _CORRELATION_AT, correlation)
        return frame


def request_frame(key: int, version: int, correlation: int, body: Body) -> bytes:
    """The frame of a request by this program, with its length in front."""
    write, flexible = message_writer(load_request_schema, key, version)
    parts: Parts = [_HEADER.pack(key, version, correlation), struct.pack(">h", len(CLIENT_ID)), CLIENT_ID.encode()]
    parts.append(b"\0" if flexible else b"")
    write(body, parts)
    return b"".join((_LENGTH.pack(sum(map(len, parts))), *parts))


def tls_context(config: ConnectionConfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=config.ca_file or None)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = config.checks_host
        if config.cert_file:
            context.load_cert_chain(config.cert_file, config.key_file or None, lambda: config.key_password)
    except (OSError, ssl.SSLError) as error:
        names = " or ".join(name for name in (config.ca_file, config.cert_file) if name)
        about = f"the certificates in {names} cannot be used: {error.strerror or error}"
        raise BrokerError(ErrorCode.INVALID_CONFIG, about) from None
    return context
