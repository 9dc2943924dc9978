"""Loops over a brigade.Loader, as users write them."""

import contextlib
import io
import json
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import brigade
from graphs import BATCH, EPOCH, SAMPLES, graph, open_loader, seen, whole


class Epochs(unittest.TestCase):
    def test_each_iter_is_an_epoch(self):
        epochs = whole(3)
        for number, epoch in enumerate(epochs):
            self.assertEqual([len(ids) for _, _, ids, _ in epoch], EPOCH)
            self.assertEqual({one[0] for one in epoch}, {number})
            self.assertEqual(sorted(i for one in epoch for i in one[2]), list(range(SAMPLES)))
        self.assertNotEqual(epochs[0][0][2], epochs[1][0][2], "shuffled anew")

    def test_one_left_early_ends_there(self):
        epochs = whole(4)
        with open_loader(graph()) as loader:
            first = next(iter(loader))
            self.assertEqual(seen(first), epochs[0][0])
            for count, batch in enumerate(loader):
                if count == 4:
                    break
            self.assertEqual(seen(batch), epochs[1][4])
            iter(loader)  # gave nothing: the next one is of the same epoch
            self.assertEqual([seen(one) for one in loader], epochs[2])
            self.assertEqual([seen(one) for one in loader], epochs[3])

    def test_an_iterator_ends_with_the_next(self):
        with open_loader(graph()) as loader:
            old = iter(loader)
            next(old)
            new = iter(loader)
            next(new)
            with self.assertRaisesRegex(RuntimeError, "a later iter\\(\\) has ended"):
                next(old)

    def test_a_stream_that_was_left_begins_anew(self):
        lines = [f"{i:04}".encode() for i in range(SAMPLES)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lines")
            path.write_bytes(b"\n".join(lines))
            stream = {"stages": {
                "numbers": {"producer": "lines", "params": {"file": str(path), "max_bytes": 4}},
                "train": {"consumer": "application", "from": {"stage": "numbers", "batch": BATCH}}}}
            with open_loader(stream, epochs=5) as loader:
                def read(iterator):
                    return [bytes(batch.row(i)["text"]) for batch in iterator
                            for i in range(batch.size)]
                self.assertEqual(bytes(next(iter(loader)).row(0)["text"]), lines[0])
                self.assertEqual(read(loader), lines)
                self.assertEqual(read(loader), lines)
                for batch in loader:
                    break
                iter(loader)  # gave nothing
                self.assertEqual(read(loader), lines)
                self.assertEqual(read(loader), [], "that was the sixth")

    def test_epochs_of_the_graph_do_not_count(self):
        with open_loader({**graph(), "epochs": 1}) as loader:
            self.assertEqual([sum(batch.size for batch in loader) for _ in range(3)], [SAMPLES] * 3)
        with open_loader(graph(), epochs=2) as loader:
            self.assertEqual([sum(batch.size for batch in loader) for _ in range(3)],
                             [SAMPLES, SAMPLES, 0])

    def test_have_a_length(self):
        with open_loader(graph()) as loader:
            self.assertEqual(len(loader), len(EPOCH))
        with open_loader(graph(train={"drop_last": True})) as loader:
            self.assertEqual(len(loader), sum(1 for _ in loader))

    def test_have_a_length_where_samples_come_by_share_or_weight(self):
        few = {"producer": "synthetic", "params": {"count": 10, "shape": [3], "dtype": "f32"}}
        mixed = {"mix": {"numbers": 0.9, "few": 0.1}, "shuffle": True}
        for keys, samples in (({}, SAMPLES + 10), ({"samples": 100}, 100)):
            by_share = graph(few=few, all={**mixed, **keys}, work={"from": "all"})
            del by_share["stages"]["numbers"]["shuffle"]
            with open_loader(by_share) as loader:
                sizes = [batch.size for batch in loader]
                self.assertEqual((len(loader), sum(sizes)), (len(sizes), samples))
        label = {"params": {"count": SAMPLES, "dtype": "u8", "name": "label"},
                 "weights": {"3": 5, "others": 1}, "samples": 130}
        with open_loader(graph(numbers=label)) as loader:
            self.assertEqual((len(loader), [batch.size for batch in loader]), (3, [64, 64, 2]))

    def test_samples_come_one_by_one(self):
        single = graph(work={"batch": None}, end={"consumer": "count", "from": "work"})
        del single["stages"]["work"]["batch"], single["stages"]["train"]
        for output in ("work", "end"):
            with open_loader(single, output) as loader:
                self.assertEqual((len(loader), next(iter(loader)).size), (SAMPLES, 1))
            with open_loader(single, output, set={"stages.work.batch": BATCH}) as loader:
                self.assertEqual([batch.size for batch in loader], EPOCH)

    def test_stats_of_a_run_that_goes_on_and_of_one_that_has_ended(self):
        loader = open_loader(graph(), epochs=1)
        self.assertEqual(loader.stats(), {})
        batches = iter(loader)
        next(batches), next(batches)
        now = loader.stats()
        stages = {stage["name"]: stage for stage in now["stages"]}
        self.assertEqual((now["end"], list(stages)), ("running", ["numbers", "work", "train"]))
        self.assertGreaterEqual(stages["work"]["samples"], 2 * BATCH)
        for _ in batches:
            pass
        loader.close()
        self.assertEqual((loader.stats()["end"], loader.stats()["samples"]), ("done", SAMPLES))

    def test_any_stage_is_read(self):
        for graph_of in (graph(), graph(train={"consumer": "count"})):
            for stage in ("numbers", "work", "train"):
                with open_loader(graph_of, stage, set={"stages.numbers.batch": BATCH}) as loader:
                    self.assertEqual([batch.size for batch in loader], EPOCH, stage)


class Positions(unittest.TestCase):
    def test_nothing_is_given_twice_or_never(self):
        for many in (0, 1, 5, 16, 17, 20):
            with open_loader(graph()) as loader:
                epochs, held = [[], []], []
                for epoch in range(2):
                    for batch in loader:
                        if sum(map(len, epochs)) == many:
                            break
                        epochs[epoch].append(seen(batch))
                        held = [*held[-2:], batch]
                        state = loader.state_dict()
                    if sum(map(len, epochs)) == many:
                        break
                if many == 0:
                    continue
            with open_loader(graph()) as loader:
                loader.load_state_dict(pickle.loads(pickle.dumps(state)))
                for epoch in range(state["epoch"], 2):
                    epochs[epoch] += [seen(batch) for batch in loader]
            self.assertEqual(epochs, whole(2), many)

    def test_are_numbers_and_text(self):
        path = "/nowhere/\udce9.bin"  # no text of UTF-8
        with tempfile.TemporaryDirectory() as folder, open_loader(graph()) as loader:
            next(iter(loader))
            state = loader.state_dict()
            pathlib.Path(folder, "state.json").write_text(json.dumps(state))
            read = json.loads(pathlib.Path(folder, "state.json").read_text())
            self.assertEqual(read, state)
            odd = {**state, "state": path}
            loader.load_state_dict(json.loads(json.dumps(odd)))
            self.assertEqual(loader._at.state, os.fsencode(path))
            for given in (read, {**state, "state": state["state"].encode()}):  # as it was before
                loader.load_state_dict(given)
                self.assertEqual([seen(one) for one in loader], whole(1)[0][1:])

    def test_before_the_first_batch(self):
        with open_loader(graph()) as loader:
            state = loader.state_dict()
            loader.load_state_dict(state)
            self.assertEqual([seen(one) for one in loader], whole(1)[0])

    def test_of_another_graph(self):
        with open_loader(graph()) as loader:
            next(iter(loader))
            state = loader.state_dict()
        with open_loader(graph(numbers={"shuffle": False})) as loader:
            loader.load_state_dict(state)
            with self.assertRaisesRegex(brigade.RunError, "numbers.shuffle"):
                iter(loader)
            with self.assertRaisesRegex(ValueError, "expected the result of state_dict"):
                loader.load_state_dict({"epoch": 1})


class BadUse(unittest.TestCase):
    def refused(self, kind, pattern, *arguments, **options):
        with self.assertRaisesRegex(kind, pattern) as caught:
            open_loader(*arguments, **options)
        return caught.exception

    def test_of_graphs(self):
        error = self.refused(brigade.GraphError, "unknown transform",
                             graph(work={"transform": "delya"}, train={"form": "work"}))
        self.assertEqual(len([one for one in error.diagnostics if one.is_error]), 2)
        self.assertIn('did you mean "delay"?', str(error))
        self.refused(brigade.GraphError, "no such file", "/nowhere/train.yaml")
        self.refused(brigade.GraphError, "there is no stage", graph(), "trian")
        two = graph(test={"consumer": "application", "from": "work"})
        self.refused(ValueError, 'output="NAME"; the graph has train, test', two)
        self.refused(brigade.GraphError, "hold", graph(), hold=0)
        self.refused(ValueError, "hold_timeout=-1: expected a number of seconds", graph(),
                     hold_timeout=-1)
        self.refused(TypeError, "hold_timeout='1s': expected a number", graph(), hold_timeout="1s")
        self.refused(ValueError, "expected one of torch, numpy, dlpack", graph(), tensors="jax")
        self.refused(TypeError, "a path, several of them, YAML, or a dict, found None", None)
        self.refused(TypeError, "output=5: expected the name of a stage", graph(), 5)
        self.refused(TypeError, "epochs='3': expected a whole number from", graph(), epochs="3")
        self.refused(ValueError, "limit=-1: expected a whole number from 0 on", graph(), limit=-1)
        self.refused(brigade.GraphError, 'unknown key "sed"', graph(), set="sed=3")

    def test_of_batches(self):
        with open_loader(graph()) as loader:
            batch = next(iter(loader))
            with self.assertRaisesRegex(KeyError, "image"):
                batch["image"]
            with self.assertRaises(AttributeError):
                batch.image
            with self.assertRaisesRegex(TypeError, "import torch"):
                batch.to("cuda")
            with self.assertRaises(IndexError):
                batch.row(64)
            self.assertRegex(repr(batch.row(0)),
                             r"Row\(data: float32\[3\]; id \d+, epoch 0, index 0\)")
            self.assertIn("<brigade.Loader of train: ", repr(loader))
            with self.assertRaisesRegex(ValueError, "expected the result of state_dict"):
                loader.load_state_dict({"version": 1, "epoch": 0})
        with self.assertRaisesRegex(ValueError, "closed"):
            iter(loader)

    def test_a_run_that_fails_is_an_error_of_the_loop(self):
        failing = graph(work={"params": {"fail_at": [500]}})
        with open_loader(failing) as loader, self.assertRaisesRegex(brigade.RunError, "sample 500"):
            for _ in loader:
                pass

    def test_foreign_text_of_a_failed_run_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder, "odd\n\x1b[31m.csv")
            table.write_text("x\nred\x1b[32m\n")
            failing = {"brigade": 1, "stages": {
                "rows": {"producer": "csv", "batch": 1,
                         "params": {"file": str(table), "columns": {"x": "x"}}},
                "end": {"consumer": "count", "from": "rows"}}}
            with brigade.Loader(failing, output="end", tensors="dlpack") as loader:
                with self.assertRaises(brigade.RunError) as raised:
                    next(iter(loader))
        self.assertIn(r"odd\n\x1b[31m.csv:2:1: expected a number", str(raised.exception))
        self.assertTrue(str(raised.exception).isprintable())

    def test_two_threads(self):
        slow = graph(work={"params": {"ms": 20}})
        with open_loader(slow) as loader:
            iterator = iter(loader)
            other = threading.Thread(target=lambda: list(iterator), daemon=True)
            other.start()
            time.sleep(0.3)
            with self.assertRaisesRegex(brigade.BusyError, "another thread"):
                next(iterator)
            loader.close()
            other.join(10)
            self.assertFalse(other.is_alive())


