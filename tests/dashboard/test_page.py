"""The page in a real browser: charts are drawn, new decisions appear, one opens into its figures, nothing complains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By

from browser import browser, complaints, needs_browser
from live_simulation import controller
from patience import wait_for
from penstock.control.controller import Controller
from penstock.dashboard.server import Dashboard
from penstock.model import (
    Cycle,
    Decision,
    Execution,
    JobDescription,
    Mode,
    OperatorSample,
    Plan,
    ReasonCode,
    Sample,
    Slo,
    Topology,
)
from penstock.stores.sql import SqlStore

pytestmark = needs_browser

NASTY = "<script>window.broken = 1</script>"
CHARTS = ["Load", "Latency against its target", "Parallelism by operator", "Executors", "Backlog", "Cost so far"]


@pytest.fixture(scope="module")
def opened() -> Iterator[Chrome]:
    with browser() as each:
        yield each


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Controller:
    """A job of 150 cycles and more, and another beside it in the same store whose name is an attack."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'penstock.db'}"
    other = controller(store=SqlStore(url, NASTY), name=NASTY)
    for _ in range(3):
        other._run_once()
    steered = controller(store=SqlStore(url, "clicks"), policy="predictive")
    for _ in range(150):
        steered._run_once()
    return steered


@pytest.fixture
def page(job: Controller, opened: Chrome) -> Iterator[Chrome]:
    assert isinstance(job.loop.store, SqlStore)
    with Dashboard(str(job.loop.store.database.engine.url), port=0) as served:
        opened.get(served.url)
        wait_for(lambda: opened.find_elements(By.CSS_SELECTOR, "#decisions li"), "the list of decisions")
        yield opened
        assert complaints(opened) == []
        opened.get("about:blank")


def test_every_chart_is_drawn_over_one_axis_with_its_changes_marked(page: Chrome, job: Controller) -> None:
    charts = page.find_elements(By.CSS_SELECTOR, ".chart")
    assert [chart.get_attribute("data-chart") for chart in charts] == CHARTS
    for chart in charts:
        curves = chart.find_elements(By.CSS_SELECTOR, "path.curve")
        assert curves
        assert all(len(curve.get_attribute("d") or "") > 10 for curve in curves)
        marks = chart.find_elements(By.CSS_SELECTOR, ".mark")
        assert len(marks) == sum(cycle.changed for cycle in job.loop.store.recent(1000))
    assert len({chart.find_elements(By.CSS_SELECTOR, "svg text")[-1].text for chart in charts}) == 1
    assert charts[1].find_elements(By.CSS_SELECTOR, ".target")
    assert len(page.find_elements(By.CSS_SELECTOR, "#graph .node")) == 4
    assert len(page.find_elements(By.CSS_SELECTOR, "#graph .edge")) == 3


def test_a_new_decision_appears_without_reloading(page: Chrome, job: Controller) -> None:
    page.execute_script("window.sameDocument = true")
    newest = "return Number(document.querySelector('#decisions li').dataset.number)"
    last = page.execute_script(newest) + 3
    for _ in range(3):
        job._run_once()
    wait_for(lambda: page.execute_script(newest) == last, "the new decision")
    wait_for(lambda: f"{last} cycles" in page.find_element(By.ID, "about").text, "the new figures")
    numbers = page.execute_script("return [...document.querySelectorAll('#decisions li')].map(e => +e.dataset.number)")
    assert numbers == list(range(last, last - len(numbers), -1))
    assert page.execute_script("return window.sameDocument")


def test_opening_a_decision_shows_its_figures_its_forecast_and_what_came_of_it(page: Chrome) -> None:
    page.find_element(By.ID, "changes-only").click()
    holds = "return document.querySelectorAll('#decisions li:not(.changed)').length"
    wait_for(lambda: page.execute_script(holds) == 0, "changes only")
    item = page.find_element(By.CSS_SELECTOR, "#decisions li")
    item.find_element(By.TAG_NAME, "button").click()
    wait_for(lambda: item.find_elements(By.CSS_SELECTOR, ".detail"), "the figures")
    titles = [each.text for each in item.find_elements(By.TAG_NAME, "h3")]
    assert {"Reason", "Plan", "Expected and measured afterwards", "Forecast, records/s", "Alternatives"} <= set(titles)
    assert len(item.find_elements(By.CSS_SELECTOR, "tr.chosen")) == 1
    item.find_element(By.TAG_NAME, "button").click()
    assert not item.find_elements(By.CSS_SELECTOR, ".detail")


