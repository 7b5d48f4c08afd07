"""This process as a rank: numbers its calls and tells the hub what happens, in order."""

import atexit
import os
import sys
import threading

from gradwire_torch.clock import WORDS, ComputeClock
from gradwire_torch.link import Link
from gradwire_torch.messages import ALIKE_VARIABLE, HUB_VARIABLE, VERSION
from gradwire_torch.speed import flops_per_second

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _place():
    """File and line of the script's code that calls, without PyTorch's and our own frames."""
    frame = sys._getframe(2)
    torch_folder = _torch_folder()
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OWN_FOLDER, torch_folder, "<")):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _torch_folder():
    return os.path.dirname(os.path.abspath(sys.modules["torch"].__file__)) + os.sep


class Rank:
    """What one process tells. Thread-safe: backward passes may call from threads of their own."""

    def __init__(self, hub, rank, world, torch_version, speed=None):
        self.rank = rank
        self.world = world
        self._link = Link(hub)
        self._clock = ComputeClock()
        self._lock = threading.RLock()
        self._calls = 0
        self._names = {}
        self._failure = ""
        hello = {
            "e": "hello",
            "r": rank,
            "world": world,
            "version": VERSION,
            "torch": torch_version,
            "clock": WORDS,
            "alike": bool(int(os.environ.get(ALIKE_VARIABLE, 0))),
        }
        if speed is not None:
            hello["flops_per_s"] = speed
        self._link.tell(hello)
        self._clock.reset()

    def group(self, name, ranks):
        """Name of a new process group; one that PyTorch names again gets another name."""
        with self._lock:
            uses = self._names[name] = self._names.get(name, 0) + 1
            own = name if uses == 1 else f"{name}#{uses}"
            self._link.tell({"e": "group", "r": self.rank, "g": own, "ranks": ranks})
            return own

    def call(self, group, kind, fields):
        """Tells of a call before it is made; gives its number."""
        with self._lock:
            compute = self._clock.lap()
            self._calls += 1
            number = self._calls
            message = {"e": "call", "r": self.rank, "s": compute, "c": number, "g": group, "k": kind}
            message.update(fields)
            place = _place()
            if place:
                message["at"] = place
            self._link.tell(message)
        self._clock.reset()
        return number

    def wait(self, numbers):
        """Tells that the calling thread waits for these calls; resume() follows."""
        with self._lock:
            self._link.tell({"e": "wait", "r": self.rank, "s": self._clock.lap(), "c": numbers})
        self._clock.reset()

    def resume(self):
        """The calling thread computes again: what it used meanwhile was not the script's."""
        self._clock.reset()

    def step(self):
        """A step of the script ends."""
        with self._lock:
            self._link.tell({"e": "step", "r": self.rank, "s": self._clock.lap()})
        self._clock.reset()

    def fail(self, text):
        """The script ends by an exception."""
        self._failure = text

    def end(self):
        """The script is through; nothing follows."""
        message = {"e": "end", "r": self.rank, "s": self._clock.lap()}
        if self._failure:
            message["failure"] = self._failure
        self._link.tell(message)
        self._link.close()


_rank = None
_rank_process = 0


def _hook_exceptions():
    previous = sys.excepthook

    def hook(kind, value, trace):
        if _rank is not None and os.getpid() == _rank_process:
            text = f"{kind.__name__}: {value}".splitlines()
            _rank.fail(text[0][:1000] if text else kind.__name__)
        previous(kind, value, trace)

    sys.excepthook = hook


def _end():
    if _rank is not None and os.getpid() == _rank_process:
        _rank.end()


def this_rank(rank=None, world=None):
    """The process's rank; made when its first process group is, with that group's numbers."""
    global _rank, _rank_process
    if _rank is None or _rank_process != os.getpid():
        if rank is None:
            return None
        import torch

        speed = flops_per_second(torch)
        _rank = Rank(os.environ[HUB_VARIABLE], rank, world, str(torch.__version__), speed)
        _rank_process = os.getpid()
        _hook_exceptions()
        atexit.register(_end)
    return _rank


def step():
    """A step ends here. For scripts whose optimiser is none of torch.optim's; others need not say
    so. Does nothing outside `gradwire torch`, and before the first process group."""
    rank = this_rank()
    if rank is not None:
        rank.step()
