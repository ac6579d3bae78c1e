"""A broker in another process, or on another machine, behind the faces of the clients on a host.

from broker_core.clients.producer import Producer
from broker_core.clients.remote.broker import RemoteBroker

with RemoteBroker("127.0.0.1", 9330) as broker, Producer(broker) as producer:
    producer.publish("orders", b"one book", key=b"customer-7")
"""
