#!/usr/bin/env python3
"""Checks what can be checked of the style of this repository: sizes, who includes what, missing
tests, banned calls, format. Prints `file:line: rule: what is wrong: what to do`; a test (`style`).

    tools/style.py [ROOT]

The tables come first: adding a folder, a library or a ban is a line there.
"""

import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import cpp_source

# --- tables -----------------------------------------------------------------------------------

LINES_MAX = {".h": 250, ".cpp": 400, ".cu": 400, ".py": 400}
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

_UNDER = ("base", "transports", "stages/api")
_STAGE = ("base", "stages/api")  # and its own package
# Folder -> the folders (or files) it may include. The longest matching folder counts.
LAYERS = {
    "base": ("base",),
    "transports": ("base", "transports"),
    "stages/api": _STAGE,
    "stages/builtin": (*_STAGE, "stages"),
    # Listings are mapped, and some are tables.
    "stages/image": (*_STAGE, "stages/basic/mapped_file.h", "stages/basic/fingerprint.h",
                     "stages/basic/csv_text.h", "stages/basic/csv_table.h", "stages/image"),
    "pipeline/config": (*_UNDER, "pipeline/config"),
    "pipeline/plan": (*_UNDER, "pipeline/config", "pipeline/plan"),
    "pipeline/stats": (*_UNDER, "pipeline/config", "pipeline/plan", "pipeline/stats"),
    "pipeline/run": (*_UNDER, "pipeline/config", "pipeline/plan", "pipeline/stats",
                     "pipeline/run"),
    # The list of stage types is handed in from the top; `process` and what is above may name it.
    "pipeline/process": (*_UNDER, "stages/builtin.h", "pipeline/config", "pipeline/plan",
                         "pipeline/stats", "pipeline/run", "pipeline/process"),
    "tests": ("base", "transports", "stages", "pipeline", "tests"),
    "bench": ("base", "transports", "stages", "pipeline", "bench", "tests/support"),
    # What is installed: an example must build outside this repository.
    "examples": ("base", "stages/api", "pipeline/process/app.h", "pipeline/process/pipeline.h",
                 "examples"),
}
# The commands and the program are above the rest of `process`, which must not reach up.
ONLY_FROM = {"pipeline/process/commands": ("pipeline/process/commands", "pipeline/process/app.cpp",
                                           "pipeline/process/main.cpp", "tests")}

# Library -> (its headers, the files or folders that may include them). Tests and benchmarks may
# include what the files they test may.
LIBRARIES = {
    "yaml-cpp": (r"yaml-cpp/", ("pipeline/config/yaml_", "tests/conformance/")),
    "nlohmann-json": (r"nlohmann/", ("base/json", "stages/image/json_field",
                                     "pipeline/plan/plan_json",
                                     "pipeline/plan/position", "pipeline/stats/",
                                     "pipeline/process/")),
    "CLI11": (r"CLI/", ("pipeline/process/commands/", "pipeline/process/app",
                        "pipeline/process/main.cpp")),
    "spdlog": (r"spdlog/|fmt/", ("pipeline/process/",)),
    "Boost.Interprocess": (r"boost/", ("transports/memory_file", "pipeline/process/")),
    "ConcurrentQueue": (r"concurrentqueue/", ("stages/", "pipeline/run/", "pipeline/process/")),
    "xxHash": (r"xxhash", ("stages/basic/", "stages/image/", "pipeline/config/", "pipeline/run/",
                           "pipeline/process/")),
    "zlib": (r"zlib", ("stages/image/", "stages/basic/", "pipeline/process/",
                       "pipeline/config/")),
    "libarchive": (r"archive", ("stages/archive/", "stages/image/")),
    "LibTorch": (r"torch/|ATen/|c10/", ("stages/torch/", "stages/cuda/")),
    "CUDA": (r"cuda|nccl|cub/|thrust/", ("stages/cuda/", "stages/torch/")),
    "OpenCV": (r"opencv2/", ("bench/",)),
    "libjpeg-turbo": (r"jpeglib|turbojpeg|jerror", ("stages/image/",)),
    "libwebp": (r"webp/", ("stages/image/webp_reader",)),
    "libtiff": (r"tiffio", ("stages/image/tiff_reader",)),
    "libpng": (r"png", ("stages/image/", "pipeline/process/commands/")),
    "GoogleTest": (r"gtest/|gmock/", ("tests/",)),
    "Google Benchmark": (r"benchmark/", ("bench/",)),
}

# Folders whose files need a test at the same path under tests/, and what needs none, with why.
TESTED = ("base", "transports", "stages", "pipeline")
NO_TEST = {
    "pipeline/process/main.cpp": "calls the application; tests/integration runs the program",
}

