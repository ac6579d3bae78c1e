"""A model over more rows than are held: pages come when they are looked at, and Qt finds no fault with it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.presenters.columns import Column
from app.presenters.paged import PAGE, PAGES_HELD, PagedModel
from widgets.roles import Role


@pytest.fixture
def model(qapp):
    column = Column[int]("Number", lambda row: f"n{row}", look="number", sort=lambda row: row)
    made = PagedModel[int]((column,), lambda row: row)
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Fatal)
    return made


def shown(model, place):
    return model.index(place, 0).data()


def test_a_page_is_asked_for_once_and_shown_when_it_comes(model):
    asked = []
    model.page_wanted.connect(lambda first, end: asked.append((first, end)))
    model.show_range(50, 1_000_000)
    asked.clear()
    assert shown(model, 0) == "…"
    assert model.index(0, 0).data(Role.KEY) is None
    shown(model, 5)
    model.put(50, list(range(50, 100)), 100)
    assert shown(model, 0) == "n50"
    assert shown(model, 500_000) == "…"
    assert asked[-1] == (500_000 // PAGE * PAGE, 500_000 // PAGE * PAGE + PAGE)
    assert len(asked) == len(set(asked))


def test_what_could_not_be_had_is_asked_for_again(model):
    asked = []
    model.show_range(0, 1_000)
    model.page_wanted.connect(lambda first, end: asked.append((first, end)))
    shown(model, 300)
    model.missing(300, 400)
    shown(model, 301)
    assert asked == [(300, 400), (300, 400)]


def test_a_page_that_was_asked_for_and_has_grown_since_is_asked_for_again(model):
    asked = []
    model.show_range(0, 10)
    model.page_wanted.connect(lambda first, end: asked.append((first, end)))
    shown(model, 5)
    model.move_bounds(0, 20)
    shown(model, 15)
    assert asked == [(0, 10), (0, 20)]


def test_few_pages_are_held(model):
    model.show_range(0, 10_000_000)
    for page in range(PAGES_HELD + 50):
        model.put(page * PAGE, list(range(page * PAGE, (page + 1) * PAGE)), (page + 1) * PAGE)
    assert shown(model, 0) == "…"
    assert shown(model, (PAGES_HELD + 49) * PAGE) == f"n{(PAGES_HELD + 49) * PAGE}"


def test_a_range_grows_at_its_end_and_loses_its_beginning(model):
    model.show_range(0, 150)
    model.put(0, list(range(150)), 150)
    model.move_bounds(0, 160)
    assert model.rowCount() == 160
    assert (shown(model, 149), shown(model, 155)) == ("n149", "…")
    asked = []
    model.page_wanted.connect(lambda first, end: asked.append((first, end)))
    model.missing(100, 200)
    shown(model, 156)
    assert asked == [(100, 160)]
    model.move_bounds(100, 160)
    assert (model.rowCount(), shown(model, 0)) == (60, "n100")
    model.move_bounds(200, 200)
    assert model.rowCount() == 0


def test_a_list_grows_and_forgets_its_oldest(model):
    model.show_list()
    model.append([1, 2, 3])
    model.append([4, 5], 4)
    assert [shown(model, place) for place in range(model.rowCount())] == ["n2", "n3", "n4", "n5"]
    model.put(0, [7], 1)
    assert model.rowCount() == 4
    assert model.headerData(0, Qt.Orientation.Horizontal) == "Number"
    model.show_range(0, 3)
    assert (model.rowCount(), model.lists) == (3, False)
