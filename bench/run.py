#!/usr/bin/env python3
"""Runs the benchmarks and writes their figures as JSON; `./dev bench` builds and calls it.

    bench/run.py [NAME...] [--smoke] [--json FILE]

A benchmark is a module bench/NAME.py with a docstring and

    def run(context): ...    # -> dict of figures: numbers, strings, lists and dicts of them

It raises context.Skip("why") where it cannot run. FILE gets {NAME: figures}; with a single NAME its
figures also stand at the top level, so that a script finds them without knowing the name.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

SOURCE = pathlib.Path(__file__).resolve().parent.parent


class Skip(Exception):
    """This benchmark cannot run on this machine, and why."""


@dataclass(frozen=True)
class Context:
    """What a benchmark is handed. smoke: do as little as shows that it works (a second or so)."""

    source: pathlib.Path
    build: pathlib.Path
    smoke: bool

    Skip = Skip

    @property
    def brigade(self) -> pathlib.Path:
        return self.build / "bin" / "brigade"

    def python_package(self, python: str, *modules: str) -> pathlib.Path:
        """The folder for PYTHONPATH. `modules`: what the interpreter `python` needs besides."""
        package = self.build / "python"
        if not (package / "brigade" / "_brigade.abi3.so").exists():
            raise Skip("the Python package is not built (python3-dev)")
        if modules and subprocess.run([python, "-c", f"import {', '.join(modules)}"], check=False,
                                      capture_output=True).returncode != 0:
            names = " and ".join(f"python3-{module}" for module in modules)
            raise Skip(f"{names} are not installed")
        return package

    def program(self, name: str) -> pathlib.Path:
        """A program that brigade_bench(NAME name ...) built."""
        return self.build / "bench" / name

    def google_benchmark(self, name: str, *args: str) -> dict:
        """Runs such a program: {benchmark: {real_time, time_unit, and its own counters}}."""
        return {entry["name"]: self._figures(entry) for entry in self._entries(name, *args)}

    def google_benchmark_runs(self, name: str, *args: str) -> list:
        """The same, a pair for each repetition, as the program has written it, without what it has
        made of them (medians)."""
        return [(entry["name"], entry) for entry in self._entries(name, *args)
                if entry["run_type"] == "iteration"]

    def _entries(self, name: str, *args: str) -> list:
        command = [str(self.program(name)), "--benchmark_format=json", *args]
        if self.smoke:
            command.append("--benchmark_min_time=0.01")
        print("+", " ".join(command), file=sys.stderr)
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        return json.loads(output)["benchmarks"]

    @staticmethod
    def _figures(entry: dict) -> dict:
        about = {"family_index", "per_family_instance_index", "repetitions", "repetition_index",
                 "threads", "iterations"}
        figures = {key: value for key, value in entry.items()
                   if isinstance(value, (int, float)) and key not in about}
        return {**figures, "time_unit": entry.get("time_unit", "ns")}


def benchmarks() -> dict:
    """Name -> path of every benchmark, in the order of their names."""
    folder = pathlib.Path(__file__).resolve().parent
    return {path.stem: path for path in sorted(folder.glob("*.py"))
            if path.name != "run.py" and "\ndef run(context)" in path.read_text()}


def load(name: str, path: pathlib.Path):
    spec = importlib.util.spec_from_file_location(f"bench_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(names, known, context) -> tuple:
    """({name: figures}, [names that failed]). One that cannot run is told about, not failed."""
    results, failed = {}, []
    for name in names:
        started = time.monotonic()
        print(f"bench {name}", file=sys.stderr)
        try:
            results[name] = load(name, known[name]).run(context)
        except Skip as reason:
            print(f"bench {name}: skipped: {reason}", file=sys.stderr)
            continue
        except Exception as error:  # one that fails must not hide the others' figures
            print(f"bench {name}: failed: {error}", file=sys.stderr)
            failed.append(name)
            continue
        print(f"bench {name}: {time.monotonic() - started:.1f} s", file=sys.stderr)
    return results, failed


def show(figures: dict, indent: str = "  ") -> None:
    for key, value in figures.items():
        if isinstance(value, dict):
            print(f"{indent}{key}")
            show(value, indent + "  ")
        else:
            print(f"{indent}{key:<40} {value:,.6g}" if isinstance(value, (int, float))
                  else f"{indent}{key:<40} {value}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--smoke", action="store_true", help="only show that each one works")
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build" / "release")
    arguments = parser.parse_args()
    known = benchmarks()
    unknown = [name for name in arguments.names if name not in known]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(known)}")
    context = Context(SOURCE, arguments.build.resolve(), arguments.smoke)
    results, failed = measure(arguments.names or list(known), known, context)
    for name, figures in results.items():
        print(name)
        show(figures)
    if arguments.json:
        top = results[arguments.names[0]] if len(arguments.names) == 1 and results else {}
        arguments.json.write_text(json.dumps({**top, **results}, indent=2) + "\n")
    if failed:
        print(f"bench: failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
