#!/usr/bin/env python3
"""Runs an example as its README says, and compares what it prints with its expected.txt.

    pattern_test.py BUILD FOLDER [--program PROGRAM] [--kills STAGE] ...

The one in Python, or PROGRAM, which is that in C++. Workers of STAGE are killed meanwhile, in the
middle of their work, one after the other. Of the one in Python the README's picture is compared
with what `brigade graph` draws. Ends with 77, which is a test that was not run, where torch or
NumPy is not installed, or what is to start the ranks.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from example_test import SECONDS_MAX, matches

KILLS = 4  # fewer than the restarts that a replica may have


def slow(ms):
    """result_array lasts a second by 10 ms a hundred times, so that kills come in the middle."""
    return [f"stages.slow={{transform: delay, from: numbers, params: {{ms: {ms}, every: 100}}}}",
            "stages.work.from=slow"]


# Settings by which the programs that check themselves have to find something wrong: the controls.
WRONG = {
    "parallel_forward": ["stages.copied={transform: passthrough, from: images, batch: 50}",
                         "stages.second.from=copied"],
    "result_array": ["stages.numbers.params.count=9999"],
}


def session_of(program):
    """The pids in the session that the program has begun; what ends with it may take a moment."""
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = status.read_text().rpartition(") ")[2].split()[:4]
        except OSError:
            continue  # it has ended meanwhile
        if int(session) == program.pid and state != "Z":
            yield int(status.parent.name)


def workers(example, program, stage, at_work):
    """The pids of that stage's; at_work: of those that have begun, which takes torch a while."""
    leases = subprocess.run([example.brigade, "leases", str(program.pid)], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for pid, standing in re.findall(rf"(?m)^{stage}\.\d+ +([1-9]\d*) +(.*)$", leases):
        if not (at_work and standing.endswith("has not started")):
            yield int(pid)


def kill_some(example, program, stage, at_work, killed):
    while program.poll() is None and len(killed) < KILLS:
        time.sleep(0.05 if killed else 0.01)
        left = set(workers(example, program, stage, at_work)).difference(killed)
        for pid in sorted(left)[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)


class Example:
    def __init__(self, build, folder, program, arguments):
        self.folder, self.brigade = folder, build / "bin" / "brigade"
        self.command = [program] if program else [sys.executable, "-B", f"{folder.name}.py"]
        self.command += arguments
        self.environment = {**os.environ, "PYTHONPATH": str(build / "python"),
                            "BRIGADE_PYTHON": sys.executable}

    def start(self, *settings, by=(), **more):
        return subprocess.Popen([*by, *self.command, *settings], cwd=self.folder, text=True,
                                env={**self.environment, **more}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def end(self, program, code=0):
        try:
            out, err = program.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)  # its workers end with it
            raise
        if program.returncode != code:
            sys.exit(f"{self.folder.name} ended with {program.returncode}:\n{out}{err}")
        return out or err

    def check(self, printed):
        expected = (self.folder / "expected.txt").read_text()
        if not matches(expected, printed):
            sys.exit(f"{self.folder.name}: expected\n{expected}\nbut it printed\n{printed}")


def check_picture(example):
    """The README shows the graph as it is drawn now."""
    drawn = subprocess.run([example.brigade, "graph", f"{example.folder.name}.yaml"], text=True,
                           cwd=example.folder, env={"MODULE": "/module.pt", **example.environment},
                           check=True, stdout=subprocess.PIPE).stdout
    if f"```text\n{drawn.rstrip()}\n```" not in (example.folder / "README.md").read_text():
        sys.exit(f"{example.folder.name}: its README shows another graph than\n{drawn}")


def start_and_kill(example, settings, stage, at_work, killed):
    program = example.start(*settings)
    threading.Thread(target=kill_some, args=(example, program, stage, at_work, killed),
                     daemon=True).start()
    return program


def check_alone(example, stage, at_work):
    """What it printed."""
    killed = []
    settings = slow(10) if example.folder.name == "result_array" else []
    for _ in range(5):  # it may be over before a worker was killed
        program = (start_and_kill(example, settings, stage, at_work, killed) if stage else
                   example.start())
        printed = example.end(program)
        example.check(printed)
        if killed or not stage:
            break
    if stage and not killed:
        sys.exit(f"{example.folder.name}: it ended before a worker of {stage} was killed")
    print(f"{example.folder.name}: ok, {len(killed)} workers killed")
    return printed


def check_controls(example):
    """A program that checks itself finds what is wrong; without restarts a kill ends the run."""
    said = example.end(example.start(*WRONG[example.folder.name]), code=1)
    if "False" not in said:
        sys.exit(f"{example.folder.name} with {WRONG[example.folder.name]}: {said}")
    if example.folder.name == "result_array":
        held = [*slow(600_000), "stages.work.restart=never"]  # it lasts until the kill
        said = example.end(start_and_kill(example, held, "work", True, []), code=1)
        if "was killed by SIGKILL" not in said:
            sys.exit(f"a worker that is killed, and not started again: {said}")


def check_stale(example, printed):
    """Where all are played before the learner has seen any, the next that it sees is one update
    older each time, and it uses those of ages 0 to 100. The control: in small batches, of which few
    can wait, actors act with what it has learned, and it uses more."""
    def too_old(text):
        return int(re.match(r"4000 trajectories, (\d+) of them too old", text)[1])
    stale = too_old(example.end(example.start("stages.act.batch=4000")))
    if stale != 4000 - 101 or too_old(printed) >= stale:
        sys.exit(f"actors: {stale} too old, expected 3899; of small batches {too_old(printed)}")


def check_broken_module(example):
    """A TorchScript file that does not load is a line that names it, and nothing stays."""
    with tempfile.TemporaryDirectory(prefix="brigade_test_") as folder:
        broken = pathlib.Path(folder, "broken.pt")
        broken.write_text("no TorchScript\n")
        program = example.start(MODULE=str(broken), TMPDIR=folder)
        said = example.end(program, code=1).splitlines()
        # A program in Python has the run's line in its log, and as its exception.
        if not said or not all('"work"' in line and f"{broken} is not a TorchScript" in line
                               for line in said):
            sys.exit("a TorchScript file that does not load: " + "\n".join(said))
        left = [path.name for path in pathlib.Path(folder).iterdir() if path != broken]
        left += list(session_of(program))
        if left:
            sys.exit(f"a TorchScript file that does not load has left {left}")
    print(f"{example.folder.name}: ok, {said[0]}")


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def check_ranks(example, mpirun):
    """Two ranks learn what one process learns of twice the batch; one alone does not hang."""
    port = free_port()

    def rank(number, **more):  # as torchrun says it
        return example.start(MASTER_PORT=port, RANK=str(number), WORLD_SIZE="2", **more)

    printed = [example.end(example.start())]
    if mpirun:
        launch = ["mpirun", "-n", "2", "--oversubscribe", "--allow-run-as-root"]
        printed.append(example.end(example.start(by=launch, MASTER_PORT=port)))
    else:
        both = [rank(number) for number in (0, 1)]
        printed.append(example.end(both[0]))
        example.end(both[1])
    for one in printed:
        example.check(one)
    losses = [float(re.search(r"loss ([\d.]+)", one)[1]) for one in printed]
    if max(losses) - min(losses) > 1e-4:
        sys.exit(f"one process learns {losses[0]}, two ranks {losses[1:]}")
    if mpirun:
        print(f"{example.folder.name}: ok by mpirun, losses {losses}")
        return
    said = example.end(rank(0, RANK_TIMEOUT="2"), code=1)
    if "rank 0 of 2 waited 2 s for the others" not in said:
        sys.exit(f"a rank that never arrives: {said}")
    print(f"{example.folder.name}: ok, losses {losses}")


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--kills", metavar="STAGE")
    parser.add_argument("--python-kills", metavar="STAGE",
                        help="also before they have begun; in C++ it is over too soon")
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--mpirun", action="store_true")
    return parser.parse_args()


def main():
    given = read_arguments()
    source = (given.folder / f"{given.folder.name}.py").read_text()
    imported = "torch, numpy" if "import torch" in source else "numpy"
    has_them = given.program or subprocess.run(
        [sys.executable, "-c", f"import {imported}"], stderr=subprocess.DEVNULL,
        check=False).returncode == 0
    missing = (imported if not has_them else
               "mpirun (openmpi-bin)" if given.mpirun and not shutil.which("mpirun") else None)
    if missing:
        print(f"{missing} is not installed")
        sys.exit(77)
    example = Example(given.build.resolve(), given.folder.resolve(),
                      given.program and given.program.resolve(),
                      given.argument)
    if not given.program:
        check_picture(example)
    if given.folder.name == "data_parallel":
        check_ranks(example, given.mpirun)
    else:
        printed = check_alone(example, given.kills or (not given.program and given.python_kills),
                              at_work=bool(given.kills))
    if given.folder.name == "task_queue" and not given.argument:
        check_broken_module(example)
    if given.folder.name == "actors":
        check_stale(example, printed)
    if given.folder.name in WRONG and (given.program or given.folder.name == "result_array"):
        check_controls(example)  # torch takes a process in Python long to import


if __name__ == "__main__":
    main()
