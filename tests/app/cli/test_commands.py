"""Checklist A25: every verb, on a data directory and on a running broker, for people and for programs."""

import argparse
import re
from collections.abc import Callable, Iterator

import pytest

from app.cli.main import main
from app.cli.output import print_rows
from app.environment.exits import Exit
from tests.app.cli.conftest import Shell


def test_a25_topics_are_created_configured_filled_trimmed_and_deleted(shell: Shell) -> None:
    assert "There is no topic; brokerscope topics create makes one." in shell("topics", "list")
    assert "Created orders" in shell("topics", "create", "orders", "--partitions", 2, "--retention-ms", 5000)
    assert shell.rows("produce", "orders", "a", "b", "--partition", 1) == [
        {"topic": "orders", "partition": 1, "offset": 0},
        {"topic": "orders", "partition": 1, "offset": 1},
    ]
    (row,) = shell.rows("topics", "list")
    assert (row["topic"], row["partitions"], row["messages"]) == ("orders", 2, 2)
    described = shell("topics", "describe", "orders")
    assert "Retention ms" in described
    assert re.search("^Timestamp before max ms +-$", described, re.MULTILINE)
    shell("topics", "configure", "orders", "--cleanup", "compact")
    assert "compact" in shell("topics", "describe", "orders")
    shell("topics", "add-partitions", "orders", "--total", 3)
    (facts,) = shell.rows("topics", "describe", "orders")
    assert (facts["cleanup"], facts["retention_ms"], len(facts["partitions"])) == ("compact", 5000, 3)
    shell("topics", "delete-records", "orders", "--partition", 1, "--before", -1)
    assert shell.rows("topics", "describe", "orders")[0]["partitions"][1]["start_offset"] == 2
    shell("topics", "delete", "orders")
    assert shell.rows("topics", "list") == []


def test_a25_messages_are_read_without_a_group(shell: Shell) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "--key", "k1", typed="one\n")
    shell("produce", "orders", "--key", "k2", typed="two\n")
    found = shell.rows("consume", "orders", "--count", 2, "--timeout", 5)
    assert [(one["key"], one["value"]) for one in found] == [("k1", "one"), ("k2", "two")]
    assert [one["value"] for one in shell.rows("consume", "orders", "--offset", 1, "--count", 1)] == ["two"]
    assert shell.rows("groups", "list") == []
    shell("topics", "add-partitions", "orders", "--total", 3)
    assert shell("consume", "orders", "--offset", 1, "--timeout", 0) == ""
    assert (shell.code, "orders has 3 partitions" in shell.error) == (2, True)
    (last,) = shell.rows("consume", "orders", "--partition", 0, "--offset", 1, "--count", 1)
    assert last["value"] == "two"


def test_what_was_printed_before_the_reader_of_the_output_ended_is_committed_and_acknowledged(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell("topics", "create", "orders")
    shell("queues", "create", "jobs")
    for place in ("orders", "jobs"):
        shell("produce", place, "a", "b", "c", "d")
    lines: list[str] = []

    def into_a_pipe(line: str, **_more: object) -> None:
        if len(lines) % 3 == 2:
            lines.append("")
            raise BrokenPipeError
        lines.append(line[-1])

    with monkeypatch.context() as head:
        head.setattr("app.cli.consume.print", into_a_pipe, raising=False)
        for command in (("orders", "--group", "g"), ("jobs",)):
            shell("consume", *command)
            assert shell.code == 141
    assert lines == ["a", "b", ""] * 2
    (group,) = shell.rows("groups", "describe", "g")
    assert [at["committed"] for at in group["offsets"]] == [2]
    rest = shell.rows("consume", "jobs", "--count", 2, "--timeout", 5)
    assert [one["value"] for one in rest] == ["c", "d"], "what was not printed is given back at once"


def test_a25_a_group_commits_what_was_printed_and_can_be_reset(shell: Shell) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "a", "b", "c")
    assert [one["value"] for one in shell.rows("consume", "orders", "--group", "g", "--count", 2)] == ["a", "b"]
    (group,) = shell.rows("groups", "describe", "g")
    (at,) = group["offsets"]
    assert (group["state"], group["members"], at["committed"], at["lag"]) == ("Empty", 0, 2, 1)
    told = shell("groups", "describe", "g")
    assert "State       Empty\n" in told and "orders" in told
    (row,) = shell.rows("groups", "list")
    assert (row["group"], row["state"], row["lag"]) == ("g", "Empty", 1)
    assert shell.rows("groups", "reset-offsets", "g", "--shift-by", -1)[0]["to"] == 1
    assert shell.rows("groups", "describe", "g")[0]["offsets"][0]["committed"] == 2, "a preview changes nothing"
    shell("groups", "reset-offsets", "g", "--to-earliest", "--apply")
    assert [one["value"] for one in shell.rows("consume", "orders", "--group", "g", "--count", 3)] == ["a", "b", "c"]
    assert "g has no members" in shell("groups", "members", "g")
    shell("groups", "delete", "g")
    assert shell.rows("groups", "list") == []


