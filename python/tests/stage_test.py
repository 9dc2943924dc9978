"""`transform: python`, `producer: python`, `consumer: python`."""

import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import brigade
import graphs  # noqa: F401, it silences what is logged

try:
    import numpy
except ImportError:
    numpy = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(brigade.__file__).parent / "native" / "bin" / "brigade"
RESTART = {"policy": "on_failure", "burst": 50, "within": "1m", "backoff": "0s"}
STAGES = """
import os, pathlib, signal, sys
import brigade
import numpy

@brigade.stage(inputs={"data": "f32[any]"}, outputs={"data": "=data", "total": "f64[]"})
def double(data, by=2):
    return 2 * data[::-1], by * data.sum(dtype="f8")

@brigade.stage(outputs={"data": "=data", "total": "f64[]"})
def killed(data, out, sample, marks, at, by=2):
    out.data[...] = 2 * data[::-1]
    mark = pathlib.Path(marks, f"{sample.epoch}.{sample.id}")
    if sample.id in at and not mark.exists():
        mark.touch()
        out.data[...] = -1
        os.kill(os.getpid(), signal.SIGKILL if sample.id % 2 else signal.SIGINT)
    out.total = by * data.sum(dtype="f8")

@brigade.stage(outputs=lambda data, by=2: {"data": f"f32[{data.shape[0]}]", "total": "f64[]"})
class Batches:
    def __init__(self, by=2):
        self.by = by
    def __call__(self, data, out):
        assert data.ndim == 2
        out["data"] = 2 * data[:, ::-1]
        out.total[...] = [self.by * one.sum(dtype="f8") for one in data]

DRAWN = {"drawn": "f64[3]", "seed": "i64[]"}

@brigade.stage(outputs=DRAWN)
def draw(rng, sample):
    return rng.random(3), sample.seed() >> 1

@brigade.stage(outputs=DRAWN)
def draw_each(rng, sample):
    assert len(rng) == len(sample)
    return [one.random(3) for one in rng], [one.seed() >> 1 for one in sample]

@brigade.stage(inputs={"data": "f32[<=6]"}, outputs={"data": "=data", "twice": "f32[<=12]"})
def ragged(data, out):
    view = out.resize("data", [len(data)])
    view[...] = 4 * data
    out.twice = numpy.concatenate([data, data])

@brigade.stage(outputs={"data": "=data", "twice": "f32[<=12]"})
def ragged_each(data):
    return {"twice": [numpy.concatenate([one, one]) for one in data],
            "data": [4 * one for one in data]}

@brigade.stage(outputs={"value": "i64[]"})
class Squares:
    def __init__(self, count):
        self.count = count
    def __len__(self):
        return self.count
    def __call__(self, sample):
        return sample.id ** 2

@brigade.stage(outputs={"value": "i64[]"})
def cube(sample):
    print("cube of", sample.id)
    return sample.id ** 3

@brigade.stage(outputs={})
def odd(value):
    return None if value % 2 else brigade.DROP

@brigade.stage
class Sum:
    def __init__(self, worker):
        self.worker, self.total = worker, 0
    def __call__(self, left_value, right_value):
        self.total += int(left_value.sum()) + int(right_value.sum())
        self.worker.report("total", self.total)

kept = []

@brigade.stage(outputs={"data": "=data"})
def keeps(data):
    kept.append(data)
    return data

@brigade.stage(outputs={"data": "=data", "total": "f64[]"})
def odd_ends(data, how):
    if how == "leave":
        sys.exit("I give up")
    return (data.astype("c8"), 0) if how == "cast" else {"data": data}

@brigade.stage(outputs={"data": "=data"})
def yields(data):
    yield data

@brigade.stage(outputs={"data": "=data"})
def fails(data, sample):
    if sample.id in (3, 5):
        raise ValueError(f"no {sample.id}\\nsecond line")
    if sample.id == 7:
        return data.reshape(1, -1)
    return data

@brigade.stage(outputs={"data": "=data"})
def odd_texts(data, sample):
    if sample.id in (3, 5):
        raise ValueError("\\udcff") if sample.id == 3 else Silent()
    return data

class Silent(Exception):
    __str__ = None

def plain(data):
    return data
"""


