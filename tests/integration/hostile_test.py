#!/usr/bin/env python3
"""What other users of the machine plant where a run writes, and what the names of downloaded files
hold: nothing is written through it, nothing waits for it, and no line is forged with it."""

import json
import os
import re
import unittest

from brigade_program import ProgramTest, Running, main

NOBODY = 65534
PRECIOUS = "precious\n"
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) ")
# A line of a log, a cleared screen, the same by C1 controls of one character and of one byte, the
# direction of writing turned, half a character.
FORGED = b"a\n2026-01-31T23:59:59.123Z error forged\r\x1b[2J\xc2\x9b2J\x9b2J\xe2\x80\xaegpj\xc3"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def crashing(name="planted"):
    """Skips sample 7, which it lists."""
    return f"""
name: {name}
stages:
  numbers: {{producer: synthetic, params: {{count: 100, shape: [4]}}}}
  slow: {{transform: delay, from: numbers, on_error: {{skip: 2}}, params: {{crash_at: [7]}}}}
  end: {{consumer: count, from: slow}}
"""


def saving(more=""):
    return f"""
name: saving
checkpoint: {{file: state, every: 20}}
stages:
  numbers: {{producer: synthetic, params: {{count: 100, shape: [4]}}}}
  kept: {{transform: cache, from: numbers, params: {{file: kept.cache}}}}
  end: {{consumer: count, from: kept}}
{more}
"""


@unittest.skipUnless(os.geteuid() == 0, "not root: there is no other user to be")
class PlantedFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o1777)
        self.precious = self.write("precious", PRECIOUS)

    def plant(self, kind, name):
        """As nobody does it; a hard link only root may make (fs.protected_hardlinks)."""
        path, precious = self.folder / name, self.folder / "precious"
        act = {"link": lambda: os.symlink("precious", path), "pipe": lambda: os.mkfifo(path, 0o666),
               "file": path.touch, "hard link": lambda: os.link(precious, path)}[kind]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.umask(0)
                if kind != "hard link":
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                act()
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0, f"nobody cannot plant a {kind}")

    def check_precious(self):
        self.assertEqual(self.precious.read_text(), PRECIOUS)

    def test_the_list_of_what_is_quarantined(self):
        path = self.folder / "planted.quarantine.jsonl"
        for kind, said in (("link", "found a symbolic link"), ("pipe", "nobody reads it"),
                           ("file", "it belongs to another user"),
                           ("hard link", "it has several names")):
            with self.subTest(kind=kind):
                self.plant(kind, path.name)
                finished = self.run_graph(crashing())
                self.assertEqual(finished.code, 0, finished.err)
                self.assertIn(f"cannot write {path.name}: ", finished.err)
                self.assertIn(said, finished.err)
                self.check_precious()
                path.unlink()
        self.assertEqual(self.run_graph(crashing()).code, 0)  # the control
        self.assertEqual(json.loads(path.read_text())["id"], 7)
        self.assertEqual(path.stat().st_mode & 0o7777, 0o644)

    def test_what_is_written_whole(self):
        names = ("state.position", "kept.cache")
        for kind in ("link", "pipe", "file"):
            with self.subTest(kind=kind):
                for name in names:
                    self.plant(kind, name + ".tmp")
                finished = self.run_graph(saving(), "--overwrite")
                self.assertEqual(finished.code, 0, finished.err)
                self.check_precious()
                for name in names:
                    made = (self.folder / name).lstat()
                    self.assertEqual((made.st_uid, made.st_mode), (0, 0o100644), name)
                    (self.folder / name).unlink()
                    (self.folder / (name + ".tmp")).unlink()

    def test_the_lock_of_a_cache(self):
        for kind, said in (("link", "found a symbolic link"), ("file", "belongs to another user"),
                           ("pipe", "cannot write")):
            with self.subTest(kind=kind):
                self.plant(kind, "kept.cache.lock")
                finished = self.run_graph(saving())
                self.assertEqual(finished.code, 1, finished.err)
                self.assertIn(said, finished.err)
                self.check_precious()
                (self.folder / "kept.cache.lock").unlink()

    def test_what_is_believed_is_ours(self):
        self.assertEqual(self.run_graph(saving()).code, 0)
        for name, arguments in (("state.position", ("--resume",)), ("kept.cache", ())):
            with self.subTest(name=name):
                path = self.folder / name
                os.chown(path, NOBODY, NOBODY)
                finished = self.run_graph(saving(), *arguments)
                self.assertEqual(finished.code, 2, finished.err)
                self.assertIn("it belongs to another user", finished.err)
                os.chown(path, 0, 0)
        self.assertEqual(self.run_graph(saving(), "--resume").code, 0)  # the control

    def test_a_log_and_a_summary(self):
        for option in ("--log", "--summary"):
            for kind in ("link", "pipe"):
                with self.subTest(option=option, kind=kind):
                    self.plant(kind, "out")
                    finished = self.run_graph(crashing(), option, "out")
                    self.assertEqual(finished.code, 2, finished.err)
                    self.assertIn("cannot write out: ", finished.err)
                    self.check_precious()
                    (self.folder / "out").unlink()
            for path in ("/dev/null", "own"):
                (self.folder / "target").write_text("")
                (self.folder / "own").unlink(missing_ok=True)
                os.symlink("target", self.folder / "own")
                self.assertEqual(self.run_graph(crashing(), option, path).code, 0)
                self.assertTrue(os.path.islink(self.folder / "own"))
                self.assertEqual((self.folder / "target").read_text() != "", path == "own")


