from __future__ import annotations

import argparse
import getpass
import secrets
import sys

import msgspec

from app.cli.notes import note
from app.cli.output import say
from app.cli.parser import Command
from app.cli.target import Broker, is_running
from app.cli.verbs import Verbs, add_options, built
from broker_core.access import Acl, ClientQuota
from broker_core.operations import access

_SALT_BYTES = 32


def acls_command() -> Command:
    verbs = Verbs("acls")
    permission = ("Permission", lambda acl: "deny" if acl.deny else "allow")
    columns = ("principal", permission, "operation", "kind", "name", "prefixed")
    verbs.lists("list", access.ListAcls, "There are no ACLs.", *columns)
    for name, request in (("create", access.CreateAcls), ("delete", access.DeleteAcls)):
        parser = verbs.add(name, request, _change_acl)
        parser.set_defaults(request=request)
        add_options(parser, Acl)
    return verbs.command()


def _change_acl(broker: Broker, options: argparse.Namespace) -> None:
    acl = built(Acl, options)
    broker.ask(options.request(acls=(acl,)))
    if is_running(broker) and not (broker.has_token or acl.deny or options.request is access.DeleteAcls):
        told = (
            "This broker lets everybody do everything until brokerscope serve has --access FILE or --token-file FILE."
        )
        note(told, as_json=options.json)
    _say(acl.told(options.request is access.DeleteAcls), options, **msgspec.structs.asdict(acl))


def _say(told: str, options: argparse.Namespace, **facts: object) -> None:
    ready = f"{told[:1].upper()}{told[1:]}.".replace("{", "{{").replace("}", "}}")  # names may have these in them
    say(ready, options, **facts)


def quotas_command() -> Command:
    verbs = Verbs("quotas")
    verbs.lists("list", access.ListQuotas, "There are no quotas.", "user", "client_id", "key", "bytes_per_s")
    verbs.add("set", access.SetQuota, _set_quota)
    add_options(verbs.add("remove", access.RemoveQuota, _remove_quota), ClientQuota, ("key", "user", "client_id"))
    return verbs.command()


def _set_quota(broker: Broker, options: argparse.Namespace) -> None:
    request = built(access.SetQuota, options)
    broker.ask(request)
    _say(request.quota.told(False), options, **msgspec.structs.asdict(request.quota))


def _remove_quota(broker: Broker, options: argparse.Namespace) -> None:
    request = built(access.RemoveQuota, options)
    broker.ask(request)
    _say(request.any_rate.told(True), options, **msgspec.structs.asdict(request))


def users_command() -> Command:
    verbs = Verbs("users")
    verbs.lists("list", access.ListUsers, "There are no users.", "user", "mechanism", "iterations")
    verbs.add("set", access.SetUser, _set_user)
    told = "Deleted {user}."
    verbs.does("delete", access.DeleteUser, told, asks=lambda _broker, options: f"Delete {options.user}")
    return verbs.command()


def _set_user(broker: Broker, options: argparse.Namespace) -> None:
    typed = sys.stdin.isatty()
    password = getpass.getpass(f"Password of {options.user}: ") if typed else sys.stdin.readline().rstrip("\r\n")
    request = built(access.SetUser, options, password=password)
    # The password itself is sent nowhere.
    broker.ask(request.salted(secrets.token_bytes(_SALT_BYTES)))
    say("Set the password of {user}.", options, user=request.user, mechanism=request.mechanism)
