"""The commands of the menus: shortcuts do not clash, and a menu holds only what works."""

from PySide6.QtGui import QKeySequence

from app.commands.menus import COMMANDS, COMMANDS_BY_MENU, Entry, menu_bar
from app.commands.registry import ActionRegistry, Command
from tests.app.conftest import Hand
from widgets.icons import ICON_FOLDER

# As the interface's description gives them.
PROMISED_KEYS = {
    "F4": "step",
    "F5": "run",
    "F6": "fast",
    "F7": "express",
    "F8": "stop",
    "Space": "pause",
    "Ctrl+P": "palette",
    "Ctrl+F": "filter",
    "Ctrl+E": "export_report",
}


def clashes(commands):
    seen: dict[str, str] = {}
    found = []
    for command in commands:
        key = QKeySequence(command.shortcut).toString()
        if key and key in seen:
            found.append((key, seen[key], command.id))
        seen[key] = command.id
    return found


def test_no_two_commands_share_a_shortcut(qapp):
    assert clashes(COMMANDS) == []


def test_a_clash_would_be_found(qapp):
    first = COMMANDS[0]
    assert clashes([first, type(first)("other", "Other", shortcut=first.shortcut.lower())]) != []


def test_every_shortcut_is_one_that_qt_understands(qapp):
    shortcuts = [command.shortcut for command in COMMANDS if command.shortcut]
    assert [one for one in shortcuts if QKeySequence(one).toString() != one] == []


def test_ids_are_unique():
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)


def test_promised_keys_are_kept():
    keys = {command.shortcut: command.id for command in COMMANDS if command.shortcut}
    assert {key: keys.get(key) for key in PROMISED_KEYS} == PROMISED_KEYS


def test_every_icon_exists():
    assert {command.icon for command in COMMANDS if command.icon} <= {path.stem for path in ICON_FOLDER.glob("*.svg")}


def test_what_opens_a_dialog_ends_with_dots():
    dotted = {command.id for command in COMMANDS if command.title.endswith("...")}
    asking = {"open_scenario", "export_report", "move_consumer", "palette", "settings"}
    assert asking <= dotted
    assert not dotted & {"run", "pause", "stop", "theme", "quit", "bench_consumer"}


def test_a_command_without_a_handler_is_shown_nowhere(qapp):
    registry = ActionRegistry(COMMANDS)
    registry.bind("run", lambda: None)
    assert [command.id for command in registry.commands()] == ["run"]
    assert [entry.id for entry in registry.entries()] == ["run"]
    assert ids_of(menu_bar(registry)) == [("Session", ["run"])]
    assert not registry.action("stop").isVisible()
    assert not registry.trigger("stop")


def test_what_is_done_to_the_broker_is_a_menu_within_one(qapp):
    registry = ActionRegistry(COMMANDS)
    for command in ("run", "move_consumer", "redrive_all", "about"):
        registry.bind(command, lambda: None)
    bar = menu_bar(registry)
    assert [title for title, _ in bar] == ["Session", "Broker", "Help"]
    inner = bar[1][1]
    assert [entry[0] for entry in inner if isinstance(entry, tuple)] == ["Consumer", "Dead letters"]


def test_scenarios_found_when_the_window_opens_are_a_menu_too(qapp):
    found = Command("scenario_hot-key", "Hot key", category="Scenarios")
    registry = ActionRegistry((*COMMANDS, found))
    registry.bind(found.id, lambda: None)
    assert ids_of(menu_bar(registry)) == [("Scenarios", [found.id])]


def test_each_menu_has_its_commands_in_parts_and_quit_at_the_end(qapp):
    registry = ActionRegistry(COMMANDS)
    for command in COMMANDS:
        registry.bind(command.id, lambda: None)
    known = {command.id: command.category for command in COMMANDS}
    for title, parts in COMMANDS_BY_MENU.items():
        placed = [command.id for part in parts for command in part]
        assert sorted(placed) == sorted(one for one, category in known.items() if category == title), title
    bar = dict(ids_of(menu_bar(registry)))
    assert bar["File"][-2:] == ["", "quit"] and bar["File"][0] == "pick_scenario"
    assert bar["Session"][:4] == ["run", "fast", "express", "step"]
    shown = {one for ids in bar.values() for one in ids if one}
    assert shown == set(known)


def test_each_command_of_the_menus_does_something(hand: Hand):
    bound = {command.id for command in hand.workbench.registry.commands()}
    assert {command.id for command in COMMANDS} - bound == set()


def ids_of(bar: list[tuple[str, list[Entry]]]) -> list[tuple[str, list[str]]]:
    """The ids in each menu, and in each menu within one; "" is a line."""
    found = []
    for title, entries in bar:
        inner = [one for entry in entries if isinstance(entry, tuple) for one in entry[1]]
        flat = [entry for entry in entries if not isinstance(entry, tuple)] + inner
        found.append((title, ["" if one is None else one.objectName() for one in flat]))
    return found
