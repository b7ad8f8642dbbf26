"""Properties are tried on the same examples in every run, and nothing is written for the next."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fleet",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fleet")
