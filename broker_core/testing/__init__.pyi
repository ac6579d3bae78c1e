from broker_core.testing.embedded_broker import EmbeddedBroker as EmbeddedBroker
from broker_core.testing.given import given_schedule as given_schedule
from broker_core.testing.schedule import Disturbance as Disturbance
from broker_core.testing.schedule import Schedule as Schedule
from broker_core.testing.virtual_broker import VirtualBroker as VirtualBroker
from broker_core.testing.virtual_consumer import VirtualConsumer as VirtualConsumer
from broker_core.testing.virtual_session import VirtualSession as VirtualSession
from broker_core.testing.virtual_worker import VirtualWorker as VirtualWorker

__all__: list[str]
