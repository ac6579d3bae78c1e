"""All panels below the canvas, in the order of their tabs, those of a group together. A new panel is added here.

A presenter makes its panel; tab, menu entry, key, words and buttons of that are in `resources/panels.toml`.
"""

from __future__ import annotations

from typing import Any

from app.presenters.access import AccessPresenter
from app.presenters.assignments import AssignmentsPresenter
from app.presenters.backpressure import BackpressurePresenter
from app.presenters.brokers import BrokersPresenter
from app.presenters.charts import ChartsPresenter
from app.presenters.connections import ConnectionsPresenter
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.events_presenter import EventsPresenter
from app.presenters.in_flight import InFlightPresenter
from app.presenters.messages_presenter import MessagesPresenter
from app.presenters.offsets import OffsetsPresenter
from app.presenters.panel_presenter import PanelPresenter
from app.presenters.redeliveries import RedeliveriesPresenter
from app.presenters.reports import JobsPresenter, ReportsPresenter
from app.presenters.requests import RequestsPresenter
from app.presenters.schemas import SchemasPresenter
from app.presenters.segments import LogOnDiskPresenter
from widgets.panels.panel import PanelInfo

PRESENTERS: tuple[type[PanelPresenter[Any]], ...] = (
    MessagesPresenter,
    DeadLettersPresenter,
    SchemasPresenter,
    LogOnDiskPresenter,
    AssignmentsPresenter,
    OffsetsPresenter,
    InFlightPresenter,
    RedeliveriesPresenter,
    BackpressurePresenter,
    ChartsPresenter,
    EventsPresenter,
    BrokersPresenter,
    ConnectionsPresenter,
    RequestsPresenter,
    AccessPresenter,
    JobsPresenter,
    ReportsPresenter,
)
PANELS: tuple[PanelInfo, ...] = tuple(presenter.panel_class.info for presenter in PRESENTERS)
