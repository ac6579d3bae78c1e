from __future__ import annotations

import secrets

from broker_core.access import Acl
from broker_core.listeners.access import changes
from broker_core.listeners.http.context import ByHand, HttpCall
from broker_core.operations.access import CreateAcls, DeleteAcls, ListAcls, SetUser
from broker_core.operations.request import ADMIN_CLIENT

_SALT_BYTES = 32


async def _list_acls(call: HttpCall, request: ListAcls) -> list[Acl]:
    kept = call.host.ask(request)
    return list(changes.with_file(call.context.access, kept))


async def _change(call: HttpCall, request: CreateAcls | DeleteAcls | SetUser) -> None:
    def change() -> None:
        asked = request.salted(secrets.token_bytes(_SALT_BYTES)) if isinstance(request, SetUser) else request
        changes.ask(call.host, call.context.access, call.principal, asked, ADMIN_CLIENT)

    await call.slow(change)


HANDLERS: ByHand = {ListAcls: _list_acls, CreateAcls: _change, DeleteAcls: _change, SetUser: _change}
