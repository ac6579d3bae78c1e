from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from pathlib import Path
from typing import Any

from app.cli.errors import CommandError
from app.cli.folders import folder
from app.cli.numbers import whole
from app.cli.output import print_json
from app.cli.parser import Command, Parser, with_exits
from app.cli.signals import end_signals
from app.cli.target import LOOPBACK, add_token, check_directory, token_of
from broker_core import BrokerHost, HostConfig, LogConfig
from broker_core.listeners.access.access import Access
from broker_core.listeners.connections import Connections
from broker_core.listeners.http.listener import HttpListener
from broker_core.listeners.kafka.listener import KafkaListener
from broker_core.listeners.listener import TlsConfig
from broker_core.log.config import Durability
from broker_core.operations.http_form import DEFAULT_PORT
from broker_core.testing.history import History


def command() -> Command:
    parser = Parser(
        prog="brokerscope serve",
        description="Run a broker without a window. Ctrl+C or SIGTERM closes it; with --data it keeps everything for "
        "the next start.",
        **with_exits(),
    )
    parser.add_argument("--data", type=folder, metavar="DIR", help="data directory (default: none, in memory)")
    parser.add_argument(
        "--durability",
        choices=("file", "fsync"),
        default="fsync",
        help="file survives a crash of the process, fsync a power cut (default)",
    )
    parser.add_argument(
        "--address",
        default=LOOPBACK,
        metavar="ADDRESS",
        help=f"where to listen (default: {LOOPBACK}); anywhere else needs a token",
    )
    parser.add_argument(
        "--http",
        type=_port,
        default=DEFAULT_PORT,
        metavar="PORT",
        help=f"for HTTP; 0 is any free one, off is none (default: {DEFAULT_PORT})",
    )
    parser.add_argument(
        "--kafka", type=_port, default=None, metavar="PORT", help="for Kafka clients; 0 is any free one (default: none)"
    )
    add_token(parser, "token, of at least 16 characters, that clients need to do anything")
    parser.add_argument("--access", type=Path, metavar="FILE", help="TOML: principals with their tokens and rights")
    parser.add_argument(
        "--tls-certificate", type=Path, metavar="FILE", help="PEM: makes every listener speak TLS; requires --tls-key"
    )
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="PEM: the certificate's key, without a password")
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name that clients use for this machine; repeatable",
    )
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="website whose pages may use the broker; repeatable",
    )
    parser.add_argument(
        "--create-topics",
        type=whole(0),
        default=0,
        metavar="N",
        help="create unknown topics with N partitions (default: 0, do not create them)",
    )
    parser.add_argument(
        "--testing",
        action="store_true",
        help="let clients stop and move the broker's clock (/v1/clock), and keep all events for /v1/audit",
    )
    parser.add_argument("--json", action="store_true", help="print the listeners' addresses as one JSON line")
    return parser, serve


def _port(text: str) -> int | None:
    if text == "off":
        return None
    if not text.isdigit() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a port from 0 to 65535 nor off")
    return int(text)


def _access(options: argparse.Namespace) -> Access:
    if options.access is not None and (options.token is not None or options.token_file is not None):
        raise CommandError("--access and a token cannot be combined; leave one out.")
    if options.access is not None:
        return Access.of_file(options.access)
    token = token_of(options)
    return Access.of_token(token) if token is not None else Access()


def _tls(options: argparse.Namespace) -> TlsConfig | None:
    if (options.tls_certificate is None) != (options.tls_key is None):
        raise CommandError("--tls-certificate and --tls-key go together; give both, or neither.")
    if options.tls_certificate is None:
        return None
    return TlsConfig(certificate=options.tls_certificate, key=options.tls_key)


def serve(options: argparse.Namespace) -> int:
    """Open the broker and its listeners, wait for a signal, close everything. Raises what keeps them from opening."""
    if options.http is None and options.kafka is None:
        raise CommandError("A broker without a listener is of no use; leave --http on, or give --kafka.")
    access, tls = _access(options), _tls(options)
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
            History().attach(host)
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
