"""The report as one HTML file: it opens in a browser without a server, is drawn, zoomed, and asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By

from browser import browser, complaints, needs_browser
from patience import wait_for
from penstock.cli.main import run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    assert run(["simulate", "clicks", "--policy", "ds2", "--seconds", "3600", "--report", str(folder), "--json"]) == 0
    return folder / "report.html"


def test_it_names_no_other_file_and_no_other_machine(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "page.css" not in text
    assert "<script src" not in text
    assert "https://" not in text


@pytest.fixture
def page(report: Path) -> Iterator[Chrome]:
    with browser() as opened:
        opened.get(report.as_uri())
        wait_for(lambda: opened.find_elements(By.CSS_SELECTOR, "#decisions li"), "the list of decisions")
        yield opened
        assert complaints(opened) == []


@needs_browser
def test_charts_are_drawn_and_zoomed_and_decisions_open(page: Chrome) -> None:
    assert all(page.execute_script("return [...document.querySelectorAll('path.curve')].map(e => e.getAttribute('d'))"))
    assert "ds2 on clicks" in page.find_element(By.ID, "about").text
    page.find_element(By.CSS_SELECTOR, "#decisions li button").click()
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, ".detail"), "the figures")
    begin, svg = "return charts.rate.axis.begin", page.find_element(By.CSS_SELECTOR, ".chart svg")
    whole = page.execute_script(begin)
    ActionChains(page).move_to_element(svg).click_and_hold().move_by_offset(80, 0).release().perform()
    wait_for(lambda: page.execute_script(begin) > whole, "the zoom")
    page.find_element(By.ID, "changes-only").click()
    holds = "return document.querySelectorAll('#decisions li:not(.changed)').length"
    wait_for(lambda: page.execute_script(holds) == 0, "changes only")
