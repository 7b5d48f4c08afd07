"""A rank's own compute: processor time of the threads that call collectives.

Ranks that share a machine disturb each other's wall clock, and a rank that waits uses no processor.
So the time between two calls is what the calling thread used of a processor in between, without
what this package used itself. Left out: what other threads and processes compute meanwhile (loaders
of data, intra-op threads beside the calling one), and waiting for files.
"""

import threading
import time

WORDS = "processor time of the calling thread"


class ComputeClock:
    """Seconds since a thread's last event. A thread's first event counts from its beginning."""

    def __init__(self):
        self._threads = threading.local()

    def reset(self):
        """What the calling thread has used so far is no compute of the script's."""
        self._threads.mark = time.thread_time_ns()

    def lap(self):
        """Seconds since the calling thread's last reset()."""
        return (time.thread_time_ns() - getattr(self._threads, "mark", 0)) * 1e-9
