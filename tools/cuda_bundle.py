#!/usr/bin/env python3
"""Completes a folder that `cmake --install` has laid down, so that it runs beside PyPI's torch:

    cuda_bundle.py BUILD FOLDER

Adds the libraries of this system that its files need, without LibTorch's, CUDA's and glibc's; the
tests and benchmarks of GPUs; the Python package; `brigade`, which finds LibTorch, and `gpu_check`.
"""

import pathlib
import re
import shutil
import subprocess
import sys

TESTS = ("on_gpu_test", "stages_cuda_test", "device_test")
BENCHMARKS = ("gpu", "device")
BYTES_MAX = 64 << 20
SYSTEM = re.compile(  # glibc's, and what PyPI's torch brings or the driver does
    r"^(ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libnss_.*"
    r"|libtorch.*|libc10.*|libcaffe2.*|libgomp|libshm.*"
    r"|libcuda|libcud.*|libcu[a-z]+.*|libnv.*|libnccl.*)\.so")

BRIGADE = """#!/bin/sh
# brigade, beside a LibTorch with CUDA: that of BRIGADE_CUDA_TORCH, or of python3's package torch.
here=$(dirname "$(readlink -f "$0")")
torch=${BRIGADE_CUDA_TORCH:-$(python3 -c "import importlib.util as u
print(*u.find_spec('torch').submodule_search_locations)" 2>/dev/null)}
LD_LIBRARY_PATH=$here/lib${torch:+:$torch/lib}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/bin/brigade" "$@"
"""


def needed(path):
    """name -> file of the libraries that `path` names itself and this system has, but SYSTEM's.

    Not all that ldd says: it goes on with what LibTorch needs, and may take another LibTorch."""
    direct = subprocess.run(["objdump", "-p", str(path)], capture_output=True, text=True).stdout
    names = re.findall(r"^\s*NEEDED\s+(\S+)", direct, re.MULTILINE)
    said = subprocess.run(["ldd", str(path)], capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said, re.MULTILINE))
    return {name: pathlib.Path(found[name]) for name in names
            if name in found and not SYSTEM.match(name)}


def add_libraries(program, build, to):
    for name, where in needed(program).items():
        if not (to / name).exists() and not where.is_relative_to(build):
            shutil.copy2(where.resolve(), to / name)
            add_libraries(where, build, to)


def add_package(build, folder):
    """The Python package, on whose module the program and libraries lie two folders up."""
    shutil.copytree(build / "python" / "brigade", folder / "python" / "brigade",
                    ignore=shutil.ignore_patterns("native", "__pycache__"))
    (folder / "python" / "brigade" / "native").symlink_to("../..")


def make_executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


def main():
    build, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    source = pathlib.Path(__file__).resolve().parents[1]
    for kind, names in (("tests", TESTS), ("bench", BENCHMARKS)):
        (folder / kind).mkdir()
        for name in names:
            shutil.copy2(build / kind / name, folder / kind / name)
    (folder / "tests" / "fake_cuda").mkdir()
    shutil.copy2(build / "tests" / "fake_cuda" / "libcuda.so.1", folder / "tests" / "fake_cuda")
    add_package(build, folder)
    for module in (folder / "lib" / "brigade").glob("brigade_opencv*.so"):
        module.unlink()  # a hundred libraries would come along
    grid = build / "tests" / "stages" / "libkernel_grid.so"
    if grid.exists():
        shutil.copy2(grid, folder / "lib")
    programs = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
                and path.read_bytes()[:4] == b"\x7fELF"]
    for program in programs:
        subprocess.run(["strip", "--strip-unneeded", str(program)], check=True)
        add_libraries(program, build, folder / "lib")
    make_executable(folder / "brigade", BRIGADE)
    shutil.copy2(source / "tools" / "gpu_runs.py", folder)
    for name in ("gpu_check", "gpu_feed"):
        make_executable(folder / name, (source / "tools" / f"{name}.py").read_text())
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > BYTES_MAX:
        sys.exit(f"cuda_bundle: {folder} has {size >> 20} MiB, at most {BYTES_MAX >> 20} may be")
    print(f"cuda_bundle: {size >> 20} MiB; libraries added: "
          + ", ".join(sorted(path.name for path in (folder / "lib").glob("*.so*"))))


if __name__ == "__main__":
    main()
