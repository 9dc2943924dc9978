#!/usr/bin/env python3
"""Every rule of tools/style.py fires on a small bad tree, and none on a small good one."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import cpp_source
import rooms
import style

GOOD = {
    ".clang-format": "BasedOnStyle: Google\n",
    "include/brigade/text.h": "#pragma once\n\nint count(int n);  // a system(...), assert(no)\n",
    "base/text.cpp": '#include <brigade/text.h>\n\nint count(int n) { return n; }\n',
    "tests/base/text_test.cpp": '#include <brigade/text.h>\n',
}


@contextlib.contextmanager
def tree(files):
    """The good tree with these files added (None: removed)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in {**GOOD, **files}.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
        yield root


def problems(files, rule):
    """The messages of one rule there."""
    with tree(files) as root:
        return [str(problem) for problem in style.check(root, [rule])]


class Rules(unittest.TestCase):
    def fires(self, rule, files, *expected):
        found = problems(files, rule)
        self.assertEqual(len(found), len(expected), found)
        for text, message in zip(expected, found):
            self.assertIn(text, message)

    def test_the_good_tree_has_no_problems(self):
        for rule in style.RULES:
            with self.subTest(rule.__name__), contextlib.redirect_stderr(io.StringIO()):
                self.fires(rule, {})

    def test_sizes(self):
        self.fires(style.sizes, {"base/a.h": "\n" * 251}, "251 lines, at most 250")
        self.fires(style.sizes, {"base/a.cpp": "\n" * 401}, "401 lines, at most 400")
        self.fires(style.sizes, {"base/a.cpp": "//" + "x" * 99 + "\n"}, "base/a.cpp:1: size: 101")
        body = "  run();\n" * 69
        self.fires(style.sizes, {"base/a.cpp": f"\nvoid f() {{\n{body}}}\n"},
                   "base/a.cpp:2: size: f() has 71 lines")
        self.fires(style.sizes, {"base/a.cpp": f"void f() {{\n{body[9:]}}}\n"})

    def test_a_folder_has_few_names(self):
        files = {f"base/a{number}.h": "#pragma once\n" for number in range(25)}
        self.fires(style.names_of_folders, files, "base:1: size: 26 names")
        files.popitem()
        self.fires(style.names_of_folders, {**files, "base/a1.cpp": "\n"})

    def test_a_folder_of_tests_has_few_names(self):
        files = {f"tests/golden/a{number}.png": "\n" for number in range(33)}
        self.fires(style.names_of_folders, files, "tests/golden:1: size: 33 names")
        files.popitem()
        self.fires(style.names_of_folders, files)

    def test_arrows_point_down(self):
        files = {"include/brigade/tensor.h": "#pragma once\n", "base/b.h": "#pragma once\n",
                 "pipeline/plan/b.h": "#pragma once\n", "stages/torch/b.h": "#pragma once\n",
                 "stages/api/b.h": "#pragma once\n"}
        tensor, plan = "#include <brigade/tensor.h>\n", '#include "pipeline/plan/b.h"\n'
        torch, base = '#include "stages/torch/b.h"\n', '#include "base/b.h"\n'
        for path, include in (("base/a.cpp", plan), ("transports/a.cpp", tensor),
                              ("include/brigade/a.h", base), ("stages/image/a.cpp", torch),
                              ("pipeline/config/yaml/a.cpp", plan),
                              ("pipeline/plan/a.cpp", torch)):
            with self.subTest(path):
                self.fires(style.layers, {**files, path: include}, f"{path}:1: layer")
        for path, include in (("base/a.cpp", tensor), ("pipeline/report/a.cpp", plan),
                              ("stages/image/sources/a.cpp", tensor), ("transports/a.cpp", base),
                              ("pipeline/plan/a.cpp", '#include "stages/api/b.h"\n')):
            with self.subTest(path):
                self.fires(style.layers, {**files, path: include})
        home = {"pipeline/plan/text.cpp": "#include <brigade/text.h>\n", "base/text.cpp": None}
        for path, fires in (("pipeline/config/yaml/a.cpp", True), ("pipeline/plan/a.cpp", False),
                            ("pipeline/api/a.cpp", False)):
            with self.subTest(f"a public header's room: {path}"):
                self.fires(style.layers, {**home, path: "#include <brigade/text.h>\n"},
                           *[f"{path}:1: layer: <brigade/text.h> is implemented in"] * fires)
        above = {"include/brigade/loop.h": "#pragma once\nclass BRIGADE_API Loop {};\n",
                 "include/brigade/alone.h": "#pragma once\n#include <brigade/loop.h>\n",
                 "pipeline/api/run.cpp": "int Loop::run() { return 0; }\n"}
        for path, name, fires in (("pipeline/plan/a.cpp", "loop", True),
                                  ("pipeline/plan/a.cpp", "alone", True),
                                  ("pipeline/api/a.cpp", "alone", False)):
            with self.subTest(f"the room of members, and of a header alone: {name} in {path}"):
                self.fires(style.layers, {**above, path: f"#include <brigade/{name}.h>\n"},
                           *[f"<brigade/{name}.h> is implemented in pipeline/api"] * fires)
        self.fires(style.layers, {"elsewhere/a.cpp": '#include <brigade/text.h>\n'}, "is no room")

    def test_includes_are_rooted(self):
        self.fires(style.layers, {"base/a.cpp": '#include "text.h"\n'}, "includes are rooted")
        self.fires(style.layers, {"base/a.cpp": 'auto text = R"(\n#include "text.h"\n)";\n'})
        self.fires(style.layers, {"base/a.cpp": "#include <brigade/other.h>\n"}, "no file")
        example = {"examples/own/a.cpp": '#include "a.h"\n'}
        self.fires(style.layers, example, "an example includes what is installed")
        self.fires(style.layers, {**example, "examples/own/a.h": "#pragma once\n"})

    def test_cycles(self):
        self.fires(style.cycles, {"base/a.h": '#include "base/b.h"\n',
                                  "base/b.h": '#include "base/a.h"\n'},
                   "base/a.h -> base/b.h -> base/a.h")

    def test_circles_of_c(self):
        files = {"python/src/a.c": "int first(void) {\n  return second();\n}\n",
                 "python/src/b.c": "int second(void) { return third(); }\n",
                 "python/src/c.c": "int\nthird(void) { return 3; }\n"}
        self.fires(style.circles_of_c, files)
        files["python/src/c.c"] = "int third(void) { return first(); }  // first()\n"
        self.fires(style.circles_of_c, files, "python/src/a.c:1: circle: calls functions of b.c",
                   "python/src/b.c:1: circle", "python/src/c.c:1: circle")
        files["python/src/c.c"] = "static int first(void) { return 3; }\nint third(void) {}\n"
        self.fires(style.circles_of_c, files)

    def test_a_file_includes_what_it_uses(self):
        header = {"base/a.h": "#pragma once\nstruct Row {\n  int n;\n};\nint rows(int n);\n"
                              "constexpr int kRowsMax = 3;\n#define ROW(a) a\n"}
        use = "int {}() {{ return {}; }}\n"
        for name, expression in (("Row", "Row().n"), ("rows", "rows(1)"),
                                 ("kRowsMax", "kRowsMax"), ("ROW", "ROW(1)")):
            with self.subTest(name):
                alone = {**header, "base/b.cpp": use.format("f", expression)}
                self.fires(style.own_includes, alone, f"uses {name} of base/a.h")
                near = {**alone, "base/b.cpp": '#include "base/b.h"\n' + alone["base/b.cpp"],
                        "base/b.h": '#pragma once\n#include "base/a.h"\n'}
                self.fires(style.own_includes, near)
        self.fires(style.own_includes, {**header, "base/a.cpp": "int rows(int n) { return n; }\n"},
                   "does not include its own header base/a.h")
        self.fires(style.own_includes, {"base/b.h": "#pragma once\nstd::vector<int> b();\n"},
                   "uses std::vector of <vector>")
        self.fires(style.own_includes, {**header, "base/b.cpp": "struct Row {};\n"
                                        "void f(int rows) { a.rows(rows); other::Row b; }\n"})

    def test_names_of_files_that_are_compiled_together(self):
        def files(first, second):  # of one group, by their paths
            return {"base/a.cpp": f"namespace {{\n{first}\n}}\n",
                    "base/n.cpp": f"namespace {{\n{second}\n}}\n"}
        size, row = "constexpr int kSize = 3;", "struct Row {\n  int n;\n};"
        count = "int count(int n) {\n  return n;\n}"
        for name, first, second in (("kSize", size, size.replace("int", "long")),
                                    ("Row", row, row), ("count(int n)", count, count)):
            self.fires(style.names_that_meet, files(first, second),
                       f"base/n.cpp:1: name: {name} stands in base/a.cpp, too")
        self.fires(style.names_that_meet, files(count, count.replace("int n", "long n")))
        self.fires(style.names_that_meet, files("using Words = A;", "using Words = A;"))
        self.fires(style.names_that_meet, {"base/a.cpp": size + "\n", "base/b.cpp": size + "\n"})

    def test_what_nothing_uses_is_found(self):
        header = "#pragma once\nstruct Row {};\nint rows(const Row& row);\n"
        files = {"base/a.h": header, "base/a.cpp": "int rows(const Row& row) { return 1; }\n",
                 "tests/base/a_test.cpp": "int main() { return rows(Row()); }\n"}
        self.fires(style.dead_declarations, files, "base/a.h:1: dead: nothing of the product uses "
                   "rows")
        files["base/b.cpp"] = "int f() { return rows({}); }\n"
        self.fires(style.dead_declarations, files)

    def test_libraries(self):
        for library, (_, users) in style.LIBRARIES.items():
            self.assertTrue(users, library)
        self.fires(style.libraries, {"base/a.cpp": "#include <yaml-cpp/yaml.h>\n"}, "yaml-cpp")
        self.fires(style.libraries, {"pipeline/worker/replica/a.cpp": "#include <torch/torch.h>\n"},
                   "LibTorch belongs into include/brigade/torch.h, stages/torch/")
        self.fires(style.libraries, {"base/a.cpp": "#include <gtest/gtest.h>\n"}, "GoogleTest")
        self.fires(style.libraries, {"stages/torch/a.cpp": "#include <torch/torch.h>\n",
                                     "tests/stages/torch/a_test.cpp": "#include <torch/torch.h>\n"})

    def test_contracts(self):
        self.fires(style.contracts,
                   {"stages/image/a_contract.cpp": '#include "stages/image/b.h"\n',
                    "stages/image/b.h": "#include <opencv2/core.hpp>\n"},
                   "reaches OpenCV through stages/image/b.h")

    def test_missing_tests(self):
        self.fires(style.missing_tests, {"tests/base/text_test.cpp": None}, "tests/base/text_test")
        self.fires(style.missing_tests, {"base/a.h": "#pragma once\nvoid f() { for (;;) g(); }\n"},
                   "has no tests/base/a_test.cpp")
        self.fires(style.missing_tests, {"base/a.h": "#pragma once\nstruct A { int b = 0; };\n"})
        self.fires(style.missing_tests, {"stages/image/a_contract.cpp": "\n",
                                         "tests/stages/image/a_test.cpp": "\n"})
        names = '#include "base/a.h"\n#include "base/b.h"\n\n#include "base/c.h"\n'
        self.fires(style.missing_tests, {"base/b.cpp": "\n", "tests/base/a_test.cpp": names})
        self.fires(style.missing_tests, {"base/c.cpp": "\n", "tests/base/a_test.cpp": names},
                   "has no tests/base/c_test.cpp")

    def test_banned(self):
        for call in ("fork();", "system(a);", "std::system(a);", "sprintf(a, b);", "strcpy(a, b);",
                     "rand();", "std::mt19937 a;", "std::cout << 1;", "printf(a);", "assert(a);",
                     "atoi(a);", "std::stoi(a);", "a << std::endl;", "volatile int a;",
                     "std::ofstream a;",
                     "using namespace std;", "shm_open(a);", "std::regex a;",
                     "snprintf(a, b);", "posix_spawn(a);", "popen(a);",
                     "std::atomic_notify_one(a);", "managed_shared_memory a;"):
            with self.subTest(call):
                self.fires(style.banned, {"base/a.cpp": f"void f() {{\n  {call}\n}}\n"},
                           "base/a.cpp:2: banned")

    def test_every_ban_has_a_case_above(self):
        source = pathlib.Path(__file__).read_text()
        cases = source[source.index("for call in"):source.index("with self.subTest(call)")]
        for pattern, *_ in style.BANNED:
            self.assertRegex(cases, pattern)

    def test_waiting_on_an_atomic_is_banned_and_other_waits_are_not(self):
        self.fires(style.banned, {"base/a.cpp": "std::atomic<int> doorbell;\nint f() {\n"
                                                "  doorbell.wait(0);\n}\n"},
                   "base/a.cpp:3: banned: doorbell.wait(: use a doorbell")
        self.fires(style.banned, {"base/a.cpp": "void f(C& c) { c.wait(lock); vfork(); }\n"
                                                "// printf(\nstatic_assert(1 == 1);\n"
                                                "using namespace std::chrono_literals;\n"
                                                "int strand(int);\nauto s = \"rand()\";\n"})

    def test_libraries_are_listed_and_used(self):
        self.fires(style.unused_libraries, {"base/CMakeLists.txt": "find_package(spdlog REQUIRED)\n"
                                                                   "find_package(ZLIB)\n"},
                   "base/CMakeLists.txt:1: library: spdlog is not in LIBRARIES")
        self.fires(style.unused_libraries, {
            "tools/style_tables.py": "", "base/a.cpp": "".join(
                f"#include <{header}>\n" for header in (
                    "yaml-cpp/yaml.h", "nlohmann/json.hpp", "boost/a.hpp", "xxhash.h", "zlib.h",
                    "concurrentqueue/c.h", "torch/a.h", "opencv2/a.hpp", "jpeglib.h",
                    "webp/a.h", "tiffio.h", "png.h", "gtest/gtest.h", "benchmark/b.h"))},
                   "no file includes CLI11")

    def test_what_a_document_names_is_there(self):
        self.fires(style.documented_paths, {"docs/a.md": "`base/text.cpp`, `base/`, `a/b`\n"
                                                         "`base/gone.cpp`\n"},
                   "docs/a.md:2: path: there is no base/gone.cpp")

    def test_the_index_links_each_page(self):
        self.fires(style.listed_pages, {"docs/INDEX.md": "[a](A.md)\n", "docs/A.md": "",
                                        "docs/B.md": "", "docs/decisions/c.md": ""},
                   "docs/B.md:1: page: docs/INDEX.md does not link it")

    def test_words(self):
        self.fires(style.words, {"docs/a.md": "T" "ODO\nnot impl" "emented\nmkstemp XXXXXX\n"},
                   "docs/a.md:1: word", "docs/a.md:2: word")

    def test_words_of_pages_are_the_fields(self):
        page = ("It is refused.\n```sh\nwhoever\n```\nA `picture`, pictures/a.svg\nSo it goes on.\n"
                "<!-- keys: -->\nwhoever\n<!-- end -->\n")
        self.fires(style.page_words, {"docs/A.md": page, "docs/decisions/a.md": page,
                                      "base/README.md": page},
                   "docs/A.md:1: word: 'is refused': is rejected", "docs/A.md:6: word: 'goes on'",
                   "docs/A.md:6: word: 'So'", "docs/decisions/a.md:1: word",
                   "docs/decisions/a.md:6: word", "docs/decisions/a.md:6: word")

    def test_words_of_headers_are_the_fields(self):
        header = "#pragma once\n\n// Lines, and\n// whoever takes them.\nint a;  // whoever\n"
        self.fires(style.header_words, {"base/a.h": header, "base/a.cpp": header},
                   "base/a.h:4: word: 'whoever': name the subject")

    def test_words_of_texts_are_the_fields(self):
        code = ('// whoever\n#include "base/whoever.h"\nauto a = f("begin\\nit\\n" "goes "\n'
                '           "on", 1, R"(a picture)");\nauto b = "there is no file";\n')
        script = '"""Whoever."""\nA = f"{1} is no file"  # goes on\n\n\ndef f():\n    "goes on"\n'
        self.fires(style.text_words, {"pipeline/a.cpp": code, "bench/a.cpp": code,
                                      "python/src/a.cpp": code, "pipeline/a.py": script,
                                      "python/tests/a.py": script},
                   "pipeline/a.cpp:3: word: 'goes on'", "pipeline/a.cpp:4: word: 'picture'",
                   "pipeline/a.py:2: word: 'is no ': is not a",
                   "python/src/a.cpp:3: word: 'goes on'", "python/src/a.cpp:4: word: 'picture'")

    def test_words_of_docstrings_are_the_fields(self):
        script = ('"""First.\n\nThe ``picture``, which goes\non.\n"""\n\n\ndef f():\n'
                  '    """It is refused."""\n    g()  # whoever\n\n\ndef g():\n    pass\n')
        self.fires(style.text_words, {"python/brigade/a.py": script, "pipeline/a.py": script},
                   "python/brigade/a.py:3: word: 'goes on'",
                   "python/brigade/a.py:9: word: 'is refused': is rejected")

    def test_endings(self):
        self.fires(style.endings, {"base/a.cpp": "int a;"}, "no newline")
        self.fires(style.endings, {"base/a.cpp": "int a;\n\n"}, "empty lines")
        self.fires(style.endings, {"base/a.cpp": "int a; \n"}, "blanks at the end")
        self.fires(style.endings, {"base/a.h": "int a;\n"}, "#pragma once")

    @unittest.skipIf(style.shutil.which("clang-format") is None, "clang-format is not installed")
    def test_format(self):
        self.fires(style.formatted, {"base/a.cpp": "int  a ;\nint  b;\n"}, "run ./dev format")


