"""Programs with a brigade.DataLoader: what __main__ defines, and how they end."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import brigade
from processes import WITH_TESTS, left_of


class Programs(unittest.TestCase):
    START = """
        import os, sys, threading, time, brigade
        class Here:
            def __init__(self, ms=0): self.ms = ms
            def __len__(self): return 20
            def __getitem__(self, i):
                time.sleep(self.ms / 1000)
                return Value(i)
        class Value:
            def __init__(self, i): self.i = i
        """

    def run_program(self, code, status=0, kill=None):
        program = textwrap.dedent(self.START) + textwrap.dedent(code)
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, env=WITH_TESTS)
        out = []
        if kill is not None:
            out = [child.stdout.readline()]
            time.sleep(0.3)
            child.send_signal(kill)
        rest, error = child.communicate(timeout=60)
        self.assertEqual(child.returncode, status, error)
        return "".join(out) + rest, error

    def test_classes_and_lambdas_of_main(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed (python3-cloudpickle)")
        out, _ = self.run_program("""
            loader = brigade.DataLoader(Here(), 4, num_workers=2, collate_fn=lambda batch: batch)
            print([[isinstance(one, Value) and one.i for one in batch] for batch in loader][4])
            """)
        self.assertEqual(out, "[16, 17, 18, 19]\n")

    def test_where_the_working_directory_was_removed(self):
        out, _ = self.run_program("""
            import tempfile
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
            loader = brigade.DataLoader(range(8), 4, num_workers=1, collate_fn=list)
            print(list(loader), list(loader))
            """)
        self.assertEqual(out, "[[0, 1, 2, 3], [4, 5, 6, 7]] [[0, 1, 2, 3], [4, 5, 6, 7]]\n")

    SAVED = """
        import pickle, tempfile
        class Kept:
            count = 0
        def double(x): return 2 * x
        class Large:
            def method(self): return large
        large = list(range(1_000_000))
        class Saved:
            def __init__(self, what):
                self.file = tempfile.NamedTemporaryFile(delete=False).name
                with open(self.file, "wb") as file:
                    pickle.dump(what, file)
            def __len__(self): return 4
            def __getitem__(self, i):
                with open(self.file, "rb") as file:
                    return pickle.load(file), Value(i)
        def read(what, context):
            try:
                with brigade.DataLoader(Saved(what), 2, num_workers=1, collate_fn=list,
                                        multiprocessing_context=context) as loader:
                    return [one for batch in loader for one in batch]
            finally:
                os.unlink(loader.dataset.file)
        """

    def test_a_file_names_classes_of_main(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed (python3-cloudpickle)")
        out, _ = self.run_program(textwrap.dedent(self.SAVED) + textwrap.dedent("""
            for context in ("fork", "spawn"):
                read_back = read((Value(3), Kept, Kept()), context)
                print([(type(a) is Value and a.i, kept is Kept, type(c) is Kept,
                        type(value) is Value and value.i)
                       for (a, kept, c), value in read_back][2])
            """))
        self.assertEqual(out, "(3, True, True, 2)\n" * 2)

    def test_what_workers_of_the_server_cannot_have_of_main_is_named(self):
        _, error = self.run_program(textwrap.dedent(self.SAVED) + textwrap.dedent("""
            assert read(double, "fork")[0][0] is double
            for what in (double, Large()):
                try:
                    read(what, "spawn")
                except TypeError as error:
                    print(error, file=sys.stderr)
            """))
        for name in ("double", "Large"):
            self.assertIn(f"{name} is defined in __main__, which workers of the server do not run; "
                          "move it to a module", error)

    def test_a_worker_that_exits_with_0_is_named_in_words_of_a_loader(self):
        _, error = self.run_program("""
            class Exits(Here):
                def __getitem__(self, i): os._exit(0)
            try:
                list(brigade.DataLoader(Exits(), 4, num_workers=1, collate_fn=list))
            except RuntimeError as error:
                print(error, file=sys.stderr)
            """)
        self.assertIn(") exited with code 0 before its work was done with a batch in flight", error)
        self.assertIn("batch 0 ended its worker 3 times", error)
        self.assertNotIn("exec:", error)

    def test_a_global_that_a_class_of_main_uses_is_named(self):
        try:
            import cloudpickle  # noqa: F401
        except ImportError:
            self.skipTest("cloudpickle is not installed (python3-cloudpickle)")
        _, error = self.run_program("""
            lock = threading.Lock()
            def locked(i):
                with lock:
                    return i
            class Locked(Here):
                def __getitem__(self, i): return locked(i), Locked
            iter(brigade.DataLoader(Locked(), 4, num_workers=1, collate_fn=list,
                                    multiprocessing_context="spawn"))
            """, status=1)
        self.assertIn("dataset: locked uses the global lock, a lock, which cannot be sent to "
                      "workers", error)
        self.assertIn("move locked and lock to a module", error)

    def test_an_obsolete_backport_in_site_packages_shadows_nothing(self):
        package = os.path.dirname(brigade.__file__)
        program = textwrap.dedent("""
            import subprocess, sys
            sys.path.append(sys.argv[1])
            import brigade
            class Asks:
                def __len__(self): return 1
                def __getitem__(self, i):
                    import shelve
                    return os.environ.get("PYTHONPATH"), shelve.__file__, subprocess.check_output(
                        [sys.executable, "-c", "import shelve; print(shelve.__file__)"], text=True)
            import os, shelve
            with brigade.DataLoader(Asks(), num_workers=1, collate_fn=list,
                                    multiprocessing_context=sys.argv[2]) as loader:
                ((asked,),) = loader
            expected = None, shelve.__file__, shelve.__file__ + "\\n"
            assert asked == expected, asked
            """)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(package, os.path.join(folder, "brigade"))
            for name in ("pathlib", "shelve", "socket"):
                pathlib.Path(folder, f"{name}.py").write_text("raise ImportError('obsolete')")
            for context in ("fork", "spawn"):
                done = subprocess.run([sys.executable, "-c", program, folder, context], text=True,
                                      capture_output=True, env=environment, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""), context)

    def test_without_cloudpickle_it_is_named(self):
        _, error = self.run_program("""
            sys.modules["cloudpickle"] = None
            iter(brigade.DataLoader(Here(), 4, num_workers=2, collate_fn=list,
                                    multiprocessing_context="spawn"))
            """, status=1)
        self.assertIn("Here is defined in __main__", error)
        self.assertIn("install cloudpickle", error)

    def test_without_numpy_and_torch(self):
        out, _ = self.run_program("""
            sys.modules["numpy"] = sys.modules["torch"] = None
            from data_sets import Numbers
            loader = brigade.DataLoader(Numbers(5), 2, num_workers=1, collate_fn=list)
            print([len(batch) for batch in loader])
            try:
                brigade.DataLoader(Numbers(5), shuffle=True)
            except ImportError as error:
                print(error)
            """)
        self.assertEqual(out.splitlines()[0], "[2, 2, 1]")
        self.assertIn("needs torch", out)

    PRINTED = sorted([*(f"größe {i}" for i in range(4)), "x" * 4000, *("x" * 3),
                      *["no line of Python's"] * 4, "last"])
    WARNED = [f"warning {i}" for i in range(4)]

    def test_what_workers_print_is_printed_here(self):
        for count in (0, 2):
            out, error = self.run_program(f"""
                from data_sets import Loud
                loader = brigade.DataLoader(Loud(4), 2, num_workers={count}, collate_fn=list)
                assert len(list(loader)) == 2
                loader.close()
                print("last")
                """)
            self.assertEqual(sorted(out.splitlines()), self.PRINTED, count)
            self.assertEqual(sorted(error.splitlines()), self.WARNED, count)

    def test_it_goes_wherever_this_program_prints(self):
        out, error = self.run_program("""
            import contextlib, io
            from data_sets import Loud
            with contextlib.redirect_stdout(io.StringIO()) as shown, \\
                    contextlib.redirect_stderr(io.StringIO()) as warned:
                with brigade.DataLoader(Loud(4), 2, num_workers=1, collate_fn=list) as loader:
                    loader.dataset.long = 1_000_000  # more than a pipe takes at once
                    list(loader)
            print(len(shown.getvalue().splitlines()), len(warned.getvalue().splitlines()))
            print("x" * loader.dataset.long in shown.getvalue().splitlines())
            """)
        self.assertEqual((out, error), ("12 4\nTrue\n", ""))

    def test_workers_print_after_a_child_that_was_forked_has_ended(self):
        out, _ = self.run_program("""
            from data_sets import Loud
            loader = brigade.DataLoader(Loud(4), 2, num_workers=1, collate_fn=list)
            list(loader)
            if os.fork() == 0:
                sys.exit()
            assert os.wait()[1] == 0
            for _ in range(3):
                list(loader)
            loader.close()
            """)
        self.assertEqual(len(out.splitlines()), 4 * 12)

    WAIT = """
        from data_sets import Failing
        from processes import children
        loader = brigade.DataLoader(Failing(4, at=0, how="sleep"), num_workers=2, collate_fn=list)
        iterator = iter(loader)
        while not children():
            time.sleep(0.01)
        print(*children(), flush=True)
        """

    def gone(self, out):
        pids = out.split()
        self.assertTrue(pids)
        self.assertEqual(left_of(pids, seconds=5), [])

    def test_end_without_a_word(self):
        out, error = self.run_program(self.WAIT)
        self.assertEqual(error, "")
        self.gone(out)

    def test_ctrl_c(self):
        out, error = self.run_program(self.WAIT + "next(iterator)\n", kill=signal.SIGINT,
                                      status=-signal.SIGINT)
        self.assertIn("KeyboardInterrupt", error)
        self.gone(out)

    def test_killed(self):
        out, _ = self.run_program(self.WAIT + "next(iterator)\n", kill=signal.SIGKILL,
                                  status=-signal.SIGKILL)
        self.gone(out)

    def test_a_child_that_is_forked_has_workers_of_its_own(self):
        out, _ = self.run_program("""
            from data_sets import Numbers
            loader = brigade.DataLoader(Numbers(6), 2, num_workers=1, collate_fn=list)
            iterator = iter(loader)
            first = next(iterator)
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    assert len(list(loader)) == 3
                    try:
                        next(iterator)
                    except RuntimeError:
                        status = 0
                finally:
                    os._exit(status)
            assert os.waitpid(pid, 0)[1] == 0
            print(len(list(iterator)))
            """)
        self.assertEqual(out, "2\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
