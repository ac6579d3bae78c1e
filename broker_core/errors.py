"""The errors of the broker: an enum of codes, each with a sentence and whether it is retriable."""

from __future__ import annotations

import enum
from contextlib import AbstractContextManager
from typing import TypeVar

from broker_core.limits import MAX_ABOUT_CHARS


class ErrorCode(enum.Enum):
    """An error code. Numbers are Kafka's where Kafka has the same error; so are most names.

    `status` is HTTP's: 409 for what the present state does not allow, 422 for what no state would allow.
    """

    def __init__(self, code: int, sentence: str, retriable: bool, status: int = 500) -> None:
        self.code = code
        self.sentence = sentence
        self.retriable = retriable
        self.status = status

    INTERNAL_ERROR = (-1, "The broker has an internal error", False)
    OFFSET_OUT_OF_RANGE = (1, "The offset is outside the log", False, 409)
    CORRUPT_MESSAGE = (2, "Stored or sent bytes fail their checksum", False)
    UNKNOWN_TOPIC_OR_PARTITION = (3, "There is no such topic or partition", False, 404)
    REQUEST_TIMED_OUT = (7, "The deadline passed before the request could be served", True, 503)
    MESSAGE_TOO_LARGE = (10, "The message is larger than the topic allows", False, 413)
    OFFSET_METADATA_TOO_LARGE = (12, "The metadata of the commit is too large", False, 413)
    CONNECTION_LOST = (13, "There is no connection to the broker", True)
    INVALID_TOPIC = (17, "The name is not allowed", False, 422)
    ILLEGAL_GENERATION = (22, "The group has moved on to a newer generation", False, 409)
    INCONSISTENT_GROUP_PROTOCOL = (23, "The member and the group have no common assignor", False, 409)
    INVALID_GROUP_ID = (24, "The group id is not allowed", False, 422)
    UNKNOWN_MEMBER_ID = (25, "The member is not in the group", False, 404)
    INVALID_SESSION_TIMEOUT = (26, "The session timeout is outside the allowed range", False, 422)
    REBALANCE_IN_PROGRESS = (27, "The group is rebalancing; the member must rejoin", True, 409)
    UNSUPPORTED_SASL_MECHANISM = (33, "The broker does not have the SASL mechanism", False)
    UNSUPPORTED_VERSION = (35, "The version of the request is not supported", False)
    TOPIC_ALREADY_EXISTS = (36, "There is already a topic or queue of this name", False, 409)
    INVALID_PARTITIONS = (37, "The number of partitions is not allowed", False, 409)
    INVALID_REPLICATION_FACTOR = (38, "The replication factor is not supported", False)
    INVALID_CONFIG = (40, "The configuration is not allowed", False, 409)
    INVALID_REQUEST = (42, "This is not possible", False, 409)
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (43, "The format of the message is not supported", False)
    OUT_OF_ORDER_SEQUENCE_NUMBER = (45, "The producer's sequence number is out of order", False, 409)
    DUPLICATE_SEQUENCE_NUMBER = (46, "The batch was already appended", False, 409)
    INVALID_PRODUCER_EPOCH = (47, "A newer producer with the same id has taken over", False, 409)
    INVALID_TXN_STATE = (48, "The state of the transaction does not allow this", False)
    INVALID_PRODUCER_ID_MAPPING = (49, "The transactional id belongs to another producer id", False)
    INVALID_TRANSACTION_TIMEOUT = (50, "The transaction timeout is outside the allowed range", False)
    CONCURRENT_TRANSACTIONS = (51, "The last transaction is not finished yet; try again", True)
    STORAGE_ERROR = (56, "The disk refused", False, 503)
    NON_EMPTY_GROUP = (68, "The group still has members", False, 409)
    GROUP_ID_NOT_FOUND = (69, "There is no such group", False, 404)
    FETCH_SESSION_ID_NOT_FOUND = (70, "There is no such fetch session; fetch without one", True)
    INVALID_FETCH_SESSION_EPOCH = (71, "The fetch session is at another epoch; fetch without one", True)
    GROUP_MAX_SIZE_REACHED = (81, "The group has the maximum number of members", False, 409)
    FENCED_INSTANCE_ID = (82, "Another member uses the same group instance id", False, 409)
    GROUP_SUBSCRIBED_TO_TOPIC = (86, "Members of the group read the topic", False, 409)
    INVALID_RECORD = (87, "The message was refused", False, 409)
    UNSTABLE_OFFSET_COMMIT = (88, "An open transaction is about to commit the offset; try again", True)
    THROTTLED = (89, "The limit is reached; try again later", True, 429)
    PRODUCER_FENCED = (90, "A newer producer has taken over the transactional id, or its transaction timed out", False)
    RESOURCE_NOT_FOUND = (91, "There is no such user, ACL or quota", False, 404)
    DUPLICATE_RESOURCE = (92, "The request names the user twice", False, 409)
    UNACCEPTABLE_CREDENTIAL = (93, "The credential is not allowed", False, 409)
    TRANSACTIONAL_ID_NOT_FOUND = (105, "There is no such transactional id", False)
    FENCED_MEMBER_EPOCH = (110, "The member's epoch is not the group's; the member must rejoin", False)
    UNRELEASED_INSTANCE_ID = (111, "Another member still uses the same group instance id", False)
    UNSUPPORTED_ASSIGNOR = (112, "The broker has no such assignor", False)
    STALE_MEMBER_EPOCH = (113, "The member's epoch is old; the reply to its next heartbeat has the new one", True)
    TRANSACTION_ABORTABLE = (120, "The transaction has failed and must be aborted", False)
    INVALID_RECORD_STATE = (121, "This member no longer holds the message", False)
    SHARE_SESSION_NOT_FOUND = (122, "There is no such share session; open another", True)
    INVALID_SHARE_SESSION_EPOCH = (123, "The share session is at another epoch; open another", True)
    INVALID_REGULAR_EXPRESSION = (128, "The regular expression is not valid", False)
    SHARE_SESSION_LIMIT_REACHED = (133, "The maximum number of share sessions is open", True)
    # Queues, listeners and the rest, which Kafka's classic protocol has no number for.
    UNKNOWN_QUEUE = (1001, "There is no such queue", False, 404)
    INVALID_LEASE = (1002, "The lease has expired or belongs to another consumer", False, 409)
    UNKNOWN_DEAD_LETTER = (1003, "There is no such dead letter", False, 404)
    CLOSED = (1004, "It is closed", False, 503)
    DIRECTORY_IN_USE = (1005, "The data directory is open already", False)
    DAMAGED = (1006, "The stored data are damaged", False)
    NOT_A_SESSION = (1007, "This is not a session folder", False)
    UNKNOWN_SESSION_VERSION = (1008, "The version of the session format is not supported", False)
    UNSERIALIZABLE = (1009, "The value cannot be written in this format", False, 422)
    UNREADABLE = (1010, "The bytes cannot be read in this format", False, 422)
    MIDDLEWARE_FAILED = (1011, "A middleware failed", False)
    FOLDER_NOT_EMPTY = (1012, "The folder is not empty, and nothing in it will be overwritten", False)
    UNAUTHORIZED = (1013, "Authentication failed", False, 401)
    FORBIDDEN = (1014, "Access is denied", False, 403)
    REQUEST_TOO_LARGE = (1015, "The request is too large", False, 413)
    UNKNOWN_CONSUMER = (1016, "There is no such consumer", False, 404)
    MALFORMED_REQUEST = (1017, "The request is malformed", False, 422)
    READ_ONLY = (1018, "Changes are refused", False, 403)
    NO_DEAD_LETTERS = (1019, "The topic has no dead letters", False, 404)
    UNKNOWN_FAULT = (1020, "There is no such fault", False, 404)
    STALE_PLAN = (1021, "The plan no longer holds, and nothing was done", False, 409)
    # Schemas: Confluent's numbers.
    INCOMPATIBLE_SCHEMA = (409, "The schema is not compatible", False, 409)
    UNKNOWN_SUBJECT = (40401, "There is no such subject", False, 404)
    UNKNOWN_SCHEMA_VERSION = (40402, "The subject has no such version", False, 404)
    UNKNOWN_SCHEMA = (40403, "There is no such schema", False, 404)
    INVALID_SCHEMA = (42201, "The schema is not valid", False, 409)
    REFERENCE_EXISTS = (42206, "Another schema refers to it", False, 409)


