"""What the page is told, and whom it answers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import pytest

from live_simulation import controller
from penstock.dashboard import answers
from penstock.dashboard.server import Dashboard
from penstock.model import Cycle, PenstockError
from penstock.serving.access import Access
from penstock.stores.history import History
from penstock.stores.sql import SqlStore

Answer = tuple[int, Any]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Cycle]]:
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'penstock.db'}"
    store = SqlStore(url, "clicks")
    steered = controller(store=store, policy="predictive")
    cycles = [steered._run_once() for _ in range(150)]
    store.close()
    return url, cycles


@pytest.fixture(scope="module")
def page(recorded: tuple[str, list[Cycle]]) -> Iterator[Dashboard]:
    with Dashboard(recorded[0], port=0) as served:
        yield served


def get(page: Dashboard, path: str, headers: dict[str, str] | None = None, **parameters: object) -> Answer:
    address = f"http://127.0.0.1:{page.server.port}{path}?{urlencode(parameters)}"
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers or {})) as answer:
            body = answer.read().decode()
            return answer.status, json.loads(body) if path.startswith("/api") else body
    except urllib.error.HTTPError as error:
        with error:
            body = error.read().decode()
        return error.code, json.loads(body) if body.startswith("{") else body


def test_a_job_is_told_with_its_graph_its_charts_and_its_plans(
    page: Dashboard, recorded: tuple[str, list[Cycle]]
) -> None:
    _, jobs = get(page, "/api/jobs")
    assert [job["name"] for job in jobs["jobs"]] == ["clicks"]
    _, job = get(page, "/api/job", job="clicks")
    assert job["number"] == len(recorded[1])
    assert job["description"]["order"] == ["parse", "enrich", "sessions", "publish"]
    assert job["description"]["slo"]["event_latency_ms"] == 500
    assert set(job["latest"]["operators"]) == {"parse", "enrich", "sessions", "publish"}
    assert all(0 <= each["utilisation"] <= 1.01 for each in job["latest"]["operators"].values())
    assert len(job["chart"]["t"]) == len(job["chart"]["event_latency_ms"]) > 100
    _, later = get(page, "/api/job", job="clicks", since=job["chart"]["number"][-1], bucket=job["bucket_seconds"])
    assert later["chart"]["t"] == job["chart"]["t"][-1:]


def test_a_part_of_the_time_is_told_in_more_detail(page: Dashboard) -> None:
    _, part = get(page, "/api/job", job="clicks", begin=1800, end=2400)
    assert all(1800 <= t <= 2400 for t in part["chart"]["t"])
    assert len(part["chart"]["t"]) == 21
    assert part["plans"][0]["t"] < 1800  # the plan in force when it begins


def test_a_decision_opens_into_its_figures_and_what_came_of_it(
    page: Dashboard, recorded: tuple[str, list[Cycle]]
) -> None:
    number = next(n for n, cycle in enumerate(recorded[1], 1) if cycle.changed and n > 60)
    _, decision = get(page, "/api/decision", job="clicks", number=number)
    assert decision["reason"]["text"] == recorded[1][number - 1].decision.reason.text
    assert decision["figures"]["forecast"]["300"].keys() == {"0.1", "0.5", "0.9", "0.99"}
    assert [each["why"] for each in decision["figures"]["alternatives"]].count("chosen") == 1
    assert decision["afterwards"]["throughput"] > 0
    assert decision["afterwards"]["seconds"] > 0


def test_the_newest_decision_has_no_afterwards_yet(page: Dashboard) -> None:
    assert get(page, "/api/decision", job="clicks", number=150)[1]["afterwards"] is None


def test_what_if_says_what_to_expect_of_a_plan(page: Dashboard) -> None:
    _, small = get(page, "/api/what-if", job="clicks", plan='{"sessions": 1}')
    _, large = get(page, "/api/what-if", job="clicks", plan='{"sessions": 30}')
    assert small["carries"] < large["carries"]
    assert "keep_up" in small["misses"]
    assert "keep_up" not in large["misses"]
    assert small["utilisation"]["sessions"] > 1 > large["utilisation"]["sessions"]


@pytest.mark.parametrize(
    ("path", "parameters", "sentence"),
    [
        ("/api/job", {"job": "click"}, "job 'click' is not known; did you mean 'clicks'? There is: clicks"),
        ("/api/job", {}, "job is missing"),
        ("/api/decision", {"job": "clicks", "number": 999}, "decision 999 is not among those of clicks"),
        ("/api/decision", {"job": "clicks", "number": "x"}, "number must be a whole number, not 'x'"),
        ("/api/what-if", {"job": "clicks", "plan": "3"}, "plan must be whole numbers by operator"),
        ("/api/what-if", {"job": "clicks", "plan": '{"pars": 3}'}, "plan: operator 'pars' is not known; did you mean"),
        ("/api/what-if", {"job": "clicks", "plan": '{"parse": 999}'}, "plan: operator parse must have from 1"),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(
    page: Dashboard, path: str, parameters: dict[str, Any], sentence: str
) -> None:
    status, answer = get(page, path, **parameters)
    assert status == HTTPStatus.BAD_REQUEST
    assert answer["error"].startswith(sentence)


def test_it_only_reads(page: Dashboard) -> None:
    for method in ("POST", "PUT", "DELETE"):
        request = urllib.request.Request(f"http://127.0.0.1:{page.server.port}/api/job", method=method, data=b"")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        refused.value.close()
        assert refused.value.code == HTTPStatus.NOT_IMPLEMENTED


def test_another_name_for_this_machine_is_not_answered(page: Dashboard) -> None:
    status, _ = get(page, "/api/jobs", headers={"Host": f"evil.example.org:{page.server.port}"})
    assert status == HTTPStatus.MISDIRECTED_REQUEST


def test_the_address_that_is_printed_has_the_token(recorded: tuple[str, list[Cycle]]) -> None:
    with Dashboard(recorded[0], Access(token=16 * "x"), port=0) as page:
        assert page.url.endswith(f"/?token={16 * 'x'}")
        assert get(page, "/api/jobs")[0] == HTTPStatus.FORBIDDEN
        assert get(page, "/api/jobs", token=16 * "x")[0] == HTTPStatus.OK


def test_a_port_that_is_taken_is_one_sentence(page: Dashboard, recorded: tuple[str, list[Cycle]]) -> None:
    with pytest.raises(PenstockError, match=rf"^the page cannot be served at 127.0.0.1:{page.server.port}: "):
        Dashboard(recorded[0], port=page.server.port)


def test_a_part_of_the_time_has_the_plans_of_that_part_and_the_one_before(recorded: tuple[str, list[Cycle]]) -> None:
    history = History(recorded[0])
    span = history.span("clicks")
    assert span is not None
    every = history.plans(span)
    begin, end = every[2]["t"], every[3]["t"]
    part = answers.job(history, "clicks", begin=begin, end=end)["plans"]
    assert [plan["number"] for plan in part] == [plan["number"] for plan in every[1:4]]