def test_a25_queues_are_filled_peeked_taken_and_purged(shell: Shell) -> None:
    shell("queues", "create", "jobs", "--priorities", 2, "--max-attempts", 3)
    shell("queues", "create", "jobs")
    assert shell.error.endswith("There is already a topic or queue of this name: jobs.\n"), "not its bin"
    shell("produce", "jobs", "slow", "--priority", 1)
    shell("produce", "jobs", "urgent")
    assert [one["value"] for one in shell.rows("queues", "peek", "jobs")] == ["urgent", "slow"]
    assert [one["value"] for one in shell.rows("consume", "jobs", "--count", 1)] == ["urgent"]
    (facts,) = shell.rows("queues", "describe", "jobs")
    assert (facts["ready"], facts["acknowledged"], facts["max_attempts"]) == (1, 1, 3)
    shell("produce", "jobs", "good", "--priority", 1)
    shell("produce", "jobs", "bad", "--priority", 2)
    assert (shell.code, "jobs has priorities from 0, the most urgent, to 1, and none of 2" in shell.error) == (
        Exit.REFUSED,
        True,
    )
    shell("consume", "jobs", "--count", 1)
    assert "Purged 1" in shell("queues", "purge", "jobs")
    shell("topics", "create", "news")
    shell("queues", "subscribe", "mail", "--topic", "news")
    assert [row["queue"] for row in shell.rows("queues", "list")] == ["jobs", "mail"]
    shell("queues", "delete", "mail")
    assert [row["queue"] for row in shell.rows("queues", "list")] == ["jobs"]


def test_a_schema_file_may_begin_with_a_byte_order_mark(shell: Shell, tmp_path) -> None:
    marked = tmp_path / "order.json"
    marked.write_text('{"type": "object"}', encoding="utf-8-sig")
    assert shell.rows("schemas", "register", "order", marked)[0]["version"] == 1


def test_a25_schemas_are_registered_checked_compared_and_ruled(shell: Shell, tmp_path) -> None:
    one = tmp_path / "one.json"
    one.write_text('{"type": "object", "properties": {"id": {"type": "integer"}}, "additionalProperties": false}')
    two = tmp_path / "two.json"
    two.write_text('{"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false}')
    assert shell.rows("schemas", "register", "order", one)[0]["version"] == 1
    assert shell.rows("schemas", "check", "order", two) != []
    assert shell.code == 1
    shell("schemas", "compatibility", "order", "--mode", "NONE")
    assert shell.rows("schemas", "register", "order", two)[0]["version"] == 2
    assert shell.rows("schemas", "diff", "order", 1)[0]["what"] == "changed"
    shell("topics", "create", "orders")
    assert shell("schemas", "rule", "orders", "--subject", "nobody") == ""
    assert (shell.code, shell.error.count("\n")) == (Exit.NOT_FOUND, 1)
    assert shell.error.startswith("brokerscope: There is no such subject: nobody; brokerscope schemas list says")
    shell("schemas", "rule", "orders", "--subject", "order")
    for _ in "looking changes nothing":
        assert shell("schemas", "rule", "orders") == "orders is held to order (refuse).\n"
    shell("produce", "orders", '{"id": 1}')
    assert shell.code == Exit.REFUSED
    assert "/id" in shell.error
    shell("schemas", "rule", "orders", "--none")
    assert shell.rows("schemas", "rule", "orders") == [{"topic": "orders", "subject": None, "mode": None}]
    shell("produce", "orders", '{"id": 1}')
    assert shell.code == 0
    shell("schemas", "delete", "order", "--version", 1)
    assert shell.rows("schemas", "list")[0]["versions"] == 1


