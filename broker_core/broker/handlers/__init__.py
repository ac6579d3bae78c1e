"""The answers to operations, by the type of the request: each translates it into calls of the broker's parts."""

from broker_core.broker.broker import Handlers
from broker_core.broker.handlers import access, broker, browse, groups, queues, schemas, topics

HANDLERS: Handlers = {
    **topics.HANDLERS,
    **schemas.HANDLERS,
    **browse.HANDLERS,
    **groups.HANDLERS,
    **queues.HANDLERS,
    **access.HANDLERS,
    **broker.HANDLERS,
}
