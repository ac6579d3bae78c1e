"""The plugin of pytest, in runs of pytest of its own."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from broker_core.clients.admin import Admin
from broker_core.engine.broker_host import BrokerHost
from broker_core.errors import BrokerError
from broker_core.recording.judged import check_moment
from broker_core.recording.playback import FolderPlayback
from broker_core.recording.reader import open_session
from broker_core.testing import plugin
from tests import long_form
from tests.broker_core.testing.test_guide import recipes

ROOT = Path(__file__).parents[3]
# By its module: the environment may have installed another tree's.
PLUGIN = ("-p", "no:brokerscope", "-p", "broker_core.testing.plugin")

FAILS = """
    def test_orders(broker):
        broker.create_topic("orders", partitions=1)
        broker.publish("orders", {"book": 7}, key="customer-1")
        assert [message.key for message in broker.messages("orders")] == [b"customer-2"]
"""


def output(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_a_test_gets_a_fresh_broker_that_is_closed_after_it(pytester, run_pytest):
    pytester.makepyfile(
        """
        from pathlib import Path
        import pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_orders(broker, number):
            broker.create_topic("orders")
            broker.publish("orders", number)
            assert [message.value for message in broker.messages("orders")] == [b"%d" % number]
            Path(f"port-{number}").write_text(broker.bootstrap_servers)
        """
    )
    run_pytest().assert_outcomes(passed=2)
    assert not (pytester.path / ".brokerscope").exists()
    for number in (1, 2):
        host, port = (pytester.path / f"port-{number}").read_text().split(":")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=5)


def test_a_test_makes_brokers_with_settings(pytester, run_pytest):
    pytester.makepyfile(
        """
        def test_two(make_broker, tmp_path):
            one, other = make_broker(tmp_path / "data"), make_broker(create_topics=3)
            one.create_topic("orders")
            assert not other.admin.topics()
            assert one.bootstrap_servers != other.bootstrap_servers
            assert (tmp_path / "data").is_dir()
        """
    )
    run_pytest().assert_outcomes(passed=1)


def test_the_broker_of_the_run_begins_anew_for_each_test(pytester, run_pytest):
    pytester.makepyfile(
        """
        import pytest

        servers = set()

        @pytest.mark.parametrize("number", range(3))
        def test_orders(broker_session, number):
            servers.add(broker_session.bootstrap_servers)
            broker_session.create_topic("orders")
            broker_session.publish("orders", number)
            assert len(broker_session.messages("orders")) == 1
            assert number < 2

        def test_other(broker):
            broker.create_topic("orders")

        def test_it_was_one():
            assert len(servers) == 1
        """
    )
    result = run_pytest()
    result.assert_outcomes(passed=4, failed=1)
    assert output(result).count("topic_created orders") == 1
    (kept,) = (pytester.path / ".brokerscope").glob("*/session.json")
    assert open_session(kept.parent).event_count == 2


def test_a_failure_tells_what_happened_and_how_to_open_it(pytester, run_pytest):
    pytester.makepyfile(test_shop=FAILS)
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"-+ What happened in the broker -+",
            r" +\d\.\d{3} s topic_created orders",
            r" +\d\.\d{3} s published orders/0 @0 test  '\{\"book\":7\}'",
            r"At the end: .*orders.*\.",
            r"brokerscope open /.*/\.brokerscope/test_shop\.test_orders --at \d+\.\d\d",
        ]
    )
    session = open_session(pytester.path / ".brokerscope" / "test_shop.test_orders")
    assert session.problems == []
    assert session.metadata.scenario == "test_shop.py::test_orders"
    assert "A test that failed: AssertionError" in session.scenario_text
    assert [str(event.kind) for event in session.index.events()] == ["topic_created", "published"]
    assert FolderPlayback(session.folder).end().topics[0].published == 1
    assert (pytester.path / ".brokerscope" / ".gitignore").read_text() == "*\n"


def test_the_moment_in_the_command_that_opens_a_recording_is_not_after_its_end(pytester, run_pytest):
    pytester.makepyfile(
        test_shop=FAILS
        + """
    import time

    import pytest

    from broker_core.testing.embedded_broker import EmbeddedBroker

    @pytest.fixture(autouse=True)
    def saving_takes_a_while(monkeypatch):
        save = EmbeddedBroker.save

        def slowly(*arguments, **settings):
            saved = save(*arguments, **settings)
            time.sleep(0.05)
            return saved

        monkeypatch.setattr(EmbeddedBroker, "save", slowly)
    """
    )
    (at,) = re.findall(r"brokerscope open \S+ --at (\S+)", output(run_pytest()))
    session = open_session(pytester.path / ".brokerscope" / "test_shop.test_orders")
    check_moment("--at", float(at), session.metadata.duration_ns)


def test_the_recording_of_a_failure_goes_when_the_test_passes(pytester, run_pytest):
    pytester.makepyfile(test_shop=FAILS)
    run_pytest()
    pytester.makepyfile(test_shop=FAILS.replace("customer-2", "customer-1"))
    run_pytest().assert_outcomes(passed=1)
    assert [path.name for path in (pytester.path / ".brokerscope").iterdir()] == [".gitignore"]


def test_a_folder_that_is_no_recording_is_left_alone_and_told(pytester, run_pytest):
    pytester.makepyfile(test_shop=FAILS)
    mine = pytester.path / ".brokerscope" / "test_shop.test_orders" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["The recording was not written: *"])
    assert "brokerscope open" not in output(result)
    assert mine.read_text() == "mine"


def test_tests_with_like_names_have_recordings_of_their_own(pytester, run_pytest):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("name", ["a/b", "a:b", "ä" * 200, "ä" * 201])
        def test_orders(make_broker, name):
            make_broker(), make_broker()
            assert False
        """
    )
    run_pytest().assert_outcomes(failed=4)
    kept = [path.name for path in (pytester.path / ".brokerscope").iterdir() if path.is_dir()]
    assert len(kept) == len(set(kept)) == 8
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,120}", name) for name in kept)


