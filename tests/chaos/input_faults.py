"""Faults of what a job reads: the broker, the topic, and the records.

Each takes the victim and dice, and leaves when it is over.
"""

from __future__ import annotations

import random
import time

from chaos.feed import Feed
from chaos.jobs import LOSS, MENDED, RAISES
from chaos.victim import Victim
from penstock.testbed.broker import Broker

MOST_PARTITIONS = 5
USUAL_BATCH = 120
NO_TIME = -1
"""What Kafka has for a record without a creation time."""


def kill_broker(victim: Victim, dice: random.Random) -> None:
    """The broker is killed with -9, and back after 1 s or 10 s."""
    _broker_away(victim, dice.choice((1.0, 10.0)))


def kill_broker_for_a_minute(victim: Victim, dice: random.Random) -> None:
    """The same, and back after 60 s. A job that ends of it is started again."""
    _broker_away(victim, 60.0)


def kill_broker_and_driver(victim: Victim, dice: random.Random) -> None:
    """Both are killed, and the driver is started again when the broker is back."""
    victim.kill()
    _broker_away(victim, 0.0)
    victim.start()


def add_partition(victim: Victim, dice: random.Random) -> None:
    """The topic gets a partition more, which records are then sent to; up to five."""
    feed = _feed(victim)
    if feed.partitions < MOST_PARTITIONS:
        feed.add_partition(_broker(victim).admin)


def overtake_reader(victim: Victim, dice: random.Random) -> None:
    """The topic throws records away that nobody has read. The job says so and ends, until somebody accepts the loss."""
    feed, accepted = _feed(victim), victim.folder / LOSS
    victim.kill()
    accepted.unlink(missing_ok=True)
    feed.grows_by(dice.randint(50, 300))
    feed.throw_away(_broker(victim).admin)
    victim.start()
    victim.ends()
    accepted.touch()
    victim.start()


def poison(victim: Victim, dice: random.Random) -> None:
    """A record makes an operator raise. The job says so and ends, until its operators can stand the record."""
    if victim.outside.feed is None:
        raises = victim.folder / RAISES
        raises.touch()
        victim.ends()
        raises.unlink()
    else:
        number = victim.outside.feed.poison()
        victim.ends()
        (victim.folder / MENDED).write_text(str(number), encoding="utf-8")
    victim.start()


def hot_key(victim: Victim, dice: random.Random) -> None:
    """Half of all records have one key, and lie in one partition."""
    feed = _feed(victim)
    feed.hot = True
    time.sleep(dice.uniform(5, 10))
    feed.hot = False


def huge_batch(victim: Victim, dice: random.Random) -> None:
    """A hundred times as many records as a batch usually has come in one moment."""
    _feed(victim).burst(100 * USUAL_BATCH)


def odd_times(victim: Victim, dice: random.Random) -> None:
    """Records have a creation time in the future for some seconds, then none at all."""
    feed = _feed(victim)
    ahead = dice.randint(60, 3_000)
    for stamp in (lambda: round(1e3 * (time.time() + ahead)), lambda: NO_TIME):
        feed.stamp = stamp
        time.sleep(dice.uniform(3, 6))
    feed.stamp = None


def _broker_away(victim: Victim, seconds: float) -> None:
    broker = _broker(victim)
    broker.kill()
    time.sleep(seconds)
    broker.restart()


def _broker(victim: Victim) -> Broker:
    assert victim.outside.broker is not None
    return victim.outside.broker


def _feed(victim: Victim) -> Feed:
    assert victim.outside.feed is not None
    return victim.outside.feed
