#!/usr/bin/env python3
"""Installs Brigade, moves it, and builds and runs the examples against it as a user does.

    installed_test.py [--all] BUILD_FOLDER CMAKE GENERATOR COMPILER

Without --all those are built that include, link or install something of their own: each of the
others takes a compiler some ten seconds, with LibTorch half a minute, and is built by --all
(`./dev chaos`). Needs no network; writes into a temporary folder only.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import example_test
import image_classifier_test

SOURCES = pathlib.Path(__file__).resolve().parent.parent


def call(*command, cwd=None):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("BRIGADE_MODULE_PATH", "LD_LIBRARY_PATH")}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=environment, check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}")
    return done.stdout


def install(build, cmake, folder):
    """The folder it lies in after it was moved."""
    call(cmake, "--install", build, "--strip", "--prefix", folder / "first")
    moved = folder / "moved"
    (folder / "first").rename(moved)
    return moved


def check_content(moved):
    program = moved / "bin" / "brigade"
    if str(moved / "bin" / ".." / "lib" / "libbrigade.so") not in call("ldd", program):
        sys.exit(f"the program does not find its own library: {call('ldd', program)}")
    installed = {path.name for path in (moved / "include").rglob("*") if path.is_file()}
    public = {path.name for path in (SOURCES / "include").rglob("*") if path.is_file()}
    if installed != public:
        sys.exit(f"installed headers are not those of include/brigade: {installed ^ public}")
    for path in ("share/brigade/README.md", "share/brigade/LICENSE", "share/brigade/NOTICE",
                 "share/brigade/docs/STAGES.md", "share/brigade/configs/hello.yaml",
                 "lib/cmake/Brigade/BrigadeConfig.cmake"):
        if not (moved / path).is_file():
            sys.exit(f"{path} is missing")


def check_paths(moved, build):
    """No installed file knows where its source lay. The control: a file that does."""
    def holds(path):
        return os.fsencode(SOURCES) in path.read_bytes()
    if not holds(build / "CMakeCache.txt"):
        sys.exit(f"{build}/CMakeCache.txt does not hold {SOURCES}: this test cannot see")
    found = [path for path in moved.rglob("*") if path.is_file() and holds(path)]
    if found:
        sys.exit(f"{SOURCES} is in {', '.join(map(str, found))}")


def png(red, green, blue):
    """A picture of one pixel."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes([0, red, green, blue]))) + chunk(b"IEND", b""))


def check_modules(moved, folder):
    """decode_image is in a module: it is found where the program lies."""
    pictures = folder / "pictures" / "red"
    pictures.mkdir(parents=True)
    for i in range(3):
        (pictures / f"{i}.png").write_bytes(png(200 + i, 0, 0))
    graph = folder / "pictures.yaml"
    graph.write_text("stages:\n"
                     "  files: {producer: image_folder, params: {root: pictures}}\n"
                     "  pictures: {transform: decode_image, from: files, params: {size: 8}}\n"
                     "  count: {consumer: count, from: pictures}\n")
    printed = call(moved / "bin" / "brigade", "run", graph, cwd="/")
    if "count: samples 3," not in printed:
        sys.exit(f"the module of decode_image: {printed}")


def check_example(moved, folder, name, configure):
    """Copies an example, builds it where it has something to build, and runs it."""
    copy = folder / "somewhere" / name
    shutil.copytree(moved / "share" / "brigade" / "examples" / name, copy)
    if (copy / "CMakeLists.txt").is_file():
        said = call(*configure, f"-DCMAKE_PREFIX_PATH={moved}", "-S", copy, "-B", copy / "build")
        if name == "own_plugin" and "no CMAKE_BUILD_TYPE is set: taking Release" not in said:
            sys.exit(f"brigade_plugin() does not say that it optimises: {said}")
        if name == "own_plugin" and "CMAKE_BUILD_TYPE:STRING=Release" not in (
                copy / "build" / "CMakeCache.txt").read_text():
            sys.exit("a plugin whose build type nobody has said is not optimised")
        call(configure[0], "--build", copy / "build")
    own = copy / "build" / name
    if name == "image_classifier":
        image_classifier_test.check(own, moved / "bin" / "brigade", copy)
        return
    example_test.check_example(own if own.is_file() else moved / "bin" / "brigade", copy)


def check_project(moved, folder, kind, configure):
    """What `brigade init stage` and `init program` write compiles and passes its own test."""
    project = folder / "own" / kind
    project.parent.mkdir(exist_ok=True)
    call(moved / "bin" / "brigade", "init", kind, "first_one", "--out", project)
    printed = call(moved / "bin" / "brigade", "init", kind, f"second_{kind}", cwd=project.parent)
    if f"-DCMAKE_PREFIX_PATH={moved}\n" not in printed:
        sys.exit(f"init {kind} does not say where Brigade is: {printed}")
    call(*configure, f"-DCMAKE_PREFIX_PATH={moved}", "-S", project, "-B", project / "build")
    call(configure[0], "--build", project / "build")
    call("ctest", "--test-dir", project / "build", "--no-tests=error")
    if kind == "stage":
        printed = call(moved / "bin" / "brigade", "run", project / "first_one.yaml")
        if "count: samples 20,000," not in printed:
            sys.exit(f"the graph of init stage: {printed}")


def torch_folder(build):
    """Of the LibTorch that Brigade was built with."""
    return re.search(r"^Torch_DIR:PATH=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]


def main():
    every = sys.argv[1] == "--all"
    build, cmake, generator, compiler = sys.argv[-4:]
    configure = [cmake, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}"]
    with tempfile.TemporaryDirectory(prefix="brigade_test_install_") as name:
        folder = pathlib.Path(name).resolve()
        moved = install(pathlib.Path(build), cmake, folder)
        check_content(moved)
        check_paths(moved, pathlib.Path(build))
        check_modules(moved, folder)
        examples = ["hello_line", "own_stage", "own_plugin", "plain_c", "exec_stage"]
        if every:
            examples += ["own_loop", "feed_and_collect", "two_graphs", "result_array", "actors"]
        if (moved / "lib" / "brigade" / "brigade_torch.so").is_file():
            configure += [f"-DTorch_DIR={torch_folder(pathlib.Path(build))}"]
            examples += ["train_own_model"]
            if every:
                examples += ["image_classifier", "task_queue"]
        for example in examples:
            check_example(moved, folder, example, configure)
        for kind in ("stage", "program"):
            check_project(moved, folder, kind, configure)


if __name__ == "__main__":
    main()