def test_a_failing_fixture_and_a_failing_end_are_told_too(pytester, run_pytest):
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def orders(broker):
            broker.create_topic("orders")
            raise RuntimeError("no orders")

        @pytest.fixture
        def checked(broker):
            yield
            raise RuntimeError("not empty")

        def test_setup(orders): ...
        def test_teardown(checked, broker):
            broker.create_topic("payments")
        """
    )
    result = run_pytest()
    result.assert_outcomes(passed=1, errors=2)
    assert output(result).count("What happened in the broker") == 2
    assert {path.name for path in (pytester.path / ".brokerscope").iterdir() if path.is_dir()} == {
        "test_a_failing_fixture_and_a_failing_end_are_told_too.test_setup",
        "test_a_failing_fixture_and_a_failing_end_are_told_too.test_teardown",
    }


@pytest.mark.parametrize(("record", "kept"), [("all", 2), ("failed", 1), ("none", 0)])
def test_what_is_recorded_is_said_by_an_option(pytester, run_pytest, record, kept):
    pytester.makepyfile(test_shop=FAILS + "\n    def test_nothing(broker): ...\n")
    result = run_pytest(f"--brokerscope-record={record}", "--brokerscope-dir=kept")
    result.assert_outcomes(passed=1, failed=1)
    assert len(list((pytester.path / "kept").glob("*/session.json"))) == kept
    assert ("brokerscope open" in output(result)) == (record != "none")
    assert "published orders/0 @0" in output(result)


@long_form.both
def test_processes_of_xdist_have_brokers_of_their_own_and_tell_failures(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (recipe,) = (code for title, code in recipes().items() if "xdist" in title)
    pytester.makepyfile(test_recipe=recipe, test_shop=FAILS + FAILS.replace("test_orders", "test_more"))
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", "xdist.plugin", "-n", long_form.form("1", "2"))
    result.assert_outcomes(passed=4, failed=2)
    found = re.findall(r"brokerscope open (\S+) --at", output(result))
    kept = pytester.path / ".brokerscope"
    assert sorted(found) == [str(kept / "test_shop.test_more"), str(kept / "test_shop.test_orders")]
    for folder in found:
        assert open_session(pytester.path / folder).event_count == 2


def test_a_run_without_brokers_loads_nothing_of_the_broker(pytester):
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            loaded = {name.split(".")[0] for name in sys.modules}
            assert not loaded & {"PySide6", "pyspark", "starlette", "pyarrow", "kio", "msgspec", "numpy"}
            assert {name for name in sys.modules if name.startswith("broker_core")} == {
                "broker_core", "broker_core.testing", "broker_core.testing.plugin"
            }
        """
    )
    # Other plugins of this environment load some of these.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLUGIN, "-q"],
        cwd=pytester.path,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


