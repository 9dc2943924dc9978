"""The program `brigade` that came with the package: `python -m brigade run train.yaml`."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).parent / "native" / "bin" / "brigade"
    if not program.exists():
        sys.exit(f"brigade: cannot find {program}; reinstall the package from its wheel")
    os.environ.setdefault("BRIGADE_PYTHON", sys.executable)  # of `transform: python`
    os.execv(program, ["brigade", *sys.argv[1:]])


if __name__ == "__main__":
    main()
