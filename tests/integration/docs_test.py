#!/usr/bin/env python3
"""Runs what a page of the documentation shows, in a folder of its own and in the page's order.

    docs_test.py PROGRAM COMPILER PAGE     or `controls`: that mistakes on a page are found

The words behind ``` say what a block is:
    sh              commands, which succeed
    console         `$ ` and a command, then what it prints; `...` stands for what varies
    yaml            a graph that `brigade check` has nothing to say about
    yaml fragment   a part of a graph: laid over configs/base.yaml, with a reader for each stage of
                    its own
    yaml = PATH     the file PATH of this repository, word for word
    cpp             compiles behind the page's C++ above it
    c               compiles as C11, without a warning
    python          runs, behind the page's Python above it
    text            is to be looked at
    ANY not run: WHY, and ANY with torch, of a build that has the torch package
Of commands that are not run, and of those within a sentence, the subcommand and its flags exist;
links lead to files and headings that are there.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM, COMPILER = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
TORCH = PROGRAM.parent.parent / "lib" / "brigade" / "brigade_torch.so"
PYTHON, PACKAGE = "/usr/bin/python3", PROGRAM.parent.parent / "python"
RUN_BLOCKS = """
import json, sys
names = {"__name__": "__main__"}
for text in json.load(sys.stdin):
    exec(compile(text, sys.argv[1], "exec"), names)
"""
SECONDS_MAX = 120
sys.path += [str(ROOT / "examples"), str(ROOT / "tools")]
from docs_site import slug  # noqa: E402
from example_test import matches  # noqa: E402, the folders are no packages


class Mistake(Exception):
    """What is wrong, with page and line."""


class Block:
    def __init__(self, line, words):
        self.line, self.lines = line, []  # of its first line, on the page
        self.words = words
        self.kind, _, self.why = (part.strip() for part in words.partition("not run:"))
        if self.kind.endswith(" with torch"):
            self.kind = self.kind.removesuffix(" with torch")
            self.why = "" if TORCH.exists() else "this build has no torch package"

    def text(self, newlines=0):
        return "\n" * newlines + "\n".join([*self.lines, ""])

    def at_its_line(self):  # so that tools name the page's lines
        return self.text(self.line - 1)


def split(page):
    """The blocks, and the page's lines with empty ones in their place."""
    blocks, prose, opened = [], [], False
    for number, line in enumerate(page.splitlines(), 1):
        fence = line.startswith("```")
        if fence and not opened:
            blocks.append(Block(number + 1, line[3:]))
        elif opened and not fence:
            blocks[-1].lines.append(line)
        prose.append("" if fence or opened else line)
        opened = opened != fence
    return blocks, prose


