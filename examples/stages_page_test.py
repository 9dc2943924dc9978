#!/usr/bin/env python3
"""The C++ on docs/STAGES.md compiles: every block that is more than a fragment.

    stages_page_test.py ROOT COMPILER
"""

import pathlib
import re
import subprocess
import sys


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    page = (root / "docs" / "STAGES.md").read_text()
    blocks = re.findall(r"^```cpp\n(.*?)^```$", page, re.M | re.S)
    if len(blocks) < 3:
        sys.exit("docs/STAGES.md shows hardly any C++")
    for block in blocks:
        command = [compiler, "-std=c++20", f"-I{root}", "-fsyntax-only", "-x", "c++", "-"]
        done = subprocess.run(command, input=block, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{block}\n{done.stderr}")


if __name__ == "__main__":
    main()
