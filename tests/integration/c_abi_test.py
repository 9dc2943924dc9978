#!/usr/bin/env python3
"""Compares the C ABI of libbrigade.so (include/brigade/c.h, worker.h) with what has been promised:
tests/golden/c_abi/libbrigade.xml, which abidw has written.

    c_abi_test.py LIBRARY

UPDATE_GOLDEN=1 writes the file: right when something was added, and only then. Functions and
members at the end of a struct may be added; nothing goes, moves or changes its type or its number.
Needs abidw and abidiff (Debian's abigail-tools).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMISED = ROOT / "tests" / "golden" / "c_abi" / "libbrigade.xml"
HEADERS = [ROOT / "include" / "brigade" / name for name in ("c.h", "worker.h")]
LIBRARY = pathlib.Path(sys.argv[1]).resolve()
# The functions of the header with their types; what a handle points to is nobody's business.
ONLY_C = r"""
[suppress_function]
  symbol_name_not_regexp = ^brigade_
  drop = true
[suppress_variable]
  symbol_name_regexp = .*
  drop = true
[suppress_type]
  source_location_not_regexp = .*(c|worker|handles)\.h$
  drop = true
"""
WRITES = ("--drop-private-types", "--exported-interfaces-only", "--no-architecture",
          "--no-corpus-path", "--no-show-locs", "--no-comp-dir-path", "--no-elf-needed",
          "--no-write-default-sizes", "--type-id-style", "hash")
SKIPPED = 77


def write_abi(folder):
    (folder / "only_c").write_text(ONLY_C)
    path = folder / "libbrigade.xml"
    subprocess.run(["abidw", *WRITES, "--headers-dir", HEADERS[0].parent, "--suppressions",
                    folder / "only_c", "--out-file", path, LIBRARY], check=True)
    return path


def changes(promised, found):
    """What abidiff has to say; empty where nothing has changed."""
    done = subprocess.run(["abidiff", promised, found], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout if done.returncode != 0 else ""


def exported():
    """The functions of the library's version nodes for C, with their node."""
    printed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], text=True, check=True,
                             stdout=subprocess.PIPE).stdout
    return dict(re.findall(r" T (brigade_\w+)@@(\w+)$", printed, re.M))


class CAbi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="brigade_integration_")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.found = write_abi(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_is_what_was_promised(self):
        said = changes(PROMISED, self.found)
        self.assertEqual(said, "", f"""the C ABI has changed:
{said}
Programs that are compiled already rely on it. Functions and members at the end of a struct may be
added: then UPDATE_GOLDEN=1 makes this test write {PROMISED.relative_to(ROOT)}. Anything else is
taken back, or gets another name.""")

    def test_what_the_header_declares_is_exported_and_nothing_else(self):
        text = "".join(header.read_text() for header in HEADERS)
        declared = re.findall(r"BRIGADE_C_API\s[^;(]*?\b(brigade_\w+)\(", text)
        self.assertGreater(len(declared), 20)
        self.assertEqual(sorted(declared), sorted(exported()))
        self.assertLessEqual(set(exported().values()), {"BRIGADE_C_1"})

    def test_changes_are_seen(self):
        """The controls: each is a promise that the library does not keep."""
        text = PROMISED.read_text()
        size = text.index("name='limit'")
        member = text.rindex("layout-offset-in-bits='128'", 0, size)
        for what, promised in (
                ("a member that has moved",
                 text[:member] + "layout-offset-in-bits='192'" + text[member + 27:]),
                ("a struct of another size",
                 text.replace("name='brigade_sample' size-in-bits='320'",
                              "name='brigade_sample' size-in-bits='384'")),
                ("a function that is gone", text.replace("brigade_run_stop", "brigade_run_halt")),
                ("a parameter less", re.sub(r"      <parameter type-id='\w+' name='epoch'/>\n", "",
                                            text))):
            with self.subTest(what):
                self.assertNotEqual(promised, text)
                path = self.folder / "control.xml"
                path.write_text(promised)
                self.assertNotEqual(changes(path, self.found), "")
        path.write_text(text)
        self.assertEqual(changes(path, PROMISED), "")


def main():
    for tool in ("abidw", "abidiff", "nm"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool} (Debian's abigail-tools and binutils)")
            sys.exit(SKIPPED)
    if os.environ.get("UPDATE_GOLDEN"):
        with tempfile.TemporaryDirectory(prefix="brigade_integration_") as folder:
            PROMISED.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(write_abi(pathlib.Path(folder)), PROMISED)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
