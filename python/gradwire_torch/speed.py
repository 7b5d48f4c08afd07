"""How fast a thread of this machine multiplies matrices, as this PyTorch makes it do.

With it, recorded processor times become those of a device whose own rate is known
(`gradwire torch --compute profile=DEVICE`).
"""

import os
import select
import signal
import time
import warnings

_SIZE = 512  # rows and columns: 3 MB in all, of the order of a second-level cache
_LEAST = 3  # products
_TIME = 0.05  # seconds in which more are tried
_PATIENCE = 5.0  # seconds that a measurement may take on a machine that others use


def _measured(torch):
    """Floating-point operations a second of processor time: of the fastest of several products."""
    torch.set_num_threads(1)
    left = torch.ones(_SIZE, _SIZE, dtype=torch.float32, device="cpu")
    product = torch.empty_like(left)
    if type(product) is not torch.Tensor:
        raise TypeError("the script's tensors are others than PyTorch's: nothing is computed")
    times = []
    with torch.no_grad():
        torch.mm(left, left, out=product)  # the first one sets up
        until = time.monotonic() + _TIME
        while len(times) < _LEAST or time.monotonic() < until:
            start = time.thread_time_ns()
            torch.mm(left, left, out=product)
            times.append(time.thread_time_ns() - start)
    return 2 * _SIZE**3 / (min(times) * 1e-9)


def _fork():
    with warnings.catch_warnings():  # that other threads are not copied; none is needed
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def flops_per_second(torch):
    """Of fp32 products by one thread; None: it could not be measured.

    A copy of this process measures, so that nothing here changes: no numbers of threads, no random
    state, no memory, and no time that counts as the script's.
    """
    reading, writing = os.pipe()
    try:
        child = _fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        try:
            os.write(writing, repr(_measured(torch)).encode())
        finally:
            os._exit(0)
    os.close(writing)
    return _answer(child, reading)


def _answer(child, reading):
    poll = select.poll()
    poll.register(reading, select.POLLIN | select.POLLHUP)
    ready = poll.poll(1000 * _PATIENCE)
    text = os.read(reading, 64) if ready else b""
    os.close(reading)
    if not ready:
        os.kill(child, signal.SIGKILL)
    try:
        os.waitpid(child, 0)
    except ChildProcessError:  # the script has its children reaped
        pass
    return float(text) if text else None
