import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> bool:
    """Wait for a condition, not for a time; False if it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
