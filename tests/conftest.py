"""The same examples on every run, and no bound on the wall clock: a slow machine fails nothing."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "penstock", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("penstock")
