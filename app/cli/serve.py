from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from typing import Any

from app.cli.credentials import tls_of, token_of
from app.cli.output import print_json
from app.cli.parser import Command, CommandError, parser_of
from app.cli.signals import end_signals
from app.cli.target import check_directory
from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.listeners.access.access import Access
from broker_core.listeners.connections import Connections
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.log.config import Durability
from broker_core.operations.http_form import DEFAULT_PORT
from broker_core.testing.history import AuditedHistory


def command() -> Command:
    parser = parser_of("serve", {"port": _port})
    parser.set_defaults(http=DEFAULT_PORT)
    return parser, serve


def _port(text: str) -> int | None:
    if text == "off":
        return None
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a port from 0 to 65535 nor off")
    return int(text)


def _access(options: argparse.Namespace) -> Access:
    if options.access is not None and (options.token is not None or options.token_file is not None):
        raise CommandError("--access and a token cannot be combined; leave one out.")
    if options.access is not None:
        return Access.of_file(options.access)
    token = token_of(options)
    return Access.of_token(token) if token is not None else Access()


def serve(options: argparse.Namespace) -> int:
    """Open the broker and its listeners, wait for a signal, close everything. Raises what keeps them from opening."""
    if options.http is None and options.kafka is None:
        raise CommandError("A broker without a listener is of no use; leave --http on, or give --kafka.")
    access, tls = _access(options), tls_of(options)
    durability: Durability = "memory" if options.data is None else options.durability
    config = HostConfig(log=LogConfig(durability=durability), auto_create_partitions=options.create_topics)
    over = threading.Event()
    for number in (signal.SIGINT, *end_signals()):
        signal.signal(number, lambda _number, _frame: over.set())
    if options.data is not None:
        check_directory(options.data)
        options.data.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as opened:
        host = opened.enter_context(BrokerHost(options.data, config))
        if options.testing:
            host.broker.clock.movable = host.clock
            AuditedHistory().attach(host)
        http = kafka = None
        connections = Connections(lambda: host.now_ns)
        of_both: dict[str, Any] = {"address": options.address, "access": access, "tls": tls, "connections": connections}
        if options.kafka is not None:
            listener = KafkaListener(host, port=options.kafka, create_topics=options.create_topics, **of_both)
            kafka = opened.enter_context(listener)
        if options.http is not None:
            names, origins = options.name, options.origin
            http = opened.enter_context(HttpListener(host, port=options.http, names=names, origins=origins, **of_both))
        _say_where(options, http, kafka)
        # A wait without a timeout cannot be interrupted by signals on some systems.
        while not over.wait(1.0):
            pass
    if not options.json:
        print("Closed.", flush=True)
    return 0


def _say_where(options: argparse.Namespace, http: HttpListener | None, kafka: KafkaListener | None) -> None:
    where = {
        "http": None if http is None else http.url,
        "kafka": None if kafka is None else kafka.bootstrap_servers,
        "data": None if options.data is None else str(options.data),
    }
    if options.json:
        print_json(where)
        return
    kept = f"kept in {options.data}" if options.data is not None else "kept in memory and lost at the end"
    print(f"The broker is running; everything is {kept}.")
    if http is not None:
        print(f"  HTTP  {http.url}  (documentation: {http.url}/docs)")
    if kafka is not None:
        print(f"  Kafka bootstrap.servers={kafka.bootstrap_servers}")
    print("Ctrl+C closes it.", flush=True)
