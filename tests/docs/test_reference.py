"""The reference pages say what the code says."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.faults import faults_of
from chaos.ways import JOBS
from docs.generator import GRAFANA, PAGES, REFERENCE, RELIABILITY
from docs.generator.grafana import grafana_dashboard
from docs.generator.reliability import FAULTS, WAYS, reliability_page
from penstock.cli.workloads import workloads
from penstock.forecast import FORECASTERS
from penstock.guards import GUARDS
from penstock.model.catalog import Catalog
from penstock.policies import POLICIES


@pytest.mark.parametrize("name", PAGES)
def test_the_page_in_the_repository_is_what_the_code_makes_now(name: str) -> None:
    written = (REFERENCE / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), f"docs/reference/{name} is out of date: run make docs"


def test_the_dashboard_for_grafana_is_what_the_code_makes_now() -> None:
    assert GRAFANA.read_text(encoding="utf-8") == grafana_dashboard(), "docs/monitoring/grafana.json: run make docs"


def test_the_page_of_reliability_is_what_the_results_make_now() -> None:
    assert RELIABILITY.read_text(encoding="utf-8") == reliability_page(), "docs/reliability.md: run make docs"


def test_the_page_of_reliability_has_words_for_every_job_and_every_fault() -> None:
    assert WAYS.keys() == JOBS.keys()
    assert FAULTS.keys() == {fault.__name__ for job in JOBS for fault in faults_of(job)}


def test_no_page_is_left_over() -> None:
    assert {path.name for path in REFERENCE.iterdir()} == set(PAGES)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("policies.md", POLICIES.names()),
        ("guards.md", GUARDS.names()),
        ("forecasters.md", FORECASTERS.names()),
        ("workloads.md", list(workloads())),
    ],
)
def test_every_member_has_a_section(page: str, names: list[str]) -> None:
    text = PAGES[page]()
    assert [name for name in names if f"\n## {name}\n" not in text] == []


@pytest.mark.parametrize("page", ["policies.md", "guards.md", "forecasters.md"])
def test_every_option_is_explained(page: str) -> None:
    families: dict[str, Catalog[Any]] = {"policies.md": POLICIES, "guards.md": GUARDS, "forecasters.md": FORECASTERS}
    catalog = families[page]
    text = PAGES[page]()
    for name in catalog.names():
        for option in catalog.describe(name).options:
            assert f"| `{option.name}` |" in text
            assert option.meaning.replace("|", "\\|") in text
