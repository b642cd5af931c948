"""Settings of all of these tests."""

from hypothesis import settings

# A machine that does much else besides is slow, and not wrong.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
