from __future__ import annotations

from broker_core.broker.broker import Broker, Handlers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import schemas
from broker_core.schemas.compatibility import Compatibility
from broker_core.schemas.languages import SchemaKind
from broker_core.schemas.registry import SchemaVersion


def _list_subjects(
    broker: Broker, _now_ns: int, _request: schemas.ListSubjects, _client: str
) -> schemas.SubjectsAnswer:
    registry = broker.schemas.registry
    return schemas.SubjectsAnswer(
        compatibility=registry.compatibility.value,
        subjects=[schemas.SubjectAnswer.of(registry, name) for name in registry.subjects()],
    )


def _set_compatibility(broker: Broker, now_ns: int, request: schemas.SetCompatibility, client: str) -> None:
    mode = None if request.mode is None else Compatibility[request.mode]
    broker.schemas.set_compatibility(now_ns, mode, request.subject, client=client)


def _register_schema(broker: Broker, now_ns: int, request: schemas.RegisterSchema, client: str) -> SchemaVersion:
    text = request.text
    return broker.schemas.register(
        now_ns, request.subject, text.text, SchemaKind(text.kind), text.references, text.metadata, client=client
    )


def _check_schema(broker: Broker, _now_ns: int, request: schemas.CheckSchema, _client: str) -> schemas.CheckAnswer:
    try:
        text = request.text
        found = broker.schemas.registry.check(request.subject, text.text, SchemaKind(text.kind), text.references)
        problems = [str(problem) for problem in found]
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_SCHEMA:
            raise
        problems = [str(error)]
    return schemas.CheckAnswer(compatible=not problems, problems=problems)


HANDLERS: Handlers = {
    schemas.ListSubjects: _list_subjects,
    schemas.SetDefaultCompatibility: lambda b, now_ns, r, client: b.schemas.set_compatibility(
        now_ns, Compatibility[r.mode], client=client
    ),
    schemas.DescribeSubject: lambda b, now_ns, r, _client: schemas.SubjectAnswer.of(b.schemas.registry, r.subject),
    schemas.DeleteSubject: lambda b, now_ns, r, client: list(
        b.schemas.delete_subject(now_ns, r.subject, permanent=r.permanent, client=client)
    ),
    schemas.SetCompatibility: _set_compatibility,
    schemas.RegisterSchema: _register_schema,
    schemas.DescribeVersion: lambda b, now_ns, r, _client: b.schemas.registry.version(r.subject, r.version),
    schemas.DeleteVersion: lambda b, now_ns, r, client: b.schemas.delete_version(
        now_ns, r.subject, r.version, permanent=r.permanent, client=client
    ),
    schemas.CheckSchema: _check_schema,
    schemas.DiffSchemas: lambda b, now_ns, r, _client: list(
        b.schemas.registry.diff(r.subject, r.before, r.after or "latest")
    ),
}
