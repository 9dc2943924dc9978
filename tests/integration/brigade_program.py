"""Runs the built program as its users do: what the tests of this folder share.

Every test file is called with the path of the program: `kill_test.py build/release/bin/brigade`.
"""

import contextlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Generous: the machine may be busy, and nothing here measures speed.
SECONDS_MAX = 300  # where others use the machine, too
OTHER_TESTS = ("brigade_integration_", "brigade_test_")
PROGRAM = pathlib.Path("brigade")


def main():
    """unittest.main(), with the program's path as the first argument."""
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} PATH_OF_BRIGADE [TEST...]")
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(module="__main__", verbosity=2)


def sanitizer():
    """The sanitizer of this build, in which processes start slowly; nothing if there is
    none."""
    for name in ("asan", "tsan"):
        if f"__{name}_init".encode() in PROGRAM.read_bytes():
            return f"lib{name}"
    return None


def needs_address_space():
    """Why a limit on address space cannot be tested with this build; nothing if it can."""
    name = sanitizer()
    return f"{name} takes terabytes of address space" if name else None


def wait_until(condition, what):
    """Looks every 2 ms."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > SECONDS_MAX:
            raise AssertionError(f"after {SECONDS_MAX} s still not: {what}")
        time.sleep(0.002)


def _status(pid):
    """(parent, state) of a process, or nothing."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return int(fields[1]), fields[0]


def children(pid):
    """The processes whose parent is `pid`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            status = _status(entry)
            if status and status[0] == pid:
                found.append(int(entry))
    return found


def workers_of(pid):
    """name -> pid of the workers that have reached main()."""
    found = {}
    for child in children(pid):
        with contextlib.suppress(OSError):
            title = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0].decode()
            if title.startswith("brigade: "):
                found[title.removeprefix("brigade: ")] = child
    return found


def alive(pid):
    status = _status(pid)
    return status is not None and status[1] != "Z"


def stands_still(pid):
    """Whether SIGSTOP has reached it."""
    status = _status(pid)
    return status is not None and status[1] == "T"


def leftovers():
    """What a run might leave in the places where runs leave things. Other tests may run beside
    this one: their folders do not count."""
    return {f"{folder}/{name}" for folder in ("/dev/shm", "/tmp") if os.path.isdir(folder)
            for name in os.listdir(folder)
            if "brigade" in name.lower() and not name.startswith(OTHER_TESTS)}


class Finished:
    """A run that has ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def errors(self):
        return [line for line in self.err.splitlines() if line.startswith("brigade: error: ")]


class Running:
    """A resumed run."""

    def __init__(self, arguments, limits=(), environment=None, cwd=None, prepare=lambda: None):
        def prepare_all():
            prepare()
            # A shell that starts this in the background ignores them.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGQUIT, signal.SIG_DFL)
            for which, value in limits:
                resource.setrlimit(which, (value, value))

        self.process = subprocess.Popen(
            [str(PROGRAM), *map(str, arguments)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=prepare_all,
            env={**os.environ, **(environment or {})}, cwd=cwd)

    @property
    def pid(self):
        return self.process.pid

    def finish(self):
        try:
            out, err = self.process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            for child in children(self.pid):
                with contextlib.suppress(OSError):
                    os.kill(child, signal.SIGKILL)
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"the run hangs\n{out}\n{err}") from None
        return Finished(self.process.returncode, out, err)

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        """After a test that failed in the middle."""
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        self.process.wait()


class ProgramTest(unittest.TestCase):
    """Gives each test a folder, and checks afterwards that nothing was left behind."""

    def setUp(self):
        self.before = leftovers()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=OTHER_TESTS[0]))
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.processes = []
        self.runs = []

    def tearDown(self):
        for run in self.runs:
            run.end()
        if any(run.process.returncode == -signal.SIGKILL for run in self.runs):
            # The kernel takes a moment for what ends with a run that was killed.
            wait_until(lambda: not any(map(alive, self.processes)), "the end of all workers")
        for pid in self.processes:
            self.assertFalse(alive(pid), f"process {pid} is still there")
        temporary = sorted(os.listdir(self.temporary))
        shutil.rmtree(self.folder)
        self.assertEqual(temporary, [], "left behind in TMPDIR")
        self.assertEqual(leftovers() - self.before, set(), "left behind")

    def torch_module(self):
        """The file of the torch package; where this build has none, the test is skipped."""
        module = PROGRAM.parent.parent / "lib" / "brigade" / "brigade_torch.so"
        if not module.exists():
            self.skipTest(f"this build has no torch package: there is no {module}")
        return module

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def start(self, yaml, *arguments, **options):
        path = self.write("graph.yaml", yaml)
        environment = {"TMPDIR": str(self.temporary), **options.pop("environment", {})}
        options.setdefault("cwd", self.folder)
        self.runs.append(Running(["run", path, *arguments], environment=environment, **options))
        return self.runs[-1]

    def start_and_wait_for_workers(self, yaml, count, *arguments, **options):
        run = self.start(yaml, *arguments, **options)
        wait_until(lambda: len(workers_of(run.pid)) == count or run.process.poll() is not None,
                   f"{count} workers")
        self.assertIsNone(run.process.poll(), "the run ended early")
        self.processes += [run.pid, *workers_of(run.pid).values()]
        return run

    def leases(self, run):
        """Nothing while there are none to be seen."""
        return subprocess.run([str(PROGRAM), "leases", str(run.pid)], capture_output=True,
                              text=True, check=False).stdout

    def is_at_work(self, run):
        """Whether every replica has begun."""
        shown = self.leases(run)
        return shown != "" and "has not started" not in shown

    def consumed(self, run, stage):
        """How many samples, with the padding, have come out of this stage."""
        found = re.search(rf"(?m)^{stage} +\S+ +([\d,]+) ", self.leases(run))
        return int(found[1].replace(",", "")) if found else 0

    def has_consumed(self, run, stage):
        return self.consumed(run, stage) > 0

    def start_and_wait_for_samples(self, yaml, count, consumer, *arguments, **options):
        """Returns when this consumer has got some."""
        run = self.start_and_wait_for_workers(yaml, count, *arguments, **options)
        wait_until(lambda: self.has_consumed(run, consumer), "samples")
        return run

    def run_graph(self, yaml, *arguments, **options):
        return self.start(yaml, *arguments, **options).finish()

    def summary(self, yaml, *arguments, **options):
        """The summary of a run that must succeed."""
        path = self.folder / "summary.json"
        finished = self.run_graph(yaml, "--summary", path, "--quiet", *arguments, **options)
        self.assertEqual(finished.code, 0, finished.err)
        return json.loads(path.read_text())


def line(*, count=1000, epochs=1, ms=0.0, replicas=2, batch=0, restart="", more=""):
    """numbers -> slow (replicas) -> end, which counts. `restart`: of numbers and slow."""
    restart = f"restart: {restart}" if restart else ""
    return f"""
epochs: {epochs}
stages:
  numbers:
    producer: synthetic{chr(10) + "    " + restart if restart else ""}
    params: {{count: {count}, shape: [16], dtype: f32, fill: random}}
  slow:
    transform: delay
    from: numbers
    replicas: {replicas}
    params: {{ms: {ms}}}
    {restart}
    {f'batch: {batch}' if batch else ''}
  end: {{consumer: count, from: slow}}
{more}
"""


# numbers.0, slow.0, slow.1, end.0; a run that does not end by itself, and that a death ends.
ENDLESS = line(count=100_000, epochs=1000, ms=0.2, restart="never")
ENDLESS_WORKERS = 4
