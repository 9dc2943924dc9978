"""What a terminal and a notebook show of loaders and batches."""

import collections.abc
import pickle
import unittest

import brigade
from graphs import NeedsNumPy, graph, open_loader, workers

HTML = '<b onclick="x">&'  # in the name of a tensor of a batch that was pickled


class Loaders(unittest.TestCase):
    def test_a_line_says_what_comes_and_starts_nothing(self):
        before = workers()
        with open_loader(graph()) as loader:
            self.assertEqual(repr(loader), "<brigade.Loader of train: data float32[64, 3]; "
                                           "16 batches of 1,000 samples, seed 3, epoch 0>")
            html = loader._repr_html_()
            self.assertEqual(workers(), before)
            for text in ("brigade.Loader of train", "16 batches of 1,000 samples", "seed: 3",
                         "<td style=\"text-align:left\">float32</td>", "[64, 3]"):
                self.assertIn(text, html)
            for _ in loader:
                pass
            self.assertIn("epoch 1", repr(loader))
        self.assertIn("closed yes", repr(loader))

    def test_of_a_rank_and_an_unknown_length(self):
        with open_loader(graph(), rank=1, world_size=2) as loader:
            self.assertIn("8 batches of 500 samples, seed 3, epoch 0, rank 1 of 2", repr(loader))
        lines = {"stages": {"lines": {"producer": "lines", "params": {"file": __file__}},
                            "end": {"consumer": "application",
                                    "from": {"stage": "lines", "batch": 4}}}}
        with open_loader(lines) as loader:
            self.assertIn("not counted yet", repr(loader))
            with self.assertRaises(TypeError):
                len(loader)
            self.assertIn("of unknown length", repr(loader))
            self.assertIn("uint8[4, <=", repr(loader))

    def test_one_whose_constructor_failed_is_shown_too(self):
        broken = brigade.Loader.__new__(brigade.Loader)
        self.assertEqual(repr(broken), "<brigade.Loader>")
        self.assertIsNone(broken._repr_html_())


class Batches(NeedsNumPy):
    def batch(self, **options):
        with open_loader(graph(), tensors="numpy", **options) as loader:
            return next(iter(loader))

    def test_a_line_and_a_table(self):
        batch = self.batch()
        self.assertEqual(repr(batch), "Batch(data: float32[64, 3]; epoch 0, index 0)")
        html = batch._repr_html_()
        for text in ("brigade.Batch of 64 samples", "epoch: 0", "float32", "[64, 3]"):
            self.assertIn(text, html)
        self.assertEqual(repr(batch.row(0))[:24], "Row(data: float32[3]; id")
        clone = batch.clone()
        self.assertEqual(repr(clone), repr(batch))

    def test_it_is_no_mapping(self):  # frameworks would rebuild one from its items
        batch = self.batch()
        self.assertNotIsInstance(batch, collections.abc.Mapping)
        self.assertEqual(list(dict(batch)), ["data"])
        self.assertIs(batch.get("data"), batch["data"])
        self.assertEqual(batch.get("label", 3), 3)
        (data,) = batch
        self.assertIs(data, batch["data"])

    def test_ragged_tensors_have_various_shapes(self):
        ragged = {"params": {"count": 4, "shape": [5], "dtype": "f32", "vary": True}}
        made = graph(numbers=ragged, work={"batch": 2})
        with open_loader(made, tensors="numpy") as loader:
            batch = next(iter(loader))
            self.assertIn("data float32[2, <=5]", repr(loader))
            self.assertEqual(repr(batch), "Batch(data: float32 2 of various shapes, at most [5], "
                                          "data.shape: int64[2, 1]; epoch 0, index 0)")
            self.assertIn("data: float32 2 of various shapes, ", repr(batch.clone()))

    def test_names_are_escaped(self):
        batch = pickle.loads(pickle.dumps(self.batch()))
        raw = batch._raw
        raw._names, raw._tensors = (HTML,), {HTML: raw._tensors["data"]}
        html = batch._repr_html_()
        self.assertNotIn("<b onclick", html)
        self.assertIn("&lt;b onclick=&quot;x&quot;&gt;&amp;", html)

    def test_a_broken_one_is_shown_too(self):
        batch = brigade.Batch(None, "numpy")
        self.assertEqual(repr(batch), "<brigade.Batch>")
        self.assertIsNone(batch._repr_html_())


if __name__ == "__main__":
    unittest.main(argv=["shown_test.py"])
