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
#: Kafka reads it with Java's StreamTokenizer: words, texts in either quotes, with escapes in them, and comments.
_JAAS_TOKEN: Final = re.compile(
    r"""(?>[\x00- ]|/\*.*?(?:\*/|\Z)|/[^\r\n]*)*+"""
    r"""(?:(["'])((?:\\.|(?!\1)[^\\\r\n])*)\1|([=;])|([A-Za-z_$\xa0-\U0010ffff][\w.$\xa0-\U0010ffff-]*)|\Z)""",
    re.DOTALL | re.ASCII,
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


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
    found = _found(file) if file is not None else _Found()
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


def passed_over(file: Path) -> str:
    """A sentence that says which properties of a client.properties are not read; "" for none, or a broken file."""
    try:
        names = _found(file).passed_over
    except ConfigError:
        return ""
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return f"{file.name}: not needed here, and passed over: {shown}." if names else ""


_SHOWN: Final = 8


class _Found:
    def __init__(self) -> None:
        self.protocol = "PLAINTEXT"
        self.values: dict[str, Any] = {}
        self.passed_over: list[str] = []


def _found(file: Path) -> _Found:
    found = _Found()
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    for where, name, value in _properties(file, text):
        _take(found, where, name, value)
    return found


def _properties(file: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """("file:line", name, value) as `java.util.Properties` reads them: comments, = or : or white space between them,
    escapes, and a backslash at the end that goes on in the next line. Raises INVALID_CONFIG for a broken escape.
    """
    whole, first = "", 0
    lines = (line.lstrip(_BLANK) for line in (*re.split(r"\r\n|[\r\n]", text), ""))
    for number, line in enumerate(lines, 1):
        if not whole:
            first = number
            if not line or line[0] in "#!":
                continue
        whole += line
        if (len(whole) - len(whole.rstrip("\\"))) % 2:
            whole = whole[:-1]
            continue
        match = _PROPERTY.fullmatch(whole)
        whole = ""
        assert match is not None, "each part may be empty"
        try:
            yield f"{file}:{first}", _unescaped(match[1]), _unescaped(match[2])
        except ValueError:
            raise ConfigError(f"{file}:{first}: \\u needs four hexadecimal digits") from None


_BLANK: Final = " \t\f"
_PROPERTY: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1].startswith("u"):
            if len(found[1]) != 5:
                raise ValueError
            return chr(int(found[1][1:], 16))
        return _ESCAPED.get(found[1], found[1])

    whole = re.sub(r"\\(u[0-9a-fA-F]{4}|.)", one, text, flags=re.DOTALL)
    # Java's texts are UTF-16: two escapes may be one character.
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _take(found: _Found, where: str, name: str, value: str) -> None:
    if _PASSED_OVER.fullmatch(name):
        found.passed_over.append(name)
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
    """A login module with a flag and options, as Kafka's `JaasConfig` reads it. Raises INVALID_CONFIG."""
    tokens = [*_jaas_tokens(value)]
    signs = "".join(text if is_sign else "t" for is_sign, text in tokens)
    texts = [text for is_sign, text in tokens if not is_sign]
    if not texts or texts[0].rpartition(".")[2] not in {"PlainLoginModule", "ScramLoginModule"}:
        raise ConfigError("only PlainLoginModule and ScramLoginModule are supported")
    if not re.fullmatch("tt(t=t)*;", signs) or texts[1].lower() not in _FLAGS:
        raise ConfigError(_NOT_JAAS)
    options = dict(zip(texts[2::2], texts[3::2], strict=True))
    found.values |= {"user": options.get("username", ""), "password": options.get("password", "")}


def _jaas_tokens(value: str) -> Iterator[tuple[bool, str]]:
    """The tokens, each with whether it is a sign (= or ;). Raises ConfigError for what Java would cut off."""
    at = 0
    while match := _JAAS_TOKEN.match(value, at):
        _quote, quoted, sign, word = match.groups()
        at = match.end()
        if quoted is not None:
            yield False, re.sub(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", _jaas_escape, quoted, flags=re.DOTALL)
        elif sign or word:
            yield bool(sign), sign or word
        else:
            return
    raise ConfigError("a quote is not closed, or missing around a value")


_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})
_NOT_JAAS: Final = 'it is not MODULE required username="USER" password="PASSWORD"; with quotes and a semicolon'


def _jaas_escape(found: re.Match[str]) -> str:
    if found[1][0] in "01234567":
        return chr(int(found[1], 8))
    return {**_ESCAPED, "a": "\a", "b": "\b", "v": "\v"}.get(found[1], found[1])


def _store_type(_found: _Found, value: str) -> None:
    if value.upper() != _PEM:
        raise ConfigError(f"{value[:40]} is not supported; use PEM (keytool -exportcert -rfc writes it)")


def _pem_file(field: str) -> Callable[[_Found, str], None]:
    def take(found: _Found, value: str) -> None:
        if value.lower().endswith((".jks", ".p12", ".pfx")):
            raise ConfigError("a Java key store cannot be read; give PEM (keytool -exportcert -rfc writes it)")
        found.values[field] = value

    return take


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
    "ssl.ca.location": _pem_file("ca_file"),
    "ssl.truststore.location": _pem_file("ca_file"),
    "ssl.truststore.type": _store_type,
    "ssl.keystore.location": _pem_file("cert_file"),
    "ssl.keystore.type": _store_type,
    "ssl.certificate.location": _as_text("cert_file"),
    "ssl.key.location": _as_text("key_file"),
    "ssl.key.password": _as_text("key_password"),
    "ssl.endpoint.identification.algorithm": _host_check,
    "request.timeout.ms": _timeout,
}
#: What such files hold for other programs, and an observer does not need. What concerns security has its whole name
#: here: a typo must not pass.
_PASSED_OVER: Final = re.compile(
    r"(client|group|key|value|enable|reconnect|retry|session|max|metadata|auto|schema|basic|bearer|specific|use|avro"
    r"|linger|batch|buffer|delivery|transaction(al)?|fetch|heartbeat|partition|partitioner|spring|confluent|apicurio"
    r"|interceptor|metrics|statistics|broker|socket|queue|queued|log|api|check|allow)\.[\w.-]+"
    r"|acks|retries|debug|isolation\.level|compression\.(type|codec)|connections\.max\.idle\.ms"
    r"|default\.api\.timeout\.ms|security\.providers|sasl\.client\.callback\.handler\.class"
    r"|sasl\.kerberos\.(service\.name|kinit\.cmd|min\.time\.before\.relogin|ticket\.renew\.(window\.factor|jitter))"
    r"|sasl\.login\.(class|callback\.handler\.class|(connect|read)\.timeout\.ms|retry\.backoff(\.max)?\.ms"
    r"|refresh\.(buffer|min\.period)\.seconds|refresh\.window\.(factor|jitter))"
    r"|ssl\.(cipher\.suites|provider|secure\.random\.implementation|engine\.factory\.class|protocol|enabled\.protocols"
    r"|(key|trust)manager\.algorithm|(trust|key)store\.password)"
)
