"""Files as people have them, and the user and password that Java reads in each, None where it refuses the file.

Java's are of `java.util.Properties` and Kafka 4.4's `JaasConfig`, but for librdkafka's two properties.
"""

_MODULES = {
    "{PLAIN}": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "{SCRAM}": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_WRITTEN: dict[str, tuple[str, tuple[str, str] | None]] = {
    "confluent cloud": (
        (
            "# Required connection configs for Kafka producer, consumer, and admin\n"
            "bootstrap.servers=pkc-1.eu.confluent.cloud:9092\n"
            "security.protocol=SASL_SSL\n"
            "sasl.jaas.config={PLAIN} required username='KEY' password='sEc/ret+1==';\n"
            "sasl.mechanism=PLAIN\n"
            "# Required for correctness in Apache Kafka clients prior to 2.6\n"
            "client.dns.lookup=use_all_dns_ips\n"
            "session.timeout.ms=45000\n"
            "acks=all\n"
            "schema.registry.url=https://psrc.confluent.cloud\n"
            "basic.auth.credentials.source=USER_INFO\n"
            "basic.auth.user.info=SRKEY:SRSECRET\n"
        ),
        ("KEY", "sEc/ret+1=="),
    ),
    "confluent cloud, librdkafka": (
        (
            "bootstrap.servers=pkc-1:9092\n"
            "security.protocol=SASL_SSL\n"
            "sasl.mechanisms=PLAIN\n"
            "sasl.username=KEY\n"
            "sasl.password=SECRET\n"
        ),
        ("KEY", "SECRET"),
    ),
    "aiven scram": (
        (
            "bootstrap.servers=demo.aivencloud.com:12345\n"
            "security.protocol=SASL_SSL\n"
            "sasl.mechanism=SCRAM-SHA-256\n"
            'sasl.jaas.config={SCRAM} required username="avnadmin" password="AVNS_x-1";\n'
            "ssl.truststore.type=PEM\n"
            "ssl.truststore.location=/etc/ca.pem\n"
        ),
        ("avnadmin", "AVNS_x-1"),
    ),
    "msk scram": (
        (
            "security.protocol=SASL_SSL\n"
            "sasl.mechanism=SCRAM-SHA-512\n"
            "sasl.jaas.config={SCRAM} required \\\n"
            '  username="alice" \\\n'
            '  password="alice-secret";\n'
        ),
        ("alice", "alice-secret"),
    ),
    "strimzi": (
        (
            "bootstrap.servers=my-cluster-kafka-bootstrap:9093\n"
            "security.protocol=SASL_SSL\n"
            "sasl.mechanism=SCRAM-SHA-512\n"
            'sasl.jaas.config={SCRAM} required username="my-user" password="Zm9v";\n'
            "ssl.ca.location=/opt/ca.crt\n"
            "ssl.endpoint.identification.algorithm=HTTPS\n"
        ),
        ("my-user", "Zm9v"),
    ),
    "redpanda": (
        (
            "security.protocol=SASL_PLAINTEXT\n"
            "sasl.mechanism=SCRAM-SHA-256\n"
            'sasl.jaas.config={SCRAM} required username="rp" password="p,w" ;\n'
        ),
        ("rp", "p,w"),
    ),
    "colon": (
        (
            "security.protocol: SASL_PLAINTEXT\n"
            "sasl.mechanism: PLAIN\n"
            'sasl.jaas.config: {PLAIN} required username="u" password="p";\n'
        ),
        ("u", "p"),
    ),
    "space": (
        (
            "security.protocol SASL_PLAINTEXT\n"
            "sasl.mechanism\tPLAIN\n"
            'sasl.jaas.config {PLAIN} required username="u" password="p";\n'
        ),
        ("u", "p"),
    ),
    "bom": (
        (
            "\ufeffsecurity.protocol=SASL_PLAINTEXT\n"
            "sasl.mechanism=PLAIN\n"
            'sasl.jaas.config={PLAIN} required username="u" password="p";\n'
        ),
        ("u", "p"),
    ),
    "crlf": (
        (
            "security.protocol=SASL_PLAINTEXT\r\n"
            "sasl.mechanism=PLAIN\r\n"
            'sasl.jaas.config={PLAIN} required username="u" password="p";\r\n'
        ),
        ("u", "p"),
    ),
    "unicode escape": (
        (
            "security.protocol=SASL_PLAINTEXT\n"
            "sasl.mechanism=PLAIN\n"
            'sasl.jaas.config={PLAIN} required username="u" password="\\u00e4b";\n'
        ),
        ("u", "äb"),
    ),
    "surrogates": (
        (
            "security.protocol=SASL_PLAINTEXT\n"
            'sasl.jaas.config={PLAIN} required username="u" password="\\ud83d\\ude00";\n'
        ),
        ("u", "😀"),
    ),
    "quote in quotes": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a\\\\"b";\n'),
        ("u", 'a"b'),
    ),
    "quote escaped once": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a\\"b";\n'),
        None,
    ),
    "backslash": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a\\\\\\\\b";\n'),
        ("u", "a\\b"),
    ),
    "double in single": (
        ("security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username='u' password='a\"b';\n"),
        ("u", 'a"b'),
    ),
    "single in double": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a\'b";\n'),
        ("u", "a'b"),
    ),
    "no quotes": (
        ("security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username=u password=secret1;\n"),
        ("u", "secret1"),
    ),
    "spaces around =": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username = "u" password = "p";\n'),
        ("u", "p"),
    ),
    "semicolon in it": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a;b=c";\n'),
        ("u", "a;b=c"),
    ),
    "hash in it": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a#b!c";\n'),
        ("u", "a#b!c"),
    ),
    "no semicolon": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="p"\n'),
        None,
    ),
    "open quote": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="p;\n'),
        None,
    ),
    "no flag": (('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} username="u" password="p";\n'), None),
    "upper-case flag": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} REQUIRED username="u" password="p";\n'),
        ("u", "p"),
    ),
    "trailing space": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="p"; \n'),
        ("u", "p"),
    ),
    "comment between": (
        (
            "security.protocol=SASL_PLAINTEXT\n"
            "# sasl.jaas.config=wrong\n"
            " ! another\n"
            'sasl.jaas.config={PLAIN} required username="u" password="p";\n'
        ),
        ("u", "p"),
    ),
    "twice": (
        (
            "security.protocol=SASL_PLAINTEXT\n"
            'sasl.jaas.config={PLAIN} required username="old" password="old";\n'
            'sasl.jaas.config={PLAIN} required username="u" password="p";\n'
        ),
        ("u", "p"),
    ),
    "more options": (
        (
            "security.protocol=SASL_SSL\n"
            'sasl.jaas.config={PLAIN} required username="u" password="p" serviceName="kafka" user_admin="x";\n'
            "sasl.login.callback.handler.class=a.B\n"
            "ssl.truststore.password=changeit\n"
            "spring.kafka.listener.concurrency=3\n"
        ),
        ("u", "p"),
    ),
    "tab escape": (
        ('security.protocol=SASL_PLAINTEXT\nsasl.jaas.config={PLAIN} required username="u" password="a\\\\tb";\n'),
        ("u", "a\tb"),
    ),
}


