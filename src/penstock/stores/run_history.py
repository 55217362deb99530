"""Keeps the cycles of one run in a database of its own, many at a time: a simulation makes thousands in a second."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sql

from penstock.model import Cycle, JobDescription
from penstock.stores.database import Database
from penstock.stores.description import description_json
from penstock.stores.point import PointMaker
from penstock.stores.tables import cycle_row, cycles, jobs, points, prepare

AT_A_TIME = 500


class RunHistory:
    """Keeps each cycle that it is called with. What was not written yet is lost if the process is killed."""

    def __init__(self, url: str, job: str, description: JobDescription) -> None:
        self._database = Database(url)
        self._job = job
        self._point = PointMaker()
        self._point.description = description
        self._number = 0
        self._rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._database.make_private()
        with self._database.sentences("opened"), self._database.engine.begin() as connection:
            prepare(connection, self._database.name)
            row = {"job": job, "first": 1, "body": description_json(description)}
            connection.execute(sql.insert(jobs).values(row))

    def __call__(self, cycle: Cycle) -> None:
        self._number += 1
        key = {"job": self._job, "number": self._number}
        self._rows.append((key | cycle_row(cycle), key | self._point(cycle)))
        if len(self._rows) >= AT_A_TIME:
            self._write()

    def close(self) -> None:
        self._write()
        self._database.close()

    def _write(self) -> None:
        if not self._rows:
            return
        with self._database.sentences("written"), self._database.engine.begin() as connection:
            connection.execute(sql.insert(cycles), [row for row, _ in self._rows])
            connection.execute(sql.insert(points), [point for _, point in self._rows])
        self._rows.clear()
