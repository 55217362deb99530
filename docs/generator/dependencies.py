"""The page of the packages that Penstock is installed with: what each is for, its licence, and how it is kept.

Names and the parts that they belong to come from pyproject.toml, versions from constraints.txt. Licences and reasons
stand here; a test compares the licences with what the installed packages say.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from docs.generator.markdown import code, page, table

ROOT = Path(__file__).parent.parent.parent

APACHE, BSD, MIT, MPL = "Apache-2.0", "BSD-3-Clause", "MIT", "MPL-2.0"

WHY = {
    "numpy": (BSD, "figures of forecasts and plans in arrays; a dependency of most of science"),
    "prometheus-client": (APACHE, "the text that Prometheus reads; kept by the Prometheus project"),
    "pydantic": (MIT, "reads JSON into the model and says which field is wrong"),
    "rich": (MIT, "tables and live views on a terminal"),
    "sqlalchemy": (MIT, "one way to any database, with parameters only"),
    "typer": (MIT, "the command line from annotated functions"),
    "tzdata": (APACHE, "time zones for the calendar guard where the system has none; Python's own package"),
    "pyspark": (APACHE, "Spark; a job usually brings its own"),
    "confluent-kafka": (APACHE, "reads the lengths of topics; wraps librdkafka, kept by Confluent"),
    "pandas": (BSD, "what Spark hands to Python operators"),
    "pyarrow": (APACHE, "moves records between Spark and Python, and reads zstd, lz4 and Snappy"),
    "scipy": (BSD, "distributions and optimisers of the papers' policies"),
    "threadpoolctl": (BSD, "keeps one decision on one core"),
    "numba": (BSD, "compiles the inner loop of the simulator"),
    "matplotlib": ("PSF-based", "pictures of reports"),
    "hypothesis": (MPL, "looks for what breaks a law"),
    "import-linter": ("BSD-2-Clause", "holds the layers"),
    "kubernetes-validate": (APACHE, "the schema of Kubernetes, for the manifests on the pages"),
    "mypy": (MIT, "types"),
    "pytest": (MIT, "runs the tests"),
    "pytest-xdist": (MIT, "runs them on two cores"),
    "ruff": (MIT, "style, and the security rules of flake8-bandit"),
    "scikit-learn": (BSD, "a Gaussian process to compare ours with, in tests"),
    "scipy-stubs": (BSD, "types of scipy"),
    "selenium": (APACHE, "opens the page in a browser, in tests"),
    "mkdocs-material": (MIT, "these pages as a site"),
}
"""Licence and reason of each direct dependency, by its name in lower case."""


def direct() -> dict[str, str]:
    """The part of Penstock that each direct dependency belongs to, by its name in lower case; the base first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    parts = {"base": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, str] = {}
    for part, lines in parts.items():
        for line in lines:
            name = re.split(r"[\s\[<>=!~;]", line)[0].lower()
            if name != project["name"]:
                found.setdefault(name, part)
    return found


def pinned() -> dict[str, str]:
    """The version of each package in constraints.txt, by its name in lower case."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return {name.lower(): version for name, _, version in (line.partition("==") for line in lines)}


def dependencies_page() -> str:
    versions = pinned()
    rows = [
        [code(name), part, versions.get(name, ""), WHY[name][0], WHY[name][1]]
        for name, part in direct().items()
    ]  # fmt: skip
    return page(
        "Dependencies",
        "The packages that Penstock asks for itself. `base` is what a driver needs for `watch`, `attach` and "
        "`penstock run`; the other parts are [extras](../how-to/install.md). `dev` and `site` are for those who work "
        "on Penstock: no user installs them.",
        table(["package", "part", "tested with", "licence", "what it is for"], rows),
        "**How they are kept.** `pyproject.toml` says from which version on each is known to work. `constraints.txt` "
        "pins the whole tree to the versions that the tests ran with, by name and version only: "
        f"{len(versions)} packages, those of the tools included. A new version goes in by changing its pin and "
        "running all tests. A package comes in only if its licence lets Penstock stay under Apache-2.0, and if it "
        "replaces more code than it brings trouble.",
    )
