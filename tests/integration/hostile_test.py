#!/usr/bin/env python3
"""What other users of the machine plant where a run writes, and what the names of downloaded files
hold: nothing is written through it, nothing waits for it, and no line is forged with it."""

import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import unittest

import brigade_program
from brigade_program import (ENDLESS, ENDLESS_WORKERS, ProgramTest, Running, main, wait_until,
                             workers_of)
from idx_files import images, labels

NOBODY = 65534
PRECIOUS = "precious\n"
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) ")
# A line of a log, a cleared screen, the same by C1 controls of one character and of one byte, the
# direction of writing turned, half a character.
FORGED = b"a\n2026-01-31T23:59:59.123Z error forged\r\x1b[2J\xc2\x9b2J\x9b2J\xe2\x80\xaegpj\xc3"
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def become(user):
    os.umask(0 if user else 0o022)
    os.setgid(user)
    os.setuid(user)


def as_nobody(act, user=NOBODY):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            become(user)
            act()
            code = 0
        finally:
            os._exit(code)
    if os.waitpid(child, 0)[1] != 0:
        raise AssertionError(f"user {user} cannot do that")


def can_be_run_by_nobody():
    return subprocess.run([str(brigade_program.PROGRAM), "--version"], check=False,
                          capture_output=True, preexec_fn=lambda: become(NOBODY)).returncode == 0


def graph(head, *stages):
    return head + "\nstages:\n" + "".join(f"  {stage}\n" for stage in stages)


NUMBERS = "numbers: {producer: synthetic, params: {count: 20, shape: [4]}}"
SAVING = graph("checkpoint: {file: state}", NUMBERS, "end: {consumer: count, from: numbers}")
CACHING = graph("", NUMBERS, "kept: {transform: cache, from: numbers, params: {file: kept}}",
                "end: {consumer: count, from: kept}")
FOLDER = graph("", "files: {producer: image_folder, params: {root: images, index: list}}",
               "end: {consumer: count, from: files}")
SHARDS = graph("", "files: {producer: tar_shards, params: {shards: a.tar, label: none, index: "
               "list}}", "end: {consumer: count, from: files}")
DECODING = graph("", "files: {producer: image_folder, params: {root: images}}",
                 "decode: {transform: decode_image, from: files, on_error: {skip: 1}, params: "
                 "{decode_index: entries}}", "end: {consumer: count, from: decode}")
SKIPPING = graph("name: g", NUMBERS, "slow: {transform: delay, from: numbers, on_error: {skip: 2}, "
                 "params: {crash_at: [7]}}", "end: {consumer: count, from: slow}")
MARKING = graph("", NUMBERS, "slow: {transform: delay, from: numbers, params: {crash_once_at: [7], "
                "crash_marker: marker}}", "end: {consumer: count, from: slow}")
TRAINING = graph("checkpoint: {file: model}", "images: {producer: idx_images, batch: 8, params: "
                 "{images: images.idx, labels: labels.idx}}", "train: {consumer: torch_classifier, "
                 "from: {train: images}, params: {model: small_cnn, loss_file: losses}}")
SAMPLE = "sample --stage numbers -n 1 --out look"
# What is planted, by whom else: a hard link only root may make (fs.protected_hardlinks).
KINDS = ("link", "pipe", "file", "hard link", "folder")
# Every place that is written: the path; whose parameter names it; the graph and the command; the
# kinds that are refused there and left as they are, where the others are replaced; the exit code
# then.
PLACES = (
    ("state.position", "", SAVING, "run --overwrite", ("folder",), 1),
    ("state.lock", "", SAVING, "run --overwrite", KINDS, 2),
    ("kept", "cache", CACHING, "run", KINDS, 2),
    ("kept.lock", "", CACHING, "run", KINDS, 1),
    ("list", "image_folder", FOLDER, "run", KINDS, 1),
    ("list", "tar_shards", SHARDS, "run", KINDS, 1),
    ("list.lock", "", FOLDER, "run", KINDS, 1),
    ("entries", "decode_image", DECODING, "run", KINDS, 1),
    ("g.quarantine.jsonl", "", SKIPPING, "run", KINDS, 0),
    ("marker", "delay", MARKING, "run", KINDS, 1),
    ("model", "", TRAINING, "run --overwrite", ("folder",), 2),
    ("losses", "torch_classifier", TRAINING, "run --overwrite", KINDS, 1),
    ("out", "", SAVING, "run --overwrite --log out", KINDS, 2),
    ("out", "", SAVING, "run --overwrite --summary out", ("link", "pipe", "folder"), 2),
    ("look/samples.tsv", "", SAVING, SAMPLE, ("folder",), 1),
    ("look/000000_data.npy", "", SAVING, SAMPLE, ("folder",), 1),
    ("new.yaml", "", "", "init . --out new.yaml", KINDS, 2))
REFUSED = re.compile("a symbolic link|no process reads it|another user|several hard links|"
                     "something else|regular file|is not a Brigade (cache|index)|"
                     "(Is|is) a (directory|folder)|already exists")


