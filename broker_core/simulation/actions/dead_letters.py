from __future__ import annotations

from msgspec import UNSET, UnsetType

from broker_core.messages import Headers
from broker_core.operations import dead_letters, guarded
from broker_core.plurals import counted
from broker_core.queues.dead_letter_record import DeadLetterEdit
from broker_core.simulation.actions.action import Action, RecordedEncoding, decoded


def _meant(asked: dead_letters.Redrive | dead_letters.PurgeLetters) -> str:
    if asked.offsets is not None:
        return f"{counted(len(asked.offsets), 'dead letter')} of {asked.queue}"
    conditions = [
        f" that died of {asked.cause!r}" if asked.cause else "",
        f" that hold {asked.text!r}" if asked.text else "",
        f", redriven at least {counted(asked.min_redrives, 'time')}" if asked.min_redrives else "",
        "" if asked.max_redrives is None else f", redriven at most {counted(asked.max_redrives, 'time')}",
    ]
    return f"all dead letters of {asked.queue}{''.join(conditions)}"


class Redrive(dead_letters.Redrive, Action, frozen=True, kw_only=True, tag="redrive"):
    """Append dead letters to their origin again; `offsets` are places in the queue's dead-letter queue, None all.

    With `rate_per_s` they go one by one, and the rest can be stopped. They go as `EditDeadLetter` left them.
    """

    offsets: list[int] | None = None

    def __post_init__(self) -> None:
        if self.edits or self.dry_run:
            raise ValueError("edits are actions of their own, and a dry run is none")

    @property
    def sentence(self) -> str:
        pace = "" if self.rate_per_s is None else f" at {self.rate_per_s:g}/s"
        return f"redrove {_meant(self)}{pace}"


class StopRedrive(dead_letters.StopRedrive, Action, frozen=True, kw_only=True, tag="stop_redrive"):
    says = "stopped the redrive of {queue}"


class UndoRedrive(dead_letters.UndoRedrive, Action, frozen=True, kw_only=True, tag="undo_redrive"):
    says = "undid the redrive of {queue}"


class RedriveTopic(guarded.RedriveTopic, Action, frozen=True, kw_only=True, tag="redrive_topic"):
    """Redrive a program's dead letters as the `plan` has it."""

    @property
    def sentence(self) -> str:
        return f"redrove {counted(self.plan.letters, 'dead letter')} of {self.topic}"


class StopTopicRedrive(guarded.StopTopicRedrive, Action, frozen=True, kw_only=True, tag="stop_topic_redrive"):
    says = "stopped the redrive of {topic}"


class EditDeadLetter(Action, frozen=True, tag="edit_dead_letter"):
    """Changes the dead letter at `offset` for its redrive, until `RevertDeadLetter`.

    A `key` of null is taken away, and `headers` are all that it has then; left out, they stay as they were.
    """

    says = "edited dead letter {offset} of {queue}"

    queue: str
    offset: int
    value: str | None
    key: str | UnsetType | None = UNSET
    headers: tuple[tuple[str, str], ...] | UnsetType = UNSET
    encoding: RecordedEncoding = "utf-8"

    def __post_init__(self) -> None:
        try:
            self.edit()
        except ValueError:
            raise ValueError("value, key and headers must be base64, as encoding says") from None

    def edit(self) -> DeadLetterEdit:
        headers: Headers | UnsetType = UNSET
        if self.headers is not UNSET:
            headers = tuple((name, decoded(text, self.encoding) or b"") for name, text in self.headers)
        key = UNSET if self.key is UNSET else decoded(self.key, self.encoding)
        return DeadLetterEdit(decoded(self.value, self.encoding), key, headers)


class RevertDeadLetter(Action, frozen=True, tag="revert_dead_letter"):
    says = "took back the edit of dead letter {offset} of {queue}"

    queue: str
    offset: int


class PurgeDeadLetters(dead_letters.PurgeLetters, Action, frozen=True, kw_only=True, tag="purge_dead_letters"):
    """Take these dead letters, or all that meet the conditions, out of the dead-letter queue of `queue`."""

    offsets: list[int] | None = None

    @property
    def sentence(self) -> str:
        return f"purged {_meant(self)}"


class UndoPurgeDeadLetters(
    dead_letters.UndoPurgeDeadLetters, Action, frozen=True, kw_only=True, tag="undo_purge_dead_letters"
):
    says = "undid the purge of dead letters of {queue}"