_CODE = ("base", "transports", "stages", "pipeline")
# Pattern (over code without comments and strings), what to use instead, where it holds, but where.
BANNED = (
    (r"(?<!v)\bfork\s*\(", "start processes through pipeline/process/spawn.h", ("",),
     ("tests/", "bench/")),
    (r"\b(?:std::|::)system\s*\(|(?<![\w.>:])system\s*\(", "pipeline/process/spawn.h", ("",), ()),
    (r"\bpopen\s*\(", "pipeline/process/spawn.h", _CODE, ()),
    (r"\bposix_spawnp?\s*\(", "pipeline/process/spawn.h (it sets the death signal)", _CODE, ()),
    (r"\bv?sprintf\s*\(", "concat() of base/text.h", ("",), ()),
    # libtiff gives a format and what belongs in it.
    (r"\bv?snprintf\s*\(", "concat() of base/text.h", _CODE, ("stages/image/tiff_reader.cpp",)),
    (r"(?<!\w)(?:std::)?f?printf\s*\(|\bputs\s*\(", "log_info() of base/log.h", _CODE,
     ("base/check.cpp",)),
    (r"\bstr(?:n?cpy|n?cat)\s*\(", "std::string, or std::copy_n with a checked length", ("",), ()),
    (r"(?<![\w.>])(?:std::)?s?rand\s*\(|\bstd::(?:mt19937|random_device|minstd_rand)",
     "Philox of base/random.h", ("",), ("bench/", "tests/")),
    (r"\bstd::(?:cout|cerr|clog)\b(?!\.flush)", "log_info() of base/log.h; commands print", _CODE,
     ("pipeline/process/commands/",)),
    (r"\bassert\s*\(|<cassert>|<assert\.h>", "BRIGADE_CHECK of base/check.h", ("",), ()),
    (r"\b(?:std::)?(?:ato[ifl]l?|strto[a-z]+|sto[ifdl]l?|stou?ll?)\s*\(",
     "std::from_chars, or base/units.h", _CODE, ()),
    (r"\bstd::endl\b", "'\\n'", ("",), ()),
    (r"\bstd::atomic_(?:wait|notify)\w*", "a doorbell (transports/doorbell.h)", ("",), ()),
    # spawn: a vfork child writes its parent's memory. signals: what a handler may touch.
    (r"\bvolatile\b", "std::atomic", _CODE,
     ("pipeline/process/spawn", "pipeline/process/signals")),
    (r"\busing\s+namespace\s+std\b(?!::\w*literals\b)", "the full name", ("",), ()),
    (r"\b(?:shm_open|shmget)\s*\(", "transports/memory_file.h", ("",), ()),
    (r"\b(?:managed_shared_memory|message_queue|interprocess_(?:mutex|semaphore|condition))\b",
     "the words of transports/ (a killed holder blocks these for ever)", ("",), ()),
    (r"\b(?:std::)?(?:ofstream|fopen|creat|mkstemp)\b|\bO_(?:CREAT|TRUNC)\b",
     "NewFile of base/atomic_file.h, or base/shared_path.h (they write into nothing planted)",
     _CODE, ("base/atomic_file", "base/shared_path", "pipeline/process/commands/init.cpp")),
    (r"\bstd::regex\b", "split() and friends of base/text.h", ("",), ()),
)

# In any text file of the product.
WORDS = (
    (r"\b(?:T[O]DO|F[I]XME|X[X]X|H[A]CK)\b", "do it now, or leave it out"),
    (r"\b(?:not|un)[ -]?implement[e]d\b", "say what is expected and what to do instead"),
    (r"[<]<<<<<<|[>]>>>>>>", "resolve the merge"),
)
TEXT_SUFFIXES = {".h", ".cpp", ".cu", ".py", ".md", ".cmake", ".txt", ".yaml", ".json", ".sh", ""}
SKIPPED_FOLDERS = {"build", "dist", "__pycache__", "golden", "corpus", "third_party"}

# --- the repository ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class Source:
    """One text file: its path from the root, its text, and, for C++, the code in it."""

    def __init__(self, root: pathlib.Path, path: pathlib.Path):
        self.path = path.relative_to(root).as_posix()
        self.suffix = path.suffix
        self.text = path.read_text(errors="replace")
        self.lines = self.text.splitlines()
        self.is_cpp = self.suffix in (".h", ".cpp", ".cu")
        self.code = cpp_source.without_comments_and_strings(self.text) if self.is_cpp else ""

    def under(self, *prefixes: str) -> bool:
        return any(within(self.path, prefix) for prefix in prefixes)


