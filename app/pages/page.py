"""A session as one HTML file: its data, the page that draws them, and what it may do, which is nothing but that."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

import resources
from app.pages.moments import WITHOUT, PagePart, Report, gather
from app.reports.recent import findings_of
from app.sessions.stored import StoredSession
from broker_core.clock import NS_PER_MS, s_from_ns
from broker_core.errors import BrokerError, ErrorCode
from broker_core.files import private
from broker_core.version import program_version
from resources.colours import HUES, ink_on
from widgets.bytes_text import contained
from widgets.canvas import lane_painter, layout, queue_item
from widgets.canvas.lettering import Step
from widgets.canvas.queue_item import RINGS_LEGEND
from widgets.canvas.topic_item import LEGEND
from widgets.formats import session_time
from widgets.i18n import tr
from widgets.panels.report import FindingFacts
from widgets.theme_palette import COLOUR_TOKENS, DARK, LIGHT, Theme

_WORDS = resources.table("session_page", "words.toml")


def words() -> dict[str, str]:
    found = {name: tr(text) for name, text in _WORDS.items()}
    return {**found, "of_tracks": tr(LEGEND), "of_rings": f"{found['of_rings']} {tr(RINGS_LEGEND)}"}


MOST_BYTES = 25_000_000  # what mail and tickets take
SUFFIX = ".html"
REPORT = "report"  # in the folder of a session: where its report is made, if nobody chooses another place
MOST_FINDINGS = 6
_ICONS = ("info", "play", "pause", "step", "chevron-left", "chevron-right", "close", "copy", "sun", "moon", "warning")
#: What the page draws with, as the window does.
_SIZES = {
    "header": layout.TOPIC_HEADER_H,
    "lane": layout.LANE_H,
    "heat_label": layout.HEAT_LABEL_H,
    "cell": layout.CELL_PITCH,
    "pad": layout.PAD,
    "label_x": layout.LABEL_X,
    "track_x": lane_painter.TRACK_X[Step.NEAR],
    "track_h": lane_painter.TRACK_H,
    "end_w": lane_painter.END_W[Step.NEAR],
    "chip": lane_painter.CHIP_W,
    "chip_pitch": lane_painter.CHIP_PITCH,
    "chip_h": lane_painter.CHIP_H[Step.NEAR],
    "figure_pitch": queue_item.FIGURE_PITCH,
    "figure_w": queue_item.FIGURE_W,
    "figure_name_y": queue_item.FIGURE_NAME_Y,
    "figure_y": queue_item.FIGURE_Y[Step.NEAR],
    "rings_y": queue_item.RINGS_Y,
    "rings_base_y": queue_item.RINGS_BASE_Y,
    "source_gap": queue_item.SOURCE_GAP,
    "ring": queue_item.RING_SIZE,
    "ring_pitch": queue_item.RING_PITCH,
}


class WrittenPage(NamedTuple):
    """A page that was written; `problems` says in sentences what the recording lacks."""

    path: Path
    size_bytes: int
    problems: tuple[str, ...]


def share(
    folder: Path,
    target: Path,
    wanted: PagePart,
    report: Report = lambda _share, _message: None,
    findings_in: Path | None = None,
) -> WrittenPage:
    """Write the page of the session in `folder` to `target`, whole or not at all. It begins with what the report in
    `findings_in` has found, by default the one in the folder of the session, if there is one.

    `report(share, message)` tells how far it is, and may raise to end it. Raises BrokerError: as `open_session`,
    INVALID_REQUEST if the part that is wanted is empty or too large for a page; OSError if it cannot be written.
    """
    stored = StoredSession(folder)
    found = findings_of(findings_in or folder / REPORT)
    if found is None and findings_in is not None:
        about = f"{findings_in} is no report with tables: make it with --format html,csv or html,parquet"
        raise BrokerError(ErrorCode.INVALID_REQUEST, about)
    made = page_of(stored, wanted, report, found or ())
    if len(made) > MOST_BYTES:
        raise BrokerError(ErrorCode.INVALID_REQUEST, _too_large(stored, wanted, len(made)))
    report(0.97, tr("Writing {name}", name=target.name))
    if target.exists() and not target.is_file():
        target.write_bytes(made)
    else:
        private.replace(target, made, mode=0o644)
    return WrittenPage(target, len(made), tuple(stored.problems))


def page_of(stored: StoredSession, wanted: PagePart, report: Report, found: Sequence[FindingFacts] = ()) -> bytes:
    """The page of an open session, which begins with what was `found` in it. Raises BrokerError as `moments_of`, and
    what `report` raises.
    """
    data = gather(stored, wanted, report)
    report(0.92, tr("Packing"))
    said = words()
    data |= {"words": said, "sizes": _SIZES, "hues": HUES}
    script = _text("page.js")
    charts = (resources.path("report", "echarts.min.js")).read_text(encoding="utf-8")
    style = _colours() + _text("page.css")
    page = (
        _environment()
        .get_template("page.html.j2")
        .render(
            policy=f"default-src 'none'; script-src {_hash(script)} {_hash(charts)}; style-src {_hash(style)}",
            style=Markup(style),
            script=Markup(script),
            icons=[(name, Markup(_icon(name))) for name in sorted(_icons(data))],
            data=Markup(_packed(msgspec.json.encode(data))),
            charts=Markup(_packed_charts()),
            title=data["title"],
            facts=_facts(stored, data),
            left_out=_left_out(wanted, data["unlisted"]),
            problems=[contained(problem) for problem in stored.problems],
            findings=[FindingFacts(*map(contained, dataclasses.astuple(one))) for one in found[:MOST_FINDINGS]],
            recording=stored.recording,
            said=said,
        )
    )
    return page.encode()


def _facts(stored: StoredSession, data: Mapping[str, Any]) -> list[tuple[str, str]]:
    metadata = stored.metadata
    whole, shown = (_clock(data["session_ms"]), f"{_clock(data['from_ms'])}–{_clock(data['to_ms'])}")
    versions = metadata.versions.get("brokerscope", "")
    found = [
        (tr("Recorded"), data["started"][:19].replace("T", " ") + " UTC" if data["started"] else ""),
        (tr("Lasted"), whole),
        (tr("Shown"), shown if data["from_ms"] or data["to_ms"] < data["session_ms"] else ""),
        (tr("Seed"), "" if metadata.seed is None else str(metadata.seed)),
        (tr("Session"), metadata.session_id[:8]),
        (tr("Recorded with"), f"Brokerscope {versions}" if versions else ""),
        (tr("Page made with"), f"Brokerscope {program_version()}"),
    ]
    return [(name, contained(value)) for name, value in found if value]


def _left_out(wanted: PagePart, unlisted: int) -> str:
    what = ", ".join([tr("payloads"), *(tr(WITHOUT[name]) for name in wanted.without)])
    more = tr(" {count:,} more dead letters are counted but not listed.", count=unlisted) if unlisted else ""
    return tr("Left out: {what}.", what=what) + more


def _clock(time_ms: int) -> str:
    return session_time(time_ms * NS_PER_MS)[:-4]


def _too_large(stored: StoredSession, wanted: PagePart, size_bytes: int) -> str:
    from_s = wanted.from_s or 0.0
    end_s = s_from_ns(stored.end_ns) if wanted.to_s is None else wanted.to_s
    lasts_s = (end_s - from_s) * 0.9 * MOST_BYTES / size_bytes
    would_s = from_s + (int(lasts_s) or float(f"{lasts_s:.1g}"))
    megabytes = MOST_BYTES / 1e6
    return (
        f"the page would have {size_bytes / 1e6:.1f} MB, more than the {megabytes:.0f} MB that mail and tickets take; "
        f"--from {from_s:g} --to {would_s:g} would do"
    )


@cache
def _environment() -> Any:  # jinja2 is loaded for a page alone
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(resources.path("session_page")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> str:
    """A file beside the template, without what only its readers need: indentation, and lines that are a comment."""
    lines = resources.path("session_page", name).read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in map(str.strip, lines) if not line.startswith("//"))


def _hash(source: str) -> str:
    """For the content security policy of the page, which allows only this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _packed(data: bytes) -> str:
    """`data` deflated, after its length in four bytes, in Base85 (a tenth shorter than Base64) without "<", which could
    end the HTML element.
    """
    deflated = zlib.compress(data, 9)
    return base64.b85encode(len(deflated).to_bytes(4, "big") + deflated, pad=True).decode().replace("<", '"')


