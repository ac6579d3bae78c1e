"""A broker in another process, or on another machine, behind the faces of the clients on a host.

from broker_core import Producer, RemoteBroker

with RemoteBroker("127.0.0.1", 9330, token="...") as broker, Producer(broker) as producer:
    producer.publish("orders", b"one book", key=b"customer-7")
"""

from broker_core.clients.remote.broker import RemoteBroker
from broker_core.clients.remote.config import RemoteConfig

__all__ = ["RemoteBroker", "RemoteConfig"]
