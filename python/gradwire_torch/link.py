"""The connection to the hub. Telling is one write; the hub never answers."""

import os
import socket
import sys
import threading

from gradwire_torch.messages import line


def _connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        raise RuntimeError(
            f"gradwire: no hub listens at {path} ({error.strerror}); "
            "start the script with `gradwire torch -- ...`"
        ) from None
    return connection


def watch(path):
    """Ends this process when the hub goes. Ranks that wait for each other before they have a
    process group would wait for ever: nobody else ends them then. Says nothing to the hub."""
    process = os.getpid()
    connection = _connect(path)

    def wait():
        try:
            while connection.recv(64):
                pass
        except ConnectionError:
            pass
        except OSError:  # the script has closed what is not its own
            return
        if os.getpid() == process:
            sys.stderr.write("gradwire: the hub is gone, so this process ends\n")
            sys.stderr.flush()
            os._exit(1)

    threading.Thread(target=wait, name="gradwire watch", daemon=True).start()


class Link:
    """One a process. If the hub goes away, the process ends: nobody would hear it."""

    def __init__(self, path):
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._socket = _connect(path)
        self._closing = False
        threading.Thread(target=self._watch, name="gradwire hub", daemon=True).start()

    def tell(self, message):
        """Of the process that connected; those that it forks tell nothing."""
        if os.getpid() != self._process or self._closing:
            return
        data = line(message)
        try:
            with self._lock:
                self._socket.sendall(data)
        except OSError:
            self._gone()

    def close(self):
        """Nothing more is told; the hub may go."""
        self._closing = True

    def _watch(self):
        try:
            while self._socket.recv(64):
                pass
        except OSError:
            pass
        if os.getpid() == self._process:
            self._gone()

    def _gone(self):
        if self._closing:
            return
        self._closing = True
        sys.stderr.write("gradwire: the hub is gone, so this rank ends\n")
        sys.stderr.flush()
        os._exit(1)
