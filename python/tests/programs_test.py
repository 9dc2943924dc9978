"""What programs leave behind, however they end, and what they survive."""

import gc
import logging
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import brigade
from data_sets import Numbers
from graphs import EPOCH, GRAPH, SAMPLES, graph, open_loader, seen, whole, workers
from processes import WITH_TESTS, left_of


class Ends(unittest.TestCase):
    """What is left when a program ends, however it does."""

    def ends(self, code, *, kill=None, status=0):
        program = textwrap.dedent("""\
            import os, signal, sys, threading, time
            import brigade
            from processes import children
            GRAPH = %r
            """ % GRAPH) + textwrap.dedent(code)
        with tempfile.NamedTemporaryFile("r") as told:
            child = subprocess.Popen([sys.executable, "-c", program, told.name],
                                     stderr=subprocess.PIPE, text=True, env=WITH_TESTS)
            if kill is not None:
                while not told.read():
                    self.assertIsNone(child.poll())
                    time.sleep(0.01)
                time.sleep(0.2)
                child.send_signal(kill)
            _, error = child.communicate(timeout=30)
            self.assertEqual(child.returncode, status, error)
            told.seek(0)
            pids = [int(pid) for pid in told.read().split()]
        self.assertTrue(pids)
        self.assertEqual(left_of(pids, seconds=2), [])
        return error

    TELL = """
        def tell():
            while not (pids := children()):
                time.sleep(0.001)
            with open(sys.argv[1], "w") as told:
                print(*pids, file=told)
        """

    def test_at_the_end_of_the_interpreter(self):
        self.assertEqual(self.ends(self.TELL + """
        loader = brigade.Loader(GRAPH, tensors="dlpack")
        held = [next(iter(loader))]
        tell()
        """), "")

    def test_with_threads_that_still_read(self):
        self.assertEqual(self.ends(self.TELL + """
        GRAPH["stages"]["work"]["params"] = {"ms": 50}
        loader = brigade.Loader(GRAPH, tensors="dlpack")
        def read():
            try:
                for batch in loader: pass
            except (ValueError, brigade.Error): pass
        threading.Thread(target=read, daemon=True).start()
        time.sleep(0.5)
        tell()
        """), "")

    def test_by_an_exception(self):
        self.assertIn("ZeroDivisionError", self.ends(self.TELL + """
        for batch in brigade.Loader(GRAPH, tensors="dlpack"):
            tell()
            1 / 0
        """, status=1))

    SLEEP = TELL + """
        GRAPH["stages"]["work"]["params"] = {"ms": 60000}
        loader = brigade.Loader(GRAPH, tensors="dlpack")
        iterator = iter(loader)
        time.sleep(0.2)
        tell()
        next(iterator)
        """

    def test_by_ctrl_c_while_it_waits(self):
        error = self.ends(self.SLEEP, kill=signal.SIGINT, status=-signal.SIGINT)
        self.assertIn("KeyboardInterrupt", error)

    def test_by_ctrl_c_while_memory_of_a_device_is_made(self):
        error = self.ends("""
        import pathlib, tempfile
        stages = GRAPH["stages"]
        stages["numbers"].update(batch=16)
        stages["up"] = {"transform": "to_device", "from": "numbers", "memory": "device"}
        stages["down"] = {"transform": "from_device", "from": "up"}
        for name in ("up", "down"):
            stages[name].update(params={"tensor": "data"}, batch=16, device="host")
        stages["train"]["from"] = "down"
        del stages["work"]
        with tempfile.TemporaryDirectory() as folder:
            maker = pathlib.Path(folder) / "maker"
            maker.write_text(f"#!/bin/sh\\necho $$ > {sys.argv[1]}\\n"
                             "kill -INT $PPID\\nexec sleep 1000\\n")
            maker.chmod(0o700)
            os.environ["BRIGADE_PROGRAM"] = str(maker)
            next(iter(brigade.Loader(GRAPH, tensors="dlpack")))
        """, status=-signal.SIGINT)
        self.assertTrue(error.rstrip().endswith("KeyboardInterrupt"), error)

    def test_by_a_signal_that_nobody_catches(self):
        self.ends(self.SLEEP, kill=signal.SIGKILL, status=-signal.SIGKILL)

    def test_a_child_that_is_forked_harms_nobody(self):
        with open_loader(graph(), hold=32) as loader:
            iterator = iter(loader)
            batches = [next(iterator)]
            pool = multiprocessing.get_context("fork").Pool(2)
            self.assertEqual(pool.map(abs, [-1, -2, -3]), [1, 2, 3])
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    batches.clear()
                    next(iterator)
                except brigade.Error:
                    status = 0
                finally:
                    os._exit(status)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            pool.terminate()
            batches += iterator
            self.assertEqual(len(batches), len(EPOCH))


