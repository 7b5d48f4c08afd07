"""fake_ranks.py WORLD BEHAVIOUR: processes that tell the hub what ranks of a script would, without
PyTorch. Two all-reduces and a step each; one of them misbehaves."""

import os
import signal
import sys
import time

from gradwire_torch import link
from gradwire_torch import rank as ranks
from gradwire_torch.messages import ALIKE_VARIABLE, HUB_VARIABLE

world, behaviour = int(sys.argv[1]), sys.argv[2]


def all_reduce(rank, elements):
    fields = {"n": elements, "w": 4, "t": "float32", "o": "sum"}
    number = rank.call("0", "all-reduce", fields)
    rank.wait([number])
    rank.resume()


def broadcast(rank):
    number = rank.call("0", "broadcast", {"n": 16, "w": 4, "t": "float32", "p": 0})
    rank.wait([number])
    rank.resume()


def misbehave(rank):
    if behaviour == "order":
        broadcast(rank)
        time.sleep(60)
    elif behaviour == "size":
        all_reduce(rank, 17)
        time.sleep(60)
    elif behaviour == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "raises":
        raise ValueError("no such layer")
    elif behaviour == "hangs":
        time.sleep(60)
    elif behaviour == "stops":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif behaviour == "works":
        until = time.process_time() + 2.5
        while time.process_time() < until:
            pass
        all_reduce(rank, 16)
    elif behaviour == "leaves":
        sys.exit(0)
    elif behaviour in ("victim-dies", "victim-forks", "victim-leaves"):
        if behaviour == "victim-forks" and os.fork() == 0:
            time.sleep(60)  # holds the connection
        time.sleep(0.2)  # the others' exceptions come first
        if behaviour != "victim-leaves":
            os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "launcher":
        raise ValueError("no such layer")


def lose_peer(rank):
    """Fails as gloo does where another's end of a connection is closed; the process ends later."""
    all_reduce(rank, 16)
    rank.fail("RuntimeError: Connection closed by peer")
    rank.end()
    time.sleep(0.5)
    sys.exit(1)


def gather():
    """As a rank that imports PyTorch and waits for the others at a store."""
    link.watch(os.environ[HUB_VARIABLE])
    with open(sys.argv[3], "a") as file:
        file.write("ready\n")
    time.sleep(60)


def run(number):
    if behaviour == "gathering":
        gather()
    rank = ranks.this_rank(number, world)
    rank.group("0", list(range(world)))
    if behaviour == "pair":
        rank.group("1", [0, 1])
    if behaviour == "silent":
        return
    all_reduce(rank, 16)
    rank.step()
    if number == 1 and behaviour not in ("alike", "hub", "orphan"):
        misbehave(rank)
    elif number == 0 and behaviour.startswith("victim"):
        lose_peer(rank)
    else:
        all_reduce(rank, 16)
        waited = ("order", "size", "dies", "hangs", "stops", "leaves", "launcher")
        if number != 1 and behaviour in waited:
            time.sleep(60)
    if behaviour == "hub":
        time.sleep(60)


children = []
if behaviour != "none":
    for number in range(1 if os.environ.get(ALIKE_VARIABLE) else world):
        child = os.fork()
        if child == 0:
            run(number)
            sys.exit(0)
        children.append(child)
if behaviour == "orphan" and os.fork() == 0:
    os.setsid()
    with open(sys.argv[3], "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
    sys.exit(0)
if behaviour == "launcher":
    os.waitpid(children[1], 0)
    for child in (children[0], children[2]):
        os.kill(child, signal.SIGTERM)
    time.sleep(3)
    sys.exit(1)
failed = [child for child in children if os.waitpid(child, 0)[1] != 0]
sys.exit(1 if failed else 0)
