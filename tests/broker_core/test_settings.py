"""Promise 33: settings are judged when they are made, all of them, in one sentence, and by what their types say."""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from pathlib import Path
from typing import Any, cast, get_type_hints

import msgspec
import pytest

import broker_core
from broker_core import Admin, BrokerHost, Producer, QueueConsumer
from broker_core.clients.membership import ConsumerConfig
from broker_core.errors import BrokerError, ConfigError, ErrorCode
from broker_core.flow.config import FlowConfig
from broker_core.groups.offset_reset import Target
from broker_core.kinds import kind_of
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.queues.config import QueueConfig
from broker_core.settings import Positive, Settings, checked

NEEDED: dict[str, dict[str, Any]] = {
    "AdaptiveConfig": {"base_ms": 100.0},
    "Target": {"form": "earliest"},
    "SchemaRule": {"subject": "orders"},
    "PrincipalEntry": {"name": "billing"},
    "Rule": {"principal": "billing", "operations": ()},
    "AccessFile": {"principals": ()},
    "BeginFault": {"effect": "drop"},
    "ClientFault": {"effect": "drop"},
    "TlsConfig": {"certificate": Path("certificate.pem"), "key": Path("key.pem")},
    "FlowConfig": {"rate_per_s": 1.0},  # a burst needs one
    "ProducerConfig": {"acks": 1},
    "Acl": {"principal": "ann", "operation": "read", "kind": "topic", "name": "orders"},
    "ClientQuota": {"key": "producer_byte_rate", "bytes_per_s": 1.0, "user": "ann"},
    "ScramUser": {"user": "ann", "mechanism": "SCRAM-SHA-256", "iterations": 4_096},
    "ScramCredential": {
        "user": "ann",
        "mechanism": "SCRAM-SHA-256",
        "iterations": 4_096,
        "salt": b"salt",
        "stored_key": b"k" * 32,
        "server_key": b"k" * 32,
    },
}
NEVER = (math.nan, math.inf, -math.inf, 1j, object(), [object()], {"a": 1}, {1}, lambda: None, "\ud800", 1 << 70)
NOT_A_NUMBER: tuple[object, ...] = (True, "1", b"1", None, [], ())
NOT_A_WHOLE_NUMBER = (1.5, 2.0)


def _all() -> list[type[Settings]]:
    for found in pkgutil.walk_packages(broker_core.__path__, "broker_core."):
        importlib.import_module(found.name)

    def below(kind: type[Settings]) -> set[type[Settings]]:
        return {kind, *(each for child in kind.__subclasses__() for each in below(child))}

    return sorted((each for each in below(Settings) if each.__struct_fields__), key=lambda each: each.__name__)


FIELDS = [(kind, name) for kind in _all() for name in kind.__struct_fields__]


def told(kind: type[Settings], name: str, value: object) -> str:
    """The sentence that refuses `value`; "" where it is taken."""
    try:
        kind(**{**NEEDED.get(kind.__name__, {}), name: value})
    except BrokerError as error:
        assert error.code in {ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST, ErrorCode.UNACCEPTABLE_CREDENTIAL}
        return str(error)
    return ""


@pytest.mark.promise("33")
def test_every_class_of_settings_is_judged():
    structs = {
        each
        for each in msgspec.Struct.__subclasses__()
        if each.__module__.startswith("broker_core.") and each.__name__[0] != "_"
    }
    assert not [each for each in structs if each.__name__.endswith(("Config", "Rule", "Filter", "Edit", "Target"))]
    assert {"FlowConfig", "GroupConfig", "GuardConfig", "HostConfig", "LogConfig", "ProducerConfig"} <= {
        each.__name__ for each in _all()
    }
    for kind in _all():
        made = kind(**NEEDED.get(kind.__name__, {}))
        assert msgspec.structs.replace(made) == made


