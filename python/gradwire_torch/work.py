"""What a collective returns: the inner backend's work, which tells when it is waited for."""

import threading

import torch
import torch.distributed as dist

_waiting = threading.local()


def _in_backward():
    return torch._C._current_graph_task_id() != -1


def _wait_at_end_of_backward(rank, number):
    """DistributedDataParallel waits for its buckets' futures in C++ at the end of the backward
    pass, where nobody sees it. Autograd runs our callback just before that."""
    numbers = getattr(_waiting, "numbers", None)
    if numbers is not None:
        numbers.append(number)
        return
    _waiting.numbers = [number]

    def flush():
        pending = _waiting.numbers
        _waiting.numbers = None
        rank.wait(pending)

    torch.autograd.Variable._execution_engine.queue_callback(flush)


class RecordedWork(dist.Work):
    """Waits like the work that it holds, and says so."""

    def __init__(self, inner, rank, number):
        super().__init__()
        self._inner = inner
        self._rank = rank
        self._number = number
        self._told = False

    def _tell(self):
        if not self._told:
            self._told = True
            self._rank.wait([self._number])

    def wait(self, *arguments, **options):
        self._tell()
        try:
            return self._inner.wait(*arguments, **options)
        finally:
            self._rank.resume()

    def synchronize(self):
        self.wait()

    def get_future(self):
        """Its wait is not seen where C++ waits. In a backward pass it counts as waited for at the
        pass's end, elsewhere at once."""
        if not self._told:
            self._told = True
            if _in_backward():
                _wait_at_end_of_backward(self._rank, self._number)
            else:
                self._rank.wait([self._number])
        return self._inner.get_future()

    def is_completed(self):
        return self._inner.is_completed()

    def is_success(self):
        return self._inner.is_success()

    def exception(self):
        return self._inner.exception()

    def result(self):
        return self._inner.result()

    def source_rank(self):
        return self._inner.source_rank()

    def _source_rank(self):
        return self._inner._source_rank()