class Rooms(unittest.TestCase):
    def test_names_lines_and_arrows(self):
        files = {"pipeline/plan/plan.h": "#pragma once\n#include <string>\n",
                 "pipeline/plan/plan.cpp": '#include "pipeline/plan/plan.h"\n'
                                           '#include "base/text.h"\n'
                                           '#include "pipeline/report/audit.h"\n',
                 "pipeline/report/audit.h": "#pragma once\n#include <brigade/text.h>\n"}
        with tree(files) as root:
            found = rooms.rooms(root)
        self.assertEqual(list(found), ["base", "pipeline/plan", "pipeline/report", "tests"])
        plan = found["pipeline/plan"]
        self.assertEqual((len(plan.names), plan.lines, plan.down, plan.up), (1, 5, 1, 1))
        self.assertEqual((found["pipeline/report"].down, found["pipeline/report"].up), (1, 0))


class Functions(unittest.TestCase):
    def found(self, text):
        return [(function.name, function.lines) for function in cpp_source.functions(text)]

    def test_functions_methods_and_tests(self):
        self.assertEqual(self.found("namespace a {\nclass B : C<int(int)> {\n  int f() const "
                                    "{\n    if (x) { y(); }\n  }\n  int z{3};\n};\n}\n"
                                    "TEST(A, B) {\n}\n"), [("f", 3), ("TEST", 2)])

    def test_constructors_defaults_and_templates(self):
        self.assertEqual(self.found("A::A(int b) : b_{b}, c_(1) {\n  run();\n}\n"), [("A::A", 3)])
        self.assertEqual(self.found("int f(A a = {}, B b = {1}) {\n}\n"), [("f", 2)])
        self.assertEqual(self.found("template <>\nint g<A<B>>() {\n}\n"), [("g", 2)])

    def test_what_is_no_function(self):
        self.assertEqual(self.found("int a[] = {f(1), 2};\nauto g = [](int b) {\n  return b;\n};\n"
                                    "#define M(x) \\\n  { x(); }\n"
                                    "struct alignas(64) S {\n};\n"), [])

    def test_comments_strings_and_separators_hide_braces(self):
        self.assertEqual(self.found("int f() {\n  // }\n  g(\"}\", '}', 1'000'000);\n"
                                    "  h(R\"({\n)\");\n}\n"), [("f", 6)])


if __name__ == "__main__":
    unittest.main()
