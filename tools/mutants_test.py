#!/usr/bin/env python3
"""tools/mutants.py on small files: where it finds sites, that one build holds all mutants, and that
a test which looks at one of them kills it while one that looks away does not."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import mutant_sites
import mutants
from mutant_tests import Test, Tests, near, nearest_binaries

PRODUCT = """#include "product.h"
constexpr int kSize = 1 + 2;
// if (commented == out) return 1;
int product(int a, int b) {
  static_assert(kSize == 3);
  const char* text = "a == b";
  int sum = a + b;
  if (a < b && text != nullptr) {
    sum += 10;
  }
  for (int i = 0; i < 2; ++i) {
    auto more = [&](int by) { sum = sum + by; };
    more(1);
  }
  return sum;
}
"""


def found(text):
    return {(change.kind, change.before, change.after) for change in mutant_sites.changes(text)}


class Sites(unittest.TestCase):
    def test_operators_constants_conditions_and_removed_statements(self):
        changes = found(PRODUCT)
        for wanted in (("operator", "a + b", "a - b"),
                       ("operator", "a < b && text != nullptr", "a <= b && text != nullptr"),
                       ("condition", "a < b && text != nullptr", "!(a < b && text != nullptr)"),
                       ("constant", "i < 2", "i < 3"),
                       ("operator", "sum = sum + by;", "sum = sum - by;"),
                       ("removed", "sum += 10;", ""), ("removed", "more(1);", "")):
            self.assertIn(wanted, changes)

    def test_nothing_in_text_comments_declarations_and_what_the_compiler_computes(self):
        self.assertFalse([change for change in found(PRODUCT) if "kSize" in change[1]
                          or "commented" in change[1] or '"a == b"' in change[1]
                          or change[1].startswith("return sum")])

    def test_templates_pointers_and_references_are_no_operators(self):
        self.assertFalse(found("void f(A& a) {\n  B<int>* const b = g<C>(&a);\n  A&& c = *b;\n}\n"))

    def test_a_statement_of_an_else_is_a_whole_one(self):
        self.assertIn(("removed", "g();", ""),
                      found("void f() {\n  if (a)\n    h();\n  else g();\n}\n"))


class OneBuild(unittest.TestCase):
    """A product with all its mutants, and two tests: one looks at the result, one does not."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)
        (self.root / "brigade_mutant.h").write_text(mutant_sites.HEADER)
        (self.root / "product.h").write_text("int product(int a, int b);\n")
        self.rows, chosen = [], {}
        for change in mutant_sites.changes(PRODUCT):
            if all(change.start >= other.end or other.start >= change.end
                   for other in chosen.values()):
                chosen[len(chosen) + 1] = change
        for number, change in chosen.items():
            self.rows.append({"number": number, "file": "base/product.cpp", "line": 1,
                              "before": change.before, "after": change.after})
        self.assertGreaterEqual(len(chosen), 4)
        (self.root / "product.cpp").write_text(mutant_sites.with_mutants(PRODUCT, chosen))
        (self.root / "test.cpp").write_text(
            '#include "product.h"\nint main(int argc, char**) {\n'
            "  return (product(1, 2) != 15 || product(2, 2) != 6) && argc == 1;\n}\n")
        compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
        subprocess.run([compiler, "-std=c++20", "-Wall", "-Werror", "-I.", "product.cpp",
                        "test.cpp", "-o", "test"], cwd=self.root, check=True)

    def results(self, *commands, near_only=False):
        """What becomes of each mutant with these tests."""
        tests = Tests.__new__(Tests)
        tests._build, tests._jobs, tests._record = self.root, 1, {}
        tests._folders = {"base": ["base"]}
        tests._tests = [Test(f"base.{place}", [str(word) for word in command], {}, self.root)
                        for place, command in enumerate(commands)]
        result = self.root / "result.json"
        result.with_suffix(".tests.json").unlink(missing_ok=True)
        result.write_text(json.dumps({"mutants": self.rows}))
        with contextlib.redirect_stdout(io.StringIO()):
            tests.run(result, None, near_only)
        return [row["status"] for row in json.loads(result.read_text())["mutants"]]

    def test_a_test_that_looks_kills_all_and_one_that_does_not_kills_none(self):
        program = self.root / "test"
        self.assertEqual(set(self.results([program, "anything"], [program])), {"killed"})
        self.assertEqual(set(self.results([program, "anything"])), {"survived"})
        self.assertEqual(set(self.results(["true"])), {"survived: no test reaches it"})
        self.assertEqual(set(self.results([program, "anything"], near_only=True)), {"not near"})

    def test_a_test_that_fails_without_a_mutant_kills_none(self):
        self.assertEqual(set(self.results(["false"])), {"survived: no test reaches it"})


class Places(unittest.TestCase):
    def test_the_binary_of_the_folder_that_mirrors_a_file_is_the_nearest(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "Unity").mkdir()
            (root / "Unity" / "one.cxx").write_text(f'#include "{root}/tests/plan/walk_test.cpp"\n')
            (root / "compile_commands.json").write_text(json.dumps([
                {"file": f"{root}/Unity/one.cxx",
                 "command": "c++ -o tests/CMakeFiles/plan_test.dir/one.o -c one.cxx"},
                {"file": f"{root}/tests/base/text_test.cpp",
                 "command": "c++ -o tests/base/CMakeFiles/base_test.dir/text_test.o -c x"}]))
            folders = nearest_binaries(root, root)
        self.assertEqual(near(folders, "base/units.cpp"), {"base"})
        self.assertEqual(near(folders, "plan/planner/planner.cpp"), {"plan"})
        self.assertEqual(near(folders, "device/device.cpp"), set())

    def test_the_same_seed_chooses_the_same_mutants_and_they_are_found_again(self):
        def some(seed):
            draw = mutants.drawn(mutants.ROOT, seed)
            next(draw)
            return [draw.send(kind) for kind in mutants.CLASSES]
        self.assertEqual(some(7), some(7))
        self.assertNotEqual(some(7), some(8))
        tree = mutants.Tree(mutants.ROOT)
        tree.chosen = dict(enumerate(some(7)))
        self.assertEqual(mutants.found_again(mutants.ROOT, list(mutants.rows_of(tree))),
                         tree.chosen)


if __name__ == "__main__":
    sys.exit(unittest.main())
