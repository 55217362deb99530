"""Jars: a Kafka broker, Spark's connector to it, and YARN with HDFS in one process. The Ivy inside PySpark fetches them
once.

Ivy's defaults or the user's settings say where they come from; no address is given here. `python -m
penstock.testbed.jars` prints the connector's, for `spark.jars`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from penstock.model.errors import PenstockError
from penstock.testbed.java import java


@dataclass(frozen=True, slots=True)
class Artifact:
    """A jar by its coordinates; `alone` leaves out its dependencies."""

    organisation: str
    name: str
    version: str
    alone: bool = False


BROKER = ((Artifact("org.apache.kafka", "kafka_2.13", "4.3.1"),),)


# The connector of PySpark's own version is the right one. Where a registry does not have all its parts yet, these work
# as well; they are fetched without dependencies because some depend on an artifact that was never published.
NEAREST = {
    "3.5": ("3.5.7", "3.5.7"),
    "4.0": ("4.0.4", "4.0.0"),
    "4.1": ("4.1.3", "4.1.0-preview1"),
    "4.2": ("4.2.0", "4.1.0-preview1"),
    "4.3": ("4.2.0", "4.1.0-preview1"),
}
"""By the version of PySpark: that of the connector and of its token provider."""


def _connector() -> tuple[tuple[Artifact, ...], ...]:
    scala = ".".join(_version_of("scala-library").split(".")[:2])  # PySpark 3.5 has another than those after it
    connector, tokens = NEAREST.get(pyspark.__version__[:3], NEAREST["4.3"])
    return (
        (Artifact("org.apache.spark", f"spark-sql-kafka-0-10_{scala}", pyspark.__version__),),
        (
            Artifact("org.apache.spark", f"spark-sql-kafka-0-10_{scala}", connector, alone=True),
            Artifact("org.apache.spark", f"spark-token-provider-kafka-0-10_{scala}", tokens, alone=True),
            Artifact("org.apache.kafka", "kafka-clients", "3.9.2", alone=True),
            Artifact("org.apache.commons", "commons-pool2", "2.13.1", alone=True),
        ),
    )


def _mini_cluster(hadoop: str) -> tuple[tuple[Artifact, ...], ...]:
    """Hadoop's own cluster for tests, of the version that PySpark's clients have, and what it needs and leaves out."""
    return (
        (
            Artifact("org.apache.hadoop", "hadoop-client-minicluster", hadoop, alone=True),
            Artifact("commons-logging", "commons-logging", "1.3.4", alone=True),
            Artifact("org.bouncycastle", "bcprov-jdk18on", "1.78.1", alone=True),
            Artifact("org.bouncycastle", "bcpkix-jdk18on", "1.78.1", alone=True),
            Artifact("org.bouncycastle", "bcutil-jdk18on", "1.78.1", alone=True),
            Artifact("org.junit.jupiter", "junit-jupiter-api", "5.11.4", alone=True),
            Artifact("org.junit.platform", "junit-platform-commons", "1.11.4", alone=True),
            Artifact("org.opentest4j", "opentest4j", "1.3.0", alone=True),
            Artifact("org.mockito", "mockito-core", "4.11.0", alone=True),
        ),
    )


class JarsMissingError(PenstockError):
    """Jars could not be fetched."""


def broker_jars() -> list[Path]:
    """The jars that a Kafka broker needs."""
    return fetched("kafka-broker-4.3.1", BROKER)


def connector_jars() -> list[Path]:
    """The jars that `spark.jars` needs for `format("kafka")`, without those that PySpark includes."""
    ours = {_unversioned(jar) for jar in (_home() / "jars").glob("*.jar")}
    jars = fetched(f"spark-kafka-connector-{pyspark.__version__}", _connector())
    return [jar for jar in jars if _unversioned(jar) not in ours]


def mini_cluster_jars() -> list[Path]:
    """The jars that Hadoop's mini clusters need, with the clients and loggers that PySpark includes."""
    included = [jar for name in INCLUDED for jar in (_home() / "jars").glob(f"{name}-*.jar")]
    hadoop = _version_of("hadoop-client-api")
    return [*fetched(f"hadoop-minicluster-{hadoop}", _mini_cluster(hadoop)), *sorted(included)]


INCLUDED = ("hadoop-client-api", "hadoop-client-runtime", "log4j", "slf4j-api", "jul-to-slf4j", "commons", "py4j")


def fetched(name: str, choices: Sequence[Sequence[Artifact]]) -> list[Path]:
    """The jars of the first choice that can be fetched; from the cache if they were fetched before."""
    folder = cache() / name
    if not folder.exists():
        print(f"penstock: fetching {name} (once)", file=sys.stderr, flush=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Fetched beside the cache, then renamed: an interrupted fetch leaves nothing that looks complete.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as scratch:
            _install(_first(name, choices, Path(scratch)), folder)
    return sorted(folder.glob("*.jar"))


def cache() -> Path:
    """The cache folder: PENSTOCK_CACHE, else `penstock` in the user's cache folder."""
    if "PENSTOCK_CACHE" in os.environ:
        return Path(os.environ["PENSTOCK_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"


def _first(name: str, choices: Sequence[Sequence[Artifact]], scratch: Path) -> Path:
    said = ""
    for number, artifacts in enumerate(choices):
        jars = scratch / str(number)
        said = next(filter(None, (_fetch(artifact, jars, scratch / "ivy") for artifact in artifacts)), "")
        if not said:
            return jars
    raise JarsMissingError(
        f"{name} could not be fetched with Ivy ({said}): give this machine access to a Maven registry "
        f"(in Ivy's settings), or copy the jars to {cache() / name}"
    )


def _fetch(artifact: Artifact, into: Path, ivy_cache: Path) -> str:
    """Fetch one artifact; returns the error, or an empty text."""
    [ivy] = (_home() / "jars").glob("ivy-*.jar")
    done = subprocess.run(
        [
            java(), "-cp", str(ivy), "org.apache.ivy.Main", "-cache", str(ivy_cache), "-confs", "default",
            *(["-notransitive"] if artifact.alone else []),
            "-types", "jar", "bundle",  # scala-logging calls itself a bundle
            "-dependency", artifact.organisation, artifact.name, artifact.version,
            "-retrieve", f"{into}/[artifact]-[revision](-[classifier]).[ext]",
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0 and any(into.glob("*.jar")):
        return ""
    wrong = re.findall(r"(?:not found|FAILED|ERROR|error)[^\n]*", done.stdout + done.stderr)
    return f"{artifact.name} {artifact.version}: {wrong[0] if wrong else 'no jar was fetched'}"


def _install(jars: Path, folder: Path) -> None:
    try:
        jars.rename(folder)
    except OSError:
        if not folder.exists():  # else another process was faster, with the same jars
            raise


def _home() -> Path:
    return Path(pyspark.__file__).parent


def _version_of(jar: str) -> str:
    """The version of a jar that PySpark includes. Not known on executors, where PySpark is an archive without jars."""
    [found] = (_home() / "jars").glob(f"{jar}-[0-9]*.jar")
    return found.stem.removeprefix(f"{jar}-")


def _unversioned(jar: Path) -> str:
    """The name of a jar without its version.

    >>> _unversioned(Path("kafka-clients-3.9.2.jar"))
    'kafka-clients'
    """
    return re.sub(r"-\d.*", "", jar.name)


if __name__ == "__main__":
    print(",".join(map(str, connector_jars())))
