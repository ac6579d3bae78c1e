"""Settings are shown whole and changed one by one; what is not asked for stays; what is counted says since when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.cli.main import main
from app.environment.exits import Exit
from broker_core import BrokerHost
from tests.app.cli.conftest import Shell, run, served


def test_limits_of_a_topic_are_changed_one_by_one_and_lifted(shell: Shell) -> None:
    shell("topics", "create", "t", "--max-messages", 40, "--policy", "reject", "--rate", 5, "--burst", 9)
    shell("topics", "configure", "t", "--max-bytes", 9_000, "--retention-ms", 700, "--segment-ms", 50)
    (facts,) = shell.rows("topics", "describe", "t")
    assert facts["limits"] == {
        "max_messages": 40,
        "max_bytes": 9_000,
        "policy": "reject",
        "rate_per_s": 5.0,
        "burst": 9.0,
        "block_timeout_ms": None,
    }
    assert facts["backpressure"]["depth"] == 0
    assert (facts["retention_ms"], facts["segment_ms"]) == (700, 50)
    shell("topics", "configure", "t", "--rate", "none", "--retention-ms", "none")
    (facts,) = shell.rows("topics", "describe", "t")
    limits = facts["limits"]
    assert (limits["rate_per_s"], limits["burst"], limits["max_messages"], facts["retention_ms"]) == (
        None,
        None,
        40,
        None,
    )
    told = [line.split() for line in shell("topics", "describe", "t").splitlines()]
    assert ["Max", "messages", "40"] in told and ["Policy", "reject"] in told
    shell("topics", "configure", "t")
    assert (shell.code, "brokerscope topics configure --help" in shell.error) == (2, True)


def test_a_topic_is_described_with_its_schema_and_partitioner(shell: Shell) -> None:
    shell("topics", "create", "t", "--partitioner", "murmur2")
    (facts,) = shell.rows("topics", "describe", "t")
    assert (facts["partitioner"], facts["schema"], facts["limits"]) == ("murmur2", None, None)
    shell("schemas", "register", "s", "-", typed="{}")
    shell("schemas", "rule", "t", "--subject", "s", "--mode", "dead_letter")
    (facts,) = shell.rows("topics", "describe", "t")
    assert (facts["schema"], facts["schema_mode"]) == ("s", "dead_letter")


def test_a_setting_that_is_not_allowed_makes_nothing(shell: Shell) -> None:
    for what in ("topics", "queues"):
        with pytest.raises(SystemExit) as ended:
            shell(what, "create", "x", "--segment-bytes", 0)
        assert ended.value.code == 2
        assert shell.rows(what, "list") == []


def test_settings_of_a_queue_are_shown_and_changed(shell: Shell) -> None:
    words = ("--lease-ms", 700, "--retry", "exponential", "--retry-factor", 3, "--dead-letter-topic", "bin")
    shell("queues", "create", "jobs", *words, "--max-messages", 9, "--retention-ms", 5_000)
    (facts,) = shell.rows("queues", "describe", "jobs")
    assert (facts["lease_ms"], facts["retry_kind"], facts["retry_factor"]) == (700, "exponential", 3.0)
    assert (facts["dead_letter_topic"], facts["limits"]["max_messages"], facts["leases"]) == ("bin", 9, [])
    shell("queues", "configure", "jobs", "--policy", "reject")
    (facts,) = shell.rows("queues", "describe", "jobs")
    assert (facts["limits"]["max_messages"], facts["limits"]["policy"]) == (9, "reject")
    assert shell.rows("topics", "describe", "jobs")[0]["retention_ms"] == 5_000
    told = [line.split() for line in shell("queues", "describe", "jobs").splitlines()]
    assert ["Retry", "kind", "exponential"] in told


def test_a_subscription_is_bounded_and_told_what_it_reads(shell: Shell) -> None:
    shell("topics", "create", "news")
    shell("queues", "subscribe", "mail", "--topic", "news", "--max-messages", 2, "--policy", "drop_oldest")
    shell("produce", "news", "a", "b", "c")
    assert [one["value"] for one in shell.rows("queues", "peek", "mail")] == ["b", "c"]
    (row,) = shell.rows("queues", "list")
    assert (row["queue"], row["reads"], row["ready"]) == ("mail", "news", 2)
    (facts,) = shell.rows("queues", "describe", "mail")
    assert (facts["limits"]["max_messages"], facts["limits"]["policy"]) == (2, "drop_oldest")
    shell("queues", "configure", "mail", "--max-messages", 3)
    assert (shell.code, "is set at its topic news." in shell.error) == (2, True)


def test_dead_letters_are_counted_over_all_narrowed_down_and_changed(shell: Shell) -> None:
    assert "Nothing here can have dead letters" in shell("dlq", "list")
    shell("queues", "create", "jobs")
    shell("schemas", "register", "s", "-", typed='{"type": "object"}')
    shell("topics", "create", "t")
    shell("schemas", "rule", "t", "--subject", "s", "--mode", "dead_letter")
    shell("produce", "t", "one", "two", "three", "--key", "k")
    rows = [(row["queue_or_topic"], row["dead_letters"]) for row in shell.rows("dlq", "list")]
    assert rows == [("jobs", 0), ("t", 3)]
    assert "There may be more than 2 dead letters" in (shell("dlq", "list", "t", "--limit", 2), shell.error)[1]
    for words in (("--text", "o"), (0, "--all"), (0, "--text", "o")):
        shell("dlq", "redrive", "t", *words)
        assert (shell.code, shell.error.count("\n")) == (2, 1)
    shell("dlq", "list", "--text", "o")
    assert "name it: brokerscope dlq list QUEUE." in shell.error
    assert shell.rows("dlq", "purge", "t", "--all", "--text", "three")[0]["purged"] == 1
    shell("dlq", "describe", "t", 9)
    assert "There is no such dead letter: 9 of t; brokerscope dlq list says" in shell.error


def test_schemas_tell_versions_and_modes(shell: Shell) -> None:
    assert shell("schemas", "compatibility") == "Every subject without a mode of its own is BACKWARD.\n"
    shell("schemas", "compatibility", "s")
    assert (shell.code, "There is no such subject: s" in shell.error) == (Exit.NOT_FOUND, True)
    shell("schemas", "register", "s", "-", typed="{}")
    shell("schemas", "register", "s", "-", typed='{"title": "two"}')
    shell("schemas", "compatibility", "s", "--mode", "full")
    assert shell("schemas", "compatibility", "s") == "s is FULL.\n"
    shell("schemas", "compatibility", "FULL")
    assert (shell.code, "schemas compatibility [SUBJECT] --mode FULL sets it." in shell.error) == (Exit.USAGE, True)
    (facts,) = shell.rows("schemas", "describe", "s", "--version", 1)
    assert (facts["version"], facts["versions"], facts["compatibility"]) == (1, [1, 2], "FULL")
    assert shell("schemas", "compatibility", "s", "--mode", "default") == "s is BACKWARD.\n"
    shell("topics", "create", "t")
    shell("schemas", "rule", "t", "--mode", "refuse")
    assert (shell.code, "name that with --subject" in shell.error) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("consume", "jobs", "--group", "g"), "jobs is a queue, but --group is for topics; leave it out."),
        (("consume", "jobs", "--from", "latest"), "jobs is a queue, but --from is for topics"),
        (
            ("consume", "t", "--offset", "7"),
            "The offset is outside the log: 7 in t/0, which is empty and continues at 0.",
        ),
        (("consume", "t", "--partition", "9"), "t has no partition 9; its last is 0."),
        (("consume", "t", "--group", "g", "--offset", "1"), "leave out --group or --offset."),
        (("consume", "t", "--from", "latest", "--offset", "1"), "--from and --offset both say where to start"),
        (
            ("consume", "nothing", "--group", "g"),
            "There is no such topic or partition: nothing; brokerscope topics list",
        ),
        (("groups", "describe", "g"), "There is no such group: 'g'; brokerscope groups list says what there is."),
        (
            ("groups", "reset-offsets", "g", "--to-latest", "--topic", "t", "--partition", "7"),
            "no partition 7 to reset",
        ),
    ],
)
def test_what_does_not_fit_together_is_said_before_anything_waits(
    shell: Shell, words: tuple[str, ...], told: str
) -> None:
    shell("topics", "create", "t")
    shell("queues", "create", "jobs")
    shell(*words)
    there_is_none = any(
        word in told for word in ("There is no", "has no partition", "no partition 7", "outside the log")
    )
    code = Exit.NOT_FOUND if there_is_none else Exit.USAGE
    assert (shell.code, told in shell.error) == (code, True), shell.error


def test_a_folder_of_other_things_is_not_filled(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "mine.txt").write_text("dear")
    (tmp_path / "file").write_text("")
    (tmp_path / "disk" / "lost+found").mkdir(parents=True)
    session = tmp_path / "session"
    session.mkdir()
    (session / "session.json").write_text("{}")
    for words, told in (
        (("topics", "list", "--data", str(tmp_path / "letters")), "contains files that are not a broker's"),
        (("dlq", "list", "--data", str(tmp_path / "letters")), "broker's; name the data directory of a broker."),
        (("serve", "--data", str(tmp_path / "letters")), "broker's; name an empty or a new folder."),
        (("dlq", "list", "--data", str(session)), f"and no broker's data; brokerscope open {session}"),
        (("serve", "--data", str(tmp_path / "file")), "is a file; a data directory is a folder"),
        (
            ("topics", "list", "--data", str(tmp_path / "none")),
            f"brokerscope serve --data {tmp_path / 'none'} makes it",
        ),
    ):
        assert main(list(words)) == (Exit.NOT_FOUND if "is not there" in told or "makes it" in told else Exit.USAGE)
        assert told in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "letters").iterdir()] == ["mine.txt"]
    assert main(["topics", "list", "--data", str(tmp_path / "disk")]) == 0
    with BrokerHost(tmp_path / "known"):
        pass
    assert main(["topics", "list", "--data", str(tmp_path / "known")]) == 0


def test_what_is_counted_after_a_restart_says_since_when(tmp_path: Path, capsys: Any) -> None:
    data = str(tmp_path / "data")
    with served("--data", data) as (where, _process):
        broker = ("--broker", where["http"])
        run("topics", "create", "orders", *broker, capsys=capsys)
        run("queues", "create", "jobs", *broker, capsys=capsys)
        run("produce", "orders", "a", "b", *broker, capsys=capsys)
        run("produce", "jobs", "c", "d", "e", *broker, capsys=capsys)
        run("consume", "jobs", "--count", "1", *broker, capsys=capsys)
    with served("--data", data) as (where, _process):
        broker = ("--broker", where["http"])
        run("produce", "orders", "f", *broker, capsys=capsys)
        head, row = run("topics", "list", *broker, capsys=capsys).splitlines()
        assert head.split("  ")[-1] == "Published since start"
        assert (row.split()[2], row.split()[4]) == ("3", "1")
        told = run("metrics", "list", *broker, capsys=capsys)
        assert "Messages in topics  3\n" in told and "Messages in queues  2\n" in told
        since = told.partition("Since the broker was opened, ")[2]
        assert "Published      1\n" in since and "Acknowledged   0\n" in since
    # A broker that is opened for one command has counted nothing, and says nothing of it.
    assert "since" not in run("topics", "list", "--data", data, capsys=capsys)
    assert "since" not in run("metrics", "list", "--data", data, capsys=capsys).lower()
    assert "since" not in run("topics", "describe", "orders", "--data", data, capsys=capsys)


def test_a_topic_without_dead_letters_says_what_it_lacks_and_how_to_get_it(shell: Shell) -> None:
    shell("topics", "create", "t")
    for verb in ("list", "causes"):
        shell("dlq", verb, "t")
        assert shell.code == Exit.NOT_FOUND
        assert shell.error == (
            "brokerscope: The topic has no dead letters: t has no schema rule of the mode dead_letter; "
            "brokerscope schemas rule TOPIC --subject SUBJECT --mode dead_letter sets one.\n"
        )


def test_a_queue_is_described_with_all_that_it_was_created_with(shell: Shell) -> None:
    words = ("--ageing-ms", 250, "--max-attempts", "none", "--durable-acks", "--balancing", "weighted")
    shell("queues", "create", "jobs", *words)
    (facts,) = shell.rows("queues", "describe", "jobs")
    found = facts["ageing_ms"], facts["max_attempts"], facts["durable_acks"], facts["balancing"]
    assert (*found, facts["dead_letter_topic"]) == (250, None, True, "weighted", "jobs.dlq")


def test_what_changes_something_tells_programs_of_what_and_how_much(shell: Shell) -> None:
    shell("queues", "create", "jobs")
    shell("produce", "jobs", "a", "b")
    assert shell("queues", "purge", "jobs") == "Purged 2 messages of jobs.\n"
    assert shell.rows("queues", "purge", "jobs") == [{"queue": "jobs", "purged": 0}]
    assert shell.rows("topics", "create", "t", "--partitions", 2) == [{"topic": "t", "partitions": 2}]
    assert shell.rows("topics", "delete", "t") == [{"topic": "t"}]


def test_connections_are_those_of_a_running_broker(shell: Shell) -> None:
    rows = shell.rows("metrics", "connections")
    if shell.running:
        assert [row["listener"] for row in rows] == ["http"]
    else:
        assert (shell.code, shell.error) == (
            Exit.USAGE,
            "brokerscope: Only a running broker knows this; name one with --broker.\n",
        )


def test_a_member_is_removed_by_its_client_id(shell: Shell) -> None:
    shell("topics", "create", "t")
    shell("produce", "t", "a")
    shell("consume", "t", "--group", "g", "--count", 1)
    shell("groups", "kick", "g", "nobody")
    assert shell.code != 0 and "nobody" in shell.error


def test_settings_of_a_group_are_shown_and_changed_before_it_is_there(shell: Shell) -> None:
    told = shell("groups", "configure", "g", "--delivery-count-limit", 9, "--no-renew-enabled")
    assert (shell.code, told) == (0, "Configured g.\n")
    (facts,) = shell.rows("groups", "settings", "g")
    assert (facts["delivery_count_limit"], facts["renew_enabled"], facts["max_record_locks"]) == (9, False, 2_000)
    shell("groups", "configure", "g", "--renew-enabled", "--auto-offset-reset", "earliest")
    (facts,) = shell.rows("groups", "settings", "g")
    assert (facts["delivery_count_limit"], facts["renew_enabled"], facts["auto_offset_reset"]) == (9, True, "earliest")
    shell("groups", "configure", "g")
    assert (shell.code, "brokerscope groups configure --help" in shell.error) == (2, True)
    shell("groups", "configure", "g", "--auto-offset-reset", "tomorrow")
    assert shell.code and "must be earliest, latest, or by_duration:" in shell.error
