"""CPU that a blocked graph uses: the consumer sleeps in its call, everybody else waits for it."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

GRAPH = """
brigade: 1
stages:
  source: {producer: synthetic, params: {count: 100000, shape: [256]}, replicas: 2}
  middle: {transform: passthrough, from: source, replicas: 2}
  end: {consumer: count, from: middle, params: {sleep_ms: 60000}}
"""


def cpu_seconds(pid: int) -> float:
    """User and system time of one live process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list:
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [pid] + [int(child) for child in children]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += [int(child) for child in (task / "children").read_text().split()]
    return sorted(set(found))


def run(context):
    seconds = 1 if context.smoke else 10
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder) / "graph.yaml"
        graph.write_text(GRAPH)
        process = subprocess.Popen([str(context.brigade), "run", str(graph), "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(1.5)
            pids = tree(process.pid)
            before = {pid: cpu_seconds(pid) for pid in pids}
            time.sleep(seconds)
            used = sum(cpu_seconds(pid) - before[pid] for pid in pids)
        finally:
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)
    return {"processes": len(pids), "watched_seconds": seconds, "cpu_seconds_of_all": used,
            "cpu_share_of_all": used / seconds, "target_cpu_share": 0.0}
