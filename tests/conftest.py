"""Settings of all tests: the same examples on every machine, and no failure for a slow one."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci")
