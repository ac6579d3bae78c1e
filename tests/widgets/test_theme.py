"""The theme keeps its contrast and its owner hues apart; every state has a colour, an icon and a word."""

from __future__ import annotations

import gc
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QColor, QFontInfo, QIcon
from PySide6.QtWidgets import QApplication, QComboBox, QLabel
from pytestqt.qtbot import QtBot

from resources.colours import HUES, contrast
from widgets.icons import ICON_FOLDER, icon, icon_pixmap
from widgets.roles import Role
from widgets.theme import (
    DARK,
    LIGHT,
    Theme,
    apply_theme,
    current_theme,
    ink_on,
    mix,
    mono_font,
    state_style,
    style_sheet,
    ui_font,
)
from widgets.theme_palette import COLOUR_TOKENS
from widgets.theme_states import STATE_STYLES

BOTH = pytest.mark.parametrize("theme", (LIGHT, DARK), ids=lambda theme: theme.name)
BACKGROUNDS = ("window", "surface", "raised", "sunken")
STATE_TOKENS = sorted({style.token for style in STATE_STYLES.values()})
# Machado, Oliveira and Fernandes 2009, severity 1.0: how linear RGB looks to each kind of eye.
EYES: dict[str, NDArray[np.float64]] = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def oklab(colour: str, eye: str) -> NDArray[np.float64]:
    shares = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    seen = np.clip(EYES[eye] @ linear, 0, 1)
    to_cones = np.array(
        [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
    )
    to_lab = np.array(
        [
            [0.21045426, 0.7936178, -0.00407205],
            [1.9779985, -2.4285922, 0.4505937],
            [0.02590404, 0.78277177, -0.80867577],
        ]
    )
    result: NDArray[np.float64] = to_lab @ np.cbrt(to_cones @ seen)
    return result


@BOTH
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("token", ["text", "muted", "accent", *STATE_TOKENS])
def test_text_colours_read_on_every_background(theme: Theme, background: str, token: str) -> None:
    assert contrast(theme.colour(token), theme.colour(background)) >= 4.5


@BOTH
@pytest.mark.parametrize("token", ["accent", *STATE_TOKENS])
def test_state_colours_read_on_their_own_soft_fill(theme: Theme, token: str) -> None:
    soft = theme.colour(f"{token}_soft")
    assert contrast(theme.colour(token), soft) >= 4.5
    assert contrast(theme.text, soft) >= 4.5


@BOTH
def test_letters_on_accent_and_edges_of_fields_can_be_seen(theme: Theme) -> None:
    assert contrast(theme.on_accent, theme.accent_fill) >= 4.5
    assert contrast(theme.on_accent, theme.accent_fill_hover) >= 4.5
    assert contrast(theme.border_strong, theme.surface) >= 3
    assert contrast(theme.focus, theme.surface) >= 3
    assert contrast(theme.lag_fill, theme.lane) >= 3


@BOTH
def test_owner_hues_keep_contrast_and_carry_a_readable_letter(theme: Theme) -> None:
    assert len(theme.owner_hues) == HUES == 12
    for hue in theme.owner_hues:
        assert min(contrast(hue, theme.surface), contrast(hue, theme.raised)) >= 3
        assert contrast(ink_on(hue), hue) >= 4.5


@BOTH
@pytest.mark.parametrize("eye", EYES)
def test_any_two_owner_hues_stay_apart_for_colour_blind_eyes(theme: Theme, eye: str) -> None:
    seen = [oklab(hue, eye) for hue in theme.owner_hues]
    nearest = min(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2))
    assert nearest >= 0.07  # a just noticeable difference is about 0.02


def test_hues_past_the_palette_start_it_again() -> None:
    assert LIGHT.owner(HUES + 3) == LIGHT.owner_hues[3]


GROUP_WORDS = ("Stable", "Preparing rebalance", "Completing rebalance", "Reconciling", "Empty", "Dead")
ACTOR_WORDS = (
    "idle", "running", "processing", "waiting", "blocked", "joining", "paused", "crashed", "stopped",
)  # fmt: skip


@pytest.mark.parametrize("word", [*GROUP_WORDS, *ACTOR_WORDS, "rising", "falling", "steady"])
def test_every_state_has_a_colour_an_icon_and_a_word(word: str) -> None:
    style = state_style(word)
    assert style.word.lower() == word.lower()
    assert style.icon in {path.stem for path in ICON_FOLDER.glob("*.svg")}
    assert style.token in COLOUR_TOKENS and f"{style.token}_soft" in COLOUR_TOKENS


def test_the_states_that_must_not_be_mixed_up_differ_in_colour_and_icon() -> None:
    shown = [state_style(word) for word in ("Stable", "Preparing rebalance", "Empty", "Dead")]
    assert len({style.token for style in shown}) == len({style.icon for style in shown}) == 4
    assert state_style("rising").token == "lag_up" and state_style("falling").token == "lag_down"