def test_a25_dead_letters_are_listed_explained_redriven_and_purged(shell: Shell) -> None:
    shell("schemas", "register", "order", "-", typed='{"type": "object"}')
    shell("topics", "create", "orders")
    shell("schemas", "rule", "orders", "--subject", "order", "--mode", "dead_letter")
    shell("produce", "orders", "7", "8", "{}")
    assert len(shell.rows("dlq", "list", "orders")) == 2
    ((cause, count),) = [tuple(row.values()) for row in shell.rows("dlq", "causes", "orders")]
    assert ("schema order" in cause, count) == (True, 2)
    assert shell.rows("dlq", "list", "orders", "--text", "8")[0]["value"] == "8"
    (letter,) = shell.rows("dlq", "describe", "orders", 0)
    assert (letter["value"], len(letter["attempts"]), letter["headers"]) == ("7", 1, {})
    assert letter["origin"] == "orders (it was not stored there)"
    (buried,) = shell.rows("produce", "orders", "9")
    assert buried["topic"] == "orders.dlq", "a buried message is not told as if it were in the topic"
    shell("dlq", "purge", "orders", buried["offset"])
    shell("dlq", "redrive", "orders")
    assert (shell.code, "--all" in shell.error) == (2, True)
    assert len(shell.rows("dlq", "redrive", "orders", "--all", "--dry-run")) == 2
    shell("schemas", "rule", "orders", "--none")
    assert "Redrove 1 dead letter of" in shell("dlq", "redrive", "orders", 0)
    assert "Purged 1 dead letter of" in shell("dlq", "purge", "orders", "--all")
    assert shell("dlq", "list", "orders") == "orders has no dead letters.\n"
    # The window in which a purge can be undone ends with the process that did it.
    told = shell("dlq", "undo-purge", "orders")
    if shell.running:
        assert "Brought back 1" in told
        shell("dlq", "undo-purge", "orders")
        shell("dlq", "undo-purge", "orders")
    assert shell("dlq", "undo-purge", "orders") == (
        "Nothing was undone: no purge of orders in the last five minutes is left to undo.\n"
    )
    assert shell.code == Exit.PARTLY
    assert shell.rows("dlq", "undo-purge", "orders") == [{"queue": "orders", "restored": 0}]


def test_a25_metrics_count_what_was_done(shell: Shell) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "a", "b")
    (facts,) = shell.rows("metrics", "list")
    assert facts["topics"] == 1
    assert "No group is that far behind." in shell("metrics", "slow")
    assert "Nothing is damaged." in shell("metrics", "damage")


@pytest.mark.promise("25")
def test_names_and_payloads_are_data_and_never_markup_for_the_terminal(shell: Shell) -> None:
    shell("queues", "create", "jobs")
    shell("produce", "jobs", "[bold red]not markup[/] \x1b[31m")
    shown = shell("queues", "peek", "jobs")
    assert "[bold red]not markup[/]" in shown
    assert "\x1b[31m" not in shown


@pytest.mark.parametrize(
    "words",
    [
        ("topics", "describe", "nothing"),
        ("topics", "create", ".."),
        ("queues", "peek", "nothing"),
        ("groups", "describe", "nothing"),
        ("dlq", "list", "nothing"),
        ("schemas", "describe", "nothing"),
        ("produce", "nothing", "a"),
        ("topics", "configure", "nothing"),
        ("topics", "create", "\udcff"),
        ("topcis", "list"),
    ],
)
def test_what_is_not_there_is_one_sentence_and_a_code_of_its_own(shell: Shell, words: tuple[str, ...]) -> None:
    shell(*words)
    assert shell.code == (Exit.NOT_FOUND if "nothing" in words else Exit.USAGE)
    assert shell.error.startswith("brokerscope: ")
    assert shell.error.count("\n") == 1


def test_backpressure_is_told_and_what_was_stored_is_counted(shell: Shell) -> None:
    shell("topics", "create", "full", "--max-messages", 2, "--policy", "reject")
    shell("produce", "full", "a")
    shell("consume", "full", "--group", "g", "--count", 1)
    told = shell("produce", "full", "b", "--timeout", 5)
    assert (shell.code, shell.error, told) == (0, "", "Published 1 message to full.\n")
    shell("produce", "full", "c", "--timeout", 5)
    assert shell.code == 0
    shell("produce", "full", "d", "--timeout", 3)
    waiting, refused = shell.error.splitlines()
    assert shell.code == Exit.UNREACHABLE
    assert "waiting for room, at most 3 s" in waiting
    assert refused.startswith("brokerscope: ")
    assert "1 message for full" in refused and "it is withdrawn, and not stored" in refused


def test_where_the_policy_is_to_reject_nothing_waits_unless_it_is_told_to(shell: Shell) -> None:
    shell("topics", "create", "full", "--max-messages", 2, "--policy", "reject")
    assert shell("produce", "full", "a", "b", "c", "d") == "Published 2 messages to full, and no more:\n"
    assert shell.code == Exit.REFUSED
    (refused,) = shell.error.splitlines()
    assert "The limit is reached" in refused and "full" in refused


