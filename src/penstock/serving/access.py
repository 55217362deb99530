"""Where something is served and who is answered: this machine, or whoever has the token."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.model import InvalidValueError

if TYPE_CHECKING:
    import ssl

HERE = "127.0.0.1"
LOOPBACK = (HERE, "localhost", "::1")
TOKEN = "PENSTOCK_TOKEN"
"""The variable of the environment that holds the token: there it is in no command line, script or notebook."""
PLAIN = "none"
"""Says in place of a certificate that something in front of it encrypts, such as a proxy."""
SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read. Only this machine can by default; elsewhere a token is asked for, and the connection encrypted.

    listen       the address to listen on
    certificate  a PEM file with the certificate and its key; "none": something in front of it encrypts
    token        what a reader has to show; None: nobody has to

    >>> Access().scheme, Access("0.0.0.0", certificate="none", token=16 * "x").scheme
    ('http', 'http')
    >>> Access("0.0.0.0", token=16 * "x")
    Traceback (most recent call last):
    penstock.model.errors.InvalidValueError: certificate must be a PEM file with the certificate and its key, as ...
    """

    listen: str = HERE
    certificate: str | None = None
    token: str | None = None

    def __post_init__(self) -> None:
        if not self.listen:
            raise InvalidValueError("listen", f"must be an address, such as {HERE} or 0.0.0.0")
        if self.token is not None and len(self.token) < SHORTEST_TOKEN:
            raise InvalidValueError(TOKEN, f"must have at least {SHORTEST_TOKEN} characters")
        if self.only_here:
            return
        if self.token is None:
            raise InvalidValueError(
                TOKEN, f"must be set in the environment to a token, as other machines can reach {self.listen}"
            )
        if self.certificate is None:
            raise InvalidValueError(
                "certificate",
                f"must be a PEM file with the certificate and its key, as other machines can reach {self.listen}; or "
                f"{PLAIN}, if a proxy in front encrypts",
            )

    @classmethod
    def of(cls, listen: str, certificate: str | None) -> Access:
        """With the token of the environment, if there is one."""
        return cls(listen, certificate, os.environ.get(TOKEN) or None)

    @property
    def only_here(self) -> bool:
        return self.listen in LOOPBACK

    @property
    def scheme(self) -> str:
        return "http" if self.certificate in (None, PLAIN) else "https"

    def tls(self) -> ssl.SSLContext | None:
        """What encrypts connections; None where nothing does."""
        if self.certificate is None or self.certificate == PLAIN:
            return None
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(Path(self.certificate).expanduser(), password=_no_password)
        except (OSError, ssl.SSLError) as error:
            why = error.strerror if not isinstance(error, ssl.SSLError) else "it has no certificate with its key"
            raise InvalidValueError("certificate", f"{self.certificate} cannot be used: {why}") from None
        return context


def _no_password() -> str:
    return ""  # else OpenSSL would ask for one at the terminal
