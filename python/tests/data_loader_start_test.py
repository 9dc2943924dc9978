"""Where the workers of a brigade.DataLoader come from: a fork of the program, or of a server; and
what becomes of those that fork, when they are killed."""

import logging
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest
from unittest import mock

import brigade
import data_sets
from brigade import _data_events, _forker, _forking
from data_loader_test import open_loader
from data_sets import Numbers
from graphs import workers
from processes import WITH_TESTS, children, left_of, name_of


class Asks(Numbers):
    """What a function says in a worker; lambdas, too."""

    def __init__(self, ask, count=4):
        super().__init__(count)
        self.ask = ask

    def __getitem__(self, i):
        return self.ask()


def asked(ask, count=4, **options):
    """Of each batch."""
    with open_loader(Asks(ask, count), 1, **{"num_workers": 1, **options}) as loader:
        return [batch[0] for batch in loader]


def setting():
    return data_sets.SETTING


def pid_and_modules():
    return os.getpid(), os.getppid(), "difflib" in sys.modules


def fds():
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return found


class Forked(unittest.TestCase):
    def test_nothing_is_pickled(self):
        lock, opened = threading.Lock(), tempfile.TemporaryFile()
        opened.write(b"what was opened before")
        opened.flush()

        def ask():
            with lock:
                return os.pread(opened.fileno(), 100, 0)
        self.assertEqual(asked(ask), 4 * [b"what was opened before"])
        with self.assertRaisesRegex(TypeError, "cannot be sent to workers"):  # control
            asked(ask, multiprocessing_context="spawn")

    def test_settings_of_the_program_arrive(self):
        with mock.patch.object(data_sets, "SETTING", "set"):
            self.assertEqual(asked(setting), 4 * ["set"])
            self.assertEqual(asked(setting, multiprocessing_context="spawn"), 4 * ["not set"])

    def test_it_is_a_process_like_those_that_are_executed(self):
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            [seen] = asked(lambda: {
                "parent": os.getppid(), "group": os.getpgid(0) == os.getpid(),
                "signals": {signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGINT)},
                "title": open("/proc/self/cmdline").read().strip("\0"), "stdin": sys.stdin.fileno(),
                "name": name_of(os.getpid()), "threads": len(os.listdir("/proc/self/task")),
                "fds": fds(), "null": os.readlink("/proc/self/fd/0")}, count=1)
        finally:
            signal.signal(signal.SIGTERM, before)
        self.assertEqual(seen["parent"], os.getpid())
        self.assertTrue(seen["group"])
        self.assertEqual(seen["signals"], {signal.SIG_DFL})
        self.assertEqual(seen["title"], "brigade: DataLoader.0"[:len(seen["title"])])
        self.assertGreater(len(seen["title"]), 10)
        self.assertEqual(seen["name"], "workers.0")
        self.assertEqual(seen["threads"], 1)
        self.assertEqual(seen["null"], "/dev/null")

    def test_it_holds_nothing_of_another_run(self):
        with open_loader(Numbers(4), num_workers=1, persistent_workers=True) as other:
            list(other)
            mine = [fd for fd in fds() if "memfd:brigade" in fd or "pidfd" in fd]
            [seen] = asked(fds, count=1)
        self.assertGreater(len(mine), 4)
        theirs = [fd for fd in seen if "memfd:brigade" in fd or "pidfd" in fd]
        self.assertLess(len(theirs), len(mine))
        self.assertEqual([fd for fd in theirs if "pidfd" in fd], [])

    def test_without_persistent_workers_the_dataset_is_what_the_program_has(self):
        for persistent, expected in ((False, ["one", "two"]), (True, ["one", "one"])):
            dataset = Asks(None, 1)
            with open_loader(dataset, num_workers=1, persistent_workers=persistent) as loader:
                seen = []
                for text in ("one", "two"):
                    dataset.ask = lambda text=text: text
                    seen += [batch[0] for batch in loader]
            self.assertEqual(seen, expected)

    def test_a_successor_has_the_dataset_of_its_iterator(self):
        dataset = Asks(os.getpid, 40)
        with open_loader(dataset, num_workers=1) as loader:
            iterator = iter(loader)
            first = next(iterator)[0]
            dataset.ask = None
            os.kill(first, signal.SIGKILL)
            pids = {batch[0] for batch in iterator}
        self.assertEqual(len(pids - {first}), 1)

    def test_busy_threads_make_it_a_server(self):
        def busy():
            while not over:
                sum(range(1000))
        over = []
        sleeps = threading.Thread(target=lambda: time.sleep(10), daemon=True)
        sleeps.start()
        self.assertIsNone(_forker.why_no_fork())
        thread = threading.Thread(target=busy, name="prefetcher")
        thread.start()
        try:
            with self.assertLogs("brigade", "INFO") as log:
                asked(os.getpid)
                asked(os.getpid, multiprocessing_context="fork")
        finally:
            over.append(True)
            thread.join()
        log = "\n".join(log.output)
        self.assertIn("from a server, and the dataset is pickled, because the thread 'prefetcher' "
                      "is busy", log)
        self.assertIn("forks the program although the thread 'prefetcher' is busy", log)

    def test_other_threads_and_devices_make_it_a_server(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(_forker.why_no_fork()), name="mine")
        thread.start()
        thread.join()
        self.assertIn("the thread 'mine' iterates", found[0])
        jax = types.SimpleNamespace(_backends={"gpu": 1})
        with mock.patch.dict(sys.modules, {"jax._src.xla_bridge": jax}):
            self.assertEqual(_forker.why_no_fork(), "JAX is initialized")
            self.assertTrue(_forker.needs_server_soon())
        self.assertIsNone(_forker.why_no_fork())


