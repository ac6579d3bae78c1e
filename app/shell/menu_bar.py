from __future__ import annotations

from PySide6.QtGui import QAction

from app.commands.registry import ActionRegistry
from app.presenters.panels import PANELS
from widgets.i18n import mark, tr

# Commands on the broker have many families: each is a submenu.
BROKER = mark("Broker")
MENUS = (mark("File"), mark("Edit"), mark("Session"), mark("Time"), BROKER, mark("View"), mark("Layout"))
BROKER_MENUS = (
    mark("Consumer"),
    mark("Clients"),
    mark("Groups"),
    mark("Offsets"),
    mark("Topics"),
    mark("Queues"),
    mark("Messages"),
    mark("Dead letters"),
    mark("Backpressure"),
    mark("Faults"),
    mark("Listeners"),
)
LAST_MENUS = (mark("Scenarios"), mark("Help"))

# Ids of commands between lines. A menu that is not here has its commands as they were declared, without a line.
PARTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "File": (
        ("pick_scenario", "new_scenario", "open_scenario", "edit_scenario", "save_scenario"),
        ("open_session", "save_copy", "session_page", "save_test", "open_session_folder"),
        ("export_report",),
        ("settings",),
        ("quit",),
    ),
    "Session": (
        ("run", "fast", "express", "step", "run_until", "pause"),
        ("stop", "continue", "restart", "restart_new_seed"),
        ("attach",),
        ("set_alert", "remove_alert"),
        ("record",),
        ("compare_last", "compare", "audit"),
    ),
    "Time": (
        ("back_1s", "forward_1s", "back_10s", "forward_10s"),
        ("previous_event", "next_event"),
        ("first_moment", "last_moment", "go_to", "show_moment"),
        ("follow_live", "branch"),
        ("add_bookmark",),
    ),
    "Clients": (
        ("add_consumer", "add_producer", "add_worker"),
        ("duplicate_client", "remove_client"),
        ("set_rate", "set_processing"),
    ),
    "Groups": (("create_group", "delete_group"), ("subscribe_group", "unsubscribe_group"), ("what_if",)),
    "Topics": (
        ("create_topic", "duplicate_place"),
        ("add_partitions", "configure_topic", "set_flow"),
        ("delete_records", "delete_topic"),
    ),
    "Messages": (
        ("produce",),
        ("show_life", "copy_message"),
        ("ack_lease", "nack_lease", "dead_lease", "extend_lease", "release_lease"),
    ),
    "Dead letters": (
        ("redrive_selected", "redrive_all", "try_redrive", "try_redrive_all", "stop_redrive"),
        ("edit_letter",),
        ("purge_selected", "purge_all"),
        ("show_redriven", "mark_dead_letters"),
    ),
    "Faults": (
        ("crash", "restart_client"),
        ("pause_client", "slow_client", "drop_heartbeats"),
        ("fail_matching", "break_requests", "fill_disk", "jump_clock", "advance_clock"),
        ("end_faults",),
    ),
    "View": (
        ("palette", "filter", "filter_help"),
        tuple(f"show_{panel.name}" for panel in PANELS),
        ("my_actions",),
        ("inspect_back", "inspect_forward"),
        ("focus", "beside", "maximise"),
        ("toggle_lesson", "toggle_left", "toggle_right", "toggle_bottom", "toggle_timeline"),
        ("zoom_in", "zoom_out", "zoom_fit"),
        ("type_larger", "type_smaller", "theme", "present"),
    ),
    "Layout": (
        ("layout_teach", "layout_debug", "layout_dead_letters"),
        ("layout_choose", "layout_save", "layout_forget"),
        ("arrange", "arrange_reset"),
    ),
    "Help": (
        ("next_lesson", "lesson_over"),
        ("help_panel", "help_canvas", "help_filters", "help_keys"),
        ("help_window", "help_command_line", "help_attach", "help_library", "help_kafka", "help_http"),
        ("help_testing", "help_testing_reference", "help_testing_api"),
        ("about",),
    ),
}

# A line, a command, or a menu within a menu: its title and what it holds.
Entry = QAction | None | tuple[str, list[QAction | None]]


def menu_bar(registry: ActionRegistry) -> list[tuple[str, list[Entry]]]:
    """(title, entries) of each menu; only commands with a handler, and only menus that hold any."""
    found: dict[str, list[str]] = {}
    for command in registry.commands():
        found.setdefault(command.category, []).append(command.id)
    menus = {title: _entries(registry, title, ids) for title, ids in found.items()}
    inner: list[Entry] = [(tr(title), menus.pop(title)) for title in BROKER_MENUS if title in menus]
    others = [title for title in menus if title not in {*MENUS, *LAST_MENUS}]
    bar: list[tuple[str, list[Entry]]] = []
    for title in (*MENUS, *others, *LAST_MENUS):
        entries = inner if title == BROKER else list[Entry](menus.get(title, []))
        if entries:
            bar.append((tr(title), entries))
    return bar


def _entries(registry: ActionRegistry, title: str, ids: list[str]) -> list[QAction | None]:
    parts = PARTS.get(title, (tuple(ids),))
    placed = {command for part in parts for command in part}
    entries: list[QAction | None] = []
    for part in (*parts, tuple(command for command in ids if command not in placed)):
        actions = [registry.action(command) for command in part if command in ids]
        entries += [None, *actions] if entries and actions else actions
    return entries
