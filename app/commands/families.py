"""All families of commands, in the order in which they add to context menus. A new one is added here."""

from __future__ import annotations

from app.commands.access import AccessHandlers
from app.commands.alerts import AlertHandlers
from app.commands.appearance import AppearanceHandlers
from app.commands.attach import AttachHandlers
from app.commands.audit import AuditHandlers
from app.commands.clients import ClientHandlers, ConsumerHandlers
from app.commands.compare import CompareHandlers
from app.commands.context import Handlers
from app.commands.dead_letters import DeadLetterHandlers
from app.commands.events import EventHandlers
from app.commands.faults import FaultHandlers
from app.commands.filters import FilterHandlers
from app.commands.groups import GroupHandlers
from app.commands.guarded import GuardHandlers
from app.commands.help import HelpHandlers
from app.commands.inspector import InspectorHandlers
from app.commands.lesson import LessonHandlers
from app.commands.listeners import ListenerHandlers
from app.commands.messages import MessageHandlers
from app.commands.queues import DuplicateHandlers, QueueHandlers
from app.commands.recordings import CleaningHandlers, RecordingHandlers
from app.commands.reports import ReportHandlers
from app.commands.scenarios import ScenarioHandlers
from app.commands.session import SessionHandlers
from app.commands.timeline import TimelineHandlers
from app.commands.topics import TopicHandlers
from app.commands.undo import UndoHandlers
from app.commands.view import ViewHandlers

FAMILIES: tuple[type[Handlers], ...] = (
    SessionHandlers,
    AttachHandlers,
    GuardHandlers,
    UndoHandlers,
    AlertHandlers,
    AuditHandlers,
    CompareHandlers,
    TimelineHandlers,
    CleaningHandlers,
    RecordingHandlers,
    ScenarioHandlers,
    LessonHandlers,
    ReportHandlers,
    ConsumerHandlers,
    ClientHandlers,
    GroupHandlers,
    TopicHandlers,
    QueueHandlers,
    DuplicateHandlers,
    FaultHandlers,
    MessageHandlers,
    DeadLetterHandlers,
    FilterHandlers,
    ViewHandlers,
    InspectorHandlers,
    EventHandlers,
    AppearanceHandlers,
    ListenerHandlers,
    AccessHandlers,
    HelpHandlers,
)