class Server(unittest.TestCase):
    SPAWN = {"multiprocessing_context": "spawn"}

    def test_workers_have_this_program_as_parent_and_its_imports(self):
        first = asked(pid_and_modules, **self.SPAWN)
        second = asked(pid_and_modules, **self.SPAWN)
        self.assertNotEqual(first[0][0], second[0][0])
        self.assertEqual({one[1] for one in first + second}, {os.getpid()})

    def test_one_that_is_killed_is_started_again(self):
        with open_loader(Asks(os.getpid, 60), num_workers=1, **self.SPAWN) as loader, \
                self.assertLogs("brigade", "WARNING") as log:
            iterator = iter(loader)
            first = next(iterator)[0]
            os.kill(_forker.server().pid, signal.SIGKILL)
            os.kill(first, signal.SIGKILL)
            pids = {batch[0] for batch in iterator}
        self.assertEqual(len(pids - {first}), 1)
        self.assertIn("the server that forks workers ended", "\n".join(log.output))

    def test_one_that_cannot_start_is_an_error(self):
        with mock.patch.object(_forker, "_server", None), \
                mock.patch.object(_forker, "command", lambda: [sys.executable, "-c", "1/0"]), \
                mock.patch.object(_forker.subprocess, "Popen", quiet_popen):
            with self.assertRaisesRegex(RuntimeError, "ends immediately with code 1"):
                asked(os.getpid, **self.SPAWN)


def quiet_popen(*arguments, popen=subprocess.Popen, **options):
    return popen(*arguments, stderr=subprocess.DEVNULL, **options)


