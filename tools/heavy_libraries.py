#!/usr/bin/env python3
"""`brigade` and what it needs to check a graph map no heavy library: a LibTorch process costs
0.3-0.5 s before it does anything. A test (`heavy_libraries`).

    tools/heavy_libraries.py BUILD_FOLDER [GRAPH.yaml...]

Looks at what the dynamic linker loads, at start and later, with LD_DEBUG. Its own control: the
torch package, where it was built, must show LibTorch to the same eyes.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEAVY = re.compile(r"lib(torch|c10|opencv|cuda|nv|cublas|cudnn|nccl|mkl|openblas|gloo)")


def linked(file: pathlib.Path):
    """The libraries that loading `file` brings in."""
    output = subprocess.run(["ldd", str(file)], check=True, capture_output=True, text=True).stdout
    return re.findall(r"=> (\S+)", output)


def loaded_by(command):
    """What a run of the command loads, modules opened on the way included."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": f"{folder}/loads"}
        result = subprocess.run(command, env=environment, capture_output=True, text=True,
                                check=False)
        # A graph whose data set is not on this machine is checked all the same.
        if result.returncode != 0 and "there is no file or folder" not in result.stderr:
            sys.exit(f"{' '.join(command)}: exit code {result.returncode}: {result.stderr}")
        logs = [path.read_text() for path in pathlib.Path(folder).iterdir()]
    found = re.findall(r"calling init: (\S+)", "\n".join(logs))
    if not any("libc.so" in library for library in found):
        sys.exit(f"LD_DEBUG shows no libc for {' '.join(command)}: this test cannot see")
    return found


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    program = str(build / "bin" / "brigade")
    commands = [[program, "--help"], [program, "stages"],
                *([program, "check", graph] for graph in sys.argv[2:])]
    seen = {" ".join(command): loaded_by(command) for command in commands}
    for file in (build / "bin" / "brigade", build / "lib" / "libbrigade.so"):
        seen[f"ldd {file}"] = linked(file)
    bad = 0
    for what, libraries in seen.items():
        heavy = sorted(library for library in libraries if HEAVY.match(pathlib.Path(library).name))
        print(f"{what}: {len(libraries)} libraries" + (f", heavy: {heavy}" if heavy else ""))
        bad += bool(heavy)
    control = build / "lib" / "brigade" / "brigade_torch.so"
    if control.exists() and not any(HEAVY.match(pathlib.Path(path).name)
                                    for path in linked(control)):
        print(f"{control} shows no LibTorch: this test cannot fail")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
