from __future__ import annotations

from msgspec import UNSET, UnsetType

from broker_core.messages import Headers
from broker_core.operations import dead_letters
from broker_core.plurals import counted
from broker_core.queues.dead_letter_record import DeadLetterEdit
from broker_core.settings import PositiveNumber
from broker_core.simulation.actions.action import Action, Encoding, decoded


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
        what = "all dead letters" if self.offsets is None else counted(len(self.offsets), "dead letter")
        cause = f" that died of {self.cause!r}" if self.cause else ""
        return f"redrove {what} of {self.queue}{cause}{pace}"


class RedriveMatching(Action, frozen=True, tag="redrive_matching"):
    """Redrive what in `queue` died of `cause`, holds `text`, and was redriven at most so often; "" and None are any."""

    queue: str
    cause: str = ""
    text: str = ""
    max_redrives: int | None = None
    rate_per_s: PositiveNumber | None = None

    @property
    def sentence(self) -> str:
        pace = "" if self.rate_per_s is None else f" at {self.rate_per_s:g}/s"
        cause = f" that died of {self.cause!r}" if self.cause else ""
        text = f" that hold {self.text!r}" if self.text else ""
        return f"redrove the dead letters of {self.queue}{cause}{text}{pace}"


class StopRedrive(dead_letters.StopRedrive, Action, frozen=True, kw_only=True, tag="stop_redrive"):
    says = "stopped the redrive of {queue}"


class UndoRedrive(dead_letters.UndoRedrive, Action, frozen=True, kw_only=True, tag="undo_redrive"):
    says = "undid the redrive of {queue}"


class EditDeadLetter(Action, frozen=True, tag="edit_dead_letter"):
    """What a redrive changes of the dead letter at `offset`, until `RevertDeadLetter`.

    A `key` of null is taken away, and `headers` are all that it has then; left out, they stay as they were.
    """

    says = "edited dead letter {offset} of {queue}"

    queue: str
    offset: int
    value: str | None
    key: str | UnsetType | None = UNSET
    headers: tuple[tuple[str, str], ...] | UnsetType = UNSET
    encoding: Encoding = "utf-8"

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
    """Take these dead letters, or all of a `cause`, or all, out of the dead-letter queue of `queue`."""

    offsets: list[int] | None = None

    @property
    def sentence(self) -> str:
        if self.offsets is None:
            cause = f" that died of {self.cause!r}" if self.cause else ""
            return f"purged all dead letters of {self.queue}{cause}"
        return f"purged {counted(len(self.offsets), 'dead letter')} of {self.queue}"


class UndoPurgeDeadLetters(
    dead_letters.UndoPurgeDeadLetters, Action, frozen=True, kw_only=True, tag="undo_purge_dead_letters"
):
    says = "undid the purge of dead letters of {queue}"