@unittest.skipUnless(os.geteuid() == 0, "not root: there is no other user to be")
class PlantedFiles(ProgramTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o1777)
        self.precious = self.write("precious", PRECIOUS)
        for name in ("images/a", "look"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "look").chmod(0o1777)
        for name, content in (("images/a/1.jpg", b"no picture"), ("images.idx", images(16, 8, 8)),
                              ("labels.idx", labels(16))):
            (self.folder / name).write_bytes(content)
        with tarfile.open(self.folder / "a.tar", "w") as tar:
            tar.add(self.folder / "images/a/1.jpg", "1.jpg")

    def plant(self, kind, name):
        path = self.folder / name
        act = {"link": lambda: path.symlink_to(self.precious),
               "pipe": lambda: os.mkfifo(path, 0o666), "file": path.touch,
               "hard link": lambda: os.link(self.precious, path),
               "folder": path.mkdir}[kind]
        as_nobody(act, user=0 if kind == "hard link" else NOBODY)

    def what_is(self, name):
        there = (self.folder / name).lstat()
        return there.st_uid, there.st_mode, there.st_nlink, there.st_ino

    def clear(self, *names):
        for path in (self.folder / name for name in names):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink(True)

    def command(self, text, graph):
        command, *arguments = text.split()
        files = [self.write("graph.yaml", graph)] if graph else []
        self.runs.append(Running([command, *files, *arguments], cwd=self.folder,
                                 environment={"TMPDIR": str(self.temporary)}))
        return self.runs[-1].finish()

    def places(self):
        torch = (brigade_program.PROGRAM.parent.parent / "lib/brigade/brigade_torch.so").exists()
        return [place for place in PLACES if torch or place[2] != TRAINING]

    def test_they_are_refused_or_replaced_wherever_a_run_writes(self):
        for name, _, yaml, command, refused, code in self.places():
            for kind in (*KINDS, "nothing"):  # the control
                with self.subTest(name=name, kind=kind, command=command):
                    if kind != "nothing":
                        self.plant(kind, name)
                    planted = kind in refused and self.what_is(name)
                    finished = self.command(command, yaml)
                    said = [line for line in finished.err.splitlines() if REFUSED.search(line)]
                    self.assertEqual(finished.code, code if planted else 0, finished.err)
                    self.assertEqual(len(said), 1 if planted else 0, finished.err)
                    self.assertEqual(self.precious.read_text(), PRECIOUS)
                    if planted:
                        self.assertIn(name, said[0])
                        self.assertEqual(self.what_is(name), planted)
                    elif not name.endswith(".lock"):
                        self.assertEqual(self.what_is(name)[:3], (0, 0o100644, 1))
                self.clear("model.position", *(name for name, *_ in PLACES))

    def test_no_parameter_that_writes_is_forgotten(self):
        def said(*arguments):
            self.runs.append(Running(["stages", *arguments]))
            return " ".join(self.runs[-1].finish().out.split())

        writing = {name for name in re.findall(r"(\w+) [A-Z]", said())
                   if "the path of a file to write" in said(name)}
        self.assertEqual(writing, {parameter for _, parameter, *_ in PLACES if parameter})

    def test_names_that_nobody_should_guess_are_not_used(self):
        names = ("state.position", "kept", "list")
        for kind in ("link", "pipe", "file"):
            for name, yaml in zip(names, (SAVING, CACHING, FOLDER)):
                with self.subTest(kind=kind, name=name):
                    self.plant(kind, name + ".tmp")
                    self.assertEqual(self.command("run --overwrite", yaml).code, 0)
                    self.assertEqual(self.precious.read_text(), PRECIOUS)
                    self.clear(name, name + ".tmp")

    def test_what_is_believed_is_ours(self):
        for name, yaml, command, code in (("state.position", SAVING, "run --resume", 2),
                                          ("kept", CACHING, "run", 2), ("list", FOLDER, "run", 1),
                                          ("entries", DECODING, "run", 1)):
            with self.subTest(name=name):
                self.assertEqual(self.command("run", yaml).code, 0)
                os.chown(self.folder / name, NOBODY, NOBODY)
                finished = self.command(command, yaml)
                self.assertEqual(finished.code, code, finished.err)
                self.assertIn("it belongs to another user", finished.err)
                os.chown(self.folder / name, 0, 0)
                self.assertEqual(self.command(command, yaml).code, 0)  # the control

    def test_what_people_name_may_be_a_link_of_theirs_or_a_device(self):
        for option in ("--log", "--summary"):
            for path in ("/dev/null", "own"):
                (self.folder / "target").write_text("")
                (self.folder / "own").unlink(missing_ok=True)
                os.symlink("target", self.folder / "own")
                self.assertEqual(self.run_graph(SKIPPING, option, path).code, 0)
                self.assertTrue(os.path.islink(self.folder / "own"))
                self.assertEqual((self.folder / "target").read_text() != "", path == "own")


MEMORY_OF_A_RUN = ("brigade-control", "brigade-plan")
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2


