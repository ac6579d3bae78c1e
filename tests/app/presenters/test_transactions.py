"""Open transactions of Kafka's clients: in the navigator with how long they are open, and in the inspector."""

from app.presenters.inspector import inspector_facts
from app.presenters.navigator import NavigatorModel
from app.sessions.history.series import SessionSeries
from broker_core.snapshots import PartitionView, Snapshot, TopicView, TransactionView

S = 1_000_000_000
OPEN = TransactionView("payments", 7, 3, "shop", 2 * S, 60_000)


def test_open_transactions_have_rows_while_they_are_open(qapp):
    series = SessionSeries()
    sections = {section.key: section for section in NavigatorModel(series).update(Snapshot(14 * S, 0))}
    assert "transactions" not in sections
    shown = {
        section.key: section for section in NavigatorModel(series).update(Snapshot(14 * S, 0, transactions=(OPEN,)))
    }
    (row,) = shown["transactions"].rows
    assert (row.id, row.name, row.state) == ("transaction:payments", "payments", "Ongoing")
    assert row.figure == "for 12.0 s"
    assert "shop" in row.tip


def test_the_inspector_says_whose_it_is_and_when_it_is_aborted(qapp):
    snapshot = Snapshot(14 * S, 0, transactions=(OPEN,))
    facts = inspector_facts(snapshot, "transaction:payments", SessionSeries())
    assert facts is not None
    rows = {row[0]: row[1] for _title, section in facts.sections for row in section}
    assert (facts.name, facts.state) == ("payments", "Ongoing")
    assert (rows["Client"], rows["Aborted in"], rows["Epoch"]) == ("shop", "48.0 s", "3")
    assert inspector_facts(Snapshot(15 * S, 0), "transaction:payments", SessionSeries()) is None


def test_a_partition_says_where_readers_of_committed_messages_wait_and_for_which_transaction(qapp):
    parts = (PartitionView(0, 0, 90, 9_000, (), 2, ((7, 40), (8, 60))), PartitionView(1, 0, 5, 500))
    snapshot = Snapshot(14 * S, 0, (TopicView("orders", parts, 93, 9_500, None),), transactions=(OPEN,))
    assert [part.last_stable_offset for part in parts] == [40, 5]
    facts = inspector_facts(snapshot, "lane:orders/0", SessionSeries())
    assert facts is not None
    assert facts.sections[0][1][1:3] == (
        ("Last stable offset", "40, 50 before the end"),
        ("Open transaction", "payments", "transaction:payments"),
    )
    other = inspector_facts(snapshot, "lane:orders/1", SessionSeries())
    assert other is not None
    assert [row[0] for row in other.sections[0][1]] == ["Offsets", "Stored"]
