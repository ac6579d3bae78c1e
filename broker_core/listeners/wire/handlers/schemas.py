"""Schemas."""

from __future__ import annotations

from broker_core.broker.broker import Broker
from broker_core.listeners.access.access import Operation
from broker_core.listeners.wire.rows import Caller, How, Need, Row, of_broker, of_log
from broker_core.wire import schemas as api
from broker_core.wire.body import Done


def schemas(caller: Caller, request: api.Schemas, _now_ns: int) -> api.SchemasReply:
    """The registry as a whole, where the caller has not got it."""
    registry = caller.broker.schemas
    known = request.known_revision == registry.revision
    return api.SchemasReply(registry.revision, None if known else registry.state())


def register(caller: Caller, request: api.RegisterSchema) -> api.SchemaRegistered:
    """See `Broker.register_schema`."""
    return api.SchemaRegistered(
        caller.host.admin(
            lambda now_ns: caller.broker.register_schema(
                now_ns, request.subject, request.text, request.kind, client=caller.principal.name
            )
        )
    )


def set_compatibility(caller: Caller, request: api.SetCompatibility) -> Done:
    """See `SchemaRegistry.set_compatibility`."""
    caller.host.admin(
        lambda now_ns: caller.broker.set_schema_compatibility(
            now_ns, request.mode, request.subject, client=caller.principal.name
        )
    )
    return Done()


def delete_version(caller: Caller, request: api.DeleteSchemaVersion) -> Done:
    """See `SchemaRegistry.delete_version`."""
    caller.host.admin(
        lambda now_ns: caller.broker.delete_schema_version(
            now_ns, request.subject, request.version, client=caller.principal.name
        )
    )
    return Done()


def delete_subject(caller: Caller, request: api.DeleteSubject) -> api.Versions:
    """See `SchemaRegistry.delete_subject`."""
    return api.Versions(
        caller.host.admin(
            lambda now_ns: caller.broker.delete_schemas(now_ns, request.subject, client=caller.principal.name)
        )
    )


def set_rule(caller: Caller, request: api.SetSchemaRule) -> Done:
    """See `Broker.set_schema`."""
    caller.host.admin(
        lambda now_ns: caller.broker.set_schema(now_ns, request.topic, request.rule, client=caller.principal.name)
    )
    return Done()


def _subject(_broker: Broker, request: api.RegisterSchema | api.DeleteSchemaVersion | api.DeleteSubject) -> list[Need]:
    operation = Operation.WRITE if isinstance(request, api.RegisterSchema) else Operation.ADMIN
    return [(operation, "subject", request.subject)]


def _compatibility(_broker: Broker, request: api.SetCompatibility) -> list[Need]:
    if request.subject:
        return [(Operation.ADMIN, "subject", request.subject)]
    return [(Operation.ADMIN, "broker", "")]


ROWS = (
    Row(api.Schemas, How.AT_ONCE, of_broker(Operation.READ), schemas),
    Row(api.RegisterSchema, How.SLOW, _subject, register),
    Row(api.SetCompatibility, How.SLOW, _compatibility, set_compatibility),
    Row(api.DeleteSchemaVersion, How.SLOW, _subject, delete_version),
    Row(api.DeleteSubject, How.SLOW, _subject, delete_subject),
    Row(api.SetSchemaRule, How.SLOW, of_log(Operation.ADMIN, "topic"), set_rule),
)
