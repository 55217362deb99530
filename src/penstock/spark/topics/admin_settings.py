"""The settings of Java's Kafka clients, which Spark takes as `kafka.*`, in the words of the client that reads offsets.

That client is librdkafka, which reads no Java key stores and has no Java login modules. What it cannot be told this
way, a user tells it in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PREFIX = "kafka."

SAME = (
    "client.dns.lookup", "client.id", "sasl.kerberos.kinit.cmd", "sasl.kerberos.service.name",
    "sasl.mechanism", "sasl.oauthbearer.token.endpoint.url", "security.protocol", "ssl.cipher.suites",
    "ssl.key.password", "ssl.keystore.password",
)  # fmt: skip
"""Settings that have the same name and meaning in both."""

PEM = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}

JAAS = {
    "username": "sasl.username", "password": "sasl.password",
    "keyTab": "sasl.kerberos.keytab", "principal": "sasl.kerberos.principal",
    "clientId": "sasl.oauthbearer.client.id", "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}  # fmt: skip

KNOWN_LOGINS = ("PlainLoginModule", "ScramLoginModule", "OAuthBearerLoginModule", "Krb5LoginModule")

_OPTION = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s;]+))')


def admin_settings(options: Mapping[str, str]) -> dict[str, str]:
    """What librdkafka is told of the options of Spark's connector.

    >>> login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a b";'
    >>> admin_settings({"kafka.security.protocol": "SASL_SSL", "kafka.sasl.jaas.config": login, "minPartitions": "8"})
    {'security.protocol': 'SASL_SSL', 'sasl.username': 'me', 'sasl.password': 'a b'}
    """
    given = {name.removeprefix(PREFIX): value for name, value in options.items() if name.startswith(PREFIX)}
    settings = {name: value for name, value in given.items() if name in SAME}
    settings |= {PEM[name]: value for name, value in given.items() if name in PEM}
    for name, quoted, bare in _OPTION.findall(given.get("sasl.jaas.config", "")):
        if name in JAAS:
            settings[JAAS[name]] = quoted or bare
    if "sasl.oauthbearer.token.endpoint.url" in given:
        settings["sasl.oauthbearer.method"] = "oidc"
    if "ssl.endpoint.identification.algorithm" in given:
        settings["ssl.endpoint.identification.algorithm"] = given["ssl.endpoint.identification.algorithm"] or "none"
    if "ssl.truststore.location" in given and _store_type(given, "truststore") == "PEM":
        settings["ssl.ca.location"] = given["ssl.truststore.location"]
    if "ssl.keystore.location" in given:
        kind, location = _store_type(given, "keystore"), given["ssl.keystore.location"]
        if kind == "PKCS12":
            settings["ssl.keystore.location"] = location
        elif kind == "PEM":  # key and certificates are in one file
            settings |= {"ssl.key.location": location, "ssl.certificate.location": location}
            settings.pop("ssl.keystore.password", None)
    return settings


def not_understood(options: Mapping[str, str]) -> list[str]:
    """The options, by name, that decide who may ask the brokers and that librdkafka cannot be told.

    >>> not_understood({"kafka.ssl.truststore.location": "/certs/trust.jks", "kafka.sasl.mechanism": "PLAIN"})
    ['kafka.ssl.truststore.location']
    """
    given = {name.removeprefix(PREFIX): value for name, value in options.items() if name.startswith(PREFIX)}
    found = [
        f"ssl.{store}.location"
        for store, read in (("truststore", ("PEM",)), ("keystore", ("PEM", "PKCS12")))
        if f"ssl.{store}.location" in given and _store_type(given, store) not in read
    ]
    login = given.get("sasl.jaas.config", "")
    if login and not any(module in login for module in KNOWN_LOGINS):
        found.append("sasl.jaas.config")
    found += [name for name in given if name.endswith("callback.handler.class")]
    return [f"{PREFIX}{name}" for name in found]


def _store_type(given: Mapping[str, str], store: str) -> str:
    """The type as it is said, else as the name of the file shows it; Java's own default is JKS."""
    if f"ssl.{store}.type" in given:
        return given[f"ssl.{store}.type"].upper()
    ending = given[f"ssl.{store}.location"].lower().rpartition(".")[2]
    return {"pem": "PEM", "p12": "PKCS12", "pfx": "PKCS12"}.get(ending, "JKS")
