"""Runs tests against a build with mutants (tools/mutants.py): each alone, as CTest would."""

import concurrent.futures
import dataclasses
import functools
import json
import os
import re
import signal
import subprocess
import tempfile
import time

SECONDS_MIN = 30     # a test that takes ten times as long as without a mutant hangs: at least this
TIMES_LONGER = 10
UNMUTATED_MAX = 900
NUMBERS_MAX = 4096    # bytes of the file in which switches are marked
SKIPPED = 77
# A mutant may write where it should refuse to, and root may replace a device by a file: its tests
# see /dev as it is, but cannot change which devices there are.
_DEVICES_STAY = ["unshare", "--mount", "sh", "-c", "mount --rbind /dev /dev && "
                 "mount -o remount,bind,ro /dev && exec \"$@\"", "sh"]
# Not about what the program does: the repository's text, pages, and examples built anew.
_LEFT_OUT = re.compile(r"style|docs\.|example\.|heavy_libraries")
_LAST = ("integration", "python")  # of the shipped program; conformance before them


@functools.cache
def guard():
    """What root puts in front of a test; nothing where a mount namespace is not allowed."""
    if os.geteuid() != 0:
        return ()
    if subprocess.run([*_DEVICES_STAY, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        print("mutants run as root, with nothing between them and /dev")
        return ()
    return _DEVICES_STAY


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    folder: str
    seconds: float = 0.0       # without a mutant
    met: tuple = ()            # switches that it reaches; none: it is not used

    @property
    def room(self):
        return self.name.split(".", 1)[0]

    @property
    def limit(self):
        return max(SECONDS_MIN, TIMES_LONGER * self.seconds)

    def run(self, number=0, met=None, limit=None):
        """How it ended: passed, skipped, failed or hung; and its seconds."""
        environment = {**os.environ, **self.environment}
        environment.pop("BRIGADE_MUTANT", None)
        if number:
            environment["BRIGADE_MUTANT"] = str(number)
        if met:
            environment["BRIGADE_MUTANTS_MET"] = met
        begin = time.monotonic()
        child = subprocess.Popen([*guard(), *self.command], cwd=self.folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            status = child.wait(limit or self.limit)
        except subprocess.TimeoutExpired:
            status = None
        try:  # also what it left behind
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        seconds = time.monotonic() - begin
        if status is None:
            return "hung", seconds
        return {0: "passed", SKIPPED: "skipped"}.get(status, "failed"), seconds


def nearest_binaries(root, build):
    """Folder of the sources -> names of the test binaries made of files of its mirror."""
    found = {}
    with open(build / "compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        binary = re.search(r"-o (?:\S*/)?CMakeFiles/(\w+)_test\.dir/", entry["command"])
        if binary:
            sources = [entry["file"]]
            if "/Unity/" in entry["file"]:  # several, compiled as one
                with open(entry["file"], encoding="utf-8") as unity:
                    sources = re.findall(r'#include "([^"]+)"', unity.read())
            for source in sources:
                folder = os.path.relpath(os.path.dirname(source), root / "tests")
                found.setdefault(folder, set()).add(binary.group(1))
    return found


def near(folders, file):
    """The binaries of a file's folder, or of the closest one above that has some."""
    folder = os.path.dirname(file)
    while folder and folder not in folders:
        folder = os.path.dirname(folder)
    return folders.get(folder, set())


class Tests:
    def __init__(self, root, build, jobs):
        self._build, self._jobs = build, jobs
        self._folders = nearest_binaries(root, build)
        listed = json.loads(subprocess.run(
            ["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True,
            check=True).stdout)["tests"]
        self._tests = [test for test in map(self._of_ctest, listed) if test]
        self._record = {}  # what is known of each test without mutants, kept beside the result

    @staticmethod
    def _of_ctest(entry):
        facts = {fact["name"]: fact["value"] for fact in entry.get("properties", ())}
        labels = set(facts.get("LABELS", ()))
        if (_LEFT_OUT.match(entry["name"]) or facts.get("DISABLED") or "command" not in entry
                or labels & {"chaos", "gpu"}):
            return None
        environment = dict(word.split("=", 1) for word in facts.get("ENVIRONMENT", ()))
        return Test(entry["name"], entry["command"], environment, facts["WORKING_DIRECTORY"])

    def _first(self, test):
        """Without a mutant: its seconds and what it reaches. One that fails does so twice."""
        for _ in range(2):
            with tempfile.NamedTemporaryFile(prefix="mutants_met_") as file:
                file.truncate(NUMBERS_MAX)
                ended, seconds = test.run(met=file.name, limit=UNMUTATED_MAX)
                file.seek(0)
                met = [number for number, byte in enumerate(file.read()) if byte]
            if ended in ("passed", "skipped"):
                return {"ended": ended, "seconds": round(seconds, 2), "met": met}
        return {"ended": ended, "seconds": round(seconds, 2), "met": []}

    def _know(self, tests, result):
        """Runs each of them once without a mutant, unless an earlier call did."""
        place = result.with_suffix(".tests.json")
        if not self._record and place.exists():
            self._record = json.loads(place.read_text(encoding="utf-8"))
        new = [test for test in tests if test.name not in self._record]
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as several:
            for done, (test, facts) in enumerate(zip(new, several.map(self._first, new)), 1):
                self._record[test.name] = facts
                if facts["ended"] not in ("passed", "skipped"):
                    print(f"{facts['ended']} without a mutant, not used: {test.name}", flush=True)
                if done % 200 == 0 or done == len(new):
                    place.write_text(json.dumps(self._record), encoding="utf-8")
                    print(f"{done} of {len(new)} tests without a mutant", flush=True)
        for test in tests:
            test.seconds = self._record[test.name]["seconds"]
            test.met = tuple(self._record[test.name]["met"])

    def run(self, result, only, only_near=False):
        """Fills the rows of a result: the nearest tests for all mutants, then the wider ones."""
        rows = json.loads(result.read_text(encoding="utf-8"))["mutants"]
        for row in rows:
            if only is None or row["number"] in only:
                for key in ("status", "killed_by", "ended", "seconds", "tests"):
                    row.pop(key, None)
        rings = {"near": lambda test, row: test.room in near(self._folders, row["file"]),
                 "binaries": lambda test, row: test.room not in ("conformance", "chaos", *_LAST),
                 "conformance": lambda test, row: test.room in ("conformance", "chaos"),
                 "programs": lambda test, row: test.room in _LAST}
        tried = {row["number"]: set() for row in rows}
        for name, fits in list(rings.items())[:1 if only_near else None]:
            open_ = [row for row in rows if row.get("status") in (None, "alive")
                     and (only is None or row["number"] in only)]
            self._know([test for test in self._tests
                        if any(fits(test, row) for row in open_)], result)
            for row in open_:
                tests = [test for test in self._tests if row["number"] in test.met
                         and fits(test, row) and test.name not in tried[row["number"]]]
                tried[row["number"]].update(test.name for test in tests)
                self._try(row, tests, name)
                result.write_text(json.dumps({"mutants": rows}, indent=1), encoding="utf-8")
        for row in rows:
            if row.get("status") == "alive":
                row["status"] = ("not near" if only_near else "survived" if row["tests"]
                                 else "survived: no test reaches it")
        result.write_text(json.dumps({"mutants": rows}, indent=1), encoding="utf-8")

    def _try(self, row, tests, ring):
        begin = time.monotonic()
        row.setdefault("status", "alive")
        row.setdefault("tests", 0)
        for test in sorted(tests, key=lambda test: test.seconds):
            row["tests"] += 1
            ended, _ = test.run(row["number"])
            # What fails without the mutant, too, shows nothing.
            if ended in ("failed", "hung") and test.run()[0] == "passed":
                row.update(status="killed", killed_by=test.name, ended=ended)
                break
        row["seconds"] = round(row.get("seconds", 0) + time.monotonic() - begin, 1)
        print(f"{row['number']} {row['file']}:{row['line']} {ring}: "
              f"{row.get('killed_by', row['status'])} ({row['tests']} tests)", flush=True)
