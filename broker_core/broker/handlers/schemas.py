from __future__ import annotations

from typing import TYPE_CHECKING

from broker_core.broker.handlers import CLIENT
from broker_core.errors import BrokerError, ErrorCode
from broker_core.operations import schemas
from broker_core.schemas.compatibility import Compatibility, SchemaKind
from broker_core.schemas.registry import SchemaVersion

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
    versions = broker.schemas.delete_subject(now_ns, request.subject, permanent=request.permanent, client=CLIENT)
    return schemas.Versions(versions=list(versions))


def _set_compatibility(broker: Broker, now_ns: int, request: schemas.SetCompatibility) -> None:
    mode = None if request.mode is None else Compatibility[request.mode]
    broker.schemas.set_compatibility(now_ns, mode, request.subject, client=CLIENT)


def _register_schema(broker: Broker, now_ns: int, request: schemas.RegisterSchema) -> SchemaVersion:
    text = request.text
    return broker.schemas.register(
        now_ns, request.subject, text.text, SchemaKind(text.kind), text.references, client=CLIENT
    )


def _describe_version(broker: Broker, _now_ns: int, request: schemas.DescribeVersion) -> SchemaVersion:
    return broker.schemas.registry.version(request.subject, request.version)


def _delete_version(broker: Broker, now_ns: int, request: schemas.DeleteVersion) -> None:
    broker.schemas.delete_version(now_ns, request.subject, request.version, permanent=request.permanent, client=CLIENT)


def _check_schema(broker: Broker, _now_ns: int, request: schemas.CheckSchema) -> schemas.CheckAnswer:
    try:
        text = request.text
        found = broker.schemas.registry.check(request.subject, text.text, SchemaKind(text.kind), text.references)
        problems = [str(problem) for problem in found]
    except BrokerError as error:
        if error.code is not ErrorCode.INVALID_SCHEMA:
            raise
        problems = [str(error)]
    return schemas.CheckAnswer(compatible=not problems, problems=problems)


def _diff_schemas(broker: Broker, _now_ns: int, request: schemas.DiffSchemas) -> schemas.DiffAnswer:
    changes = broker.schemas.registry.diff(request.subject, request.before, request.after or "latest")
    return schemas.DiffAnswer(changes=list(changes))