def test_an_unknown_state_word_is_shown_as_it_is_in_the_neutral_colour() -> None:
    assert state_style("Quantum <b>") == ("idle", "info", "Quantum <b>")


def test_unknown_tokens_and_icons_are_refused(qapp: QApplication) -> None:
    with pytest.raises(KeyError):
        LIGHT.colour("owner_hues")
    with pytest.raises(KeyError):
        LIGHT.colour("no such")
    with pytest.raises(KeyError):
        icon("no such", LIGHT)


def test_every_icon_takes_its_tint_and_draws_something(qapp: QApplication) -> None:
    assert len([*ICON_FOLDER.glob("*.svg")]) >= 50
    for path in ICON_FOLDER.glob("*.svg"):
        name, source = path.stem, path.read_text(encoding="utf-8")
        assert "currentColor" in source and not re.search(r"#[0-9A-Fa-f]{3,8}", source), name
        image = icon_pixmap(name, "#FF0000", 24).toImage()
        solid = [image.pixelColor(x, y) for x in range(24) for y in range(24) if image.pixelColor(x, y).alpha() > 200]
        assert solid, name
        assert all(colour.red() > 240 and colour.green() < 15 for colour in solid), name


def test_icons_are_crisp_on_a_double_density_screen(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    assert icon_pixmap("play", LIGHT.text, 16, 2.0).size() == QSize(32, 32)
    dense = SimpleNamespace(devicePixelRatio=lambda: 2.0)
    monkeypatch.setattr("widgets.icons.QGuiApplication", SimpleNamespace(screens=lambda: [*qapp.screens(), dense]))
    assert icon("play", LIGHT).pixmap(QSize(16, 16), 2.0).size() == QSize(32, 32)


def test_a_disabled_icon_is_grey(qapp: QApplication) -> None:
    image = icon("stop", DARK).pixmap(QSize(24, 24), 1.0, QIcon.Mode.Disabled).toImage()
    assert image.pixelColor(12, 12).name().upper() == DARK.disabled


@BOTH
def test_applying_a_theme_sets_fonts_palette_and_style_sheet(theme: Theme, qapp: QApplication) -> None:
    apply_theme(qapp, theme)
    assert current_theme() is theme
    assert qapp.palette().window().color() == QColor(theme.window)
    assert qapp.styleSheet() == style_sheet(theme)
    assert qapp.font().pixelSize() == 13
    assert QFontInfo(ui_font()).family() == "Inter"
    assert QFontInfo(mono_font()).family() == "JetBrains Mono"
    assert QFontInfo(mono_font()).fixedPitch()


def test_no_widget_is_collected_while_qt_goes_through_all_of_them(qapp: QApplication, qtbot: QtBot) -> None:
    collects = []

    class Label(QLabel):
        def changeEvent(self, event: QEvent) -> None:
            collects.append(gc.isenabled())
            super().changeEvent(event)

    apply_theme(qapp, DARK)
    label = Label()
    qtbot.addWidget(label)
    label.show()
    collects.clear()
    apply_theme(qapp, LIGHT)
    assert collects and not any(collects)
    assert gc.isenabled()


@BOTH
def test_the_style_sheet_is_whole_and_names_only_files_that_exist(
    theme: Theme, qapp: QApplication, qtbot: QtBot, capfd: pytest.CaptureFixture[str]
) -> None:
    sheet = style_sheet(theme)
    assert "$" not in sheet
    for path in re.findall(r"url\(([^)]+)\)", sheet):
        assert QIcon(path).availableSizes() or QIcon(path).pixmap(12).width() > 0, path
    apply_theme(qapp, theme)
    assert "Could not parse" not in capfd.readouterr().err


def test_item_roles_are_distinct_and_above_the_roles_of_qt() -> None:
    assert len({int(role) for role in Role}) == len(Role)
    assert min(Role) > 0x0100


def test_mixing_and_ink() -> None:
    assert mix("#000000", "#FFFFFF", 0.0) == "#000000"
    assert mix("#000000", "#FFFFFF", 1.0) == "#FFFFFF"
    assert ink_on("#FFFFFF") == "#10141B" and ink_on("#000000") == "#FFFFFF"
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)


def test_a_list_of_two_is_shown_whole(qtbot: QtBot) -> None:
    box = QComboBox()
    qtbot.addWidget(box)
    box.addItems(["Text (UTF-8)", "Base64"])
    box.show()
    box.showPopup()
    view = box.view()
    assert view.viewport().rect().contains(view.visualRect(view.model().index(1, 0)))
    box.hidePopup()
