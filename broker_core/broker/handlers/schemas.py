"""The schema registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers.table import CLIENT, Handlers
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import schemas
from broker_core.schemas.compatibility import Compatibility, SchemaKind

if TYPE_CHECKING:
    from broker_core.broker.broker import Broker


def _list_subjects(broker: Broker, _now_ns: int, _request: schemas.ListSubjects) -> schemas.SubjectsAnswer:
    registry = broker.schemas.registry
    return schemas.SubjectsAnswer(
        compatibility=registry.compatibility.value,
        subjects=[schemas.SubjectAnswer.of(registry, name) for name in registry.subjects()],
    )


def _set_default_compatibility(broker: Broker, now_ns: int, request: schemas.SetDefaultCompatibility) -> None:
    broker.schemas.set_compatibility(now_ns, Compatibility[request.mode], client=CLIENT)


def _describe_subject(broker: Broker, _now_ns: int, request: schemas.DescribeSubject) -> schemas.SubjectAnswer:
    return schemas.SubjectAnswer.of(broker.schemas.registry, request.subject)


def _delete_subject(broker: Broker, now_ns: int, request: schemas.DeleteSubject) -> schemas.Versions:
    return schemas.Versions(versions=list(broker.schemas.delete_subject(now_ns, request.subject, client=CLIENT)))


def _set_compatibility(broker: Broker, now_ns: int, request: schemas.SetCompatibility) -> None:
    mode = None if request.mode is None else Compatibility[request.mode]
    broker.schemas.set_compatibility(now_ns, mode, request.subject, client=CLIENT)


def _register_schema(broker: Broker, now_ns: int, request: schemas.RegisterSchema) -> schemas.VersionAnswer:
    kind = SchemaKind(request.text.kind)
    return schemas.VersionAnswer.of(
        broker.schemas.register(now_ns, request.subject, request.text.text, kind, client=CLIENT)
    )


def _describe_version(broker: Broker, _now_ns: int, request: schemas.DescribeVersion) -> schemas.VersionAnswer:
    return schemas.VersionAnswer.of(broker.schemas.registry.version(request.subject, request.version))


def _delete_version(broker: Broker, now_ns: int, request: schemas.DeleteVersion) -> None:
    broker.schemas.delete_version(now_ns, request.subject, request.version, client=CLIENT)


def _check_schema(broker: Broker, _now_ns: int, request: schemas.CheckSchema) -> schemas.CheckAnswer:
    try:
        found = broker.schemas.registry.check(request.subject, request.text.text, SchemaKind(request.text.kind))
        problems = [str(problem) for problem in found]
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_SCHEMA:
            raise
        problems = [str(error)]
    return schemas.CheckAnswer(compatible=not problems, problems=problems)


def _diff_schemas(broker: Broker, _now_ns: int, request: schemas.DiffSchemas) -> schemas.DiffAnswer:
    changes = broker.schemas.registry.diff(request.subject, request.before, request.after or "latest")
    return schemas.DiffAnswer(changes=[schemas.DiffChange.of(change) for change in changes])


HANDLERS: Handlers = {
    schemas.ListSubjects: _list_subjects,
    schemas.SetDefaultCompatibility: _set_default_compatibility,
    schemas.DescribeSubject: _describe_subject,
    schemas.DeleteSubject: _delete_subject,
    schemas.SetCompatibility: _set_compatibility,
    schemas.RegisterSchema: _register_schema,
    schemas.DescribeVersion: _describe_version,
    schemas.DeleteVersion: _delete_version,
    schemas.CheckSchema: _check_schema,
    schemas.DiffSchemas: _diff_schemas,
}
