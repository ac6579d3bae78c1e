from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

import resources
from app.commands.context import CommandContext, Handlers, lacking
from app.commands.lesson import window_names
from app.commands.registry import Command
from app.environment.paths import SCENARIO_SUFFIXES, drafts_folder, shipped_scenarios
from broker_core.errors import ScenarioError
from broker_core.simulation.lesson import WindowNames
from broker_core.simulation.scenario import Scenario, load_scenario, parse_scenario
from broker_core.simulation.scenario_completion import complete
from broker_core.simulation.strict_yaml import Document, YamlError
from widgets.code_field import Word
from widgets.dialogs.scenario_editor import ScenarioEditor
from widgets.dialogs.scenario_picker import ScenarioFacts, ScenarioPicker
from widgets.i18n import mark, tr

REQUIRED = mark("required")
NEW_SCENARIO = resources.path("templates", "new_scenario.yaml").read_text(encoding="utf-8")


class ScenarioHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._editors: dict[str, ScenarioEditor] = {}  # the last one of each source
        bind = context.registry.bind
        bind("pick_scenario", self.pick)
        bind("edit_scenario", self._edit_open, lacking(lambda: self._controller.path, tr("No scenario is open.")))
        bind("new_scenario", lambda: self.edit(tr("New scenario"), NEW_SCENARIO))

    def pick(self) -> None:
        found = {path.stem: path for path in shipped_scenarios()}
        done, none = self._context.settings.lessons, frozenset[str]()
        facts = [scenario_facts(stem, load_scenario(path)[0], done.get(stem, none)) for stem, path in found.items()]
        path = self._context.controller.path
        current = path.stem if path is not None and path.stem in found else ""
        picker = ScenarioPicker(facts, current, self._context.window)
        picker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        picker.chosen.connect(lambda stem: self._context.open_scenario(found[stem]))
        picker.editRequested.connect(lambda stem: self._edit_file(found[stem]))
        picker.open()

    def _edit_open(self) -> None:
        path = self._context.controller.path
        assert path is not None
        self._edit_file(path)

    def _edit_file(self, path: Path) -> None:
        name = tr("Copy of {name}", name=path.name)
        self._context.attempt(lambda: self.edit(name, path.read_text(encoding="utf-8"), str(path)))

    def edit(self, name: str, text: str, source: str = "") -> ScenarioEditor:
        """An editor on `text`, or the one that is open on the same `source`: a path, "" for a new scenario."""
        before = self._editors.get(source)
        if before is not None and before.isVisible():
            before.raise_()
            before.activateWindow()
            return before
        if before is not None:
            before.deleteLater()
        known = window_names(self._context.registry.commands(), Path(source) if source else None)
        written = WrittenScenario(known)
        editor = self._editors[source] = ScenarioEditor(
            name, text, written.judge, written.complete, parent=self._context.window
        )
        editor.runRequested.connect(self._run)
        editor.saveRequested.connect(lambda changed: self._save(editor, changed))
        editor.show()
        return editor

    def _run(self, text: str) -> None:
        """A draft is a file of its own, so that it can be started again, and that its session says what ran."""

        def run() -> None:
            path = _draft_path(parse_scenario(text).title)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            self._context.open_scenario(path)

        self._context.attempt(run)

    def _save(self, editor: ScenarioEditor, text: str) -> None:
        suggested = str(drafts_folder() / "scenario.yaml")
        chosen, _ = QFileDialog.getSaveFileName(editor, tr("Save the scenario"), suggested, "YAML (*.yaml *.yml)")
        if not chosen:
            return
        path = Path(chosen) if Path(chosen).suffix in SCENARIO_SUFFIXES else Path(f"{chosen}.yaml")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            self._context.controller.failed.emit(
                tr("The scenario could not be written to {path}: {error}.", path=path, error=error.strerror or error)
            )
            return
        editor.set_saved(path.name)
        self._context.show_message(tr("The scenario has been saved to {path}.", path=path))


class WrittenScenario:
    """The text of an editor. Names that are proposed are those of the last text that was a scenario.

    `window` is what its lesson may name.
    """

    def __init__(self, window: WindowNames | None = None) -> None:
        self._window = window
        self._known: Scenario | None = None

    def judge(self, text: str) -> tuple[int, str]:
        """The line and the sentence of what keeps a text from being a scenario; (0, "") if nothing does."""
        try:
            self._known = parse_scenario(text, window=self._window)
        except ScenarioError as error:
            cause = error.__cause__
            assert isinstance(cause, YamlError)
            return cause.line, tr("Line {line}: {fault}", line=cause.line, fault=cause.sentence)
        return 0, ""

    def complete(self, text: str, at: int) -> tuple[int, list[Word]]:
        """Completions at a place, and the beginning of the word there."""
        found = complete(text, at, self._known)
        return found.start, [Word(one.text, tr(REQUIRED) if one.is_required else one.names) for one in found.choices]


def scenario_facts(name: str, scenario: Scenario, kept: frozenset[str]) -> ScenarioFacts:
    """A scenario as the picker shows it; `kept` holds the texts of the steps of its lesson that were done once."""
    kinds = (scenario.consumers, scenario.workers, scenario.subscribers, scenario.share_groups)
    readers = sum(spec.count for specs in kinds for spec in specs)
    counts = (
        (len(scenario.topics), tr("1 topic"), tr("{count} topics", count=len(scenario.topics))),
        (len(scenario.queues), tr("1 queue"), tr("{count} queues", count=len(scenario.queues))),
        (len(scenario.producers), tr("1 producer"), tr("{count} producers", count=len(scenario.producers))),
        (readers, tr("1 consumer"), tr("{count} consumers", count=readers)),
    )
    holds = ", ".join(one if number == 1 else many for number, one, many in counts if number)
    lasts = tr("{holds}; lasts {seconds} s", holds=holds, seconds=f"{scenario.until_s:g}")
    about = tr(" ".join(scenario.about.split()))
    watch, tries = (tuple(tr(" ".join(line.split())) for line in lines) for lines in (scenario.watch, scenario.try_))
    steps = () if scenario.lesson is None else scenario.lesson.steps
    done = sum(step.text in kept for step in steps)
    return ScenarioFacts(name, tr(scenario.title), about, watch, tries, lasts, len(steps), done)


def _draft_path(title: str) -> Path:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", title).strip("-").lower()[:60] or "scenario"
    return drafts_folder() / f"{name}.yaml"


def scenario_commands() -> dict[str, tuple[Command, Path]]:
    found: dict[str, tuple[Command, Path]] = {}
    for path in shipped_scenarios():
        head = _head(path)
        command = Command(
            f"scenario_{path.stem}", head["title"], " ".join(head["about"].split()), category="Scenarios", late=True
        )
        found[command.id] = (command, path)
    return found


def _head(path: Path) -> dict[str, str]:
    """Title and about of a shipped scenario, which begins with them: to read all of each takes long at the start."""
    text = path.read_text("utf-8")
    rest = re.search(r"^(?!title:|about:)\w+:", text, re.MULTILINE)
    head: dict[str, str] = Document(text[: rest.start() if rest else None]).value
    return head