class Robustness(unittest.TestCase):
    def test_workers_that_are_killed_cost_nothing(self):
        slow = graph(work={"params": {"ms": 0.5}, "poison_after": 100,
                           "restart": {"backoff": "1ms", "burst": 1000, "within": "50ms"}})
        killed = 0
        with open_loader(slow) as loader:
            over = threading.Event()

            def kill():
                nonlocal killed
                while not over.wait(0.05):
                    for pid in workers():
                        with open(f"/proc/{pid}/cmdline", "rb") as line:
                            if b"work" in line.read():
                                os.kill(pid, signal.SIGKILL)
                                killed += 1
                                break

            killer = threading.Thread(target=kill)
            killer.start()
            epochs = [[seen(batch) for batch in loader] for _ in range(5)]
            over.set()
            killer.join()
        self.assertEqual(epochs, whole(5))
        self.assertGreater(killed, 3)

    def check_growth(self, once, cycles):
        def figures():
            gc.collect()
            pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
            return (len(os.listdir("/proc/self/fd")), len(workers()), threading.active_count(),
                    pages * 4096)

        for _ in range(min(cycles, 10)):
            once()
        before = figures()
        for _ in range(cycles):
            once()
        after = figures()
        self.assertEqual(after[:3], before[:3])
        self.assertLess(after[3] - before[3], 8 << 20)

    def test_nothing_grows(self):
        def once():
            with open_loader(graph()) as loader:
                for _ in loader:
                    break

        self.check_growth(once, int(os.environ.get("BRIGADE_CYCLES", "50")))

    def test_nothing_grows_of_a_data_loader(self):
        def once():
            with brigade.DataLoader(Numbers(4), num_workers=1, collate_fn=list) as batches:
                next(iter(batches))

        self.check_growth(once, int(os.environ.get("BRIGADE_CYCLES", "10")))

    def test_growth_would_be_seen(self):
        left = []
        with self.assertRaises(AssertionError):
            self.check_growth(lambda: left.append(os.pipe()), 5)
        for pipe in left:
            os.close(pipe[0]), os.close(pipe[1])
        with self.assertRaises(AssertionError):
            self.check_growth(lambda: left.append(os.urandom(2 << 20)), 5)

    def test_what_is_dropped_goes_at_once(self):
        def figures():
            return len(os.listdir("/proc/self/fd")), len(workers()), threading.active_count()

        before = figures()
        gc.disable()
        try:
            batch = next(iter(brigade.Loader(graph(), tensors="dlpack")))
            for batch in brigade.Loader(graph(), tensors="dlpack"):
                break
            for batch in brigade.open(graph(), tensors="dlpack")["train"]:
                pass
            del batch
            self.assertEqual(figures(), before)
        finally:
            gc.enable()

    def test_a_forked_child_holds_up_no_close(self):
        with open_loader(graph()) as loader:
            next(iter(loader))
            pid = os.fork()
            if pid == 0:
                signal.pause()
                os._exit(0)
        # The child has the pipe of the lines, too; nobody waits for its end.
        self.assertNotIn("brigade-log", [thread.name for thread in threading.enumerate()])
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_signals_stay_python_s(self):
        def signals():
            """What is blocked, ignored and caught, of this thread as the kernel has it."""
            status = pathlib.Path("/proc/thread-self/status").read_text()
            masks = [line for line in status.splitlines() if line.startswith("Sig")]
            kept = [line for line in masks if line[:6] in ("SigBlk", "SigIgn", "SigCgt")]
            return kept, [signal.getsignal(number) for number in signal.valid_signals()]

        caught = []
        before = signals()
        with open_loader(graph()) as loader:
            iterator = iter(loader)
            next(iterator)
            self.assertEqual(signals(), before)
            old = signal.signal(signal.SIGTERM, lambda *_: caught.append(1))
            try:
                self.assertNotEqual(signals()[0], before[0], "another one would be seen")
                os.kill(os.getpid(), signal.SIGTERM)
                self.assertEqual(1 + sum(1 for _ in iterator), len(EPOCH))
            finally:
                signal.signal(signal.SIGTERM, old)
        self.assertEqual((caught, signals()), ([1], before))

    def test_lines_go_to_logging(self):
        with self.assertLogs("brigade", logging.INFO) as caught:
            failing = {"params": {"fail_at": [7]}, "on_error": {"skip": 1}}
            with open_loader(graph(work=failing)) as one:
                self.assertEqual(sum(batch.size for batch in one), SAMPLES - 1)
        self.assertIn("sample 7", "\n".join(caught.output))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
