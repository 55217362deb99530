"""Sends Penstock to the executors of a job, whose Python workers need it for an operator that measures itself."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pyspark import SparkContext

import penstock


def ship_penstock(context: SparkContext) -> None:
    """Send it once, unless the workers run on this machine anyway."""
    master = context.master or ""
    if master == "local" or master.startswith("local["):
        return
    archive = Path(context._temp_dir) / f"penstock-{penstock.__version__}.zip"  # Spark removes it at its end
    if not archive.exists():
        write_archive(archive)
        context.addPyFile(str(archive))


def write_archive(archive: Path) -> None:
    """The package as a file that Python can import from."""
    home = Path(penstock.__file__).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for file in sorted(home.rglob("*.py")):
            written.write(file, file.relative_to(home.parent))
