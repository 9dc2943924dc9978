#!/usr/bin/env python3
"""Changes shipped C++ in many places, one at a time: which test notices (CONTRIBUTING.md)?

    tools/mutants.py [make] [build] [test] [--tree FOLDER] [--seed N] [--count N] [--json FILE]
                     [--again FILE] [--only N,N...] [--near] [--jobs N]

make: copies this tree to FOLDER (build/mutants), and writes the mutants into the copy, each behind
a switch: BRIGADE_MUTANT=17 in the environment turns on the seventeenth. build: builds the copy,
once for all of them. test: runs every test without a mutant, which says how long it takes and which
switches it reaches; then for each mutant the tests that reach it, nearest first, to the first that
fails. Without a step: all three.

--again takes the mutants of an earlier result instead of the seed's, to compare two sets of tests.
--only tests some again, and keeps what the result says of the others. --near runs no tests but
those of the folder that mirrors the mutant's, a first look of minutes. What is known of the tests
without a mutant is kept beside the result (FILE.tests.json) until the next build.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys

import mutant_sites
from mutant_sites import CLASSES, Change
from mutant_tests import Tests

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = ("base", "device", "transports", "stages", "pipeline", "python/src")
LEFT_OUT = ("stages/torch/",)  # the copy is built without LibTorch
NOT_COPIED = {"build", ".git", "__pycache__", "shared", ".cache"}
DRAWS_MAX = 100_000


def shipped(root):
    for room in ROOMS:
        for file in sorted((root / room).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in (".cpp", ".h", ".c") and not path.startswith(LEFT_OUT):
                yield path


def drawn(root, seed):
    """(path, change) for a wanted class, without end: files by their lines."""
    texts = {path: (root / path).read_text(encoding="utf-8") for path in shipped(root)}
    changes = {path: mutant_sites.changes(text) for path, text in texts.items()}
    files = [path for path in texts if changes[path]]
    lines = [texts[path].count("\n") for path in files]
    chance = random.Random(seed)
    wanted = yield
    for _ in range(DRAWS_MAX):
        path = chance.choices(files, lines)[0]
        if fitting := [change for change in changes[path] if change.kind == wanted]:
            wanted = yield path, chance.choice(fitting)
    raise RuntimeError(f"no {wanted} in {DRAWS_MAX} draws")


def found_again(root, rows):
    """The mutants of a result in the files of today: {number: (path, change)}; nearest by line."""
    chosen, lost = {}, []
    for row in rows:
        file = root / row["file"]
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        same = [change for change in mutant_sites.changes(text)
                if (change.kind, change.before, change.after) == (
                    row["class"], row["before"], row["after"])]
        if same:
            chosen[row["number"]] = (row["file"], min(same, key=lambda change: abs(
                text.count("\n", 0, change.start) + 1 - row["line"])))
        else:
            lost.append(f"{row['number']} {row['file']}:{row['line']}")
    if lost:
        print("no longer there:", *lost, sep="\n  ")
    return chosen


class Tree:
    """The copy with the mutants."""

    def __init__(self, folder):
        self.folder, self.build = folder, folder / "build" / "release"
        self.chosen = {}   # number -> (path, Change)
        self._banned = set()
        self._sources = {}

    def copy(self):
        wanted = set()
        for place, folders, files in os.walk(ROOT):
            folders[:] = [name for name in folders if name not in NOT_COPIED]
            for name in files:
                path = pathlib.Path(place, name).relative_to(ROOT)
                wanted.add(path)
                self._copy_one(ROOT / path, self.folder / path)
        for place, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in NOT_COPIED]
            for name in files:
                if pathlib.Path(place, name).relative_to(self.folder) not in wanted:
                    os.unlink(os.path.join(place, name))
        (self.folder / "include" / "brigade_mutant.h").write_text(mutant_sites.HEADER)

    @staticmethod
    def _copy_one(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy2(source, target)
        elif source.read_bytes() != target.read_bytes():
            shutil.copy(source, target)  # newer than what was built of it

    def configure(self):
        if not (self.build / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "--preset", "release", "-DBRIGADE_WERROR=OFF",
                            "-DBRIGADE_TORCH=OFF"], cwd=self.folder, check=True)

    def choose(self, draw, count):
        """Fills the numbers 1 to `count` that have no mutant, one class after the other."""
        for number in range(1, count + 1):
            while number not in self.chosen:
                path, change = draw.send(CLASSES[number % len(CLASSES)])
                if (path, change) not in self._banned and not self._overlaps(path, change):
                    self.chosen[number] = (path, change)

    def _overlaps(self, path, change):
        return any(other == path and change.start < there.end and there.start < change.end
                   for other, there in self.chosen.values())

    def write(self):
        """The files with their mutants; which of them changed."""
        files = collections.defaultdict(dict)
        for number, (path, change) in self.chosen.items():
            files[path][number] = change
        changed = []
        for path in {*files, *self._sources}:
            text = (ROOT / path).read_text(encoding="utf-8")
            mutated = mutant_sites.with_mutants(text, files[path]) if files[path] else text
            if self._sources.get(path) != mutated:
                changed.append(path)
            self._sources[path] = mutated
            if (self.folder / path).read_text(encoding="utf-8") != mutated:
                (self.folder / path).write_text(mutated, encoding="utf-8")
        return sorted(changed)

    def blamed(self, output):
        """Numbers of the mutants that errors of the compiler name by their lines."""
        found = set()
        for path, line in re.findall(r"^(\S+?):(\d+):\d+: error", output, re.MULTILINE):
            path = os.path.relpath(path, self.folder) if os.path.isabs(path) else path
            for number, (file, change) in self.chosen.items():
                if file == path:
                    text = self._sources[path]
                    first = text.count("\n", 0, text.index(f"brigade_mutant({number})")) + 1
                    last = first + mutant_sites.written(change, number).count("\n")
                    if first <= int(line) <= last:
                        found.add(number)
        return found

    def drop(self, numbers):
        for number in numbers:
            self._banned.add(self.chosen.pop(number))

    def check(self, paths):
        """Drops what does not compile. Whether something was."""
        bad = set()
        for path in paths:
            mine = {number for number, (file, _) in self.chosen.items() if file == path}
            if mine and (said := self._errors(path)):
                bad |= (self.blamed(said) & mine) or mine
        self.drop(bad)
        return bool(bad)

    def _errors(self, path):
        source = path if path.endswith((".cpp", ".c")) else self._includer(path)
        command = self._command(source) if source else None
        if command is None:
            return "no file of the build includes it"
        ran = subprocess.run([*command, "-fsyntax-only", str(self.folder / source)],
                             cwd=self.build, capture_output=True, text=True, check=False)
        return ran.stderr if ran.returncode else ""

    def _includer(self, header):
        """A shipped file that is compiled and includes it, its own before others."""
        seen, queue = {header}, collections.deque([header])
        while queue:
            line = f'#include "{queue.popleft()}"'
            users = [path for path in shipped(ROOT) if path not in seen
                     and line in (ROOT / path).read_text(encoding="utf-8")]
            users.sort(key=lambda path: os.path.splitext(path)[0] != os.path.splitext(header)[0])
            for path in users:
                if path.endswith(".cpp"):
                    return path
            seen.update(users)
            queue.extend(users)
        return None

    def _command(self, path):
        """The compiler and its flags for a file, also where it is compiled together with others."""
        full = str(self.folder / path)
        with open(self.build / "compile_commands.json", encoding="utf-8") as file:
            entries = json.load(file)
        for entry in entries:
            source = pathlib.Path(entry["file"])
            if str(source) == full or (self.build in source.parents and source.exists()
                                       and f'"{full}"' in source.read_text(encoding="utf-8")):
                words = shlex.split(entry["command"])
                end = words.index("-o")
                start = next(place for place, word in enumerate(words)
                             if re.search(r"(\+\+|(?<!ca)cc|clang)(-\d+)?$", word))
                return words[start:end]
        return None

    def compile(self):
        return subprocess.run(["ninja", "-C", str(self.build)], capture_output=True, text=True,
                              check=False)


def rows_of(tree):
    for number, (path, change) in sorted(tree.chosen.items()):
        text = (ROOT / path).read_text(encoding="utf-8")
        yield {"number": number, "file": path, "line": text.count("\n", 0, change.start) + 1,
               "class": change.kind, "before": change.before, "after": change.after,
               "start": change.start, "end": change.end, "form": change.form}


def settle(tree, draw, count):
    """Chooses what is missing, until all compiles."""
    tree.choose(draw, count)
    while tree.check(tree.write()):
        tree.choose(draw, count)


def build(tree, draw, count):
    while (ran := tree.compile()).returncode:
        bad = tree.blamed(ran.stdout + ran.stderr)
        if not bad:
            sys.exit(ran.stdout[-4000:] + ran.stderr)
        tree.drop(bad)
        settle(tree, draw, count)


def shown(row):
    """One row of the table, with what stands around the change."""
    before, after = (re.sub(r"\s+", " ", row[key]) for key in ("before", "after"))
    same = len(os.path.commonprefix([before, after])) if after else 0
    begin = max(0, same - 30)
    old, new = (("..." if begin else "") + text[begin:begin + 60].replace("|", "\\|")
                for text in (before, after))
    return (f"| {row['number']} | {row['file']}:{row['line']} | `{old}` | `{new}` "
            f"| {row.get('killed_by') or row.get('status', 'not run')} | {row.get('seconds', 0)} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", nargs="*", metavar="make|build|test")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--again", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    steps = options.steps or ["make", "build", "test"]
    tree = Tree(options.tree.resolve())
    result = options.json or tree.folder / "build" / "mutants.json"
    draw = drawn(ROOT, options.seed)
    next(draw)  # to where it takes a class
    if options.again:
        tree.chosen = found_again(ROOT, json.loads(options.again.read_text())["mutants"])
        options.count = 0
    elif "make" not in steps:
        tree.chosen = {row["number"]: (row["file"], Change(
            row["class"], row["form"], row["start"], row["end"], row["before"], row["after"]))
            for row in json.loads(result.read_text())["mutants"]}
    if "make" in steps:
        tree.copy()
        tree.configure()
        settle(tree, draw, options.count)
        result.parent.mkdir(parents=True, exist_ok=True)
    if "build" in steps:
        tree.write()
        build(tree, draw, options.count)
    if steps != ["test"]:
        result.with_suffix(".tests.json").unlink(missing_ok=True)
        result.write_text(json.dumps({"mutants": list(rows_of(tree))}, indent=1))
    if "test" in steps:
        tests = Tests(tree.folder, tree.build, options.jobs)
        tests.run(result, {int(number) for number in options.only.split(",")}
                  if options.only else None, options.near)
    rows = json.loads(result.read_text())["mutants"]
    print("| | where | before | after | killed by | s |\n|---|---|---|---|---|---|")
    print("\n".join(map(shown, rows)))
    ends = collections.Counter(row.get("status", "not run") for row in rows)
    print(*(f"{count} {status}" for status, count in ends.most_common()), sep=", ")


if __name__ == "__main__":
    main()
