from __future__ import annotations

import math
import re
from collections.abc import Container
from datetime import UTC, datetime, timedelta

from resources import units
from widgets.bytes_text import escaped
from widgets.i18n import localized, tr

NOT_APPLICABLE = "n/a"
_MS_NS = 1_000_000
_S_NS = 1_000_000_000
_CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,4}):([0-5]\d)(?:\.(\d{1,9}))?", re.ASCII)
_SECONDS = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\s*s)?", re.ASCII)


def session_time(time_ns: int) -> str:
    """ "mm:ss.mmm", with hours in front once there are any; "-mm:ss.mmm" before a session that began in the middle."""
    total_ms = abs(time_ns) // _MS_NS
    sign = "-" if time_ns < 0 and total_ms else ""
    return f"{sign}{clock_time(total_ms // 1000)}.{total_ms % 1000:03d}"


def clock_time(total_s: int) -> str:
    """ "mm:ss", with hours in front once there are any."""
    minutes, seconds = divmod(total_s, 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}:" if hours else "") + f"{minutes:02d}:{seconds:02d}"


def time_of(text: str) -> int | None:
    """A session time ("00:31.5", "1:02:03", "31 s") in ns; None if it is none."""
    text = text.strip()
    clock, seconds = _CLOCK.fullmatch(text), _SECONDS.fullmatch(text)
    if clock:
        hours, minutes, whole, fraction = clock.groups()
        total = (int(hours or 0) * 60 + int(minutes)) * 60 + int(whole)
    elif seconds:
        whole, fraction = seconds.groups()
        total = int(whole)
    else:
        return None
    return total * _S_NS + int((fraction or "").ljust(9, "0"))


def duration(length_ns: int) -> str:
    """A length of time with its unit, three figures where it matters: "850 ms", "1.2 s", "3 min 05 s", "2 h 10 min"."""
    length_ns = max(length_ns, 0)
    if length_ns < _MS_NS:
        return localized(f"{length_ns / _MS_NS:.1f} ms") if length_ns else "0 ms"
    if length_ns < _S_NS:
        return f"{length_ns // _MS_NS} ms"
    if length_ns < 59.95 * _S_NS:
        return localized(f"{length_ns / _S_NS:.1f} s")
    # To the nearest second, as reports do: one session has one length.
    minutes, seconds = divmod(round(length_ns / _S_NS), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def sentence(text: str, names: Container[str] = ()) -> str:
    """`text` as one: with a capital, and a stop behind if it has none. A name that it begins with stays as it is:
    one of `names`, or what can be no word.
    """
    first = text.partition(" ")[0].rstrip(".,:;")
    if first not in names and first.replace("'", "").isalpha():
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "?", "!")) else ".") if text else ""


def count(number: int | None) -> str:
    return NOT_APPLICABLE if number is None else localized(f"{number:,}")


def messages(number: int) -> str:
    return tr("1 message") if number == 1 else tr("{count:,} messages", count=number)


def at_most(figure: str, is_so: bool) -> str:
    """A figure of messages in which some count that are no more."""
    return f"≤ {figure}" if is_so else figure


def with_unknown(figure: str, partitions: int) -> str:
    """A sum over partitions, and how many of them it lacks because theirs is not known."""
    if not partitions:
        return figure
    what = tr("1 partition not known") if partitions == 1 else tr("{count:,} partitions not known", count=partitions)
    return f"{figure} + {what}"


def lag_words(lag: int | None, unknown: int, is_at_most: bool) -> str:
    """A lag in messages, and of how many partitions it is not known. `is_at_most` if some may be removed."""
    if lag is None:
        return NOT_APPLICABLE
    words = tr("at most {messages}", messages=messages(lag)) if is_at_most else messages(lag)
    return with_unknown(words, unknown)


def byte_size(size_bytes: float) -> str:
    return localized(units.byte_size(size_bytes))


def per_second(rate: float) -> str:
    return localized(units.per_second(rate))


def byte_rate(bytes_per_s: float) -> str:
    """Bytes a second without "/s"; NaN, if it is not known yet, is an ellipsis."""
    return "…" if math.isnan(bytes_per_s) else byte_size(bytes_per_s)


def exact_size(size_bytes: int) -> str:
    """Bytes to the last one, and in a larger unit if there is one: "107 bytes", "5,242,880 bytes, 5.0 MiB"."""
    exact = tr("1 byte") if size_bytes == 1 else tr("{count:,} bytes", count=size_bytes)
    return exact if size_bytes < 1024 else f"{exact}, {byte_size(size_bytes)}"


def plain_text(data: bytes | None, limit_chars: int = 0) -> str:
    """Bytes as one line of text: UTF-8 where valid, with unprintable characters escaped.

    None is shown as "null". With a limit, longer text is cut and ends with an ellipsis.
    """
    if data is None:
        return "null"
    # Four bytes are the most that one character takes.
    head = data[: limit_chars * 4 + 4] if limit_chars else data
    text = head.decode("utf-8", errors="backslashreplace")
    if not text.isprintable():
        text = "".join(char if char.isprintable() else escaped(char) for char in text)
    if limit_chars and (len(text) > limit_chars or len(head) < len(data)):
        return text[: max(0, limit_chars - 1)] + "…"
    return text


class Times:
    """Formats session times; `wall_start` is the wall time of session time 0, if it is known."""

    def __init__(self, wall_start: datetime | None = None) -> None:
        self.wall_start = wall_start

    def wall(self, time_ns: int) -> str:
        """The wall time of a session time in UTC, "" if the session runs in virtual time."""
        if self.wall_start is None:
            return ""
        moment = (self.wall_start + timedelta(microseconds=time_ns // 1000)).astimezone(UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"

    def hint(self, time_ns: int | None) -> str:
        if time_ns is None:
            return ""
        wall = self.wall(time_ns)
        return tr("Session time {time}", time=session_time(time_ns)) + (
            tr("\nWall time {wall}", wall=wall) if wall else ""
        )