def within(path: str, prefix: str) -> bool:
    """Is `path` the file, in the folder, or (for "a/b_") of the family that `prefix` names?"""
    return prefix == "" or path == prefix or path.startswith(
        prefix if prefix[-1] in "/_" else prefix + "/") or (
            path.startswith(prefix + ".") and "." not in pathlib.PurePath(prefix).name)


def load(root: pathlib.Path):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        hidden = any(part.startswith(".") and part not in (".ci", ".clang-format", ".gitignore")
                     for part in parts)
        if hidden or SKIPPED_FOLDERS & set(parts[:-1]) or not path.is_file():
            continue
        if path.suffix in TEXT_SUFFIXES:
            yield Source(root, path)


# --- rules: each takes (sources, root) and yields problems --------------------------------------


def sizes(sources, _root):
    for source in sources:
        limit = LINES_MAX.get(source.suffix)
        if limit and len(source.lines) > limit:
            yield Problem(source.path, len(source.lines), "size",
                          f"{len(source.lines)} lines, at most {limit}: is there a second concept?")
        if source.suffix not in (".md", ".json", ".txt", ".yaml"):
            for number, line in enumerate(source.lines, 1):
                if len(line) > COLUMNS_MAX:
                    yield Problem(source.path, number, "size",
                                  f"{len(line)} columns, at most {COLUMNS_MAX}")
        if source.is_cpp:
            for function in cpp_source.functions(source.text):
                if function.lines > FUNCTION_LINES_MAX:
                    yield Problem(source.path, function.line, "size",
                                  f"{function.name}() has {function.lines} lines, "
                                  f"at most {FUNCTION_LINES_MAX}: split it")


def layer_of(path: str):
    """What `path` may include, or None where no layer speaks of it."""
    names = [name for name in LAYERS if within(path, name)]
    if names:
        return LAYERS[max(names, key=len)]
    parts = path.split("/")
    if parts[0] == "stages" and len(parts) > 2:  # a package: the interface and itself
        return (*_STAGE, f"stages/{parts[1]}")
    return None


def layers(sources, root):
    for source in sources:
        if not source.is_cpp:
            continue
        allowed = layer_of(source.path)
        for line, target, quoted in cpp_source.includes(source.text):
            if not quoted:
                continue
            if source.under("examples") and ((root / source.path).parent / target).is_file():
                continue  # a folder that people copy
            if not (root / target).is_file():
                yield Problem(source.path, line, "include",
                              f'"{target}" is no file of this repository: includes are rooted')
                continue
            if allowed is None:
                yield Problem(source.path, line, "layer", "this folder has no layer: LAYERS in "
                              "tools/style.py says who may include what")
            elif not any(within(target, prefix) for prefix in allowed):
                yield Problem(source.path, line, "layer",
                              f'"{target}" is not below; allowed: {", ".join(allowed)}')
            for above, users in ONLY_FROM.items():
                if within(target, above) and not source.under(*users):
                    yield Problem(source.path, line, "layer", f"{above} is above this file")


def cycles(sources, _root):
    graph = {source.path: [target for _, target, quoted in cpp_source.includes(source.text)
                           if quoted] for source in sources if source.suffix == ".h"}
    done = set()

    def visit(path, trail):
        if path in trail:
            yield Problem(path, 1, "cycle", " -> ".join(trail[trail.index(path):] + [path]))
        elif path not in done:
            for target in graph.get(path, ()):
                yield from visit(target, trail + [path])
            done.add(path)

    for path in graph:
        yield from visit(path, [])


def libraries(sources, _root):
    for source in sources:
        if not source.is_cpp:
            continue
        # tests/a/b_test.cpp may include what a/b.cpp may.
        tested = re.sub(r"_test\.cpp$", ".cpp", re.sub(r"^tests/", "", source.path))
        for line, target, quoted in cpp_source.includes(source.text):
            for library, (headers, users) in LIBRARIES.items():
                if quoted or not re.match(headers, target):
                    continue
                if not any(within(path, user) for user in users for path in (source.path, tested)
                           ) and not source.under("tests/support", "bench"):
                    yield Problem(source.path, line, "library",
                                  f"{library} belongs into {', '.join(users)}")