class Killed(unittest.TestCase):
    def forker(self, loader):
        return loader._pool._forker

    def loader(self, **options):
        return open_loader(Asks(os.getpid, 60), num_workers=2, persistent_workers=True, timeout=60,
                           **options)

    def kill_both(self, iterator, loader):
        next(iterator)
        while len(workers()) < 2:
            time.sleep(0.001)
        os.kill(self.forker(loader)._pid, signal.SIGKILL)
        for pid in workers():
            os.kill(pid, signal.SIGKILL)

    def test_the_forker_with_its_workers(self):
        with self.loader() as loader, self.assertLogs("brigade", "WARNING") as log:
            iterator = iter(loader)
            self.kill_both(iterator, loader)
            self.assertEqual(sum(1 for _ in iterator), 59)
        self.assertIn("the process that forks workers was killed by SIGKILL; a new one",
                      "\n".join(log.output))

    def test_control_nobody_looks_for_the_forker(self):
        with self.loader() as loader, \
                mock.patch.object(_forker.ForkOfProgram, "look", lambda self: None):
            loader.timeout = 2
            iterator = iter(loader)
            self.kill_both(iterator, loader)
            with self.assertRaisesRegex(RuntimeError, "timed out"):
                list(iterator)

    def test_where_another_one_is_not_safe_it_is_an_error(self):
        with self.loader() as loader:
            iterator = iter(loader)
            self.kill_both(iterator, loader)
            with mock.patch.object(_forker, "why_no_fork", lambda: "a device is busy"), \
                    mock.patch.object(_forker, "_ANSWER_SECONDS", 10), \
                    mock.patch.object(_forker, "_REFUSED_MAX", 2):
                with self.assertRaisesRegex(RuntimeError, "was killed by SIGKILL, and the program "
                                                          "cannot be forked again: a device is"):
                    list(iterator)
            self.assertEqual(sum(1 for _ in loader), 60)

    def test_where_no_worker_is_missing_it_is_none(self):
        with open_loader(data_sets.Random(6, ms=300), num_workers=1, persistent_workers=True) as \
                loader, mock.patch.object(_forker, "why_no_fork", lambda: None):
            iterator = iter(loader)
            next(iterator)
            os.kill(self.forker(loader)._pid, signal.SIGKILL)
            with mock.patch.object(_forker, "why_no_fork", lambda: "a device is busy"):
                self.assertEqual(sum(1 for _ in iterator), 5)

    def killing_itself(self, where):
        """A forker that does so once, at a step of its way from a request to its answer."""
        marker = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "killed")
        plain, here = getattr(*where), os.getpid()

        def kill_once(*arguments):
            result = plain(*arguments) if where[1] == "clone" else None
            if os.getpid() != here and not os.path.exists(marker) and result != (0, -1):
                open(marker, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return plain(*arguments) if result is None else result
        return mock.patch.object(*where, kill_once)

    def test_the_forker_between_a_request_and_its_answer(self):
        for where in ((_forking.Forker, "_fork"), (_forking._brigade, "clone"),
                      (_forking.socket, "send_fds"), (_forking.os, "close")):
            before = set(children())
            with self.loader() as loader, self.assertLogs("brigade", "WARNING") as log:
                with self.killing_itself(where):
                    iterator = iter(loader)
                pids = {next(iterator)[0]}
                while len(workers() - before) < 2:
                    pids.add(next(iterator)[0])
                pids |= {batch[0] for batch in iterator}
                self.assertLessEqual(pids, workers(), where)
            self.assertIn("a new one replaces it", "\n".join(log.output))
            self.assertEqual(set(children()) - before, set(), where)

    def test_the_end_of_a_loader_whose_forker_was_killed(self):
        loader = self.loader()
        iterator = iter(loader)
        self.kill_both(iterator, loader)
        loader.close()
        self.assertEqual(workers(), set())

    def test_loaders_left_while_their_workers_start_log_nothing(self):
        with self.assertNoLogs("brigade", "WARNING"):
            for _ in range(20):
                with open_loader(Asks(os.getpid), num_workers=4) as loader:
                    iter(loader)
        self.assertEqual(workers(), set())


EVENT = brigade.Event(*[None] * len(brigade.Event._fields))._replace(pid=0, delay=0)


class Lines(unittest.TestCase):
    def test_of_a_worker_that_dies_before_its_loader_is_closed(self):
        event = EVENT._replace(kind="not_started", level=30, stage="workers", replica=0,
                               next="restart", message="the process that forks workers has ended")
        self.assertIsNone(_data_events.told_of(event, "", is_stopped=True))
        self.assertEqual(_data_events.told_of(event, "").text,  # control
                         "DataLoader: worker 0 cannot start: the process that forks workers has "
                         "ended; restarted at once")


class Programs(unittest.TestCase):
    def run_program(self, code, **options):
        return subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], text=True,
                                stdout=subprocess.PIPE, env=WITH_TESTS, **options)

    def test_nothing_of_the_program_ends_in_a_worker(self):
        for end in ("", "os.kill(os.getpid(), 15)"):
            child = self.run_program(f"""
                import atexit, os, threading, brigade
                from data_sets import Numbers
                atexit.register(print, "the end")
                print("not flushed")
                class Loud:
                    def __del__(self):
                        print("gone")
                loud = Loud()
                for _ in range(2):
                    list(brigade.DataLoader(Numbers(6), 2, num_workers=2, collate_fn=list))
                {end}
                """)
            out = child.communicate(timeout=60)[0]
            self.assertEqual(out, "not flushed\n" if end else "not flushed\nthe end\ngone\n")

    def test_killed(self):
        for context in ("fork", "spawn"):
            child = self.run_program(f"""
                import sys, time, brigade
                from data_sets import Failing
                from processes import children
                loader = brigade.DataLoader(Failing(4, at=1, how="sleep"), num_workers=2,
                                            collate_fn=list, multiprocessing_context={context!r})
                iterator = iter(loader)
                next(iterator)
                print(*children(), flush=True)
                next(iterator)
                """)
            pids = child.stdout.readline().split()
            self.assertEqual(len(pids), 3, "two workers, and who forks them")
            child.kill()
            child.communicate(timeout=60)
            self.assertEqual(left_of(pids, seconds=5), [])

    def test_what_the_program_has_set_for_multiprocessing(self):
        child = self.run_program("""
            import multiprocessing, brigade, data_sets
            from data_loader_start_test import asked, setting
            multiprocessing.set_start_method("spawn")
            data_sets.SETTING = "set"
            print(asked(setting))
            """)
        self.assertEqual(child.communicate(timeout=60)[0], f"{4 * ['not set']}\n")


class Torch(unittest.TestCase):  # the last one: a server imports what was imported before
    def test_settings_and_threads(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed (python3-torch)")
        rows = torch.rand(600, 600)
        for _ in range(3):  # the threads of its pools have begun
            expected = float((rows @ rows).sum())

        def ask():
            return (float((rows @ rows).sum()), torch.get_num_threads(), torch.is_grad_enabled(),
                    torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        try:
            with torch.no_grad():
                seen = asked(ask)
        finally:
            torch.set_default_dtype(torch.float32)
        self.assertEqual([one[1:] for one in seen], 4 * [(1, False, torch.float64)])
        self.assertAlmostEqual(seen[0][0] / expected, 1, places=3)
        with mock.patch.object(torch.cuda, "is_initialized", lambda: True):
            self.assertEqual(_forker.why_no_fork(), "torch.cuda is initialized")


if __name__ == "__main__":
    logging.getLogger("brigade").setLevel("INFO")
    unittest.main(argv=sys.argv[:1])
