#!/usr/bin/env python3
"""Runs an example as its README says and compares what it prints with its expected.txt.

    example_test.py PROGRAM FOLDER

`...` in expected.txt stands for what differs from run to run.
"""

import pathlib
import re
import subprocess
import sys

SECONDS_MAX = 300


def matches(expected, printed):
    """Whether each line fits; a line that is only `...` stands for any number of lines."""
    pattern = ""
    for line in expected.strip().splitlines():
        words = [".*".join(re.escape(part) for part in word.split("...")) for word in line.split()]
        pattern += r"(?:.*\n)*?" if line.strip() == "..." else rf" *{' +'.join(words)}\n"
    return re.fullmatch(pattern, printed.strip() + "\n") is not None


def run(program, *arguments, cwd):
    done = subprocess.run([program, *arguments], cwd=cwd, timeout=SECONDS_MAX, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{arguments} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def checksum(printed):
    return re.search(r"checksum (\w{16}),", printed)[1]


def check_example(program, folder):
    graph = f"{folder.name}.yaml"
    yaml = (folder / graph).read_text()
    names = (folder / "cpp.yaml").is_file()  # the program names its files
    reads = names or "consumer: application" in yaml  # the program has the loop
    printed = run(program, *([] if names else [graph] if reads else ["run", graph]), cwd=folder)
    expected = (folder / "expected.txt").read_text()
    if not matches(expected, printed):
        sys.exit(f"{folder.name}: expected\n{expected}\nbut it printed\n{printed}")
    if reads:
        print(f"{folder.name}: ok")
        return
    # What every README says: the same samples, however many processes share the work.
    middle = "work" if "\n  work:" in yaml else "noisy"
    threads = [] if "exec:" in yaml else [["--in-process"]]  # a thread executes nothing
    for more in (["--set", f"stages.{middle}.replicas=5"], *threads):
        if checksum(run(program, "run", graph, *more, cwd=folder)) != checksum(printed):
            sys.exit(f"{folder.name}: another checksum with {more}")
    run(program, "check", graph, cwd=folder)
    run(program, "plan", graph, cwd=folder)
    plugin = ["--plugin", "build/jitter.so"] if (folder / "build" / "jitter.so").is_file() else []
    if middle == "noisy" and "amplitude" not in run(program, "stages", "jitter", *plugin,
                                                    cwd=folder):
        sys.exit(f"{folder.name}: `stages jitter` does not explain it")
    print(f"{folder.name}: ok")


if __name__ == "__main__":
    assert matches("a ... c\n...\nd", "a b  c\n1\n2\nd\n") and not matches("a ... c", "a b")
    check_example(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
