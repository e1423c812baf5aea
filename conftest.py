"""What all tests share: the examples that hypothesis tries.

Examples are the same in every run, so that a red run is red for a reason; WIDEBERTH_EXPLORE=1
looks for new ones. The slow twins of `naive` need no deadline: whatever a test looks for, it is
not speed.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "wideberth",
    deadline=None,
    derandomize="WIDEBERTH_EXPLORE" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("wideberth")
