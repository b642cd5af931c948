"""Settings of all of these tests."""

from hypothesis import HealthCheck, settings

# A machine that does much else besides is slow, and not wrong.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
