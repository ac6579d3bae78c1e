"""Lessons in a scenario's YAML: what is read, and how what is wrong is named."""

from __future__ import annotations

import textwrap

import pytest

from broker_core.errors import ScenarioError
from broker_core.simulation.lesson import WindowNames
from broker_core.simulation.scenario import Scenario, parse_scenario

BASE = """\
title: T
about: A
until_s: 10
topics: [{name: orders, partitions: 2}]
queues: [{name: jobs}]
groups: [{name: billing, topics: [orders]}]
producers: [{name: shop, to: orders, arrivals: {kind: rate, per_s: 1}}]
consumers: [{name: biller, group: billing}]
workers: [{name: hand, queue: jobs}]
"""
WINDOW = WindowNames(frozenset({"pause", "go_to"}), frozenset({"offsets"}), frozenset({"hot-key"}))


def parsed(lesson: str) -> Scenario:
    return parse_scenario(BASE + "lesson:\n" + textwrap.indent(textwrap.dedent(lesson), "  "), window=WINDOW)


def test_a_lesson_has_steps_a_question_and_a_next_one() -> None:
    lesson = parsed(
        """\
        steps:
          - {watch: Lag rises., when: lag("billing") > 3, seen: It did., point_at: {object: "lane:orders/1"}}
          - {try: Pause., commands: [pause], point_at: {command: pause}}
          - {try: Click the worker., select: "worker:hand-1", point_at: {panel: offsets}}
        question: {text: "Why?", answer: Because.}
        next: hot-key
        """
    ).lesson
    assert lesson is not None
    assert [step.text for step in lesson.steps] == ["Lag rises.", "Pause.", "Click the worker."]
    assert lesson.question is not None and lesson.question.answer == "Because."
    assert lesson.next == "hot-key"


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ("{watch: A, when: lagg > 3}", "line 12: There is no field lagg here; did you mean lag?"),
        ("{watch: A, when: lag > x}", "line 12: lag is a number"),
        ("{watch: A, when: lag(nobody) > 3}", "line 12: nobody has no lag here; there are billing, jobs."),
        ("{watch: A}", "a step needs when, commands or select, so that it can be done"),
        ("{watch: A, try: B, when: ~dlq}", "a step has either watch or try"),
        ("{try: A, commands: [paus]}", "line 12: there is no command 'paus'; did you mean 'pause'?"),
        ("{try: A, select: 'consumer:biller-9'}", "line 12: there is no object 'consumer:biller-9'"),
        ("{try: A, select: nothing}", "line 12: there is no kind of object 'nothing', as 'bench'"),
        ("{try: A, when: ~dlq, point_at: {panel: offset}}", "line 12: there is no panel 'offset'; did you mean"),
        ("{try: A, when: ~dlq, point_at: {object: 'dlq:job'}}", "line 12: there is no object 'dlq:job'"),
        ("{try: A, when: ~dlq, point_at: {panel: offsets, command: pause}}", "point_at needs one of command, panel"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(step: str, sentence: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parsed(f"steps:\n  - {step}\n")
    assert sentence in str(caught.value)


def test_the_next_lesson_must_be_there() -> None:
    with pytest.raises(ScenarioError, match="line 13: there is no scenario 'hot-keys'; did you mean 'hot-key'"):
        parsed("steps:\n  - {watch: A, when: ~dlq}\nnext: hot-keys\n")


def test_without_a_window_its_names_are_not_judged() -> None:
    text = BASE + "lesson: {steps: [{try: A, commands: [anything]}], next: anywhere}\n"
    assert parse_scenario(text).lesson is not None


def test_a_lesson_without_steps_is_none() -> None:
    with pytest.raises(ScenarioError, match="a lesson needs a step"):
        parsed("steps: []\n")
