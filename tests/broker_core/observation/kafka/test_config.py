"""What an observer reads of a client.properties, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import ConfigError
from broker_core.observation.kafka.config import ConnectionConfig, addresses, connection_config, passed_over
from tests.broker_core.observation.kafka.client_properties import FILES, JAAS


def read(tmp_path: Path, text: str, bootstrap: str = "kafka") -> ConnectionConfig:
    file = tmp_path / "client.properties"
    file.write_text(text)
    return connection_config(bootstrap, file)


def test_addresses():
    assert addresses("one, two:9093,[::1]:9094") == (("one", 9092), ("two", 9093), ("::1", 9094))


@pytest.mark.parametrize("text", ["", ",", "a:b", "a:0", "a:65536", "http://a:1", "a b"])
def test_what_is_no_address(text: str):
    with pytest.raises(ConfigError):
        addresses(text)


def test_a_password_in_an_address_is_refused():
    with pytest.raises(ConfigError, match="--config"):
        addresses("shop:secret@kafka:9092")


def test_a_file_as_java_reads_it(tmp_path: Path):
    found = read(
        tmp_path,
        "# the shop's\n! too\n\nbootstrap.servers: one:1,two:2\nsecurity.protocol = SASL_SSL\n"
        "sasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule \\\n"
        '    required username="shop" \\\n    password="a=b;c";\n'
        "ssl.ca.location=/etc/ca.pem\nssl.endpoint.identification.algorithm=\nrequest.timeout.ms=2500\n"
        "group.id=mine\nkey.deserializer=org.example.Any\n",
        "",
    )
    assert found == ConnectionConfig(
        (("one", 1), ("two", 2)),
        tls=True,
        mechanism="SCRAM-SHA-512",
        user="shop",
        password="a=b;c",
        ca_file="/etc/ca.pem",
        checks_host=False,
        timeout_s=2.5,
    )
    assert "a=b;c" not in repr(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nsecurity.protocl=SSL", "client.properties:2: 'security.protocl'"),
        ("sasl.mechanism=OAUTHBEARER", "client.properties:1: sasl.mechanism: OAUTHBEARER is not supported"),
        ("sasl.mechanism=GSSAPI", "GSSAPI is not supported"),
        ("sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required;", "are supported"),
        ("ssl.truststore.location=/a.jks", "PEM"),
        ("ssl.truststore.type=JKS", "JKS is not supported"),
        ("security.protocol=SASL_PLAINTEXT", "needs a user and a password"),
        ("request.timeout.ms=soon", "milliseconds"),
        ("nonsense", "not a known property"),
        ("ssl.secure.randm.implementation=x", "not a known property"),
        ("ssl.truststore.passwrd=x", "not a known property"),
        ("sasl.login.timeout=1", "not a known property"),
    ],
)
def test_what_cannot_be_served_is_named(tmp_path: Path, text: str, said: str):
    with pytest.raises(ConfigError) as refused:
        read(tmp_path, text)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", FILES)
def test_files_as_people_have_them_are_read_as_java_reads_them(tmp_path: Path, name: str):
    """Or refused with their line: no password goes out that was cut."""
    text, user_and_password = FILES[name]
    file = tmp_path / "client.properties"
    file.write_bytes(text.encode())
    if user_and_password is None:
        with pytest.raises(ConfigError, match=r"client\.properties:2: sasl\.jaas\.config"):
            connection_config("kafka", file)
    else:
        found = connection_config("kafka", file)
        assert (found.user, found.password) == user_and_password


@pytest.mark.parametrize("options", JAAS)
def test_users_and_passwords_are_read_as_java_reads_them(tmp_path: Path, options: str):
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    text = f"security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={module} required {options}"
    if JAAS[options] is None:
        with pytest.raises(ConfigError, match=r"client\.properties:2: sasl\.jaas\.config") as refused:
            read(tmp_path, text)
        assert "password=p" not in str(refused.value)
    else:
        found = read(tmp_path, text)
        assert (found.user, found.password) == JAAS[options]


def test_what_is_passed_over_is_said(tmp_path: Path):
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=kafka\nschema.registry.url=http://here\nssl.keystore.password=secret\n")
    assert passed_over(file) == (
        "client.properties: not needed here, and passed over: schema.registry.url, ssl.keystore.password."
    )
    file.write_text("".join(f"spring.p{number}=1\n" for number in range(10)))
    assert passed_over(file).endswith("spring.p7 and 2 more.")
    for text in ("bootstrap.servers=kafka\n", "nonsense=1\n"):
        file.write_text(text)
        assert passed_over(file) == ""


def test_a_broken_escape_is_named_by_its_line(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"client\.properties:2: "):
        read(tmp_path, "group.id=a\nclient.id=\\u00g1\n")


def test_no_broker_and_no_file(tmp_path: Path):
    with pytest.raises(ConfigError, match="no broker is named"):
        connection_config()
    with pytest.raises(ConfigError, match="cannot be read"):
        connection_config("kafka", tmp_path / "missing")