class Progress(unittest.TestCase):
    """What a terminal or a notebook shows with progress=True."""

    def shown(self, **options):
        with contextlib.redirect_stderr(io.StringIO()) as shown, \
                open_loader(graph(), progress=True, **options) as loader:
            sizes = [[batch.size for batch in loader] for _ in range(2)]
            for batch in loader:
                break
        self.assertEqual(sizes, [EPOCH] * 2)
        return shown.getvalue()

    def test_is_a_bar_for_each_epoch(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed (python3-tqdm)")
        shown = self.shown()
        for epoch in range(3):
            self.assertIn(f"epoch {epoch}: ", shown)
        self.assertEqual(shown.count("16/16"), 2)

    def test_goes_on_where_a_resumed_epoch_does(self):
        try:
            import tqdm  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed (python3-tqdm)")
        with open_loader(graph()) as loader:
            for count, batch in enumerate(loader, 1):
                if count == 5:
                    break
            state = loader.state_dict()
        for again in range(2):  # a state of a loader that went on, too
            with contextlib.redirect_stderr(io.StringIO()) as shown, \
                    open_loader(graph(), progress=True) as loader:
                loader.load_state_dict(state)
                iterator = iter(loader)
                next(iterator)
                state = loader.state_dict()
                self.assertEqual(1 + sum(1 for _ in iterator), len(EPOCH) - 5 - again)
                self.assertEqual(sum(1 for _ in loader), len(EPOCH))
            bars = shown.getvalue()
            self.assertIn(f" {5 + again}/16", bars)
            self.assertNotIn(" 0/16", bars[:bars.index("epoch 1")])
            self.assertIn(" 0/16", bars[bars.index("epoch 1"):])
            self.assertEqual(bars.count("16/16"), 2)

    def test_of_many_held_batches_names_the_program(self):
        with contextlib.redirect_stderr(io.StringIO()), \
                open_loader(graph(), progress=True, hold=2) as loader:
            with self.assertRaises(brigade.HeldError) as caught:
                held = list(loader)  # noqa: F841
        self.assertIn(f"{os.path.basename(__file__)}:", str(caught.exception))

    def test_without_tqdm_is_a_line(self):
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), \
                self.assertLogs("brigade", "WARNING") as caught:
            self.assertEqual(self.shown(), "")
        self.assertEqual(len(caught.output), 1)
        self.assertIn("pip install tqdm", caught.output[0])


class Runs(unittest.TestCase):
    def test_several_outputs(self):
        two = {**graph(test={"consumer": "application", "from": {"stage": "work", "batch": 100}}),
               "epochs": 2}
        with brigade.open(two, tensors="dlpack") as run:
            train, test = run["train"], run["test"]
            epochs = []
            for epoch in range(2):
                readers = [iter(train.epoch(epoch)), iter(test.epoch(epoch))]
                sizes = [0, 0]
                while readers:
                    for reader in list(readers):
                        batch = next(reader, None)
                        if batch is None:
                            readers.remove(reader)
                        else:
                            sizes[batch.tensor("data").shape[0] > BATCH] += batch.size
                epochs.append(sum(sizes))
        self.assertEqual(epochs, [2 * SAMPLES] * 2)
        self.assertTrue(run.stats())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
