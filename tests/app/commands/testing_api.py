"""The classes and fixtures of the test kit with all that is public, from the code, in English as the code is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from broker_core.clients.queue_consumer import Delivery, QueueConsumer
from broker_core.recording.audit import Audit, Verdict
from broker_core.testing import plugin
from broker_core.testing.clock import BrokerClock
from broker_core.testing.embedded_broker import ConditionTimeoutError, EmbeddedBroker
from broker_core.testing.faults import ActiveFault, FaultNotMetError, FaultNotMetWarning, Faults
from broker_core.testing.given import given_schedule
from broker_core.testing.program import CommandProgram, Program, ProgramEndedError
from broker_core.testing.schedule import Disturbance, Schedule
from broker_core.testing.virtual_broker import VirtualBroker
from broker_core.testing.virtual_consumer import VirtualConsumer
from broker_core.testing.virtual_message import TopicPartition, VirtualMessage
from broker_core.testing.virtual_session import VirtualSession
from broker_core.testing.virtual_worker import VirtualWorker

FIXTURES = ("broker", "make_broker", "broker_session", "make_virtual_session")
CLASSES = (
    *(EmbeddedBroker, Program, CommandProgram, Faults, ActiveFault, BrokerClock, Audit, Verdict),
    *(VirtualBroker, VirtualConsumer, VirtualMessage, TopicPartition, VirtualSession, Schedule, Disturbance),
    *(VirtualWorker, QueueConsumer, Delivery),
)
MADE = (EmbeddedBroker, VirtualBroker, VirtualSession, QueueConsumer)  # by tests themselves
ERRORS = (ConditionTimeoutError, ProgramEndedError, FaultNotMetError, FaultNotMetWarning)


def testing_api() -> str:
    """Markdown. `resources/guides/testing-api.md` is this."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Classes and fixtures of the test kit\n"
    yield "Made from the code. What a condition, a verdict, a fault and the clock can be asked for by name is in the"
    yield "[testing reference](testing-reference.md); how they are used, in [the guide](testing.md).\n"
    yield "## Fixtures of pytest\n"
    for name in FIXTURES:
        fixture = getattr(plugin, name)
        yield f"### `{name}`\n\n{_text(inspect.unwrap(getattr(fixture, '_fixture_function', fixture)))}\n"
    yield f"## `given_schedule`\n\n{_text(given_schedule)}\n"
    for cls in CLASSES:
        yield f"## `{cls.__name__}`\n\n{_text(cls)}\n"
        if cls in MADE:
            own = vars(cls)["__init__"]
            yield f"`{cls.__name__}{_signature(own)}`\n\n{_text(own) if own.__doc__ else ''}".rstrip() + "\n"
        for name, member in vars(cls).items():
            if not name.startswith("_") and inspect.getdoc(member):
                call = "" if isinstance(member, property) else _signature(member)
                yield f"### `{name}{call}`\n\n{_text(member)}\n"
    yield "## Errors\n"
    for error in ERRORS:
        yield f"`{error.__name__}`: {_text(error)}\n"


def _signature(member: object) -> str:
    member = getattr(member, "__func__", member)
    assert callable(member)
    signature = inspect.signature(member)
    parameters = list(signature.parameters.values())[1:]
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature.replace(parameters=parameters)))
    return re.sub(r"(Config)\(.*?\)", r"\1(...)", plain).replace("'", '"')


def _text(member: object) -> str:
    text = inspect.getdoc(member) or ""
    return "\n\n".join(" ".join(part.split()) if not part.startswith("- ") else part for part in text.split("\n\n"))
