"""Connection settings of a cluster: the part of Kafka's `client.properties` that an observer needs."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from broker_core.errors import ConfigError

DEFAULT_PORT: Final = 9092
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_PEM: Final = "PEM"
_JAAS_OPTION: Final = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s;"]+))')


class ConnectionConfig(NamedTuple):
    """`bootstrap` holds (host, port). Files are PEM; without `ca_file` the system's certificates are trusted.

    Shown without the password.
    """

    bootstrap: tuple[tuple[str, int], ...]
    tls: bool = False
    mechanism: str = ""
    user: str = ""
    password: str = ""
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    key_password: str = ""
    checks_host: bool = True
    timeout_s: float = 5.0

    def __repr__(self) -> str:
        return f"ConnectionConfig({self.bootstrap!r}, tls={self.tls}, mechanism={self.mechanism!r}, user={self.user!r})"


def is_cluster(address: str) -> bool:
    """Whether it is that of a cluster, HOST:PORT, and not a URL."""
    return "://" not in address


def addresses(text: str) -> tuple[tuple[str, int], ...]:
    """The brokers of "host:9092,other"; the default port is 9092. Raises INVALID_CONFIG."""
    found = tuple(_address(each.strip()) for each in text.split(",") if each.strip())
    if not found:
        raise ConfigError("no broker is named; HOST:PORT is needed")
    return found


def _address(text: str) -> tuple[str, int]:
    if "@" in text:
        raise ConfigError("a broker's address has no @; put user and password into the file given by --config")
    match = re.fullmatch(r"(?:([^:/\s\[\]]+)|\[([0-9a-fA-F:]+)\])(?::(\d{1,5}))?", text)
    if match is None or not 0 < int(match[3] or DEFAULT_PORT) < 65_536:
        raise ConfigError(f"{text!r} is not HOST:PORT")
    return match[1] or match[2], int(match[3] or DEFAULT_PORT)


def connection_config(bootstrap: str = "", file: Path | None = None) -> ConnectionConfig:
    """`file` is a client.properties; `bootstrap` is instead of its bootstrap.servers. Raises INVALID_CONFIG."""
    found = _Found()
    if file is not None:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
        for line, name, value in _properties(text):
            _take(found, f"{file}:{line}", name, value)
    if bootstrap:
        found.values["bootstrap"] = addresses(bootstrap)
    if "bootstrap" not in found.values:
        raise ConfigError("no broker is named; HOST:PORT is needed, or bootstrap.servers in the file of --config")
    with_sasl = found.protocol.startswith("SASL")
    where = f"{file}: " if file else ""
    if with_sasl and not (found.values.get("user") and found.values.get("password")):
        raise ConfigError(
            f"{where}{found.protocol} needs a user and a password: sasl.jaas.config, or sasl.username and sasl.password"
        )
    mechanism = found.values.pop("mechanism", "PLAIN") if with_sasl else ""
    return ConnectionConfig(**{**found.values, "tls": found.protocol.endswith("SSL"), "mechanism": mechanism})


class _Found:
    def __init__(self) -> None:
        self.protocol = "PLAINTEXT"
        self.values: dict[str, Any] = {}


def _properties(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, name, value) as Java reads a properties file: comments, = or :, a backslash that goes on."""
    whole, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not whole:
            first = number
            if not line.strip() or line.lstrip()[0] in "#!":
                continue
        whole += line.lstrip()
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        name, _, value = _split(whole)
        yield first, name.strip(), re.sub(r"\\(.)", r"\1", value.strip())
        whole = ""


def _split(line: str) -> tuple[str, str, str]:
    at = min((place for sign in "=:" if (place := line.find(sign)) >= 0), default=len(line))
    return line[:at], line[at : at + 1], line[at + 1 :]


def _take(found: _Found, where: str, name: str, value: str) -> None:
    if _PASSED_OVER.fullmatch(name):
        return
    known = _KNOWN.get(name)
    if known is None:
        near = difflib.get_close_matches(name, _KNOWN, n=1)
        hint = f"; {near[0]} is" if near else ""
        raise ConfigError(f"{where}: {name[:80]!r} is not a known property{hint}")
    try:
        known(found, value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {name}: {error.about}") from None


def _as_text(field: str) -> Callable[[_Found, str], None]:
    return lambda found, value: found.values.__setitem__(field, value)


def _bootstrap(found: _Found, value: str) -> None:
    found.values["bootstrap"] = addresses(value)


def _protocol(found: _Found, value: str) -> None:
    found.protocol = _one_of(value.upper(), _PROTOCOLS)


def _mechanism(found: _Found, value: str) -> None:
    found.values["mechanism"] = _one_of(value.upper(), _MECHANISMS)


def _one_of(value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise ConfigError(f"{value[:40]} is not supported; use {', '.join(known)}")
    return value


def _jaas(found: _Found, value: str) -> None:
    module = re.match(r"[\w.]*\.(\w+)\s+required\b", value)
    if module is None or module[1] not in {"PlainLoginModule", "ScramLoginModule"}:
        raise ConfigError("only PlainLoginModule and ScramLoginModule are supported")
    options = {key: quoted or plain for key, quoted, plain in _JAAS_OPTION.findall(value)}
    found.values |= {"user": options.get("username", ""), "password": options.get("password", "")}


def _store_type(_found: _Found, value: str) -> None:
    if value.upper() != _PEM:
        raise ConfigError(f"{value[:40]} is not supported; use PEM (keytool -exportcert -rfc writes it)")


def _ca(found: _Found, value: str) -> None:
    if value.lower().endswith((".jks", ".p12", ".pfx")):
        raise ConfigError("a Java key store cannot be read; give PEM (keytool -exportcert -rfc writes it)")
    found.values["ca_file"] = value


def _key_store(found: _Found, value: str) -> None:
    _ca(found, value)
    del found.values["ca_file"]
    found.values["cert_file"] = value


def _host_check(found: _Found, value: str) -> None:
    found.values["checks_host"] = value.lower() not in {"", "none"}


def _timeout(found: _Found, value: str) -> None:
    if not (value.isdecimal() and int(value) > 0):
        raise ConfigError(f"{value[:40]!r} is not a number of milliseconds")
    found.values["timeout_s"] = min(int(value) / 1_000, 30.0)


_KNOWN: Final[dict[str, Callable[[_Found, str], None]]] = {
    "bootstrap.servers": _bootstrap,
    "security.protocol": _protocol,
    "sasl.mechanism": _mechanism,
    "sasl.mechanisms": _mechanism,
    "sasl.username": _as_text("user"),
    "sasl.password": _as_text("password"),
    "sasl.jaas.config": _jaas,
    "ssl.ca.location": _ca,
    "ssl.truststore.location": _ca,
    "ssl.truststore.type": _store_type,
    "ssl.keystore.location": _key_store,
    "ssl.keystore.type": _store_type,
    "ssl.certificate.location": _as_text("cert_file"),
    "ssl.key.location": _as_text("key_file"),
    "ssl.key.password": _as_text("key_password"),
    "ssl.endpoint.identification.algorithm": _host_check,
    "request.timeout.ms": _timeout,
}
#: What such files hold for other programs, and an observer does not need.
_PASSED_OVER: Final = re.compile(
    r"(client|group|key|value|enable|reconnect|retry|session|max|metadata|auto)\.[\w.]+"
    r"|acks|retries|isolation\.level|compression\.type|connections\.max\.idle\.ms|default\.api\.timeout\.ms"
    r"|ssl\.(protocol|enabled\.protocols)"
)