class BrokerError(Exception):
    """An error for the caller.

    `str(error)` is one sentence: what happened, to what, and where useful what to do. `about` is its second part.
    `possibly_stored` is True for a message that may have been stored although publishing failed (librdkafka's
    PossiblyPersisted).
    """

    def __init__(self, code: ErrorCode, about: str = "", *, possibly_stored: bool = False) -> None:
        if len(about) > MAX_ABOUT_CHARS:
            about = f"{about[:MAX_ABOUT_CHARS]}..."
        super().__init__(f"{code.sentence}: {about}." if about else f"{code.sentence}.")
        self.code = code
        self.about = about
        self.possibly_stored = possibly_stored

    @property
    def retriable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.code.retriable


T = TypeVar("T")


def must(found: T | None, code: ErrorCode, about: str) -> T:
    """`found`. Raises `code` for None."""
    if found is None:
        raise BrokerError(code, about)
    return found


class Suppress(AbstractContextManager[None]):
    """As `contextlib.suppress`, for a `BrokerError` with one of `codes`."""

    def __init__(self, *codes: ErrorCode) -> None:
        self._codes = codes

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> bool:
        return isinstance(error, BrokerError) and error.code in self._codes


class ConfigError(BrokerError, ValueError):
    """An invalid setting (INVALID_CONFIG). It is a ValueError, so that decoders add its path."""

    def __init__(self, about: str) -> None:
        super().__init__(ErrorCode.INVALID_CONFIG, about)


# Here, and not with what raises them: the command line tells of both, and loads no simulation for that.
class ScenarioError(Exception):
    """The scenario cannot be used; one sentence names the file, the line and what to do."""


class ArrivalError(Exception):
    """The file of events cannot be used; the message names the place and the reason."""
