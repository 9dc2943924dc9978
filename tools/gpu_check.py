#!/usr/bin/env python3
"""Runs all that needs a GPU, and what is compared with it, on this machine: one JSON of it.

    ./gpu_check [--json FILE] [--quick] [--only NAME...] [--seconds-max N]

`--only` runs those tests, benchmarks and runs that its words name, as the report does, with `*` and
`?`: `--only 'OnGpu*' 'floats_*'`; a word that names nothing is a failure. The report is written
anew with each result, so that one that is killed leaves what it had found.

Part of the bundle that `./dev package --cuda` makes. It needs python3 with PyPI's torch (or
BRIGADE_CUDA_TORCH, the folder of a LibTorch with CUDA) and nothing else; without a GPU the tests
that need one say so. Exit code 0: nothing has failed.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import gpu_runs
from gpu_runs import BUNDLE, SECONDS_MAX


PINS = "register_a_gib/pages_of_4_kib"


def find_torch():
    """The folder of a LibTorch with CUDA, or None and why."""
    named = os.environ.get("BRIGADE_CUDA_TORCH")
    if named:
        root = pathlib.Path(named)
    else:
        import importlib.util
        spec = importlib.util.find_spec("torch")
        if spec is None:
            return None, f"{sys.executable} has no package torch, BRIGADE_CUDA_TORCH is not set"
        root = pathlib.Path(spec.submodule_search_locations[0])
    if not (root / "lib" / "libtorch_cuda.so").exists():
        return None, f"{root} has no lib/libtorch_cuda.so: it is no LibTorch with CUDA"
    return root, None


def gpus():
    """What nvidia-smi says of each, or why there are none."""
    wanted = "name,driver_version,memory.total,pcie.link.gen.current,pcie.link.width.current"
    try:
        found = subprocess.run(["nvidia-smi", f"--query-gpu={wanted}", "--format=csv,noheader"],
                               capture_output=True, text=True, timeout=60)
    except OSError as error:
        return [], f"no GPU: nvidia-smi does not run ({error.strerror})"
    if found.returncode != 0:
        return [], f"no GPU: nvidia-smi: {(found.stdout + found.stderr).strip()[:200]}"
    return found.stdout.strip().splitlines(), None


def matches(name, words):
    return any(fnmatch.fnmatchcase(name, word) for word in words)


def bench_name(name):
    return re.sub(r"/(iterations:1|real_time|manual_time)\b", "", name)


class Check:
    def __init__(self, torch, no_gpu, arguments):
        self.no_gpu, self.quick, self.only = no_gpu, arguments.quick, arguments.only
        self.path, self.seconds_max = pathlib.Path(arguments.json).resolve(), arguments.seconds_max
        self.noted_at = time.monotonic()
        self.environment = dict(os.environ)
        self.report = {"tests": {}, "benchmarks": {}, "runs": {}}
        self.failed = []
        if torch:
            self.environment["BRIGADE_CUDA_TORCH"] = str(torch)
        folders = [str(BUNDLE / "lib")] + ([str(torch / "lib")] if torch else [])
        before = self.environment.get("LD_LIBRARY_PATH")
        self.environment["LD_LIBRARY_PATH"] = ":".join(folders + ([before] if before else []))

    def call(self, command, cwd, environment=()):
        words = [str(word) for word in command]
        try:
            return subprocess.run(words, cwd=cwd, text=True, capture_output=True,
                                  timeout=self.seconds_max,
                                  env={**self.environment, **dict(environment)})
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(
                words, 1, "", f"error: {words[0]} has not ended within {self.seconds_max} s")

    def wants(self, *names):
        """Whether one of them is to be run."""
        return not self.only or any(matches(name, self.only) for name in names)

    def note(self, kind, name, outcome, **more):
        """`outcome`: passed, failed or "skipped". Runs are noted with what they took."""
        now = time.monotonic()
        if kind == "runs":
            more["seconds"] = round(now - self.noted_at, 1)
        self.noted_at = now
        self.report[kind][name] = {"outcome": outcome, **more}
        why = more.get("why", "")
        print(f"{outcome:8} {name}{': ' if why else ''}{why}", flush=True)
        if outcome == "failed":
            self.failed.append(name)
        self.write()

    def write(self):
        self.report["failed"] = self.failed
        self.path.write_text(json.dumps(self.report, indent=2) + "\n")

    def note_words_of_nothing(self):
        """A word of --only that is none's name, or of what could not be tried, is no success."""
        noted = [name for kind in ("tests", "benchmarks", "runs") for name in self.report[kind]]
        for word in self.only:
            if not any(fnmatch.fnmatchcase(name, word) for name in noted):
                self.note("runs", word, "failed", why="nothing that was tried has this name")

    def tests(self, folder):
        named = [f"--gtest_filter={':'.join(self.only)}"] if self.only else []
        for program in sorted(path for path in (BUNDLE / "tests").iterdir() if path.is_file()):
            output = folder / "tests.json"
            output.unlink(missing_ok=True)
            done = self.call([program, f"--gtest_output=json:{output}", *named], folder,
                             {"BRIGADE_FAKE_CUDA": str(BUNDLE / "tests" / "fake_cuda")})
            if not output.exists():
                self.note("tests", program.name, "failed", why=(done.stdout + done.stderr)[-500:])
                continue
            for suite in json.loads(output.read_text())["testsuites"]:
                for case in suite["testsuite"]:
                    said = case.get("failures", case.get("skipped", [{}]))[0]
                    text = said.get("failure", said.get("message", "")).strip().splitlines()
                    outcome = ("failed" if "failures" in case else
                               "skipped" if case.get("result") == "SKIPPED" else "passed")
                    if outcome == "skipped" and not self.no_gpu and "no GPU" in "".join(text):
                        outcome = "failed"  # there is one
                    self.note("tests", f"{suite['name']}.{case['name']}", outcome,
                              **({"why": text[-1]} if text else {}))

    def benchmarks(self, folder):
        for program in sorted((BUNDLE / "bench").iterdir()):
            more = ["--benchmark_min_time=0.05"] if self.quick else []
            if self.only:
                there = self.call([program, "--benchmark_list_tests"], folder).stdout.split()
                named = [name for name in there if self.wants(bench_name(name)) or
                         (bench_name(name) == PINS and self.wants("while_another_pins"))]
                if not named:
                    continue
                more.append("--benchmark_filter=" + "|".join(f"^{name}$" for name in named))
            done = self.call([program, "--benchmark_format=json", *more], folder)
            try:
                figures = json.loads(done.stdout)["benchmarks"]
            except (ValueError, KeyError):
                self.note("benchmarks", program.name, "failed", why=done.stderr[-500:])
                continue
            for one in figures:
                name = bench_name(one["name"])
                if one.get("error_occurred"):
                    may_be = self.no_gpu or "huge pages" in one["error_message"]
                    self.note("benchmarks", name, "skipped" if may_be else "failed",
                              why=one["error_message"])
                else:
                    speed, took = one.get("bytes_per_second"), one["real_time"]
                    self.note("benchmarks", name, "passed", bytes_per_second=speed, real_time=took,
                              why=f"{speed / 1e9:.2f} GB/s" if speed else
                              f"{took:,.0f} {one['time_unit']}")

        registered, pinned = (
            self.report["benchmarks"].get(f"copy_from_{kind}", {}).get("bytes_per_second")
            for kind in ("registered", "pinned"))
        if registered and pinned:
            self.note("benchmarks", "registered_of_pinned", "passed", ratio=registered / pinned,
                      why=f"{registered / pinned:.3f}; 0.95 is what is wanted")

    # --- Python's Loader on the device ------------------------------------------------------------

    def why_no_package(self, folder):
        """Empty: python3 imports torch and brigade."""
        done = self.call([sys.executable, "-B", "-c", "import torch, brigade"], folder,
                         self.feed_environment())
        return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]

    def feed_command(self, what, no_gpu, *more):
        device = ["--device", "host", "--small"] if no_gpu else ["--device", "cuda:0"]
        return [sys.executable, "-B", BUNDLE / "gpu_feed", what, *device, *more]

    def feed_environment(self, poison=False):
        path = [str(BUNDLE / "python"), *os.environ.get("PYTHONPATH", "").split(":")]
        return {"PYTHONPATH": ":".join(filter(None, path)), "BRIGADE_POISON": str(int(poison)),
                "BRIGADE_HOST_DEVICE": "delay_us=2000"}

    def feed(self, folder, no_gpu, way):
        """Samples per second, or None: it is told."""
        steps = "3" if no_gpu else "20" if self.quick else "200"
        done = self.call(self.feed_command("step", no_gpu, "--way", way, "--steps", steps), folder,
                         self.feed_environment())
        if done.returncode == 0 and "copies from pageable memory" not in done.stderr:
            return json.loads(done.stdout)["samples_per_second"]
        self.note("runs", f"feed_{way}", "failed", why=done.stderr.strip().splitlines()[-1])
        return None

    def feeds(self, folder, no_gpu):
        """Batches by Brigade and by torch's DataLoader, beside one that is there already."""
        cached = self.feed(folder, no_gpu, "cached")
        for way in ("brigade", "data_loader"):
            if not self.wants(f"feed_{way}"):
                continue
            speed = self.feed(folder, no_gpu, way)
            if cached is None or speed is None:
                continue
            if no_gpu:
                self.note("runs", f"feed_{way}", "passed", why="that it runs; no figure")
            else:
                self.note("runs", f"feed_{way}", "passed", samples_per_second=speed,
                          of_cached=speed / cached,
                          why=f"{speed:,.0f} samples/s, {speed / cached:.3f} of a cached batch's")

    def registering(self, folder, no_gpu):
        """What a process that pins memory costs another that trains."""
        pinned = self.report["benchmarks"].get(PINS, {})
        if not no_gpu and pinned.get("outcome") != "passed":
            self.note("runs", "while_another_pins", "failed", why="nothing could be pinned")
            return
        alone = self.feed(folder, no_gpu, "brigade")
        pins = subprocess.Popen(
            ["sh", "-c", "while :; do \"$0\" --benchmark_filter=register_ >/dev/null 2>&1; done",
             str(BUNDLE / "bench" / "gpu")], env=self.environment, start_new_session=True)
        try:
            beside = self.feed(folder, no_gpu, "brigade")
        finally:
            os.killpg(pins.pid, signal.SIGKILL)
            pins.wait()
        if alone is None or beside is None:
            return
        if no_gpu:
            self.note("runs", "while_another_pins", "skipped", why=no_gpu)
        else:
            self.note("runs", "while_another_pins", "passed", of_alone=beside / alone,
                      why=f"{beside / alone:.3f} of its speed alone")

    def compare(self, folder, no_gpu):
        """What arrives is what was sent, to the byte, with memory poisoned as it comes back."""
        done = self.call(self.feed_command("compare", no_gpu), folder,
                         self.feed_environment(poison=True))
        if done.returncode != 0:
            self.note("runs", "what_arrives", "failed", why=done.stderr.strip().splitlines()[-1])
            return
        found = json.loads(done.stdout)
        self.note("runs", "what_arrives", "failed" if found["wrong"] else "passed", **found,
                  why=f"{found['wrong']} of {found['batches']} batches differ")

    def kills(self, folder, no_gpu):
        """A process that copies is killed, again and again; nothing of it is left."""
        times, mark = 3 if no_gpu or self.quick else 100, f"gpu_check_{os.getpid()}"
        at_once = 1 if no_gpu else min(8, max(1, (os.cpu_count() or 1) // 2))
        before = files_of_runs()
        for begin in range(0, times, at_once):
            copies = [subprocess.Popen(
                [str(word) for word in self.feed_command("copy", no_gpu)], cwd=folder, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env={**self.environment, **self.feed_environment(poison=True),
                     "GPU_CHECK_MARK": mark}) for _ in range(begin, min(begin + at_once, times))]
            begun = all([one.stdout.readline() == "copying\n" for one in copies])
            memory = set().union(*map(shared_memory_of, marked(mark)))
            time.sleep(random.random() * 0.05)
            for one in copies:
                one.kill()
            said = "".join([one.communicate()[1] for one in copies])
            if not begun:
                self.note("runs", "killed_while_it_copies", "failed", why=said[-300:])
                return
            if not none_is_left(mark):
                self.note("runs", "killed_while_it_copies", "failed",
                          why=f"processes of run {begin} are left after a minute")
                return
            holders = holders_of(memory)
            files = files_of_runs() - before
            if not memory or holders or files:
                self.note("runs", "killed_while_it_copies", "failed",
                          why=f"run {begin} had {len(memory)} blocks of shared memory; processes "
                          f"that still have some: {holders}; files that are left: {sorted(files)}")
                return
        if self.feed(folder, no_gpu, "brigade") is not None:
            self.note("runs", "killed_while_it_copies", "passed",
                      why=f"{times} times; the next one trains")


def marked(mark):
    """The folders in /proc of processes with the mark in their environment."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append(folder)
        except OSError:  # another user's, or it has ended
            pass
    return found


def none_is_left(mark):
    """Whether all processes with the mark end, within a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if not marked(mark):
            return True
        time.sleep(0.05)
    return False


def shared_memory_of(process):
    """Device and inode of what it has mapped, or open, of memfds and /dev/shm."""
    found = set()
    try:
        for line in (process / "maps").read_text().splitlines():
            words = line.split(maxsplit=5)
            if len(words) > 5 and words[5].startswith(("/memfd:", "/dev/shm/")):
                found.add((words[3], int(words[4])))
        for link in (process / "fd").iterdir():
            if os.readlink(link).startswith(("/memfd:", "/dev/shm/")):
                one = link.stat()
                found.add((f"{os.major(one.st_dev):02x}:{os.minor(one.st_dev):02x}", one.st_ino))
    except OSError:  # another user's, or it has ended
        pass
    return found


def holders_of(memory):
    """Processes, whosever they are, that have some of it."""
    return [int(process.name) for process in pathlib.Path("/proc").glob("[0-9]*")
            if shared_memory_of(process) & memory]


def files_of_runs():
    return {path for folder in ("/dev/shm", tempfile.gettempdir()) if os.path.isdir(folder)
            for path in pathlib.Path(folder).iterdir() if "brigade" in path.name.lower()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", default="gpu_check.json", metavar="FILE", help="the report")
    parser.add_argument("--quick", action="store_true", help="short benchmarks")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these, by name")
    parser.add_argument("--seconds-max", type=int, default=SECONDS_MAX, metavar="N",
                        help="what takes longer has failed")
    arguments = parser.parse_args()
    torch, no_torch = find_torch()
    found, no_gpu = gpus()
    check = Check(torch, no_gpu, arguments)
    for line in found or [no_gpu]:
        print(line)
    check.report |= {"gpus": found, "no_gpu": no_gpu, "torch": str(torch or no_torch),
                     "machine": {"system": platform.platform(), "cores": os.cpu_count()}}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        version = check.call([BUNDLE / "brigade", "--version"], folder)
        check.report["brigade"] = (version.stdout + version.stderr).strip()
        check.report["doctor"] = check.call([BUNDLE / "brigade", "doctor"], folder).stdout
        check.tests(folder)
        check.benchmarks(folder)
        gpu_runs.edges(check, folder, no_gpu)
        gpu_runs.floats(check, folder, no_gpu)
        if torch is None:
            check.note("runs", "torch_classifier", "skipped", why=no_torch)
        else:
            gpu_runs.learn(check, folder, no_gpu)
            gpu_runs.ranks(check, folder, len(found), no_gpu)
            gpu_runs.step(check, folder, no_gpu)
        of_python = [(names, call) for names, call in (
            (("what_arrives",), check.compare),
            (("feed_brigade", "feed_data_loader"), check.feeds),
            (("while_another_pins",), check.registering),
            (("killed_while_it_copies",), check.kills)) if check.wants(*names)]
        no_package = of_python and check.why_no_package(folder)
        for names, call in of_python:
            if no_package:
                for name in filter(check.wants, names):
                    check.note("runs", name, "skipped", why=no_package)
            else:
                call(folder, no_gpu)
    check.note_words_of_nothing()
    check.write()
    print(f"{arguments.json}: {len(check.failed)} failed"
          f"{': ' + ', '.join(check.failed) if check.failed else ''}")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
