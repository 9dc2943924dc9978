"""Loops in the cells of a notebook, which go on after a mistake and after Ctrl-C."""

import os
import signal
import sys
import threading
import time
import unittest

from graphs import EPOCH, GRAPH, graph, open_loader, seen, whole
from processes import WITH_TESTS, left_of

HANG_SECONDS = 60
SLOW = graph(work={"params": {"ms": 2}})


class MainThread(unittest.TestCase):
    """Where IPython runs cells."""

    def test_after_ctrl_c_the_next_cell_reads_the_next_epoch(self):
        def interrupt():
            time.sleep(0.02)  # the fourth batch takes longer
            os.kill(os.getpid(), signal.SIGINT)

        with open_loader(SLOW) as loader:
            given = []
            with self.assertRaises(KeyboardInterrupt):
                for batch in loader:
                    given.append(seen(batch))
                    if len(given) == 3:
                        threading.Thread(target=interrupt).start()
            self.assertLess(len(given), len(EPOCH))
            again = [seen(batch) for batch in loader]
        epochs = whole(2)
        self.assertEqual(given, epochs[0][:len(given)])
        self.assertEqual(again, epochs[1])


class Kernel(unittest.TestCase):
    """Cells in a kernel of IPython's, as Jupyter starts it."""

    def setUp(self):
        try:
            import ipykernel  # noqa: F401
            from jupyter_client.manager import start_new_kernel
        except ImportError as missing:
            self.skipTest(f"{missing} (python3-ipykernel, python3-jupyter-client)")
        self.manager, self.client = start_new_kernel(
            kernel_name="python3", startup_timeout=HANG_SECONDS, env=WITH_TESTS)
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.addCleanup(self.client.stop_channels)

    def cell(self, code, ctrl_c_after=None):
        """What the notebook shows below the cell: texts by kind."""
        shown = {"stdout": "", "stderr": "", "error": ""}

        def show(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                shown[content["name"]] += content["text"]
                if ctrl_c_after and ctrl_c_after in content["text"]:
                    self.manager.interrupt_kernel()
            elif message["msg_type"] == "error":
                shown["error"] = f"{content['ename']}: {content['evalue']}"

        # A cell that is asked for right behind a failing one would else be left out.
        self.client.execute_interactive(code, timeout=HANG_SECONDS, output_hook=show,
                                        stop_on_error=False)
        return shown

    def test_shows_lines_mistakes_and_ends_at_ctrl_c(self):
        self.cell(f"import brigade, logging\nGRAPH = {SLOW!r}\n"
                  "logging.basicConfig(level=logging.INFO)")
        mistake = self.cell("brigade.Loader(GRAPH, set={'stages.work.replicsa': 2})")
        self.assertRegex(mistake["error"], r"(?s)GraphError: 1 mistake.*replicas")

        failing = self.cell("with brigade.Loader(GRAPH, tensors='dlpack', set={"
                            "'stages.work.params.fail_at': [7], 'stages.work.on_error.skip': 1})"
                            " as one:\n    print(sum(batch.size for batch in one))")
        self.assertEqual(failing["stdout"], "999\n")
        self.assertRegex(failing["stderr"], "INFO:brigade:work: skipped .*sample 7")

        slow = self.cell("loader = brigade.Loader(GRAPH, tensors='dlpack')\n"
                         "for batch in loader: print('batch', batch.index, flush=True)",
                         ctrl_c_after="batch 128")
        self.assertIn("KeyboardInterrupt", slow["error"])
        again = self.cell("print([batch.epoch for batch in loader])")
        self.assertEqual((again["stdout"], again["error"]), (f"{[1] * len(EPOCH)}\n", ""))

    def test_shows_what_workers_print(self):
        shown = self.cell("import brigade\nfrom data_sets import Loud\n"
                          "loader = brigade.DataLoader(Loud(4), num_workers=2, collate_fn=list)\n"
                          "list(loader)\nloader.close()")
        self.assertEqual((shown["stdout"].count("größe"), shown["stderr"].count("warning")), (4, 4),
                         shown)

    def test_a_kernel_that_is_killed_leaves_nothing(self):
        shown = self.cell(f"import brigade\nfrom processes import children\n"
                          f"loader = brigade.Loader({GRAPH!r}, tensors='dlpack')\n"
                          "batch = next(iter(loader))\nprint(*children())")
        pids = shown["stdout"].split()
        self.assertTrue(pids)
        self.manager.shutdown_kernel(now=True)
        self.assertEqual(left_of(pids, HANG_SECONDS), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
