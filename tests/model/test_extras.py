"""The base install is what a driver needs: everything else is asked for in one sentence."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pages import ROOT
from penstock.model.extras import EXTRAS

EXTRA_MODULES = sorted({module for modules in EXTRAS.values() for module in modules})

WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
"""As in an environment in which these modules are not installed."""


def run(missing: list[str], code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing) + code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("from penstock.spark import watch", "pyspark is not installed: pip install 'penstock[spark]'"),
        ("import penstock.spark.topics", "confluent_kafka is not installed: pip install 'penstock[kafka]'"),
        ("import penstock.performance.bayesian", "scipy is not installed: pip install 'penstock[learners]'"),
        ("import penstock.simulator", "numba is not installed: pip install 'penstock[simulator]'"),
        (
            "from penstock.spark import replay\nfrom penstock.load.curves import constant\nreplay(constant(1.0, 1.0))",
            "pyarrow is not installed: pip install 'penstock[arrow]'",
        ),
        ("import penstock.papers", "numba is not installed: pip install 'penstock[simulator]'"),
    ],
)
def test_what_is_missing_is_one_sentence_with_the_command(code: str, said: str) -> None:
    missing = said.partition(" ")[0]
    assert run([missing], code).stderr.strip().splitlines()[-1].endswith(said)


def test_advice_and_its_page_need_neither_spark_nor_matplotlib(tmp_path: Path) -> None:
    given = ["advise", str(ROOT / "examples" / "event-log"), "--no-oracle", "-p", "static"]
    code = f"from penstock.cli.main import app\napp({[*given, '--out', str(tmp_path / 'advice.html')]!r})"
    done = run(["pyspark", "py4j", "confluent_kafka", "matplotlib"], code)
    assert "ran 4 executors for 8 min 39 s" in done.stdout, done.stderr
    assert (tmp_path / "advice.html").exists()


def test_the_picture_asks_for_its_library() -> None:
    said = run(["matplotlib"], "import penstock.report.picture").stderr.strip().splitlines()[-1]
    assert said.endswith("matplotlib is not installed: pip install 'penstock[plots]'")


def test_the_command_line_says_it_as_any_other_mistake() -> None:
    ended = run(["numba"], "from penstock.cli.main import run; sys.exit(run(['simulate', 'clicks', '-p', 'ds2']))")
    assert ended.returncode == 2
    assert ended.stderr == "penstock: numba is not installed: pip install 'penstock[simulator]'\n"


def test_watch_attach_and_run_are_there_without_any_extra() -> None:
    others = [module for module in EXTRA_MODULES if module != "pyspark"]
    code = (
        "from penstock import Slo\n"
        "from penstock.spark import attach, watch\n"
        "from penstock.spark.application.defaults import chosen_steering\n"
        "from penstock.stores import open_store\n"
        "chosen_steering({}).chosen_policy()\n"
        "open_store('sqlite://').close()\n"
        "from penstock.cli.main import run\n"
        "sys.exit(run(['run', '--executors', '1:3', 'nothing.py']))\n"
    )
    ended = run(others, code)
    assert ended.stderr == "penstock: script nothing.py is not a file\n"


def test_every_extra_brings_the_modules_that_it_is_asked_for_and_the_base_install_none_of_them() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def brings(declared: list[str], module: str) -> bool:
        return any(re.match(r"[\w-]+", one)[0] == module.replace("_", "-") for one in declared)  # type: ignore[index]

    for extra, modules in EXTRAS.items():
        assert all(brings(extras[extra], module) for module in modules), extra
    assert not [module for module in EXTRA_MODULES if brings(project["dependencies"], module)]
    assert extras["all"] == [f"penstock[{','.join(name for name in extras if name not in ('all', 'dev', 'site'))}]"]