def test_what_was_stored_before_an_interrupt_is_counted(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def lines(before_waiting: Callable[[], object]) -> Iterator[bytes]:
        yield b"a"
        before_waiting()
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.produce.typed_lines", lines)
    shell("topics", "create", "orders")
    assert shell("produce", "orders") == "Published 1 message to orders, and no more.\n"
    assert shell.code == Exit.INTERRUPTED


def test_a_message_that_becomes_a_dead_letter_is_not_said_to_be_in_the_topic(shell: Shell) -> None:
    shell("schemas", "register", "order", "-", typed='{"type": "object"}')
    shell("topics", "create", "orders")
    shell("schemas", "rule", "orders", "--subject", "order", "--mode", "dead_letter")
    told = shell("produce", "orders", "7", "8", "{}")
    assert told == "Published 1 message to orders, and 2 dead letters, refused by its schema, to orders.dlq.\n"


def test_dropped_messages_are_not_said_to_be_published(shell: Shell) -> None:
    for name in ("drop", "again"):
        shell("topics", "create", name, "--rate", 0.01, "--burst", 1, "--policy", "drop_newest")
    assert shell("produce", "drop", "a", "b", "c") == "Published 1 message to drop; its limit dropped 2 messages.\n"
    assert shell.code == Exit.PARTLY
    dropped = {"topic": "again", "partition": None, "offset": None, "status": "dropped"}
    assert shell.rows("produce", "again", "a", "b")[1:] == [dropped]


def test_a_priority_is_refused_for_a_topic_that_no_queue_reads(shell: Shell) -> None:
    shell("topics", "create", "news")
    shell("produce", "news", "a", "--priority", 3)
    assert (shell.code, "no queue reads news" in shell.error) == (Exit.USAGE, True)
    shell("queues", "subscribe", "mail", "--topic", "news", "--priorities", 5)
    shell("produce", "news", "a", "--priority", 3)
    assert (shell.code, shell.error) == (0, "")


def test_an_offset_that_the_log_has_not_is_not_passed_over(shell: Shell) -> None:
    shell("topics", "create", "orders")
    shell("produce", "orders", "a", "b")
    shell("consume", "orders", "--group", "g", "--count", 1)
    shell("groups", "reset-offsets", "g", "--to-offset", 99_999, "--apply")
    assert shell.error == "orders/0 has no offset 99999; the nearest is 2.\n"


def test_a_schema_that_is_no_text_is_one_sentence(shell: Shell, tmp_path) -> None:
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    shell("schemas", "register", "s", tmp_path / "bad.json")
    assert (shell.code, "is not UTF-8 text" in shell.error) == (2, True)
    shell("schemas", "compatibility", "--mode", "full")
    assert shell.code == 0


def test_a_reader_that_gets_fewer_than_it_asked_for_says_so(shell: Shell) -> None:
    shell("topics", "create", "t")
    shell("topics", "create", "u")
    shell("queues", "create", "q")
    for place, more, then in (("t", (), ("--offset", 1)), ("u", ("--group", "g"), ("--group", "g")), ("q", (), ())):
        shell("produce", place, "one")
        shell("consume", place, *more, "--count", 1, "--timeout", 5)
        assert (shell.code, shell.error) == (0, "")
        shell("produce", place, "two")
        printed = shell("consume", place, *then, "--count", 2, "--timeout", 0.5)
        assert (shell.code, "two" in printed) == (1, True)
        assert f"1 message of {place} arrived, but 2 were requested: nothing more within 0.5 s." in shell.error


@pytest.mark.parametrize(
    "words",
    [
        ("consume", "t", "--count", "-1"),
        ("consume", "t", "--offset", "-1"),
        ("consume", "t", "--timeout", "-1"),
        ("consume", "t", "--timeout", "nan"),
        ("produce", "t", "a", "--ttl-ms", "-1"),
        ("http-produce", "--topic", "t", "--count", "-3"),
    ],
)
def test_numbers_that_make_no_sense_are_refused_before_anything_is_done(words: tuple[str, ...], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 2
    assert " is not " in capsys.readouterr().err


def test_a_table_in_a_pipe_is_not_folded_and_numbers_stand_to_the_right(capsys) -> None:
    print_rows([{"Name": "n" * 300, "Lag": 1_000}, {"Name": "m", "Lag": None}], argparse.Namespace(json=False))
    assert capsys.readouterr().out.splitlines() == [
        f"Name{' ' * 298}  Lag",
        f"{'n' * 300}  1,000",
        f"m{' ' * 301}    -",
    ]
