"""A broker that is killed while clients publish by HTTP: what was acknowledged with `fsync` is there."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.listeners.http.listener import HttpListener
from broker_core.log.config import LogConfig
from tests.broker_core.listeners.http.client import Client

ROOT = Path(__file__).parents[4]
CONFIG = HostConfig(log=LogConfig(durability="fsync"))
CHILD = """
import sys
from broker_core.listeners.http.listener import HttpListener
from broker_core.engine.broker_host import BrokerHost
from broker_core.engine.host import HostConfig
from broker_core.log.config import LogConfig
with BrokerHost(sys.argv[1], HostConfig(log=LogConfig(durability="fsync"))) as host, HttpListener(host) as listener:
    print(listener.port, flush=True)
    sys.stdin.read()
"""


@pytest.mark.promise("1")
def test_what_was_acknowledged_with_fsync_survives_kill_9(tmp_path):
    acknowledged: list = []
    for life in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(tmp_path)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None and child.stdin is not None
        port = int(child.stdout.readline())
        setup = Client(port)
        setup.done("POST", "/topics/register", {"topic": "orders", "partitions": 2})
        enough = threading.Event()

        def publish(number, port=port, life=life, enough=enough):
            call = Client(port, timeout_s=5)
            try:
                for index in range(1_000_000):
                    records = [{"value": [life, number, index, each], "key": str(each)} for each in range(5)]
                    done = call.done("POST", "/v1/topics/orders/messages", {"messages": records})["messages"]
                    places = ((each["partition"], each["offset"]) for each in done)
                    acknowledged.extend((place, record["value"]) for place, record in zip(places, records, strict=True))
                    if index == 15:
                        enough.set()
            except OSError:
                pass  # the broker is dead
            call.close()

        threads = [threading.Thread(target=publish, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        assert enough.wait(30)
        child.kill()
        child.wait()
        for thread in threads:
            thread.join()
        setup.close()
        child.stdin.close()
        child.stdout.close()
    with BrokerHost(tmp_path, CONFIG) as host, HttpListener(host) as listener:
        call = Client(listener.port)
        found = {}
        for partition in range(2):
            offset = 0
            while True:
                path = f"/v1/topics/orders/partitions/{partition}/messages?offset={offset}&max_messages=10000"
                answer = call.done("GET", path)
                found.update({(partition, each["offset"]): each["value"] for each in answer["messages"]})
                if answer["next_offset"] == offset:
                    break
                offset = answer["next_offset"]
        call.close()
    assert len(acknowledged) > 200
    assert [place for place, value in acknowledged if found.get(place) != value] == []
