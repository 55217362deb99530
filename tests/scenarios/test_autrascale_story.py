"""AuTraScale: throughput first, then latency, and what was learnt at one rate helps at the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pytest

from penstock.cli.workloads import workload
from penstock.load.curves import steps
from penstock.model import Cycle, ReasonCode, Slo
from stories import Story, backlog, degrees, mean, simulated, steady, throughput

PATIENT = {
    "policy_running_time": 1500.0
}  # the base has little to spare: it needs this long for what waits after a start


class TestWordCountFromAllOnes:
    """350k records/s meet four single instances; 180 ms are asked for."""

    @staticmethod
    @cache
    def story() -> Story:
        return simulated(steady("wordcount", 350e3, 4200.0), "autrascale", PATIENT)

    def test_one_window_shows_what_each_instance_could_do_if_it_never_waited(self) -> None:
        seen = self.story().cycles[0]

        assert throughput(seen.samples[-1]) < 0.12 * 350e3
        rates = seen.decision.figures["true_processing_rate"]
        assert rates == pytest.approx({"source": 124e3, "flat_map": 97e3, "count": 33.75e3, "sink": 42.6e3}, rel=0.03)

    def test_throughput_optimisation_ends_within_four_steps_where_the_papers_did(self) -> None:
        figures = self.story().cycles[-1].decision.figures

        assert len(figures["steps"]) <= 4
        assert tuple(figures["throughput_parallelism"].values()) == (3, 4, 12, 10)

    def test_the_base_keeps_up_but_is_too_slow_so_the_search_begins(self) -> None:
        explored = next(c for c in self.story().cycles if c.decision.reason.code is ReasonCode.EXPLORE)

        assert degrees(explored.before) == (3, 4, 12, 10)
        assert throughput(explored.samples[-1]) == pytest.approx(350e3)
        assert backlog(explored.samples[-1]) == 0.0
        assert mean(explored.samples[-1].processing_latency_ms) > 180.0
        assert explored.decision.figures["score"] < 0.9
        assert explored.decision.figures["phase"] == "bootstrap"

    def test_it_ends_below_180_ms_with_a_score_like_the_papers_and_stays_there(self) -> None:
        calm = self.story().since(3180.0)

        assert not any(cycle.changed for cycle in calm)
        assert all(mean(cycle.samples[-1].processing_latency_ms) < 180.0 for cycle in calm)
        assert all(cycle.decision.figures["score"] >= 0.9 for cycle in calm)
        assert calm[-1].decision.reason.code is ReasonCode.STEADY


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_noise_of_another_day_leads_to_the_same_base(seed: int) -> None:
    run = simulated(steady("wordcount", 350e3, 1620.0), "autrascale", PATIENT, seed=seed)
    assert run.cycles[-1].decision.reason.code is ReasonCode.EXPLORE  # throughput optimisation is over
    assert tuple(run.cycles[-1].decision.figures["throughput_parallelism"].values()) == (3, 4, 12, 10)


class TestYahooBehindASlowStore:
    """60k records/s arrive, 35k get through the store, and there is room for 400 instances to try in vain."""

    @staticmethod
    @cache
    def story(policy: str) -> Story:
        chosen = steady("yahoo", 60e3, 2400.0, slo=Slo())  # only to keep up is asked for, which cannot be had
        topology = chosen.job.topology
        roomy = replace(topology, operators=tuple(replace(operator, max=400) for operator in topology.operators))
        return simulated(replace(chosen, job=replace(chosen.job, topology=roomy)), policy)

    def test_ds2_grows_to_the_bound_and_gains_nothing(self) -> None:
        run = self.story("ds2")
        windows = [cycle.decision.plan["join"] for cycle in run.changes]

        assert windows == sorted(windows)
        assert run.end == (4, 2, 1, 1, 400)
        assert throughput(run.last) == pytest.approx(35e3, rel=0.02)

    def test_autrascale_looks_back_to_the_step_that_got_as_much_through_with_the_least(self) -> None:
        run = self.story("autrascale")
        steps = run.cycles[-1].decision.figures["steps"]

        assert [step for step, _ in steps][:2] == [[1, 1, 1, 1, 1], list(run.end)]
        assert run.end[:4] == (4, 2, 1, 1)
        assert run.end[4] == pytest.approx(34, abs=1)
        assert all(reached < 1.05 * throughput(run.last) for _, reached in steps)
        assert throughput(run.last) == pytest.approx(35e3, rel=0.02)

    def test_having_looked_back_it_never_moves_again(self) -> None:
        run = self.story("autrascale")
        assert run.changes[-1].decision.reason.code is ReasonCode.RESTORE
        assert run.changes[-1].t < 1500.0


class TestNexmarkAtAHigherRate:
    """Query 5 is trained at 20k records/s; then 28k arrive. Run three times, as noise matters.

    200 ms are asked for, since 500 ms end the search with its first sample, which leaves no model to teach from. At 25k
    the plan of 20k still does, and at 30k eighteen windows are nearly busy all the time, which 20k says little about:
    in between there is something to look for and something to learn from.
    """

    SEEDS = (0, 1, 2)
    FIRST, SECOND, CHANGE = 20e3, 28e3, 6 * 3600.0

    @classmethod
    @cache
    def story(cls, seed: int, *rates: float) -> Story:
        query = workload("nexmark_q5")
        chosen = replace(query, slo=Slo(processing_latency="200 ms"), trace=steps(rates, cls.CHANGE, "step"))
        return simulated(chosen, "autrascale", {"policy_running_time": 900.0}, seed=seed)

    def run(self, seed: int) -> Story:
        return self.story(seed, self.FIRST, self.SECOND)

    @staticmethod
    def trials(cycles: Iterable[Cycle]) -> list[str]:
        """The phases of the search in which a new configuration was tried."""
        return [c.decision.figures["phase"] for c in cycles if c.decision.reason.code is ReasonCode.EXPLORE]

    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_first_rate_costs_the_whole_bootstrap_set_and_some_steps_of_search(self, seed: int) -> None:
        trials = self.trials(cycle for cycle in self.run(seed).cycles if cycle.t <= self.CHANGE)
        assert trials[:8] == ["bootstrap"] * 8
        assert set(trials[8:]) == {"bayesian optimisation"}

    @pytest.mark.parametrize("seed", SEEDS)
    def test_the_second_rate_begins_from_the_model_of_the_first(self, seed: int) -> None:
        later = self.run(seed).since(self.CHANGE + 60.0)
        transferred = next(c for c in later if c.decision.reason.code is ReasonCode.EXPLORE)

        assert transferred.decision.figures["phase"] == "transfer"
        assert transferred.decision.figures["source_rate"] == pytest.approx(self.FIRST)
        assert tuple(transferred.decision.figures["throughput_parallelism"].values()) == (1, 18)

    def test_what_was_learnt_saves_half_of_the_trials_of_a_search_from_nothing(self) -> None:
        taught = sum(len(self.trials(self.run(seed).since(self.CHANGE + 60.0))) for seed in self.SEEDS)
        untaught = sum(len(self.trials(self.story(seed, self.SECOND).cycles)) for seed in self.SEEDS)
        assert taught <= untaught / 2

    @pytest.mark.parametrize("seed", SEEDS)
    def test_both_rates_end_inside_the_target(self, seed: int) -> None:
        for t in (self.CHANGE, 2 * self.CHANGE):
            there = self.run(seed).at(t)
            assert there.decision.reason.code is ReasonCode.STEADY
            assert mean(there.samples[-1].processing_latency_ms) < 200.0
            assert there.decision.figures["score"] >= 0.9
