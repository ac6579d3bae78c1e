"""The codec: whatever is said arrives as it was said, however the bytes are split (A20, promises 19 and 20)."""

from __future__ import annotations

import itertools
import random
import struct
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.errors import BrokerError, ErrorCode
from broker_core.wire.apis import APIS, BY_KEY, ERROR
from broker_core.wire.body import Body, Done, ErrorBody
from broker_core.wire.codec import Answer, BadRequest, ClientCodec, Request, ServerCodec
from broker_core.wire.errors import LocalProtocolError, RemoteProtocolError, ThrottledError
from broker_core.wire.frames import MAX_SKIPPED_BYTES, BadFrame, Frame, FrameDecoder, encode_frame
from broker_core.wire.session import Hello, Ping, Pong
from tests.broker_core.wire.bodies import exchanges, requests

EVERY_API = {api.key: (api.min_version, api.max_version) for api in APIS}
frames = st.builds(
    Frame,
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.binary(max_size=60),
)


def client() -> ClientCodec:
    codec = ClientCodec()
    codec.agree(EVERY_API)
    return codec


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in itertools.pairwise(places)]


def said(found: list[Frame | BadFrame]) -> list[tuple[object, ...]]:
    return [(*each[:3], bytes(each.body) if isinstance(each, Frame) else str(each.error)) for each in found]


@given(st.lists(st.one_of(frames, st.integers(0, 7), st.integers(101, 300)), max_size=8), st.lists(st.integers(0)))
def test_any_split_of_the_bytes_gives_the_same_frames(parts: list[Frame | int], cuts: list[int]):
    """Numbers are frames whose declared length is too short, or above the limit of 100."""
    data = b"".join(
        struct.pack(">I", part) + bytes(part) if isinstance(part, int) else encode_frame(*part) for part in parts
    )
    whole = FrameDecoder(100).feed(data)
    decoder = FrameDecoder(100)
    pieces = [frame for piece in split(data, cuts) for frame in decoder.feed(piece)]
    assert said(pieces) == said(whole)
    assert [isinstance(frame, BadFrame) for frame in whole] == [isinstance(part, int) for part in parts]
    assert [(*frame[:3], bytes(frame.body)) for frame in whole if isinstance(frame, Frame)] == [
        tuple(part) for part in parts if isinstance(part, Frame)
    ]
    assert not decoder.partial and not decoder.held_bytes


@settings(max_examples=300)
@given(exchanges(), st.lists(st.integers(0)))
def test_every_request_and_every_reply_arrives_as_it_was_sent(exchange, cuts: list[int]):
    api, request, reply = exchange
    ours, theirs = client(), ServerCodec()
    correlation, data = ours.request(request)
    [heard] = [found for piece in split(data, cuts) for found in theirs.receive(piece)]
    assert isinstance(heard, Request)
    assert (heard.api, heard.version, heard.correlation, heard.body) == (api, api.max_version, correlation, request)
    if isinstance(reply, ErrorBody):
        error = BrokerError(ErrorCode.THROTTLED, reply.about)
        [answer] = ours.receive(ServerCodec.error(correlation, error, 5))
        assert isinstance(answer.error, ThrottledError) and answer.error.throttle_ms == 5
        assert (answer.body, answer.error.code, answer.error.about) == (None, ErrorCode.THROTTLED, reply.about[:2_000])
    else:
        answers = [found for piece in split(ServerCodec.reply(heard, reply), cuts) for found in ours.receive(piece)]
        assert answers == [Answer(correlation, reply, None)]


def test_replies_may_come_in_any_order():
    ours, theirs = client(), ServerCodec()
    sent = [ours.request(Ping()) for _ in range(50)]
    heard = theirs.receive(b"".join(data for _, data in sent))
    replies = [
        ServerCodec.reply(request, Pong(request.correlation)) for request in heard if isinstance(request, Request)
    ]
    random.Random(1).shuffle(replies)
    found = ours.receive(b"".join(replies))
    assert {answer.correlation: answer.body for answer in found} == {number: Pong(number) for number, _ in sent}


