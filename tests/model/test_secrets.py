"""A password appears in no text that is kept or shown."""

import pytest

from penstock.model.secrets import without_secrets

SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"store postgresql://me:{SECRET}@db/jobs cannot be opened",
        f"postgresql+psycopg://me:p@ss/{SECRET}@db:5432/jobs",
        f"jdbc:postgresql://db/jobs?user=me&password={SECRET}&ssl=true",
        f"jdbc:sqlserver://db:1433;user=me;password={SECRET};encrypt=true",
        f"jdbc:mysql://me:{SECRET}@db/jobs",
        f'PlainLoginModule required username="me" password="{SECRET} and more";',
        f"ScramLoginModule required username='me' password='{SECRET}';",
        f"{{'kafka.ssl.keystore.password': '{SECRET}', 'kafka.sasl.mechanism': 'PLAIN'}}",
        f'{{"sasl.password":"{SECRET}","client.id":"me"}}',
        f"fs.azure.account.oauth2.client.secret={SECRET}",
        f"sasl.oauthbearer.client.secret: {SECRET}",
        f"spark.hadoop.fs.s3a.secret.key={SECRET}",
        f"fs.s3a.access.key = {SECRET}",
        f"http://db:8787/?token={SECRET}",
        f"PENSTOCK_TOKEN={SECRET}",
        f"PASSWORD = {SECRET}",
    ],
)
def test_what_is_secret_is_hidden(text: str) -> None:
    assert SECRET not in without_secrets(text)
    assert "***" in without_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "kafka://broker:9092 does not answer",
        "no worker has 4 cores free: other applications are served first",
        "topic clicks, partition 0, offset 7",
        "http://127.0.0.1:8787/",
        "the password must have at least 16 characters",
        "job 'clicks' was started at 12:30:05 by me@example",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text