class Page:
    def __init__(self, name, text, folder):
        self.name, self.cpp, self.python = name, [], []
        self.counts, self.not_run = {}, []
        self.blocks, self.prose = split(text)
        for source in ("configs", "examples", "tools"):
            shutil.copytree(ROOT / source, folder / source)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(PROGRAM.parent.parent)
        self.where = folder / pathlib.Path(name).parent if name.startswith("examples/") else folder
        self.environment = {**os.environ, "TMPDIR": str(folder),
                            "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

    def fail(self, line, said):
        raise Mistake(f"{self.name}:{line}: {said}")

    def ask(self, *command, text="", where=None):
        done = subprocess.run(command, input=text, text=True, timeout=SECONDS_MAX, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              cwd=where or self.where, env=self.environment)
        return done.returncode, done.stdout

    def check(self):
        for block in self.blocks:
            kind, _, path = block.kind.partition(" = ")
            step = getattr(self, "do_" + kind.replace(" ", "_"), None)
            if "`" in block.words:
                self.fail(block.line - 1, "a ` behind ``` makes it text: leave the ` out")
            if block.why:
                self.not_run.append(f"{block.line}, {kind}: {block.why}")
                for line, text in enumerate(block.lines if kind == "sh" else [], block.line):
                    self.check_words(line, text)
            elif step is None:
                self.fail(block.line - 1, f"what is a block of `{kind}`?")
            else:
                what = step(block, *([path] if path else []))
                self.counts[what] = self.counts.get(what, 0) + 1
        if self.cpp:
            self.compile()
        if self.python:
            self.run_python()
        for number, line in enumerate(self.prose, 1):
            for command in re.findall(r"`((?:brigade|\./dev) [^`]+)`", line):
                self.check_words(number, command)
            for link in re.findall(r"\]\(([^):]*)\)", re.sub(r"`[^`]*`", "", line)):
                self.check_link(number, *link.split("#"))
        said = ", ".join(f"{count} {what}" for what, count in self.counts.items())
        return "\n  not run: line ".join([f"{self.name}: {said or 'no blocks'}", *self.not_run])

    def check_link(self, line, path, heading=None):
        target = ROOT / self.name if not path else (ROOT / self.name).parent / path
        if not target.exists():
            self.fail(line, f"there is no {target}")
        titles = re.findall(r"^#+ (.*)", target.read_text(), re.M) if heading else []
        if heading and heading not in map(slug, titles):
            self.fail(line, f"{target.name} has no #{heading}")

    def check_words(self, line, command):
        """Of a command that is not run."""
        words = shlex.split(command, comments=True)
        if len(words) < 2 or not re.fullmatch(r"[a-z]+|--\w+", words[1]):
            return
        if words[0] == "./dev":
            text = self.ask("./dev", "help", where=ROOT)[1]
            known = re.search(rf"^\./dev {words[1]}\b", text, re.M)
        elif words[0].endswith("brigade"):
            status, text = self.ask("brigade", words[1], "--help")
            known = status == 0
        else:
            return
        unknown = [word for word in words[2:] if re.match("--[a-z]", word) and word not in text]
        if unknown or not known:
            self.fail(line, f"`{command}`: there is no {' '.join(unknown) or words[1]}")

    def do_sh(self, block):
        trap = "trap 'echo \"failed: $LINENO: $BASH_COMMAND\"' ERR"
        (self.where / "page.sh").write_text(f"set -Eeuo pipefail; {trap};" + block.at_its_line())
        status, said = self.ask("bash", "page.sh")
        if status != 0:
            failed = re.search(r"^failed: (\d+): (.*)$", said, re.M)
            self.fail(failed[1] if failed else block.line, said)
        return "run"

    def do_console(self, block):
        """A command that shows an error fails, any other succeeds."""
        for shown in re.split(r"^\$ ", block.at_its_line(), flags=re.M)[1:]:
            command, expected = shown.split("\n", 1)
            status, said = self.ask("bash", "-c", command)
            fits = matches(expected, said) if expected else said == ""
            if (status != 0) != ("error: " in expected) or not fits:
                line = block.line + block.lines.index(f"$ {command}")
                self.fail(line, f"`{command}` ended with {status} and printed\n{said}")
        return "run"

    def check_graph(self, block, *files):
        path = f"{pathlib.Path(self.name).name}.yaml"
        (self.where / path).write_text(block.at_its_line())
        status, said = self.ask("brigade", "check", *files[:1], path, *files[1:])
        # How many cores share the work is not the page's matter.
        if status != 0 or re.search(r"warning: (?!\d+ threads .* share )", said):
            self.fail(block.line, said)
        return "checked"

    def do_yaml(self, block, path=None):
        if path and (ROOT / path).read_text() != block.text():
            self.fail(block.line, f"{path} is not what the page shows")
        return self.check_graph(block)

    def do_yaml_fragment(self, block):
        stages = re.findall(r"^  ([\w-]+):(.*\n(?:   .*\n|\n)*)", block.text(), re.M)
        readers = [f"  end-of-{name}: {{consumer: count, from: {name}}}\n" for name, text in stages
                   if re.search(r"\b(producer|transform): ", text)]
        (self.where / "readers.yaml").write_text("stages:\n" + "".join(readers))
        return self.check_graph(block, "configs/base.yaml", *["readers.yaml"][:len(readers)])

    def do_cpp(self, block):
        self.cpp += [f'#line {block.line} "{self.name}"', block.text()]
        return "compiled"

    def do_c(self, block):
        status, said = self.ask(COMPILER, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror",
                                f"-I{ROOT}/include", "-fsyntax-only", "-x", "c", "-",
                                text=f'#line {block.line} "{self.name}"\n{block.text()}')
        error = re.search(rf"^{re.escape(self.name)}:(\d+):.*error: ", said, re.M)
        if status != 0:
            self.fail(error[1] if error else block.line, said)
        return "compiled"

    def do_python(self, block):
        if not (PACKAGE / "brigade" / "_brigade.abi3.so").exists():
            self.not_run.append(f"{block.line}, python: this build has no Python package")
            return "shown"
        self.python.append(block.at_its_line())
        return "run"

    def run_python(self):
        self.environment["PYTHONPATH"] = str(PACKAGE)
        status, said = self.ask(PYTHON, "-B", "-c", RUN_BLOCKS, self.name,
                                text=json.dumps(self.python))
        places = re.findall(rf'"{re.escape(self.name)}", line (\d+)', said)
        if status != 0:
            self.fail(places[-1] if places else 1, said)

    def compile(self):
        status, said = self.ask(COMPILER, "-std=c++20", f"-I{ROOT}/include", "-fsyntax-only", "-x",
                                "c++", "-", text="\n".join(self.cpp))
        error = re.search(rf"^{re.escape(self.name)}:(\d+):.*error: ", said, re.M)
        if status != 0:
            self.fail(error[1] if error else 1, said)

    def do_text(self, _):
        return "shown"


def check_page(name, text):
    with tempfile.TemporaryDirectory(prefix="brigade_integration_") as folder:
        return Page(name, text, pathlib.Path(folder)).check()


class Controls(unittest.TestCase):
    """Each mistake ends the test, with its page and line."""

    def found(self, page, where, what):
        with self.assertRaises(Mistake) as raised:
            check_page("page.md", page)
        self.assertRegex(str(raised.exception), rf"(?s)^page.md:{where}: .*{re.escape(what)}")

    def test_what_is_right_is_counted(self):
        said = check_page("page.md", "```sh\nbrigade check configs/hello.yaml\n```\n"
                          "[a](README.md#speed)[b](docs)`brigade run --quiet`\n"
                          "```sh not run: it takes long\n./dev test\n```\n")
        self.assertIn("page.md: 1 run\n  not run: line 6, sh: it takes long", said)

    def test_commands(self):
        self.found("\n```sh\ntrue\nbrigade chekc configs/hello.yaml\ntrue\n```\n", 4, "chekc")
        self.found("```sh\nbrigade check gone.yaml\n```\n", 2, "gone.yaml")
        self.found("```sh not run: why\ntrue\nbrigade run x.yaml --sett a=1\n```\n", 3, "no --sett")
        self.found("a\nthen `brigade pln FILE.yaml`", 2, "there is no pln")
        self.found("`./dev tset`", 1, "there is no tset")

    def test_links_and_blocks_of_no_kind(self):
        self.found("[a](docs/GONE.md)", 1, "there is no")
        self.found("a\n[a](README.md#speeds)", 2, "#speeds")
        self.found("a\n```\nbrigade run x.yaml\n```\n", 2, "what is a block of ``")
        self.found("a\n```sh not run: `why`\ntrue\n```\n", 2, "leave the ` out")

    def test_shown_output(self):
        shown = "```console\n$ true\n$ brigade check configs/hello.yaml\n{}\n```\n"
        check_page("page.md", shown.format("...: ok: 2 stages, 2 processes"))
        self.found(shown.format("...: ok: 3 stages, 2 processes"), 3, "ok: 2 stages")
        self.found(shown.format("configs/hello.yaml:1:1: error: ..."), 3, "ended with 0")

    def test_graphs_and_code(self):
        self.found("```yaml\nstages:\n  a: {consumer: cuont}\n```\n", 2, ":3:")
        fragment = "```yaml fragment\nstages:\n  c: {transform: passthrough, WHAT: images}\n```\n"
        check_page("page.md", fragment.replace("WHAT", "from"))
        self.found(fragment.replace("WHAT", "form"), 2, ":3:")
        self.found("```yaml = configs/hello.yaml\nstages: {}\n```\n", 2, "configs/hello.yaml")
        self.found("```c\nint a;\nint *b = a;\n```\n", 3, "makes pointer from integer")
        if (PACKAGE / "brigade" / "_brigade.abi3.so").exists():
            self.found("```python\na = 1\n```\n```python\nimport brigade\nb = c\n```\n", 6, "'c'")
        self.found("```cpp\nint a;\n```\n```cpp\nint b = c;\n```\n", 5, "not declared")


if __name__ == "__main__":
    if sys.argv[3] == "controls":
        unittest.main(argv=sys.argv[:1], verbosity=2)
    try:
        print(check_page(sys.argv[3], (ROOT / sys.argv[3]).read_text()))
    except Mistake as mistake:
        sys.exit(str(mistake))
