#!/usr/bin/env python3
"""examples/image_classifier on a few small pictures; or, for minutes, on those of its README, and
whether it learns them as well as that says.

    image_classifier_test.py EXAMPLE_PROGRAM BRIGADE FOLDER [PYTHON PACKAGE]
    image_classifier_test.py --accuracy BRIGADE FOLDER
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS_MAX = 300
SECONDS_MAX_OF_ACCURACY = 3000  # some 180 are expected
SMALL = ["--set", "vars.side=32", "--set", "stages.train.batch=16"]


def run(*command, cwd, environment=None, seconds_max=SECONDS_MAX):
    done = subprocess.run([str(word) for word in command], cwd=cwd, timeout=seconds_max, text=True,
                          env=environment, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"{command} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def result_of(printed):
    return json.loads(printed)["results"]["learn"]


def same(what, one, other):
    if one != other:
        sys.exit(f"{what}: {one} and {other}")


def check_program(own, brigade, folder):
    """Stopped after an epoch and resumed, it ends where it ends without."""
    whole = result_of(run(own, *SMALL, "--set", "epochs=2", cwd=folder))
    same("samples", whole["samples"], 2 * 25)
    run(own, *SMALL, "--set", "epochs=1", "--overwrite", cwd=folder)
    same("resumed", result_of(run(own, *SMALL, "--set", "epochs=2", "--resume", cwd=folder)), whole)
    shards = [own, "image_classifier.yaml", "shards.yaml", *SMALL, "--set", "epochs=1"]
    from_shards = result_of(run(*shards, "--overwrite", cwd=folder))
    same("samples of archives", from_shards["samples"], 25)
    run(brigade, "check", "image_classifier.yaml", "shards.yaml", cwd=folder)


def check_python(python, package, folder):
    def train(*more):
        printed = run(python, "-B", "train.py", *SMALL, *more, cwd=folder,
                      environment={"PYTHONPATH": str(package), "PATH": "/usr/bin:/bin"})
        return re.findall(r"epoch (\d): accuracy ([\d.]+), loss ([\d.]+)", printed)

    whole = train("--epochs", "2")
    same("epochs", [epoch for epoch, *_ in whole], ["1", "2"])
    same("the first epoch", train("--epochs", "1"), whole[:1])
    same("resumed", train("--epochs", "2", "--resume"), whole[1:])
    archives = train("--epochs", "1", "image_classifier.yaml", "shards.yaml")
    same("an epoch of archives", [epoch for epoch, *_ in archives], ["1"])


def copied(source, name):
    folder = pathlib.Path(name) / "image_classifier"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("build"))
    return folder


def check_accuracy(brigade, source):
    """The run that the README shows: what it says of it."""
    text = (source / "README.md").read_text()
    accuracy = float(re.search(r"An accuracy of ([\d.]+) is reached", text).group(1))
    samples = int(re.search(r"learn: samples ([\d,]+)", text).group(1).replace(",", ""))
    with tempfile.TemporaryDirectory(prefix="brigade_test_classifier_") as name:
        folder = copied(source, name)
        run(sys.executable, "-B", "make_pictures.py", "pictures", cwd=folder)
        run(brigade, "run", "image_classifier.yaml", "--summary", "summary.json", cwd=folder,
            seconds_max=SECONDS_MAX_OF_ACCURACY)
        learned = json.loads((folder / "summary.json").read_text())["results"]["learn"]
        classes = sorted(path.name for path in (folder / "pictures" / "val").iterdir())
    same("samples", learned["samples"], samples)
    if not learned["accuracy"] >= accuracy:
        sys.exit(f"an accuracy of {learned['accuracy']}, the README says {accuracy}")
    same("classes", sorted(key for key in learned if key.startswith("accuracy of ")),
         [f"accuracy of {one}" for one in classes])
    print(f"image_classifier: an accuracy of {learned['accuracy']}")


def check(own, brigade, source, python=None, package=None):
    with tempfile.TemporaryDirectory(prefix="brigade_test_classifier_") as name:
        folder = copied(source, name)
        run(sys.executable, "-B", "make_pictures.py", "pictures", "5", cwd=folder)
        check_program(own, brigade, folder)
        if package is not None:
            check_python(python, package, folder)
    print("image_classifier: ok")


if __name__ == "__main__":
    if sys.argv[1] == "--accuracy":
        check_accuracy(*(pathlib.Path(word).resolve() for word in sys.argv[2:]))
        sys.exit()
    check(*(pathlib.Path(word).resolve() for word in sys.argv[1:4]), *sys.argv[4:])