@unittest.skipUnless(os.geteuid() == 0, "not root: there is no other user to be")
class Leases(ProgramTest):
    def show(self, *arguments, user=0):
        self.runs.append(Running(["leases", *arguments], prepare=lambda: become(user)))
        return self.runs[-1].finish()

    def endless(self, user):
        """A run of this user, with its workers."""
        os.chmod(self.folder, 0o755)
        os.chmod(self.temporary, 0o777)
        run = self.start_and_wait_for_workers(ENDLESS, ENDLESS_WORKERS,
                                              prepare=lambda: become(user))
        wait_until(lambda: self.is_at_work(run), "replicas at work")
        return run

    def end_all(self):
        for run in self.runs:
            if not run.ended():
                run.process.kill()
                run.finish()

    def test_a_user_sees_the_own_runs_and_is_told_of_others(self):
        if not can_be_run_by_nobody():
            self.skipTest(f"nobody may not run {brigade_program.PROGRAM}")
        foreign, own = self.endless(0), self.endless(NOBODY)
        shown = self.show(user=NOBODY)
        self.assertIn(f"(process {own.pid})\n", shown.out)
        self.assertRegex(shown.out, rf"(?m)^slow\.1 +{workers_of(own.pid)['slow.1']} ")
        theirs = "|".join(map(str, [foreign.pid, *workers_of(foreign.pid).values()]))
        self.assertEqual(re.findall(rf"(?m)^.*\b(?:{theirs})\b.*$", shown.out),
                         [f"omitted: process {foreign.pid}, which belongs to another user"])
        one = self.show(foreign.pid, user=NOBODY)
        self.assertEqual((one.code, one.err), (1, f"brigade: error: process {foreign.pid} belongs "
                                               "to another user: only that user and root may "
                                               "inspect it\n"))
        everything = self.show(user=0).out  # the control
        self.assertIn(f"(process {foreign.pid})\n", everything)
        self.assertNotIn(f"omitted: process {foreign.pid}", everything)
        self.end_all()

    def hold(self, control, plan, seals):
        """A process of nobody that holds memory called as that of a run is."""
        ready, told = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                become(NOBODY)
                for name, content in zip(MEMORY_OF_A_RUN, (control, plan)):
                    fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
                    os.write(fd, content)
                    fcntl.fcntl(fd, F_ADD_SEALS, seals)
                os.write(told, b".")
                signal.pause()
            finally:
                os._exit(1)
        self.assertEqual(os.read(ready, 1), b".")
        os.close(ready)
        os.close(told)
        return child

    def test_root_is_not_led_astray_by_memory_of_others(self):
        child = self.hold(b"", b"", 0)
        try:
            os.listdir(f"/proc/{child}/fd")
        except PermissionError:
            self.skipTest("root may not look into processes here (CAP_SYS_PTRACE)")
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        run = self.endless(0)
        descriptors = [f"/proc/{run.pid}/fd/{fd}" for fd in os.listdir(f"/proc/{run.pid}/fd")]
        control, plan = (next(pathlib.Path(path).read_bytes() for path in descriptors
                              if f"memfd:{name}" in os.readlink(path)) for name in MEMORY_OF_A_RUN)
        for what, (memory, document, seals), says in (
                ("nothing", (b"", plan, F_SEAL_SHRINK), "expected memory with contents"),
                ("no seal", (control, plan, 0), "expected memory sealed against shrinking"),
                ("another thing", (bytes(len(control)), plan, F_SEAL_SHRINK), "not a Brigade"),
                ("too little", (control[:4096], plan, F_SEAL_SHRINK), "declares .* bytes"),
                ("no plan", (control, b"[" * 100_000, F_SEAL_SHRINK), "nested deeper"),
                ("all of it", (control, plan, F_SEAL_SHRINK), None)):  # the control
            with self.subTest(what=what):
                child = self.hold(memory, document, seals)
                shown, everything = self.show(child), self.show()
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                self.assertIn(f"(process {run.pid})\n", everything.out)  # whatever others hold
                if says is None:
                    self.assertEqual((shown.code, shown.err), (0, ""))
                    self.assertIn(f"(process {child})\n", shown.out)
                    continue
                self.assertEqual(shown.code, 1)
                self.assertRegex(shown.err, rf"\Abrigade: error: cannot inspect the graph of "
                                 rf"process {child}: .*{says}.*\n\Z")
                self.assertNotIn("ulimit", shown.err)
        self.end_all()


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
        out = self.runs[-1].finish().out
        self.assertIn(r"a\n2026-01-31T23:59:59.123Z error forged\x1b[2J\u202e (process", out)
        self.assert_harmless(out)
        run.process.kill()
        run.finish()

    def test_a_line_of_a_yaml_that_is_shown(self):
        graph = "stages:\n  end: {consumer: count, from: a, \u202eevil\u009b2J\u2028: \"\u202e\"}\n"
        self.runs.append(Running(["check", self.write("graph.yaml", graph)], cwd=self.folder))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 2)
        self.assertIn(r"\u202eevil\u009b2J\u2028", finished.err)
        self.assert_harmless(finished.err)


if __name__ == "__main__":
    main()
