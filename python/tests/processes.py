"""The processes that a test's program has started: what the tests of its end look for."""

import os
import pathlib
import time

# The environment of a program of its own that imports this and the tests' data sets.
WITH_TESTS = {**os.environ, "PYTHONPATH": os.pathsep.join(
    [str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}


def children():
    """The ids of this process's children."""
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as listed:
                found += [int(pid) for pid in listed.read().split()]
        except FileNotFoundError:
            continue  # that thread has ended since it was listed
    return found


def name_of(pid):
    """As the kernel has it; none where the process has ended."""
    try:
        with open(f"/proc/{pid}/comm") as named:
            return named.read().strip()
    except OSError:
        return None


def left_of(pids, seconds):
    """Those of `pids` that still exist after at most `seconds`."""
    until = time.monotonic() + seconds
    while True:
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        if not left or time.monotonic() >= until:
            return left
        time.sleep(0.01)


def memory_of(pid):
    """A process's mappings of brigade.shared(): inode, and KiB by the names of smaps."""
    found = []
    with open(f"/proc/{pid}/smaps") as smaps:
        for line in smaps:
            words = line.split()
            if "-" in words[0]:
                is_shared = "brigade-shared" in line
                if is_shared:
                    found.append({"inode": int(words[4])})
            elif is_shared and words[-1] == "kB":
                found[-1][words[0].rstrip(":")] = int(words[1])
    return found