class ForeignText(ProgramTest):
    def assert_harmless(self, text, lines=None):
        acting = ACTS.search(text)
        self.assertIsNone(acting, f"{acting and ascii(acting[0])} in {text!a}")
        self.assertNotIn("\n2026-01-31T23:59:59.123Z", text)
        if lines is not None:
            self.assertEqual(len(text.splitlines()), lines, text)

    def images(self):
        folder = os.fsencode(self.folder) + b"/images/" + FORGED
        os.makedirs(folder)
        with open(folder + b"/" + FORGED + b".jpg", "wb") as file:
            file.write(b"\xff\xd8\xff\xe0 no picture")
        return """
stages:
  files: {producer: image_folder, params: {root: images}}
  decode: {transform: decode_image, from: files, params: {crop: center, size: 8}}
  end: {consumer: count, from: decode}
"""

    def test_names_of_files_forge_no_line(self):
        finished = self.run_graph(self.images(), "--log", "log")
        self.assertEqual(finished.code, 1)
        self.assertIn(r"a\n2026-01-31T23:59:59.123Z error forged\r\x1b[2J\u009b2J\x9b2J\u202egpj",
                      finished.err)
        self.assert_harmless(finished.err)
        log = (self.folder / "log").read_text()
        self.assert_harmless(log)
        for line in log.splitlines():
            self.assertRegex(line, STAMP)
        self.assertEqual(log.count("23:59:59.123Z"), log.count(r"\n2026-01-31T23:59:59.123Z"))

    def test_the_list_of_what_is_quarantined_is_json(self):
        yaml = self.images().replace("decode: {", "slow: {transform: delay, from: files, on_error: "
                                     "{skip: 2}, params: {crash_at: [0]}}\n  decode: {"
                                     ).replace("decode_image, from: files",
                                               "decode_image, from: slow")
        self.run_graph("name: listed\n" + yaml)
        lines = (self.folder / "listed.quarantine.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 1)
        self.assertIn("forged", json.loads(lines[0])["source"])

    def test_texts_of_a_graph_are_shown_not_obeyed(self):
        name = r'"a\n2026-01-31T23:59:59.123Z error forged\r\e[2J\x9b2J\u202egpj"'
        graph = f"""
name: {name}
stages:
  numbers: {{producer: synthetic, params: {{count: 10, shape: [4]}}}}
  end: {{consumer: count, from: numbers}}
"""
        path = self.write("a\nb\x1b[2J\u202e.yaml", graph)
        for arguments in (["check"], ["plan"], ["plan", "--json"], ["run"],
                          ["graph", "--format", "dot"], ["graph"]):
            with self.subTest(arguments=arguments):
                self.runs.append(Running([arguments[0], path, *arguments[1:]], cwd=self.folder))
                finished = self.runs[-1].finish()
                self.assertEqual(finished.code, 0, finished.err)
                self.assert_harmless(finished.out)
                self.assert_harmless(finished.err)
                if "--json" in arguments:
                    self.assertEqual(json.loads(finished.out)["name"],
                                     "a\n2026-01-31T23:59:59.123Z error forged\r\x1b[2J\x9b2J"
                                     "\u202egpj")

    def test_leases_of_a_graph_with_such_a_name(self):
        run = self.start_and_wait_for_workers(r"""
name: "a\n2026-01-31T23:59:59.123Z error forged\e[2J\u202e"
epochs: 1000
stages:
  numbers: {producer: synthetic, params: {count: 1000, shape: [4]}}
  slow: {transform: delay, from: numbers, params: {ms: 1}}
  end: {consumer: count, from: slow}
""", 3)
        self.runs.append(Running(["leases", run.pid]))
        finished = self.runs[-1].finish()
        self.assertIn(r"a\n2026-01-31T23:59:59.123Z error forged\x1b[2J\u202e (process",
                      finished.out)
        self.assert_harmless(finished.out)
        run.process.kill()
        run.finish()

    def test_a_line_of_a_yaml_that_is_shown(self):
        graph = "stages:\n  end: {consumer: count, from: a, \u202eevil\u009b2J\u2028: \"\u202e\"}\n"
        path = self.write("graph.yaml", graph)
        self.runs.append(Running(["check", path], cwd=self.folder))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 2)
        self.assertIn(r"\u202eevil\u009b2J\u2028", finished.err)
        self.assert_harmless(finished.err)


if __name__ == "__main__":
    main()