def test_what_is_wrong_with_a_request_is_said_under_its_correlation_id_and_the_next_is_heard():
    good = client().request(Hello("me", "test"))[1]
    wrong = {
        encode_frame(999, 0, 7, b""): ErrorCode.INVALID_REQUEST,
        encode_frame(1, 99, 7, b"\x90"): ErrorCode.UNSUPPORTED_VERSION,
        encode_frame(1, -1, 7, b"\x90"): ErrorCode.UNSUPPORTED_VERSION,
        encode_frame(0, 0, 7, b""): ErrorCode.INVALID_REQUEST,
        encode_frame(0, 0, 7, b"\xc1"): ErrorCode.INVALID_REQUEST,
        encode_frame(0, 0, 7, b"\x92" * 100_000): ErrorCode.INVALID_REQUEST,
        encode_frame(0, 0, 7, b"\x93\xa1\xff\xa1b\xc0"): ErrorCode.INVALID_REQUEST,
        encode_frame(30, 0, 7, b"\x95\xa1g\xa1c\xdd\xff\xff\xff\xff"): ErrorCode.INVALID_REQUEST,
        encode_frame(12, 0, 7, b"\x92\xa1t\xcf" + b"\xff" * 8): ErrorCode.INVALID_REQUEST,
    }
    for data, code in wrong.items():
        bad, heard = ServerCodec().receive(data + good)
        assert isinstance(bad, BadRequest) and (bad.correlation, bad.error.code, bad.fatal) == (7, code, False)
        assert isinstance(heard, Request) and heard.body == Hello("me", "test")


def test_an_oversize_frame_is_refused_by_its_declared_length_before_any_of_it_is_kept():
    """Promise 20."""
    codec = ServerCodec(max_frame_bytes=1_000)
    ping = client().request(Ping())[1]
    [refused] = codec.receive(struct.pack(">Ihhi", 50_000_008, 21, 0, 77))
    assert isinstance(refused, BadRequest) and not refused.fatal
    assert (refused.correlation, refused.error.code) == (77, ErrorCode.REQUEST_TOO_LARGE)
    tracemalloc.start()
    for _ in range(50):
        assert codec.receive(bytes(1_000_000)) == []
        assert codec.frames.held_bytes == 0
    assert tracemalloc.get_traced_memory()[1] < 3_000_000  # what was fed in just now, no more
    tracemalloc.stop()
    [heard] = codec.receive(ping)
    assert isinstance(heard, Request)


