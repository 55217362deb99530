"""Who comes from a paper finds everything of it in CONTRIBUTING.md: every option, and every experiment's file."""

from __future__ import annotations

import re

import pytest

from pages import ROOT, read
from penstock.model.options import describe
from penstock.papers.catalogue import PAPERS, items
from penstock.policies import POLICIES

TITLES = {
    "AuTraScale and AuTraScale+": ("autrascale", "autrascale_plus", "max", "proportion", "exponent", "ds2", "drs"),
    "AUTOSCALE": ("autoscale", "storm_default"),
    "DABS-Storm": ("dabs",),
    "Dp-Stream": ("dp_stream",),
    "PSPS": ("psps",),
}
FOLDER = ROOT / "src" / "penstock" / "papers"


def section(title: str) -> str:
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##)", read("CONTRIBUTING.md"), re.M | re.S)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(("title", "policy"), [(title, name) for title, names in TITLES.items() for name in names])
def test_every_option_of_a_papers_policy_is_named(title: str, policy: str) -> None:
    options = {option.name for option in describe(POLICIES.load(policy))}
    assert options <= set(re.findall(r"`(\w+)`", section(title)))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_file_of_a_table_or_figure_is_named(paper: str) -> None:
    """Some are made by a function with arguments: then it is that function's file."""
    modules = {getattr(item, "func", item).__module__ for item in items(paper).values()}
    files = {module.removeprefix("penstock.").replace(".", "/") + ".py" for module in modules}
    made_of_others = {f"papers/{paper}/figures.py"}
    assert files - made_of_others <= set(re.findall(r"`(papers/[\w/]+\.py)`", read("CONTRIBUTING.md")))


def test_every_file_of_an_experiment_on_spark_is_named() -> None:
    whole = "".join(map(section, TITLES))
    files = {
        path.relative_to(FOLDER.parent).as_posix() for path in FOLDER.glob("*/spark/*.py") if path.stem != "__init__"
    }
    named = set(re.findall(r"`(papers/[\w/]+\.py)`", whole))
    assert files - named == {"papers/autrascale/spark/ads.py"}  # what happened to advertisements: read by two jobs