def contracts(sources, _root):
    """A contract is what `brigade check` runs: no library behind it, however many headers away."""
    quoted, angled = {}, {}
    for source in sources:
        if source.is_cpp:
            found = list(cpp_source.includes(source.text))
            quoted[source.path] = [target for _, target, is_quoted in found if is_quoted]
            angled[source.path] = [target for _, target, is_quoted in found if not is_quoted]
    for source in sources:
        if not source.path.endswith("_contract.cpp"):
            continue
        reached, todo = set(), [source.path]
        while todo:
            path = todo.pop()
            if path not in reached:
                reached.add(path)
                todo += quoted.get(path, [])
        for path in sorted(reached):
            for target in angled.get(path, []):
                for library, (headers, _) in LIBRARIES.items():
                    if re.match(headers, target):
                        yield Problem(source.path, 1, "contract", f"reaches {library} "
                                      f"through {path}: a contract includes only stages/api")


def has_code(source: Source) -> bool:
    """A .cpp always has; a header when something in it is decided."""
    return source.suffix == ".cpp" or bool(
        re.search(r"\b(?:for|while|if|switch)\s*(?:constexpr\s*)?\(|#define \w+\(", source.code))


def missing_tests(sources, _root):
    paths = {source.path for source in sources}
    for source in sources:
        if not (source.under(*TESTED) and source.suffix in (".h", ".cpp") and has_code(source)):
            continue
        stem = source.path.removesuffix(source.suffix)
        if source.suffix == ".h" and f"{stem}.cpp" in paths:
            continue  # its .cpp is looked at
        wanted = f"tests/{stem}_test.cpp"
        shared = f"tests/{stem.removesuffix('_contract')}_test.cpp"  # contract and body in one
        if wanted not in paths and shared not in paths and source.path not in NO_TEST:
            yield Problem(source.path, 1, "test", f"has no {wanted}")
    for path in NO_TEST:
        if path not in paths and any(source.path == "tools/style.py" for source in sources):
            yield Problem("tools/style.py", 1, "test", f"NO_TEST names {path}, which is gone")


def banned(sources, _root):
    for source in sources:
        if not source.is_cpp:
            continue
        for pattern, instead, where, but in BANNED:
            if not source.under(*where) or (but and source.under(*but)):
                continue
            for match in re.finditer(pattern, source.code):
                line = source.code.count("\n", 0, match.start()) + 1
                yield Problem(source.path, line, "banned",
                              f"{match.group().strip()}: use {instead}")
        # libstdc++ waits on a futex private to one process: it cannot wake another.
        atomics = re.findall(r"\bstd::atomic(?:_\w+)?(?:<[^;{}]*?>)?&?\s+(\w+)", source.code)
        for name in set(atomics):
            for match in re.finditer(rf"\b{name}(?:\.|->)(?:wait|notify_\w+)\s*\(", source.code):
                line = source.code.count("\n", 0, match.start()) + 1
                yield Problem(source.path, line, "banned",
                              f"{match.group()}: use a doorbell (transports/doorbell.h)")


def words(sources, _root):
    for source in sources:
        for pattern, instead in WORDS:
            for number, line in enumerate(source.lines, 1):
                match = re.search(pattern, line, re.IGNORECASE if "implement" in pattern else 0)
                if match:
                    yield Problem(source.path, number, "word", f"{match.group()!r}: {instead}")


def endings(sources, _root):
    for source in sources:
        if source.text and not source.text.endswith("\n"):
            yield Problem(source.path, len(source.lines), "ending", "no newline at the end")
        if source.text.endswith("\n\n"):
            yield Problem(source.path, len(source.lines), "ending", "empty lines at the end")
        for number, line in enumerate(source.lines, 1):
            if line != line.rstrip() and source.suffix != ".md":
                yield Problem(source.path, number, "ending", "blanks at the end of the line")
        if source.suffix == ".h" and "#pragma once" not in source.text:
            yield Problem(source.path, 1, "ending", "a header begins with #pragma once")


def formatted(sources, root):
    program = shutil.which("clang-format")
    paths = [source.path for source in sources if source.is_cpp]
    if program is None or not paths:
        print("style: skipped the format: clang-format is not installed", file=sys.stderr)
        return
    result = subprocess.run([program, "--dry-run", *paths], cwd=root, stderr=subprocess.PIPE,
                            text=True, check=False)
    seen = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error)", result.stderr, re.M):
        if path not in seen:  # one line per file: the cure is the same
            seen.add(path)
            yield Problem(path, int(line), "format", "run ./dev format")


RULES = (sizes, layers, cycles, libraries, contracts, missing_tests, banned, words,
         endings, formatted)


def check(root: pathlib.Path, rules=RULES):
    sources = list(load(root))
    return [problem for rule in rules for problem in rule(sources, root)]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    root = root if root.is_dir() else root.parent.parent
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"style: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
