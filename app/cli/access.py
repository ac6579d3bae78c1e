from __future__ import annotations

import argparse
import getpass
import secrets
import sys

import msgspec

from app.cli.output import print_rows, say
from app.cli.parser import Command
from app.cli.request_options import add_field, given
from app.cli.target import Broker
from app.cli.verbs import Verbs
from broker_core.access import DEFAULT, Acl, ClientQuota
from broker_core.operations.access import (
    CreateAcls,
    DeleteAcls,
    DeleteUser,
    ListAcls,
    ListQuotas,
    ListUsers,
    RemoveQuota,
    SetQuota,
    SetUser,
)

_SALT_BYTES = 32


def acls_command() -> Command:
    verbs = Verbs("acls", "ACLs of a broker: who may do what, beside the rules of its access file.")
    verbs.add("list", ListAcls, _list_acls, reads=True)
    for name, request in (("create", CreateAcls), ("delete", DeleteAcls)):
        parser = verbs.add(name, request, _change_acl)
        parser.set_defaults(request=request)
        for field in Acl.__struct_fields__:
            add_field(parser, Acl, field)
    return verbs.command()


def _list_acls(broker: Broker, options: argparse.Namespace) -> None:
    columns = ("Principal", "Permission", "Operation", "Kind", "Name", "Prefixed")
    rows = [
        (acl.principal, "deny" if acl.deny else "allow", acl.operation, acl.kind, acl.name or None, acl.prefixed)
        for acl in broker.ask(ListAcls())
    ]
    print_rows(columns, rows, options, none="There are no ACLs.")


def _change_acl(broker: Broker, options: argparse.Namespace) -> None:
    acl = Acl(**given(options, Acl))
    broker.ask(options.request(acls=(acl,)))
    _say(acl.told(options.request is DeleteAcls), options, **msgspec.structs.asdict(acl))


def _say(told: str, options: argparse.Namespace, **facts: object) -> None:
    say(f"{told[:1].upper()}{told[1:]}.", options, **facts)


def quotas_command() -> Command:
    verbs = Verbs("quotas", "Quotas of a broker: how many bytes a second its Kafka clients may send and fetch.")
    verbs.add("list", ListQuotas, _list_quotas, reads=True)
    for name, request, run, fields in (
        ("set", SetQuota, _set_quota, ClientQuota.__struct_fields__),
        ("remove", RemoveQuota, _remove_quota, ("key", "user", "client_id")),
    ):
        parser = verbs.add(name, request, run)
        for field in fields:
            add_field(parser, ClientQuota, field)
    return verbs.command()


def _list_quotas(broker: Broker, options: argparse.Namespace) -> None:
    def shown(name: str | None) -> str | None:
        return "(default)" if name == DEFAULT and not options.json else name

    rows = [
        (shown(quota.user), shown(quota.client_id), quota.key, quota.bytes_per_s) for quota in broker.ask(ListQuotas())
    ]
    print_rows(("User", "Client id", "Key", "Bytes per s"), rows, options, none="There are no quotas.")


def _set_quota(broker: Broker, options: argparse.Namespace) -> None:
    quota = ClientQuota(**given(options, ClientQuota))
    broker.ask(SetQuota(quota=quota))
    _say(quota.told(False), options, **msgspec.structs.asdict(quota))


def _remove_quota(broker: Broker, options: argparse.Namespace) -> None:
    request = RemoveQuota(**given(options, RemoveQuota))
    broker.ask(request)
    _say(request.any_rate.told(True), options, **msgspec.structs.asdict(request))


def users_command() -> Command:
    verbs = Verbs("users", "Users of a broker, whose passwords Kafka clients send by SCRAM.", "name of the user")
    verbs.add("list", ListUsers, _list_users, reads=True)
    about = "Set the password of a user, which is asked for on a terminal, or else read from standard input."
    setting = verbs.add("set USER", about, _set_user)
    for field in ("mechanism", "iterations"):
        add_field(setting, SetUser, field)
    delete = verbs.add("delete USER", DeleteUser, _delete_user, asks=lambda _broker, options: f"Delete {options.user}")
    add_field(delete, DeleteUser, "mechanism")
    return verbs.command()


def _list_users(broker: Broker, options: argparse.Namespace) -> None:
    rows = [(user.user, user.mechanism, user.iterations) for user in broker.ask(ListUsers())]
    print_rows(("User", "Mechanism", "Iterations"), rows, options, none="There are no users.")


def _set_user(broker: Broker, options: argparse.Namespace) -> None:
    if sys.stdin.isatty():
        password = getpass.getpass(f"Password of {options.user}: ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    request = SetUser(password=password, **given(options, SetUser))
    # The password itself is sent nowhere.
    broker.ask(request.salted(secrets.token_bytes(_SALT_BYTES)))
    _say(f"set the password of {request.user}", options, user=request.user, mechanism=request.mechanism)


def _delete_user(broker: Broker, options: argparse.Namespace) -> None:
    broker.ask(DeleteUser(**given(options, DeleteUser)))
    _say(f"deleted {options.user}", options, user=options.user)
