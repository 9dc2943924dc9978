#!/usr/bin/env python3
"""Compares what Brigade makes of the pictures in a folder with what Pillow makes of them.

    tools/compare_pictures.py FOLDER [--brigade PATH]      needs Pillow

All files below FOLDER are decoded whole. Prints a line per file that differs by more than a level
(16 bits are rounded by one and cut off by the other) or that only one of them reads, then the
sums; ends with 1 if pixels differ. What is known to differ: CMYK (rounding), TIFF with alpha that
colours were multiplied with, or with 16 bits in planes of their own, indices behind the end of a
palette, orientation that XMP or a text chunk of a PNG says; docs/IMAGES.md says what becomes of
which file.
"""

import argparse
import collections
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops

import image_goldens

LEVELS_MAX = 1
GRAPH = """
stages:
  files: {producer: image_list, params: {file: LIST, path: path, label: label}}
  decode:
    transform: decode_image
    from: files
    on_error: {skip: 100%}
    params: {crop: none, size: 0, side_max: SIDE_MAX}
  end: {consumer: count, from: decode}
"""
SIDE_MAX = 4096


def decode(brigade, files, folder):
    """file -> the PNG that Brigade made of it, and file -> what it says against it."""
    with open(folder / "list.csv", "w", newline="", encoding="utf-8") as table:
        rows = csv.writer(table)
        rows.writerow(["path", "label"])
        rows.writerows([str(file), number] for number, file in enumerate(files))
    graph = GRAPH.replace("LIST", str(folder / "list.csv")).replace("SIDE_MAX", str(SIDE_MAX))
    (folder / "graph.yaml").write_text(graph)

    def run(*command):  # both outputs, as text
        return subprocess.run([brigade, *command], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, errors="replace", check=False).stdout

    run("sample", folder / "graph.yaml", "--stage", "decode", "-n", str(len(files)),
        "--out", folder / "samples")
    warnings = run("run", folder / "graph.yaml")
    said = {}
    for file in files:
        found = re.search(re.escape(f"{file}: ") + "(.*)", warnings)
        if found:
            said[file] = found.group(1)
    pictures = {}
    table = folder / "samples" / "samples.tsv"
    if not table.exists():
        if not said:
            sys.exit(warnings)
        return {}, said
    with open(table, encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            pictures[files[int(row["label"])]] = folder / "samples" / row["image"]
    return pictures, said


def read_ours(file):
    """`brigade sample` writes a PNG, or an array of what is too small or too large to look at."""
    if file.suffix == ".png":
        with Image.open(file) as picture:
            return picture.convert("RGB")
    header, _, pixels = file.read_bytes().partition(b"\n")
    height, width = map(int, re.search(rb"\((\d+), (\d+), 3, \)", header).groups())
    return Image.frombytes("RGB", (width, height), pixels)


def levels_apart(ours, file):
    """The largest difference of a sample; None where Pillow does not read the file."""
    try:
        theirs = image_goldens.upright_rgb(file)
    except Exception as failure:  # pylint: disable=broad-except; Pillow raises many kinds
        return None, str(failure).splitlines()[0] if str(failure) else type(failure).__name__
    picture = read_ours(ours)
    if picture.size != theirs.size:
        return 255, f"{picture.size} against {theirs.size}"
    apart = ImageChops.difference(picture, theirs)
    return max(high for _, high in apart.getextrema()), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--brigade", default="build/release/bin/brigade")
    arguments = parser.parse_args()
    files = sorted(file.resolve() for file in arguments.folder.rglob("*") if file.is_file())
    if not files:
        sys.exit(f"{arguments.folder}: there are no files")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        pictures, said = decode(arguments.brigade, files, pathlib.Path(folder))
        for file in files:
            if file not in pictures:
                counts["refused"] += 1
                print(f"{file}: refused: {said.get(file, 'without a word')}")
                continue
            apart, why = levels_apart(pictures[file], file)
            kind = ("read by Brigade only" if apart is None else
                    "equal" if apart == 0 else
                    "within a level" if apart <= LEVELS_MAX else "different")
            counts[kind] += 1
            if apart is None or apart > LEVELS_MAX:
                print(f"{file}: {kind}: {why or f'{apart} levels'}")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    sys.exit(counts["different"] > 0)


if __name__ == "__main__":
    main()
