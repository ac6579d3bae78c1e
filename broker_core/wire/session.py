"""The first words on a connection, and the signs of life after."""

from __future__ import annotations

from broker_core.wire.body import Body, Int32, Name


class Hello(Body, frozen=True):
    """`client` is the name under which the connection is shown; `token` says who comes, None where none is needed."""

    client: Name
    software: Name
    token: Name | None = None


class ApiVersions(Body, frozen=True):
    """The versions of one API that a broker understands."""

    key: int
    min_version: int
    max_version: int


class HelloReply(Body, frozen=True):
    """`session` is another number after each start of the broker, `now_ns` its session time.

    A frame holds at most `max_frame_bytes`; a connection that says nothing for `idle_timeout_ms` is cut;
    of more than `max_in_flight` requests at a time the rest wait to be read; no fetch or take waits for more than
    `max_wait_ms`.
    """

    software: str
    session: int
    now_ns: int
    principal: str
    apis: tuple[ApiVersions, ...]
    max_frame_bytes: int
    idle_timeout_ms: int
    max_in_flight: int
    max_wait_ms: int


class Ping(Body, frozen=True):
    """A sign of life."""


class Pong(Body, frozen=True):
    """`now_ns` is the broker's session time."""

    now_ns: int


class Cancel(Body, frozen=True):
    """A request of this connection that waits (a fetch, a take) is to wait no longer: it is answered with nothing."""

    correlation: Int32