def test_dragging_zooms_every_chart_and_a_double_click_shows_all_again(page: Chrome) -> None:
    def axis() -> list[float]:
        begins = "[charts.rate.axis.begin, charts.cost.axis.begin, charts.rate.axis.end]"
        axes: list[float] = page.execute_script(f"return {begins}")
        return axes

    whole, svg = axis(), page.find_element(By.CSS_SELECTOR, ".chart svg")
    ActionChains(page).move_to_element(svg).click_and_hold().move_by_offset(80, 0).release().perform()
    wait_for(lambda: axis() != whole, "the zoom")
    assert axis()[0] == axis()[1] > whole[0]
    ActionChains(page).double_click(svg).perform()
    wait_for(lambda: axis() == whole, "the whole again")


def test_executors_are_those_requested_those_present_and_those_that_leave(page: Chrome) -> None:
    legend = page.find_element(By.CSS_SELECTOR, "[data-chart=Executors] .legend").text
    assert [words.split()[0] for words in legend.splitlines()] == ["present", "requested", "leaving"]


def test_the_newest_decision_is_said_at_the_top(page: Chrome, job: Controller) -> None:
    (newest,) = job.loop.store.recent(1)
    wait_for(lambda: newest.decision.reason.text in page.find_element(By.ID, "now").text, "the newest decision")


def test_a_change_that_is_chosen_on_a_chart_opens(page: Chrome) -> None:
    tip = page.find_elements(By.CSS_SELECTOR, "[data-chart=Load] .tip")[0]
    ActionChains(page).move_to_element(tip).click().perform()
    picked = page.find_element(By.ID, "picked")
    wait_for(picked.is_displayed, "the decision")
    assert "Reason" in [each.text for each in picked.find_elements(By.TAG_NAME, "h3")]
    picked.find_element(By.TAG_NAME, "button").click()
    assert not picked.is_displayed()


def test_a_plan_is_asked_for_and_answered(page: Chrome) -> None:
    field = page.find_element(By.CSS_SELECTOR, "#plan input[name=sessions]")
    field.clear()
    field.send_keys("1")
    page.find_element(By.CSS_SELECTOR, "#plan button").click()
    wait_for(lambda: "it would miss keep up" in page.find_element(By.ID, "outlook").text, "the outlook")


def test_names_are_text_whatever_they_contain(page: Chrome) -> None:
    page.execute_script("const s = document.getElementById('jobs'); s.value = arguments[0];"
                        "s.dispatchEvent(new Event('change'))", NASTY)  # fmt: skip
    wait_for(lambda: "3 cycles" in page.find_element(By.ID, "about").text, "the other job")
    assert NASTY in page.find_element(By.ID, "jobs").text
    assert page.execute_script("return window.broken === undefined")


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen_in_either_theme(page: Chrome, width: int, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.find_element(By.CSS_SELECTOR, "#decisions li button").click()
    wait_for(lambda: page.find_elements(By.CSS_SELECTOR, ".detail"), "the figures")
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    dark = page.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(17, 23, 29)"
    assert dark == (theme == "dark")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_an_operator_with_a_nasty_name_is_drawn_as_text(tmp_path: Path, opened: Chrome) -> None:
    store, plan = SqlStore(f"sqlite:///{tmp_path / 'x.db'}", "nasty"), Plan({NASTY: 2})
    store.describe(JobDescription(Topology.chain(NASTY), Slo(), Execution.CONCURRENT, NASTY, 10.0))
    window = Sample(t=0, seconds=10, operators={NASTY: OperatorSample(2, useful_seconds=9)}, input_rate=10)
    hold = Decision.hold(plan, ReasonCode.STEADY, NASTY, policy=NASTY, figures={NASTY: NASTY})
    store.record(Cycle(t=10, mode=Mode.ACTIVE, before=plan, decision=hold, samples=(window,)), NASTY)
    with Dashboard(f"sqlite:///{tmp_path / 'x.db'}", port=0) as served:
        opened.get(served.url)
        wait_for(lambda: opened.find_elements(By.CSS_SELECTOR, "#decisions li"), "the decision")
        opened.find_element(By.CSS_SELECTOR, "#decisions li button").click()
        wait_for(lambda: opened.find_elements(By.CSS_SELECTOR, ".detail"), "its figures")
        shown = opened.find_element(By.TAG_NAME, "body").text
        assert shown.count(NASTY) >= 5  # the policy, the operator, the reason, the figure
        assert opened.execute_script("return window.broken === undefined")
        assert complaints(opened) == []
