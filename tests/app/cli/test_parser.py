"""What is wrong with a command line is one sentence that says what would be right; nothing of argparse or Python."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import pytest

import resources
from app.cli.argument_types import between
from app.cli.main import COMMANDS, main
from broker_core.errors import ErrorCode

PARSERS = {name: make()[0] for name, make in COMMANDS.items()}


def refused(*words: str, capsys: Any) -> str:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    told = capsys.readouterr()
    assert (ended.value.code, told.out, told.err.count("\n")) == (2, "", 1)
    return str(told.err)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "x", "--speed", "fast"), "run: --speed: 'fast' is not a number above 0, nor max"),
        (("run", "x", "--speed", "0"), "run: --speed: '0' is not a number above 0, nor max"),
        (("run", "x", "--seed", "many"), "run: --seed: 'many' is not a whole number"),
        (("run", "x", "--until", "soon"), "run: --until: 'soon' is not a number of seconds, 0 or more"),
        (("run",), "run: SCENARIO is missing"),
        (("run", "x", "--until"), "run: --until needs a value"),
        (("run", "x", "--spd", "1"), "run: there is no --spd here (did you mean --speed?)"),
        (("run", "x", "y"), "run: 'y' is one argument too many"),
        (("shot", "x"), "shot: --at, OUT.png are missing"),
        (("produce",), "produce: TOPIC is missing"),
        (("shot", "x", "--at", "1", "--size", "1x1", "o"), "1x1 is not a possible window size, from 960x640 to "),
        (("serve", "--http", "²"), "serve: --http: '²' is neither a port from 0 to 65535 nor off"),
        (("serve", "--http", "x"), "serve: --http: 'x' is neither a port from 0 to 65535 nor off"),
        (("serve", "--create-topics", "-1"), "serve: --create-topics: '-1' is not a whole number from 0 on"),
        (("serve", "--durability", "x"), "serve: --durability: there is no 'x'; there are file, fsync"),
        (("topics",), "topics: a verb is missing; there are list, describe, create, delete, configure, "),
        (("topics", "lst"), "topics: there is no verb 'lst' (did you mean list?); there are list, describe, "),
        (("topics", "--data", "x", "list"), "topics: a verb comes before --data; there are list, describe, "),
        (("topics", "create", "t", "--rate", "fast"), "topics create: --rate: 'fast' is not a number, nor none"),
        (("topics", "create", "t", "--retention-ms", "x"), "--retention-ms: 'x' is not a whole number, nor none"),
        (("topics", "list", "--data", "a", "--broker", "b"), "topics list: --broker cannot be combined with --data"),
        (("topics", "list", "--json=1"), "topics list: --json takes no value"),
        (("topics", "create", "t", "--re", "1"), "--re may be --retention-ms, --retention-bytes; write it out"),
        (
            ("groups", "reset-offsets", "g", "--to", "1"),
            "--to may be --to-earliest, --to-latest, --to-offset, --to-times",
        ),
        (
            ("queues", "configure", "q", "--lease-ms", "5"),
            "there is no --lease-ms here; verbs that have it: create, subscribe;",
        ),
        (("with", "--fault", "error Produce NOT_CORDINATOR", "--", "x"), "mean NOT_COORDINATOR? The testing reference"),
        (("groups", "reset-offsets", "g"), "groups reset-offsets: give one of --to-earliest --to-latest --to-offset "),
        (("--sed", "1"), "brokerscope: there is no --sed here (did you mean --seed?); brokerscope --help says more."),
    ],
)
def test_a_wrong_call_says_what_is_accepted(words: tuple[str, ...], told: str, capsys: Any) -> None:
    sentence = refused(*words, capsys=capsys)
    assert told in sentence
    assert sentence.startswith("brokerscope") and sentence.endswith(" --help says more.\n")


@pytest.mark.parametrize("words", [("--", "-5"), ("a", "--", "-5"), ("--key", "k", "--", "-5"), ("a", "--", "--key")])
def test_what_follows_two_dashes_is_no_option(words: tuple[str, ...], tmp_path: Any, capsys: Any) -> None:
    data, count = str(tmp_path), str(1 + (words[0] == "a"))
    assert main(["topics", "create", "orders", "--data", data]) == 0
    assert main(["produce", "orders", "--data", data, *words]) == 0, capsys.readouterr()
    assert main(["consume", "orders", "--data", data, "--json", "--count", count, "--timeout", "9"]) == 0
    assert f'"value":"{words[-1]}"' in capsys.readouterr().out
    assert "'-5' is one argument too many" in refused("topics", "list", "--data", data, "--", "-5", capsys=capsys)


def test_every_hint_is_of_an_error() -> None:
    assert resources.table("command_line_errors.toml")["hints"].keys() <= ErrorCode.__members__.keys()


def test_a_number_of_many_digits_is_a_number() -> None:
    digits = "1" * 400
    assert between(int, 1)(digits) == int(digits)
    with pytest.raises(argparse.ArgumentTypeError, match="is not a whole number from 1 to 9"):
        between(int, 1, 9)(digits)


def parsers(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    verbs = [action for action in parser._actions if action.nargs == argparse.PARSER]
    if not verbs:
        yield name, parser
    for action in verbs:
        assert isinstance(action.choices, dict)
        for verb, inner in action.choices.items():
            yield from parsers(inner, f"{name} {verb}")


@pytest.mark.parametrize("command", PARSERS)
def test_every_argument_has_help_and_refuses_nonsense_in_words(command: str) -> None:
    for name, parser in parsers(PARSERS[command], command):
        for action in parser._actions:
            about = f"{name} {'/'.join(action.option_strings) or action.dest}"
            assert action.help, f"{about}: say what it does"
            assert action.metavar or action.choices or action.nargs == 0, f"{about}: and what stands there"
            assert action.type not in {int, float}, f"{about}: argparse would say: invalid int value"
            if callable(action.type) and action.choices is None:
                try:
                    action.type("\N{SNOWMAN} nonsense")
                except argparse.ArgumentTypeError as error:
                    assert " not " in str(error) or "neither" in str(error), about


@pytest.mark.parametrize("words", [("topcis", "list"), ("comsume", "t"), ("nosuch",), ("first-sesion",), ("help",)])
def test_a_mistyped_command_is_told_the_commands_and_where_scenarios_are(words: tuple[str, ...], capsys: Any) -> None:
    near = {"topcis": "topics", "comsume": "consume", "first-sesion": "first-session", "help": "--help"}
    assert main(list(words)) == 2
    hint = f" (did you mean {near[words[0]]}?)" if words[0] in near else ""
    assert capsys.readouterr().err == (
        f"brokerscope: {words[0]} is neither a command nor a scenario{hint}; the commands are {', '.join(COMMANDS)}, "
        "and a scenario is a YAML file or a name listed by brokerscope scenarios list.\n"
    )


def test_files_and_folders_that_are_no_scenario_are_told_by_what_they_are(tmp_path, capsys: Any) -> None:
    session = tmp_path / "session"
    session.mkdir()
    mine = str(tmp_path / "mine.yaml")
    for word, code, told in (
        (mine, 3, f"{mine} is neither a file nor a bundled scenario; give a YAML file or one of"),
        (str(session), 2, f"{session} is a folder; give a YAML file or one of"),
    ):
        assert main([word]) == code
        assert capsys.readouterr().err.startswith(f"brokerscope: {told}")
    (session / "session.json").write_text("{}")
    assert main([str(session)]) == 2
    assert f"is a recorded session; brokerscope open {session} shows it." in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("run", "nope"),
        ("scenarios", "describe", "nope"),
        ("shot", "nope", "--at", "1", "o.png"),
        ("open", "{folder}"),
        ("report", "{folder}", "--out", "{folder}/out"),
    ],
)
def test_what_is_not_there_has_a_code_of_its_own(words: tuple[str, ...], tmp_path: Any, capsys: Any) -> None:
    """Not the code of a command line that makes no sense."""
    assert main([word.format(folder=tmp_path / "nope") for word in words]) == 3
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1) and "nope" in told.err


def test_the_version_is_told(capsys: Any) -> None:
    assert main(["--version"]) == 0
    name, number = capsys.readouterr().out.split()
    assert name == "brokerscope" and number[0].isdigit()


def test_help_names_every_command(capsys: Any) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(f"\n  {name} " in told for name in COMMANDS)


def test_help_begins_with_what_must_be_given_and_ends_with_the_broker(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["topics", "add-partitions", "--help"])
    told = capsys.readouterr().out
    assert told.startswith("usage: brokerscope topics add-partitions [options] --total N TOPIC\n")
    assert told.index("--json") < told.index("\nbroker:\n") < told.index("--broker URL")
    with pytest.raises(SystemExit):
        main(["topics", "create", "--help"])
    assert "--cleanup {delete|compact|delete,compact|none}" in capsys.readouterr().out