@pytest.mark.promise("33")
@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_a_field_takes_nothing_that_it_cannot_mean(kind: type[Settings], name: str):
    hint = get_type_hints(kind, include_extras=True)[name]
    annotation = str(hint)
    wrong: list[object] = list(NEVER)
    if re.search("Range|ge=|gt=", annotation):
        wrong += [
            each for each in NOT_A_NUMBER if each is not None or not re.search(r"Optional|NoneType|None\]", annotation)
        ]
        if re.search(r"\bint\b", annotation):
            wrong += NOT_A_WHOLE_NUMBER
        if (kind.__name__, name) in {("LogConfig", "gzip_level"), ("LogConfig", "zstd_level")}:
            wrong += [-1.0, 23, -131_073]  # -1 is Kafka's default level of gzip, and zstd has negative ones
        elif (kind.__name__, name) not in {("Target", "offset"), ("Target", "timestamp_ms")} and name[-3:] != "_ns":
            wrong += [-1, -1.0]
    else:
        wrong += [0.5, -1, *([] if "Literal[0, 1" in annotation else [0, 1])]
    if "Literal" in annotation:
        wrong += ["", "no-such-word", True]
    for value in wrong:
        sentence = told(kind, name, value)
        assert name in sentence and "must be" in sentence, f"{kind.__name__}.{name} takes {value!r}: {sentence}"
        assert sentence.count("\n") == 0 and len(sentence) < 400 and " object at 0x" not in sentence[200:]


def test_a_word_that_is_nearly_right_is_named():
    assert "(did you mean at_most_once?)" in told(ConsumerConfig, "guarantee", "at-most-once")
    assert "(did you mean drop_oldest?)" in told(FlowConfig, "policy", "drop-oldest")
    assert "must be one of earliest, latest, none (did you" in told(ConsumerConfig, "auto_offset_reset", "smallest")
    assert "(did you mean earliest?)" in told(Target, "form", "earliestt")


def test_what_is_decoded_is_judged_at_its_place():
    with pytest.raises(msgspec.ValidationError, match=r">= 1 - at `\$.max_attempts`"):
        msgspec.json.decode(b'{"max_attempts": 0}', type=QueueConfig)


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(ConfigError, match="heartbeat_interval_ms 9000 must be less than session_timeout_ms, 9000"):
        ConsumerConfig(heartbeat_interval_ms=9_000, session_timeout_ms=9_000)
    with pytest.raises(ConfigError, match="burst 2 needs a rate_per_s"):
        FlowConfig(burst=2)


def test_a_setting_without_its_range_is_not_one():
    with pytest.raises(TypeError, match="needs a range"):
        kind_of(int | None, ranged=True)


def test_settings_of_clients_and_listeners_are_judged_as_well():
    with BrokerHost() as host:
        Admin(host).create_queue("jobs")
        for made, about in (
            (lambda: QueueConsumer(host, "jobs", guarantee="at-most-once"), "(did you mean at_most_once?)"),  # type: ignore[arg-type]
            (lambda: QueueConsumer(host, "jobs", weight=-1), "weight -1 must be a whole number from 0"),
            (lambda: KafkaListener(host, port=70_000), "port 70000 must be a whole number from 0 to 65535"),
            (lambda: HttpListener(host, access="secret"), "access 'secret' must be an Access"),  # type: ignore[arg-type]
            (lambda: KafkaListener(host, create_topics=-1), "create_topics -1 must be"),
            (lambda: Producer(host, {"acks": 1}), "config {'acks': 1} must be a ProducerConfig, or None"),  # type: ignore[arg-type]
        ):
            with pytest.raises(ConfigError) as refused:
                made()
            assert about in str(refused.value)


def _cell(function: Any, name: str) -> Any:
    """Of a variable of the function around `function`."""
    return function.__closure__[function.__code__.co_freevars.index(name)]


def test_arguments_are_checked_while_another_thread_reads_the_annotations_for_the_first_time() -> None:
    @checked
    def buy(apples: Positive, pears: Positive) -> None: ...

    class Known(dict[str, Any]):
        """The kinds by name; between the first and the second that is asked for, another thread calls."""

        asked = 0

        def get(self, name: str, other: Any = None) -> Any:
            self.asked += 1
            if self.asked == 2:
                with pytest.raises(BrokerError, match="pears"):
                    buy(1, cast(Any, "rubbish"))
            return super().get(name, other)

    known = Known()
    _cell(buy, "by_name").cell_contents = known
    buy(1, 2)
    assert known.asked > 2