@cache
def _packed_charts() -> str:
    return _packed(resources.path("report", "echarts.min.js").read_bytes())


def _icon(name: str) -> str:
    text = resources.path("icons", f"{name}.svg").read_text(encoding="utf-8")
    return text[text.index(">") + 1 : text.rindex("</svg>")].strip()


def _icons(data: Mapping[str, Any]) -> set[str]:
    shipped = {path.stem for path in resources.path("icons").glob("*.svg")}
    of_events = {event["state"][1] for event in data["events"]}
    return {*_ICONS, *_KINDS.values(), *shipped.intersection(data["columns"]["values"]), *of_events}


_KINDS = {
    "node": "layers",
    "producer": "producer",
    "topic": "topic",
    "group": "group",
    "bench": "bench",
    "queue": "queue",
    "workers": "worker",
    "dlq": "dead-letter",
}


def _colours() -> str:
    """The window's colours as variables: light, dark where the system or the reader wants it, light on paper."""
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
        + "".join(
            f".h{at}{{fill:var(--h{at});stroke:var(--h{at});background:var(--h{at});color:var(--k{at})}}"
            f".canvas text.k{at}{{fill:var(--k{at})}}\n"
            for at in range(HUES)
        )
    )


def _variables(theme: Theme) -> str:
    tokens = "".join(f"--{name.replace('_', '-')}:{theme.colour(name)};" for name in COLOUR_TOKENS)
    hues = "".join(f"--h{at}:{hue};--k{at}:{ink_on(hue)};" for at, hue in enumerate(theme.owner_hues))
    return tokens + hues
