#!/usr/bin/env python3
"""Compiles every source file of a build by itself, without code generation, and fails on warnings.

    compiles_alone.py BUILD      BUILD: a folder configured with BRIGADE_TOGETHER=NONE

The release build compiles several files as one, where a file sees the includes of the files before
it, and most warnings are not errors. This check finds missing includes and the warnings that the
compiler gives while it reads a file; unused functions and variables are errors in every build.
Precompiled headers of the build are left out. Files that include GoogleTest or GoogleMock get that
one header precompiled, which gives them nothing that they do not include themselves. Files that
include LibTorch, directly or by a header of ours, get all of LibTorch precompiled: each would take
some 12 s. A header of LibTorch that such a file forgets is not found here.

Two controls come first: a file without one of its includes and a file with a warning must fail.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

_WITH_VALUE = ("-o", "-include")
_LEFT_OUT = ("-c", "-Winvalid-pch", "-fpch-preprocess")
_TEST_HEADERS = ("gmock/gmock.h", "gtest/gtest.h")  # the first includes the second
_TORCH = "torch/torch.h"
_SHOWN_MAX = 30  # lines of one file's errors

_CONTROLS = (
    ("a missing include", "tests/pipeline/plan/planner/buffer_budget_test.cpp",
     "#include <brigade/text.h>\n", ""),
    ("a warning", "tests/pipeline/plan/planner/buffer_budget_test.cpp",
     "namespace brigade {\n", "namespace brigade {\ninline void control(int unused) {}\n"),
)


def compiler_of(entry):
    """The command of a file, without the launcher, the output and what the build precompiles."""
    words, command = iter(shlex.split(entry["command"])), []
    for word in words:
        if word in _WITH_VALUE:
            next(words)
        elif word not in _LEFT_OUT:
            command.append(word)
    while command[0] == "env" or "=" in command[0] or os.path.basename(command[0]) == "ccache":
        del command[0]
    return command


class Check:
    def __init__(self, build):
        self._build, self._headers = os.path.abspath(build), {}
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            entries = json.load(file)
        self.entries = {entry["file"]: entry for entry in entries
                        if not entry["file"].startswith(self._build + os.sep)}

    def precompile(self):
        """For each set of options, the header that several files share; one at a time for each."""
        users = collections.defaultdict(list)
        for entry in self.entries.values():
            users[self._header_of(entry)].append(entry)
        users.pop(None, None)
        wanted = {place: entries[0] for place, entries in users.items() if len(entries) > 1}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as several:
            list(several.map(self._precompile_one, wanted.items()))

    def _header_of(self, entry):
        """(header, place of its precompiled form); None of a file that includes neither."""
        with open(entry["file"], encoding="utf-8") as file:
            text = file.read()
        if not entry["file"].endswith(".cpp"):
            return None
        header = next((header for header in _TEST_HEADERS if f"#include <{header}>" in text), None)
        if re.search(r"#include [<\"][^>\"]*\b(torch|ATen)/", text):
            header = _TORCH
        if header is None:
            return None
        options = " ".join(compiler_of(entry)[:-1])
        name = hashlib.sha256(f"{header} {options}".encode()).hexdigest()[:16]
        return header, os.path.join(self._build, "alone", name + ".h")

    def _precompile_one(self, wanted):
        (header, place), entry = wanted
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(f"#include <{header}>\n")
        made = subprocess.run([*compiler_of(entry)[:-1], "-x", "c++-header", place, "-o",
                               place + ".gch"], cwd=entry["directory"], capture_output=True,
                              text=True, check=False)
        self._headers[header, place] = made.returncode == 0

    def errors(self, entry, source=None):
        """What the compiler says of a file; empty where it compiles. `source`: compiled instead."""
        command = compiler_of(entry)
        shared = self._header_of(entry)
        if shared is not None and self._headers.get(shared):
            command[1:1] = ["-include", shared[1]]
        if source is not None:
            command[-1] = source
        ran = subprocess.run([*command, "-fsyntax-only", "-Werror"], cwd=entry["directory"],
                             capture_output=True, text=True, check=False)
        return ran.stderr if ran.returncode or ran.stderr.strip() else ""

    def control(self, what, name, text, instead):
        """Whether a fault in a copy of a file is found."""
        file = next((file for file in self.entries if file.endswith("/" + name)), None)
        if file is None:
            return f"control: {name} is not compiled in this build: choose another file"
        with open(file, encoding="utf-8") as source:
            whole = source.read()
        if text not in whole:
            return f"control: {name} does not hold {text!r}: choose another place"
        copy = os.path.join(self._build, "alone", "control.cpp")
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as written:
            written.write(re.sub(re.escape(text), lambda _: instead, whole, count=1))
        if not self.errors(self.entries[file], copy):
            return f"control: {what} in {name} was not found"
        return None


def main():
    check = Check(sys.argv[1])
    check.precompile()
    failed = [found for control in _CONTROLS if (found := check.control(*control))]
    order = sorted(check.entries.values(), key=lambda entry: "/torch/" not in entry["file"])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as several:
        for entry, found in zip(order, several.map(check.errors, order)):
            if found:
                failed.append("\n".join(found.splitlines()[:_SHOWN_MAX]))
    for text in failed:
        print(text)
    print(f"{len(order)} files compiled alone, {len(_CONTROLS)} controls: "
          f"{len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
