"""Who may read what is served: this machine, or whoever has the token, over a connection that is encrypted."""

from __future__ import annotations

import pytest

from penstock.control.assembly import Steering
from penstock.model import InvalidValueError
from penstock.serving.access import Access

SECRET = 16 * "s"


@pytest.mark.parametrize("listen", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_neither_a_token_nor_a_certificate(listen: str) -> None:
    access = Access(listen)
    assert access.only_here
    assert access.tls() is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"listen": ""}, "listen must be an address"),
        ({"listen": "0.0.0.0", "certificate": "none"}, "PENSTOCK_TOKEN must be set in the environment to a token"),
        ({"listen": "10.0.0.7", "token": SECRET}, "certificate must be a PEM file with the certificate and its key"),
        ({"token": "short"}, "PENSTOCK_TOKEN must have at least 16 characters"),
    ],
)
def test_what_would_let_others_read_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{said}") as refused:
        Access(**given)
    assert "short" not in str(refused.value)


def test_a_certificate_that_cannot_be_read_is_one_sentence(tmp_path: object) -> None:
    with pytest.raises(InvalidValueError, match=r"^certificate .*nowhere.pem cannot be used: No such file"):
        Access(certificate=f"{tmp_path}/nowhere.pem").tls()


def test_a_job_is_refused_before_it_starts_and_only_if_it_serves_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_TOKEN", raising=False)
    Steering(listen="0.0.0.0")
    for served in ({"dashboard": True}, {"metrics_port": 0}):
        with pytest.raises(InvalidValueError, match=r"^PENSTOCK_TOKEN"):
            Steering(listen="0.0.0.0", **served)
    monkeypatch.setenv("PENSTOCK_TOKEN", SECRET)
    with pytest.raises(InvalidValueError, match=r"^certificate"):
        Steering(listen="0.0.0.0", metrics_port=0)
    assert Steering(listen="0.0.0.0", metrics_port=0, certificate="none").access.token == SECRET
