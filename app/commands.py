"""All families of commands, in the order of the menus. A new family is added here."""

from __future__ import annotations

from app.actions import Command
from app.handlers.appearance import AppearanceHandlers
from app.handlers.audit import AuditHandlers
from app.handlers.clients import ClientHandlers
from app.handlers.compare import CompareHandlers
from app.handlers.consumers import ConsumerHandlers
from app.handlers.dead_letters import DeadLetterHandlers
from app.handlers.doors import DoorHandlers
from app.handlers.duplicates import DuplicateHandlers
from app.handlers.events import EventHandlers
from app.handlers.faults import FaultHandlers
from app.handlers.filters import FilterHandlers
from app.handlers.flow import FlowHandlers
from app.handlers.groups import GroupHandlers
from app.handlers.help import HelpHandlers
from app.handlers.inspector import InspectorHandlers
from app.handlers.leases import LeaseHandlers
from app.handlers.messages import MessageHandlers
from app.handlers.offsets import OffsetHandlers
from app.handlers.queues import QueueHandlers
from app.handlers.recordings import RecordingHandlers
from app.handlers.reports import ReportHandlers
from app.handlers.scenarios import ScenarioHandlers
from app.handlers.session import SessionHandlers
from app.handlers.topics import TopicHandlers
from app.handlers.travel import TravelHandlers
from app.handlers.undo import UndoHandlers
from app.handlers.until import UntilHandlers
from app.handlers.view import ViewHandlers

FAMILIES = (
    SessionHandlers,
    UndoHandlers,
    UntilHandlers,
    AuditHandlers,
    CompareHandlers,
    TravelHandlers,
    RecordingHandlers,
    ScenarioHandlers,
    ReportHandlers,
    ConsumerHandlers,
    ClientHandlers,
    GroupHandlers,
    OffsetHandlers,
    TopicHandlers,
    FlowHandlers,
    QueueHandlers,
    DuplicateHandlers,
    FaultHandlers,
    MessageHandlers,
    LeaseHandlers,
    DeadLetterHandlers,
    ViewHandlers,
    AppearanceHandlers,
    FilterHandlers,
    EventHandlers,
    InspectorHandlers,
    DoorHandlers,
    HelpHandlers,
)

COMMANDS: tuple[Command, ...] = tuple(command for family in FAMILIES for command in family.COMMANDS)
