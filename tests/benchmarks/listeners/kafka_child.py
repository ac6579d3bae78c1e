"""A broker in memory with a Kafka listener in a process of its own, until its standard input ends; says its port."""

from __future__ import annotations

import sys

from broker_core import Admin, BrokerHost, KafkaListener

if __name__ == "__main__":
    with BrokerHost() as host, KafkaListener(host, port=0) as listener:
        Admin(host).create_topic("bench", partitions=1)
        print(listener.port, flush=True)
        sys.stdin.read()
