"""What a move would do, before it is done."""

from app.presenters.owners import Owners
from app.presenters.what_if import ghost
from tests.app.presenters import made_up
from widgets.canvas.view import NEW_GROUP


def ghost_of(consumer, target):
    return ghost(made_up.living(), Owners(), consumer, target)


def test_a_new_group_reads_every_partition_and_others_take_over_what_was_there():
    found = ghost_of("indexer-1", NEW_GROUP)
    new = [move for move in found.moves if move.group == NEW_GROUP]
    old = [move for move in found.moves if move.group == "indexers"]
    assert [(move.topic, move.partition, move.before.name, move.after.name) for move in new] == [
        ("commits", number, "", "indexer-1") for number in range(6)
    ]
    assert [move.partition for move in old if move.before.name == "indexer-1"] == [0, 1]
    assert "indexer-1" not in {move.after.name for move in old}
    assert len(new) + len(old) == len(found.moves)
    assert found.note == ("indexer-1 alone reads commits. Its partitions in indexers go to others.")


def test_from_the_bench_a_new_group_reads_what_the_first_group_reads():
    found = ghost_of("indexer-4", "explorers")
    assert [(move.topic, move.partition, move.group, move.after.name) for move in found.moves] == [
        ("commits", number, "explorers", "indexer-4") for number in range(6)
    ]
    assert found.note == "indexer-4 alone reads commits."


def test_the_last_one_that_leaves_leaves_partitions_to_nobody():
    found = ghost_of("mailer", NEW_GROUP)
    assert [(move.topic, move.before.name, move.after.name) for move in found.moves] == [
        ("alerts", "", "mailer"), ("alerts", "mailer", ""),
    ]  # fmt: skip
    assert found.note.endswith("Its partitions in mail will have no reader.")


def test_into_a_group_that_is_there_only_its_partitions_are_shared_out_anew():
    found = ghost_of("indexer-4", "indexers")
    assert {move.group for move in found.moves} == {"indexers"}
    assert len(found.moves) + found.kept == 6
