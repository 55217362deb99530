"""Keeps passwords out of texts that are logged, shown or stored: errors quote addresses and options as they are."""

from __future__ import annotations

import re

HIDDEN = "***"

_IN_ADDRESS = re.compile(r"""(?<=://)([^\s/:@]*):[^\s"']*@""")
_NAMED = re.compile(
    r"""(?ix)
    ( \b [\w.-]* (?: password | passwd | pwd | passphrase | secret | token | credential s?
                     | (?: api | access | private | sas ) [-_.]? key ) [\w.-]* ["']? \s* [=:] \s* )
    (?: "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' | \\"(?:[^"\\])*\\" | [^\s,;&)}\]]+ )
    """
)


def without_secrets(text: str) -> str:
    """The text with what looks like a password hidden: in addresses, in `name=value`, and in Kafka's logins.

    >>> without_secrets("postgresql://me:hunter2@db:5432/jobs?sslpassword=x&connect_timeout=3 does not answer")
    'postgresql://me:***@db:5432/jobs?sslpassword=***&connect_timeout=3 does not answer'
    >>> without_secrets('PlainLoginModule required username="me" password="a b";')
    'PlainLoginModule required username="me" password=***;'
    """
    return _NAMED.sub(rf"\1{HIDDEN}", _IN_ADDRESS.sub(rf"\1:{HIDDEN}@", text))