def _whole(text: str) -> str:
    for short, name in _MODULES.items():
        text = text.replace(short, name)
    return text


FILES = {name: (_whole(text), found) for name, (text, found) in _WRITTEN.items()}

#: What stands behind the module and its flag, as it is written in the file, and what Java reads in it.
JAAS: dict[str, tuple[str, str] | None] = {
    r'username="u" password="a\\101b";': ("u", "aAb"),
    r'username="u" password="a\\0b\\77c\\400d";': ("u", "a\0b?c 0d"),
    r'username="u" password="\\a\\b\\v\\fx";': ("u", "\a\b\v\fx"),
    r'username="u" password="\\q\\!";': ("u", "q!"),
    r'username="u" password="a\nb";': None,  # cut at the end of the line
    r'username="u" password="a\\nb";': ("u", "a\nb"),
    'username="u" password="p"; // mine': ("u", "p"),
    '/* who */ username="u" /* x */ password="p";': ("u", "p"),
    'username="u" password="p"; /* x': ("u", "p"),
    'username="u" password="a//b/*c";': ("u", "a//b/*c"),
    'username="u" password="=";': ("u", "="),
    'username="u" password=";";': ("u", ";"),
    "username=my-user password=ab-cd_ef$g;": ("my-user", "ab-cd_ef$g"),
    "username=u.v password=p.q;": ("u.v", "p.q"),
    "username=ü password=äb;": ("ü", "äb"),
    "username=u password=http://x;": None,
    "username=u password=1234;": None,
    "username=u password=-5;": None,
    "username=u@x.org password=p;": None,
    "username=u password=a/b;": None,
    "username=u password=a+b;": None,
    "username=u password='ab;": None,
    'username="a" username="u" password="p";': ("u", "p"),
    '"username"="u" password="p";': ("u", "p"),
    'username password="p";': None,
    'username="u", password="p";': None,
    'username="u" password="p";;': None,
    'username="u" password="p";\\': ("u", "p"),
}
