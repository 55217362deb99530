"""A real Kafka broker in one process, on free ports and in a temporary folder: for tests and demos.

>>> with Broker() as broker:  # doctest: +SKIP
...     broker.create_topic("clicks", partitions=4)
...     broker.servers
'127.0.0.1:40123'
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from penstock.model.errors import PenstockError
from penstock.model.extras import needs
from penstock.spark.topics.offsets import Offsets
from penstock.testbed.folder import ProcessFolder
from penstock.testbed.jars import broker_jars
from penstock.testbed.java import java
from penstock.testbed.ports import free_ports

with needs("kafka"):
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
log.dirs={data}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
auto.create.topics.enable=false
"""

A_DAY = 86_400.0
# Who asks for something has to log in. The broker talks to itself as one of the users.
WITH_USERS = """
listeners=SASL_PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{port}
inter.broker.listener.name=SASL_PLAINTEXT
listener.security.protocol.map=SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config={login} {users};
"""
LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="{name}" password="{password}"'

CLUSTER = "cGVuc3RvY2stYnJva2Vycw"  # Kafka's cluster id must be 16 bytes in base 64

# The broker ends with this process, even if it is killed: a helper of the shell reads from a pipe that is never written
# to and that closes with this process. (A parent-death signal would fire when the *thread* that started it ends.)
DIE_WITH_PARENT = 'exec 3<&0; { cat <&3 >/dev/null; kill -9 $$; } & exec "$@" 3<&- </dev/null'


class BrokerFailedError(PenstockError):
    """The broker did not start."""


class Broker:
    """A Kafka broker that runs while its `with` block does."""

    def __init__(
        self,
        *,
        memory_mb: int = 512,
        start_within_seconds: float = 60.0,
        settings: Mapping[str, str] | None = None,
        users: Mapping[str, str] | None = None,
    ) -> None:
        """
        settings  further lines of its `server.properties`, which replace ours
        users     passwords by name: who asks for something has to log in (SASL, PLAIN); none: nobody has to
        """
        self._further = settings or {}
        self._users = users or {}
        self._memory_mb = memory_mb
        self._start_within_seconds = start_within_seconds
        self._folder = ProcessFolder("penstock-kafka-")
        self._home = self._folder.path
        self._port, self._controller = free_ports(2)
        self._process: subprocess.Popen[bytes] | None = None
        self._admin: AdminClient | None = None
        self._offsets = Offsets(self.servers, self._login)

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def _login(self) -> dict[str, str]:
        """The settings of librdkafka with which the first user logs in."""
        for name, password in self._users.items():
            return {
                "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
                "sasl.username": name, "sasl.password": password,
            }  # fmt: skip
        return {}

    def spark_options(self, user: str, password: str) -> dict[str, str]:
        """The options of Spark's connector with which a user logs in."""
        return {
            "kafka.security.protocol": "SASL_PLAINTEXT", "kafka.sasl.mechanism": "PLAIN",
            "kafka.sasl.jaas.config": f"{LOGIN.format(name=user, password=password)};",
        }  # fmt: skip

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def __enter__(self) -> Self:
        try:
            self._format()
            self.restart()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._clean_up()

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Make a topic; it can be written and read when this returns."""
        self._offsets.create(name, partitions)

    @property
    def admin(self) -> AdminClient:
        """The admin client. It is kept, as the requests of one that is garbage-collected are lost."""
        if self._admin is None:
            self._admin = AdminClient(
                {"bootstrap.servers": self.servers, "reconnect.backoff.max.ms": 200, "log_level": 0, **self._login}
            )
        return self._admin

    def kill(self) -> None:
        """End the broker immediately, as a crash would. Its data stay."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None

    def restart(self) -> None:
        """Start the broker on the same port with the same data, and wait until it answers."""
        self.kill()
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", DIE_WITH_PARENT, "sh", *self._java(), "kafka.Kafka", str(self._settings)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=self._folder.held,
                start_new_session=True,  # Ctrl-C is for the job, which ends first and cleanly
            )  # fmt: skip
        self._wait_for_an_answer()

    def _wait_for_an_answer(self) -> None:
        assert self._process is not None
        until = time.monotonic() + self._start_within_seconds
        while True:
            try:
                self.admin.list_topics(timeout=1)
                return
            except KafkaException:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise BrokerFailedError(f"the Kafka broker did not start: {self._last_line()}") from None

    def _format(self) -> None:
        ours = SETTINGS.format(port=self._port, controller=self._controller, data=self._home / "data")
        for name, password in list(self._users.items())[:1]:
            users = " ".join(f'user_{each}="{its}"' for each, its in self._users.items())
            login = LOGIN.format(name=name, password=password)
            ours += WITH_USERS.format(port=self._port, controller=self._controller, login=login, users=users)
        further = "".join(f"{name}={value}\n" for name, value in self._further.items())
        self._settings.write_text(ours + further)  # of two lines with one name the later one holds
        done = subprocess.run(
            [*self._java(), "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._settings)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise BrokerFailedError(f"the Kafka broker could not format its folder: {done.stdout[-300:]}{done.stderr}")

    def _java(self) -> list[str]:
        jars = broker_jars()
        return [java(), f"-Xmx{self._memory_mb}m", "-cp", os.pathsep.join(map(str, jars))]

    @property
    def _settings(self) -> Path:
        return self._home / "server.properties"

    def _last_line(self) -> str:
        lines = (self._home / "log").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "its log is empty"

    def _clean_up(self) -> None:
        self.kill()
        self._admin = None
        self._folder.close()


def main() -> None:
    """Run a broker with topics until Ctrl-C, and print its address: to try things out."""
    from penstock.load.curves import constant
    from penstock.spark.io.replayed import replay
    from penstock.testbed.feeder import Feeder

    parser = argparse.ArgumentParser(prog="python -m penstock.testbed.broker", description=main.__doc__)
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="topics to make")
    parser.add_argument("--partitions", type=int, default=1, help="partitions of each (default 1)")
    parser.add_argument("--rate", type=float, default=0.0, help="lines a second that are written to the first topic")
    wanted = parser.parse_args()
    with Broker() as broker, ExitStack() as stack:
        for topic in wanted.topics:
            broker.create_topic(topic, wanted.partitions)
        if wanted.topics and wanted.rate > 0:
            lines = replay(constant(wanted.rate, A_DAY), lambda ids: [f"ann /page/{i % 10}".encode() for i in ids])
            stack.enter_context(Feeder(lines, wanted.topics[0], broker.servers))
        print(broker.servers, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