def test_what_cannot_be_a_frame_ends_the_connection():
    codec = ServerCodec()
    [refused] = codec.receive(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert isinstance(refused, BadRequest) and refused.fatal
    assert codec.receive(client().request(Ping())[1]) == []
    assert int.from_bytes(b"GET ", "big") > MAX_SKIPPED_BYTES


def test_a_length_of_a_frame_is_no_promise_of_memory():
    decoder = FrameDecoder(16 * 1_048_576)
    tracemalloc.start()
    assert decoder.feed(struct.pack(">Ihhi", 16 * 1_048_576, 1, 0, 1)) == []
    assert tracemalloc.get_traced_memory()[1] < 10_000
    tracemalloc.stop()


def test_a_client_notices_what_is_no_answer():
    def answers(data: bytes) -> list[Answer]:
        codec = client()
        codec.request(Ping())
        return codec.receive(data)

    for data in (
        encode_frame(1, 0, 2, b"\x91\x01"),  # to nothing that was asked
        encode_frame(0, 0, 1, b"\x91\x01"),  # of another API
        encode_frame(1, 0, 1, b"\xc1"),
        encode_frame(ERROR, 0, 1, b"\x01"),
        struct.pack(">I", 3) + b"abc",
    ):
        with pytest.raises(RemoteProtocolError):
            answers(data)
    with pytest.raises(RemoteProtocolError, match="as many connections"):
        answers(ServerCodec.error(0, BrokerError(ErrorCode.THROTTLED, "as many connections as are allowed")))


def test_a_forgotten_answer_is_passed_over():
    ours, theirs = client(), ServerCodec()
    correlation, data = ours.request(Ping())
    ours.forget(correlation)
    [heard] = theirs.receive(data)
    assert isinstance(heard, Request)
    assert ours.receive(ServerCodec.reply(heard, Pong(1))) == []


def test_mistakes_of_this_side_are_told_apart():
    with pytest.raises(LocalProtocolError):
        client().request(Done())
    [heard] = ServerCodec().receive(client().request(Ping())[1])
    assert isinstance(heard, Request)
    with pytest.raises(LocalProtocolError):
        ServerCodec.reply(heard, Done())


def test_versions_are_agreed_upon():
    codec = ClientCodec()
    codec.agree({0: (0, 5), 1: (3, 9)})
    assert codec.request(Hello("me", "test"))[1][4:8] == struct.pack(">hh", 0, 0)
    with pytest.raises(BrokerError) as caught:
        codec.request(Ping())  # the broker knows newer ones only
    assert caught.value.code is ErrorCode.UNSUPPORTED_VERSION
    codec.agree(EVERY_API)
    codec.max_request_bytes = 100
    with pytest.raises(BrokerError) as caught:
        codec.request(Hello("x" * 200, "test"))
    assert caught.value.code is ErrorCode.REQUEST_TOO_LARGE


def test_the_table_has_each_key_once_and_errors_have_none_of_them():
    assert len(BY_KEY) == len(APIS) and ERROR not in BY_KEY


def mutate(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        place = dice.randrange(len(changed) + 1)
        match dice.randrange(5):
            case 0 if place < len(changed):
                changed[place] = dice.choice([0, 0x7F, 0x80, 0xC1, 0xD9, 0xDD, 0xDF, 0xFF, dice.randrange(256)])
            case 1 if place < len(changed):
                del changed[place : place + dice.randint(1, 8)]
            case 2:
                changed[place:place] = dice.randbytes(dice.randint(1, 8))
            case 3:
                changed[place:place] = changed[: dice.randint(1, 30)]
            case 4 if len(changed) >= 4:
                changed[:4] = struct.pack(
                    ">I", dice.choice([0, 7, 8, len(changed) - 4, 1 << 20, 1 << 31, (1 << 32) - 1])
                )
    return bytes(changed)


def check_mutations(count: int, seed: int) -> None:
    """Whatever comes in, what comes out is a request or a refusal, and the codec goes on or says that it is broken."""
    dice = random.Random(seed)
    seeds = [ClientCodec.request(client(), body)[1] for body in _samples()]
    worst_s = 0.0
    for _ in range(count):
        codec = ServerCodec()
        started_s = time.perf_counter()
        for data in (mutate(dice, dice.choice(seeds)), dice.choice(seeds)):
            for found in codec.receive(data):
                assert isinstance(found, Request | BadRequest)
                if isinstance(found, BadRequest):
                    assert ServerCodec.error(found.correlation, found.error)
        worst_s = max(worst_s, time.perf_counter() - started_s)
        assert codec.frames.held_bytes <= 1 << 20
    assert worst_s < 5


def _samples() -> list[Body]:
    """A request of each kind."""
    found: dict[int, Body] = {}

    @settings(max_examples=600, database=None, derandomize=True)
    @given(requests())
    def collect(drawn):
        found[drawn[0].key] = drawn[1]

    collect()
    assert len(found) > len(APIS) // 2
    return list(found.values())


def test_mutated_answers_are_answers_or_are_noticed():
    dice = random.Random(5)
    for _ in range(2_000):
        ours, theirs = client(), ServerCodec()
        sent = b"".join(ours.request(Ping())[1] for _ in range(3))
        good = b"".join(
            ServerCodec.reply(request, Pong(1)) for request in theirs.receive(sent) if isinstance(request, Request)
        )
        try:
            for answer in ours.receive(mutate(dice, good)):
                assert isinstance(answer.body, Pong) or answer.error is not None
        except RemoteProtocolError:
            pass


def test_mutated_frames_give_an_error_never_a_crash_or_a_hang():
    """Promise 19, the short form."""
    check_mutations(4_000, 1)


@pytest.mark.soak
def test_two_hundred_thousand_mutated_frames():
    """Promise 19."""
    check_mutations(200_000, 2)
