"""A worker that has no Penstock can run an operator that measures itself with what is sent along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyspark
import pytest

from penstock.spark.measure.shipping import ship_penstock, write_archive

WORKER = """
import sys
sys.path += [sys.argv[1], sys.argv[2]]
try:
    import penstock
    sys.exit("there is another Penstock")
except ModuleNotFoundError:
    pass
sys.path.insert(0, sys.argv[3])
from penstock.spark.measure.python_meter import metered
print(metered.__module__, sys.modules["penstock"].__file__)
"""


def test_what_is_sent_along_is_all_that_a_worker_needs(tmp_path: Path) -> None:
    archive = tmp_path / "penstock.zip"
    write_archive(archive)
    site = Path(pyspark.__file__).parent.parent
    ended = subprocess.run(
        [sys.executable, "-S", "-I", "-c", WORKER, str(site), str(tmp_path), str(archive)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stdout.split() == ["penstock.spark.measure.python_meter", f"{archive}/penstock/__init__.py"], (
        ended.stderr
    )


@pytest.mark.parametrize(("master", "times"), [("local[4]", 0), ("spark://there:7077", 1), ("yarn", 1)])
def test_it_is_sent_once_and_only_to_other_machines(tmp_path: Path, master: str, times: int) -> None:
    sent: list[str] = []
    context = cast("Any", SimpleNamespace(master=master, _temp_dir=str(tmp_path), addPyFile=sent.append))
    for _ in range(2):
        ship_penstock(context)
    assert len(sent) == times