@unittest.skipIf(numpy is None, "NumPy is not installed (python3-numpy)")
class Stages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file("stages.py", STAGES)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def graph(self, call, *, batch=0, count=60, vary=False, params=None, **keys):
        """numbers -> work -> end"""
        numbers = {"producer": "synthetic", "shuffle": True,
                   "params": {"count": count, "shape": [6], "dtype": "f32", "fill": "random",
                              "vary": vary}}
        work = {"transform": "python", "from": {"stage": "numbers", "batch": batch} if batch
                else "numbers", **keys,
                "params": {"call": f"{self.folder}/{call}", **(params or {})}}
        return {"seed": 5, "epochs": 2, "stages": {
            "numbers": numbers, "work": work,
            "end": {"consumer": "application", "from": {"stage": "work", "batch": 8}}}}

    def read(self, graph):
        """(epoch, id) -> the tensors of each sample, in the order that they came in."""
        seen = {}
        with brigade.open(graph, tensors="numpy") as run:
            for batch in run["end"]:
                for i, one in enumerate(batch.ids):
                    seen[batch.epoch, one] = {name: batch.row(i)[name].tolist()
                                              for name in batch.keys()}
            run.wait()
        return seen

    def loaded(self):
        spec = importlib.util.spec_from_file_location("stages", self.folder / "stages.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def test_give_what_a_plain_loop_gives_whoever_is_killed(self):
        plain = {}
        double = self.loaded().double
        source = self.graph("")
        with brigade.Loader(source, "numbers", set={"stages.numbers.batch": 1}, epochs=2,
                            tensors="numpy") as loader:
            for _ in range(2):
                for batch in loader:
                    data, total = double(batch["data"][0], by=3)
                    plain[batch.epoch, batch.ids[0]] = {"data": data.tolist(),
                                                        "total": float(total)}
        self.assertEqual(len(plain), 120)
        marks = self.folder / "marks"
        marks.mkdir()
        killed = {"marks": str(marks), "at": [0, 7, 8, 31], "by": 3}
        found = self.read(self.graph("stages.py:killed", params=killed, replicas=3,
                                     restart=RESTART))
        self.assertEqual(found, plain)
        self.assertEqual(list(found), list(plain))
        self.assertEqual(len(list(marks.iterdir())), 8)
        self.assertEqual(self.read(self.graph("stages.py:double", params={"by": 3})), plain)
        self.assertEqual(self.read(self.graph("stages.py:Batches", params={"by": 3}, batch=7,
                                              replicas=2)), plain)
        self.assertNotEqual(self.read(self.graph("stages.py:double", params={"by": 2})), plain)

    def test_random_numbers_are_the_samples(self):
        found = self.read(self.graph("stages.py:draw"))
        for drawn in ("drawn", "seed"):
            self.assertEqual(len({str(one[drawn]) for one in found.values()}), 120)
        self.assertEqual(self.read(self.graph("stages.py:draw", replicas=3)), found)
        self.assertEqual(self.read(self.graph("stages.py:draw_each", batch=7, replicas=2)), found)
        other = self.read({**self.graph("stages.py:draw"), "seed": 6})
        self.assertNotEqual(other, found)

    def test_ragged_tensors(self):
        found = self.read(self.graph("stages.py:ragged", vary=True))
        self.assertGreater(len({len(one["data"]) for one in found.values()}), 2)
        for one in found.values():
            self.assertEqual(one["twice"], [value / 4 for value in 2 * one["data"]])
        self.assertEqual(self.read(self.graph("stages.py:ragged_each", vary=True, batch=7)), found)

    def test_are_sources_filters_and_consumers(self):
        call = f"{self.folder}/stages.py:"
        graph = {"epochs": 2, "stages": {
            "squares": {"producer": "python", "params": {"call": call + "Squares", "count": 10}},
            "cubes": {"producer": "python", "params": {"call": call + "cube"}, "count": 10,
                      "replicas": 2},
            "both": {"consumer": "python", "params": {"call": call + "Sum"}, "join": "zip",
                     "from": {"left": {"stage": "squares", "batch": 4},
                              "right": {"stage": "cubes", "batch": 4}}},
            "odd": {"transform": "python", "params": {"call": call + "odd"}, "from": "squares"},
            "end": {"consumer": "application", "from": {"stage": "odd", "batch": 8}}}}
        with contextlib.redirect_stderr(io.StringIO()) as shown, brigade.open(graph) as run:
            values = [value for batch in run["end"]
                      for value in memoryview(batch.tensor("value")).tolist()]
            run.wait()
        self.assertEqual(values, [1, 9, 25, 49, 81] * 2)
        total = sum(i ** 2 + i ** 3 for i in range(10))
        self.assertEqual(run.stats()["results"]["both"]["total"], 2 * total)
        self.assertEqual(sorted(line.split(": ")[1] for line in shown.getvalue().splitlines()
                                if line.startswith(("cubes.0: ", "cubes.1: "))),
                         sorted([f"cube of {i}" for i in range(10)] * 2))

    def failure(self, *arguments, **keys):
        with self.assertRaises(brigade.RunError) as raised:
            self.read(self.graph(*arguments, **keys))
        return str(raised.exception).split("): ", 2)[-1]

    def test_an_exception_is_the_samples_error(self):
        found = self.read(self.graph("stages.py:fails", on_error={"skip": 6}))
        self.assertEqual({id_of for _, id_of in found}, set(range(60)) - {3, 5, 7})
        line = 1 + STAGES[:STAGES.index("raise ValueError")].count("\n")
        self.assertRegex(self.failure("stages.py:fails", params={}),
                         rf"^(ValueError: no \d second line \(.*stages\.py:{line}: raise Val.*\)|"
                         r"ValueError: data is float32\[6\], found float32\[1, 6\])")
        for how, said in (
                ("leave", r"SystemExit: I give up \(.*stages.py:\d+: .*\)"),
                ("forget", "TypeError: odd_ends returned no total, expected data, total in"),
                ("cast", "TypeError: data is float32, found complex64; return its real part")):
            self.assertRegex(self.failure("stages.py:odd_ends", params={"how": how}), said)
        found = self.read(self.graph("stages.py:odd_texts", on_error={"skip": 2},
                                     restart={"policy": "never"}))
        self.assertEqual({id_of for _, id_of in found}, set(range(60)) - {3, 5})
        self.assertRegex(self.failure("stages.py:keeps"),
                         "keeps keeps a view of a tensor of this sample.*; keep a copy")

    def mistake(self, call="stages.py:double", source="", **keys):
        """The one mistake of a graph, as `LINE: MESSAGE; HELP`."""
        params = keys.pop("params", "")
        more = "".join(f"    {key}: {value}\n" for key, value in keys.items())
        text = textwrap.dedent(f"""\
            stages:
              numbers: {{producer: synthetic, params: {{count: 9, shape: [3], dtype: f32}}}}
              work:
                transform: python
                from: {source or "numbers"}
                params:
                  call: "{call}"
                  {params}
            """) + more + "  end: {consumer: count, from: {stage: work, batch: 2}}\n"
        with self.assertRaises(brigade.GraphError) as raised:
            brigade.Loader(self.file("graph.yaml", text), "end")
        self.assertEqual(len(raised.exception.diagnostics), 1, raised.exception)
        one = raised.exception.diagnostics[0]
        self.assertTrue(one.message.startswith('stage "work": '), one)
        said = [one.message.removeprefix('stage "work": '), *one.help.splitlines()]
        return f"{one.line}: " + "; ".join(said).replace(str(self.folder), "FOLDER")

    def test_mistakes_have_their_place(self):
        self.assertEqual(self.mistake("nowhere.py:f"),
                         "7: `params.call`: there is no file FOLDER/nowhere.py; relative paths are "
                         "relative to the file that contains them")
        self.assertRegex(self.mistake("stages.py"), '7: .* FILE:NAME, found "stages.py"; write ')
        self.assertEqual(self.mistake("stages.py:duble"),
                         '7: stages.py has no "duble"; did you mean "double"?')
        self.assertRegex(self.mistake("__main__:double"), "7: a replica does not run .*; move "
                         "\"double\" to a separate file .*`call: \"FILE.py:double\"`")
        self.assertRegex(self.mistake("stages.py:plain"),
                         '7: "plain" does not declare its inputs and outputs; write `@brigade.')
        self.assertEqual(self.mistake(params="buy: 2"),
                         '8: "double" has no parameter "buy"; did you mean "by"?')
        self.assertRegex(self.mistake("stages.py:odd"), '"odd" takes `value`, but the input has no '
                         "tensor of that name")
        self.assertRegex(self.mistake("stages.py:killed"),
                         '"killed" takes `(marks|at)`, but the input has no tensor of that name, '
                         "and neither has `params:`")
        self.assertEqual(self.mistake("stages.py:yields"),
                         '7: "yields" yields, or is `async`; a stage must return its result')
        self.assertRegex(self.mistake("stages.py:Sum"), '7: "Sum" does not declare its outputs')
        self.file("narrow.py", "import brigade\n@brigade.stage(inputs={'data': 'u8[any]'}, "
                               "outputs={})\ndef look(data): pass\n")
        self.assertEqual(self.mistake("narrow.py:look"),
                         '5: "look" does not accept data f32[3]; the dtype differs')
        self.file("broken.py", "import brigade\n\ndef f(:\n")
        self.assertEqual(self.mistake("broken.py:f"),
                         "7: SyntaxError: invalid syntax (broken.py:3: def f(:)")
        self.file("needs.py", "import brigade\nimport no_such_module\n")
        self.assertEqual(self.mistake("needs.py:f"), "7: ModuleNotFoundError: No module named "
                         "'no_such_module' (needs.py:2: import no_such_module)")
        self.assertRegex(self.mistake("no_such_module:f"), "7: ModuleNotFoundError: No module")
        self.file("notation.py", "import brigade\n@brigade.stage(outputs={'x': 'f32[<=x]'})\n"
                                 "def f(data): pass\n")
        self.assertRegex(self.mistake("notation.py:f"),
                         r"7: ValueError: '<=x' is not a size; .* \(notation.py:2: @brigade.stage")
        self.file("dies.py", "import os; os.kill(os.getpid(), 11)")
        self.assertRegex(self.mistake("dies.py:f"), "was killed by SIGSEGV")
        self.file("hangs.py", "import time; time.sleep(1000)")
        self.assertRegex(self.mistake("hangs.py:f", params="import_timeout: 300ms"),
                         "7: .* has not answered within 0.3 s; write `params: {import_timeout")
        self.assertRegex(self.mistake(params="python: ./nowhere"),
                         '8: there is no Python interpreter "./nowhere"')
        self.assertRegex(self.mistake(params="python: /bin/cat"), "7: /bin/cat exited with code 1")
        self.assertRegex(self.mistake(env='{PYTHONPATH: ""}'), "has no package `brigade`")

    def imported(self, of_runs):  # by replicas: a short run does not wait for all of them
        made = (self.folder / "imports").read_text()
        self.assertTrue(made.count("True") == 1 and made.count("False") in of_runs, made)
        (self.folder / "imports").unlink()

    def test_a_check_imports_once_and_hears_nothing(self):
        self.file("loud.py", "import pathlib, sys\nimport brigade\nprint('{}')\n"
                             "with open(pathlib.Path(__file__).parent / 'imports', 'a') as file:\n"
                             "    print('--describe' in sys.orig_argv, file=file)\n"
                             "@brigade.stage(outputs={})\ndef look(data): print(len(data))\n")
        path = self.file("graph.yaml", textwrap.dedent("""\
            stages:
              numbers: {producer: synthetic, params: {count: 9, shape: [3], dtype: f32}}
              work: {transform: python, from: numbers, params: {call: "loud.py:look"}, replicas: 3}
              end: {consumer: count, from: work}
            """))

        def program(*words):
            return subprocess.run([PROGRAM, *words], text=True, capture_output=True,
                                  env={**os.environ, "BRIGADE_PYTHON": sys.executable})
        with contextlib.redirect_stderr(io.StringIO()), \
                brigade.Loader(path, "work", set={"stages.work.batch": 3}) as loader:
            next(iter(loader))
            next(iter(loader))  # in another run
        self.imported(of_runs=range(2, 7))
        for command, of_runs in (("check", [0]), ("run", [1, 2, 3])):
            done = program(command, path)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.imported(of_runs)
        effective = program("plan", "--yaml", path)
        self.assertIn("transform: python", effective.stdout)
        self.assertEqual(program("check", self.file("again.yaml", effective.stdout)).returncode, 0)

    def test_a_mistake_is_found_by_one_import(self):
        self.file("wrong.py", "import pathlib\n"
                              "with open(pathlib.Path(__file__).parent / 'imports', 'a') as file:\n"
                              "    print('imported', file=file)\nraise ValueError('no')\n")
        path = self.file("graph.yaml", textwrap.dedent("""\
            stages:
              numbers: {producer: synthetic, params: {count: 9, shape: [3], dtype: f32}}
              work: {transform: python, from: numbers, params: {call: "wrong.py:f"}, batch: 3}
            """))
        with self.assertRaisesRegex(brigade.GraphError, r"no \(wrong.py:4: raise ValueError"):
            brigade.Loader(path, "work")
        self.assertEqual((self.folder / "imports").read_text().split(), ["imported"])

    def test_the_example_gives_the_same_for_any_replicas(self):
        folder = ROOT / "examples" / "python_stage"
        sys.path.insert(0, str(folder.parent))
        import example_test
        found = []
        for replicas in (2, 3):
            done = subprocess.run(
                [PROGRAM, "run", folder / "python_stage.yaml", "--set",
                 f"stages.flipped.replicas={replicas}"], text=True, capture_output=True,
                env={**os.environ, "BRIGADE_PYTHON": sys.executable})
            found += [line for line in done.stdout.splitlines() if "mean" in line] or [done.stderr]
            if replicas == 2:
                self.assertTrue(example_test.matches((folder / "expected.txt").read_text(),
                                                     done.stdout), done.stdout + done.stderr)
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
