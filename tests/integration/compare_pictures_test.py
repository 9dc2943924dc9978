#!/usr/bin/env python3
"""tools/compare_pictures.py on a folder with a picture that both decode to the same pixels, one
that Pillow alone turns upright (its XMP says so), and a file that is no picture. Needs Pillow, as
the tool does."""

import importlib.util
import pathlib
import struct
import subprocess
import sys
import zlib

import brigade_program
from brigade_program import ProgramTest, main

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "compare_pictures.py"
SKIPPED = 77
SIDE = 9


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(
        ">I", zlib.crc32(name + data))


def png(row, *before):
    """A square of equal rows of RGB, with these chunks before its pixels."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress((b"\0" + row) * SIDE))
    return b"".join([b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), *before, pixels,
                     chunk(b"IEND", b"")])


class ComparePictures(ProgramTest):
    def compare(self, files):
        """The exit status and what was printed, of a folder with these files."""
        folder = self.folder / "pictures"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        done = subprocess.run([sys.executable, "-B", TOOL, folder, "--brigade",
                               brigade_program.PROGRAM], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout

    def test_equal_pictures_and_what_is_none(self):
        status, said = self.compare({"equal.png": png(bytes(range(3 * SIDE))),
                                     "none.png": b"this is no picture"})
        self.assertEqual(status, 0, said)
        self.assertEqual(said.splitlines()[-1], "1 equal, 1 refused", said)
        self.assertIn("none.png: refused: ", said)

    def test_pixels_that_differ_are_found(self):
        row = bytes(range(3 * SIDE))
        turned = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" b'<x tiff:Orientation="6"/>')
        status, said = self.compare({"equal.png": png(row), "turned.png": png(row, turned)})
        self.assertEqual(status, 1, said)
        self.assertEqual(said.splitlines()[-1], "1 different, 1 equal", said)
        self.assertIn("turned.png: different: ", said)


if __name__ == "__main__":
    if importlib.util.find_spec("PIL") is None:
        print("skipped: there is no Pillow")
        sys.exit(SKIPPED)
    main()
