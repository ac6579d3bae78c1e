"""All families of commands. A new family is added here."""

from __future__ import annotations

from app.commands.access import AccessHandlers
from app.commands.alerts import AlertHandlers
from app.commands.appearance import AppearanceHandlers
from app.commands.attach import AttachHandlers
from app.commands.audit import AuditHandlers
from app.commands.client_faults import ClientFaultHandlers
from app.commands.clients import ClientHandlers
from app.commands.compare import CompareHandlers
from app.commands.consumers import ConsumerHandlers
from app.commands.dead_letters import DeadLetterHandlers
from app.commands.duplicates import DuplicateHandlers
from app.commands.events import EventHandlers
from app.commands.faults import FaultHandlers
from app.commands.flow import FlowHandlers
from app.commands.groups import GroupHandlers
from app.commands.guarded import GuardHandlers
from app.commands.help import HelpHandlers
from app.commands.inspector import InspectorHandlers
from app.commands.leases import LeaseHandlers
from app.commands.lesson import LessonHandlers
from app.commands.listeners import ListenerHandlers
from app.commands.messages import MessageHandlers
from app.commands.offsets import OffsetHandlers
from app.commands.queues import QueueHandlers
from app.commands.recordings import RecordingHandlers
from app.commands.reports import ReportHandlers
from app.commands.scenarios import ScenarioHandlers
from app.commands.session import SessionHandlers, UntilHandlers
from app.commands.session_page import SessionPageHandlers
from app.commands.timeline import TimelineHandlers
from app.commands.topics import TopicHandlers
from app.commands.undo import UndoHandlers
from app.commands.view import FilterHandlers, ViewHandlers

FAMILIES = (
    SessionHandlers,
    AttachHandlers,
    GuardHandlers,
    UndoHandlers,
    UntilHandlers,
    AlertHandlers,
    AuditHandlers,
    CompareHandlers,
    TimelineHandlers,
    RecordingHandlers,
    SessionPageHandlers,
    ScenarioHandlers,
    LessonHandlers,
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
    ClientFaultHandlers,
    MessageHandlers,
    LeaseHandlers,
    DeadLetterHandlers,
    ViewHandlers,
    AppearanceHandlers,
    FilterHandlers,
    EventHandlers,
    InspectorHandlers,
    ListenerHandlers,
    AccessHandlers,
    HelpHandlers,
)
