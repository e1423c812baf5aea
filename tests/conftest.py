"""Makes ``import naive`` work: pytest puts the folder of this file on the path.

The slow twins of `naive` need no deadline; whatever a test looks for, it is not speed.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "wideberth", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("wideberth")