# In place of the program: it takes the same arguments.
WRITES_THEM = """
import pathlib, sys
out = pathlib.Path(sys.argv[-1])
out.mkdir()
(out / "report.html").write_text("\\n".join([*sys.argv[1:], "</html>"]))
"""


# The third does not fit.
WRITES_A_PAGE = """
import pathlib, sys
if "test_2" in sys.argv[-1]:
    sys.exit("brokerscope: no room")
pathlib.Path(sys.argv[-1]).write_text("\\n".join(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("tests", "program"),
    [(1, WRITES_THEM), (2, WRITES_THEM), pytest.param(2, None, marks=[pytest.mark.spark, pytest.mark.long])],
)
def test_the_report_of_a_run_is_made(pytester, run_pytest, monkeypatch, tests, program):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if program is not None:
        monkeypatch.setattr(plugin, "_PROGRAM", program)
    pytester.makepyfile(test_shop="".join(FAILS.replace("test_orders", f"test_{number}") for number in range(tests)))
    result = run_pytest("--brokerscope-report")
    told = "1 recording" if tests == 1 else "2 recordings"
    result.stdout.fnmatch_lines([f"The report of {told} is .brokerscope/report/report.html."])
    page = (pytester.path / ".brokerscope" / "report" / "report.html").read_text(encoding="utf-8")
    assert "</html>" in page
    if program is not None:
        command, *kept, option, out, _ = page.split("\n")
        several = ["--history"] if tests == 2 else []
        folders = [str(pytester.path / ".brokerscope" / f"test_shop.test_{number}") for number in range(tests)]
        assert (command, kept, option) == ("report", [*folders, *several], "--out")
        assert out == str(pytester.path / ".brokerscope" / "report")


def test_the_pages_of_a_run_are_made_beside_each_other(pytester, run_pytest, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(plugin, "_PROGRAM", WRITES_A_PAGE)
    pytester.makepyfile(test_shop="".join(FAILS.replace("test_orders", f"test_{number}") for number in range(3)))
    result = run_pytest("--brokerscope-page", "pages/of this run")
    names = [f"test_shop.test_{number}" for number in range(2)]
    result.stdout.fnmatch_lines(
        [*(f"The page of {name} is pages/of this run/{name}.html." for name in names), "brokerscope: no room"]
    )
    for name in names:
        page = (pytester.path / "pages" / "of this run" / f"{name}.html").read_text(encoding="utf-8")
        assert page.split("\n")[:2] == ["share", str(pytester.path / ".brokerscope" / name)]


def test_a_report_that_cannot_be_made_is_told_in_the_words_of_the_command(pytester, run_pytest, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(test_shop=FAILS)
    (pytester.path / ".brokerscope").mkdir()
    (pytester.path / ".brokerscope" / "report").write_text("mine")
    result = run_pytest("--brokerscope-report")
    result.stdout.fnmatch_lines(["brokerscope: *.brokerscope/report is not a folder*"])
    result.assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("options", "what"), [(["--brokerscope-report"], "report"), (["--brokerscope-page=x"], "page")]
)
def test_a_report_of_nothing_is_said_to_be_none(pytester, run_pytest, options, what):
    pytester.makepyfile("def test_nothing(broker): ...")
    result = run_pytest(*options)
    result.stdout.fnmatch_lines(
        [f"No recording was kept, so there is no {what}; --brokerscope-record=all keeps all recordings."]
    )


def test_the_smallest_schedule_that_fails_is_told_and_kept(pytester, run_pytest):
    pytester.makepyfile(
        test_shop="""
        from broker_core.testing import given_schedule

        def bill(consumer, orders):
            consumer.subscribe(["orders"])
            while True:
                message = consumer.poll(1.0)
                if message is not None:
                    consumer.commit(message, asynchronous=False)
                    orders.append(message.value())

        @given_schedule()
        def test_orders(broker):
            orders = []
            broker.create_topic("orders", partitions=2)
            for number in range(30):
                broker.publish("orders", str(number), at_s=number / 10)
            broker.add_consumers(lambda consumer: bill(consumer, orders), "billing", count=2)
            broker.run()
            assert len({*orders}) == 30
        """
    )
    result = run_pytest()
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"E +Seed \d+ fails; the smallest failing schedule found has 1 disturbance\. .*",
            r"E +@given_schedule\(schedule=Schedule\(seed=\d+, disturbances=\(Disturbance\(.*",
            r"-+ What happened in the broker -+",
            r" +\d+\.\d{3} s fault billing-\d \(crash\)",
            r"At the end: group billing .*",
            r"brokerscope open /.*/\.brokerscope/test_shop.test_orders --at \d+\.\d\d",
        ]
    )
    kept = open_session(pytester.path / ".brokerscope" / "test_shop.test_orders")
    assert kept.problems == []
    assert FolderPlayback(kept.folder).end().totals.published == 30


def test_a_wrong_call_shows_the_line_of_the_test_and_a_sentence(pytester, run_pytest):
    """No frame of this package, and no error behind the one that says what to do."""
    pytester.makepyfile(
        """
        from broker_core.testing import EmbeddedBroker, given_schedule

        def test_setting(make_broker):
            make_broker(durability="flie")

        def test_no_such_setting(make_broker):
            make_broker(nope=1)

        def test_without_a_fixture():
            EmbeddedBroker(kafka_port=70_000)

        def test_condition(broker):
            broker.wait_until("lagg = 0")

        def test_timeout(broker):
            broker.wait_until("group = billing and lag = 0", timeout_s=0.01)

        def test_no_such_topic(broker):
            broker.publish("orders", "1")

        def test_deep(broker):
            broker.create_topic("orders", partitions=-4)

        def test_fault(broker):
            broker.faults.error("Prodce", "NOT_LEADER_OR_FOLLOWER")
        """
    )
    result = run_pytest()
    result.assert_outcomes(failed=8)
    told = output(result)
    assert "broker_core" not in told.replace("broker_core.errors.", "").replace("broker_core.testing.embedded_bro", "")
    assert "During handling" not in told and "direct cause" not in told
    for line in (
        "durability 'flie' must be one of memory, file, fsync, or None (did you mean file?)",
        "got an unexpected keyword argument 'nope'",
        "There is no field lagg here; did you mean lag?",
        "there is no group or queue billing, nor any other",
        "There is no such topic or partition: orders.",
        "api 'Prodce' is not one of the APIs served here; did you mean Produce?",
    ):
        assert line in told
    assert "settings.py" in output(run_pytest("--full-trace", "-k", "test_setting"))


def test_a_bug_of_the_broker_shows_its_frames(pytester, run_pytest):
    pytester.makepyfile(
        """
        def test_bug(broker, monkeypatch):
            monkeypatch.delattr(broker.host.broker.topics, "_logs")
            broker.create_topic("orders")
        """
    )
    told = output(run_pytest())
    assert "topics.py" in told and "AttributeError" in told


@pytest.mark.parametrize("installed", [True, False], ids=["below the root", "of the root"])
def test_own_frames_are_left_out_of_tests_unless_they_are_of_this_package(installed: bool):
    package = plugin._PACKAGE
    with pytest.raises(BrokerError) as failed, BrokerHost() as host:
        Admin(host).create_topic("bad name!", partitions=1)
    plugin.leave_out_own_frames(failed, package.parent.parent if installed else package.parent)
    own = [each for each in plugin._frames(failed.tb) if plugin._file(each).is_relative_to(package)]
    assert bool(own) != installed


def test_nothing_of_the_brokers_of_earlier_tests_is_kept(pytester, run_pytest):
    pytester.makepyfile(
        """
        import gc
        import pytest
        from broker_core.engine.broker_host import BrokerHost

        alive = []

        @pytest.mark.parametrize("number", range(3))
        def test_one_of_many(broker, number):
            broker.create_topic("orders")
            assert broker.http_url
            assert broker.audit().nothing_lost()
            gc.collect()
            alive.append(sum(isinstance(each, BrokerHost) for each in gc.get_objects()))
            assert alive[-1] <= alive[0]
        """
    )
    run_pytest().assert_outcomes(passed=3)
