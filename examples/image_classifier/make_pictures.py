#!/usr/bin/env python3
"""Writes pictures to try a classifier out on: a shape of any size, colour and place, its class.

    make_pictures.py FOLDER [PICTURES OF EACH CLASS]

FOLDER/{train,val}/CLASS/*.png, a fifth of them in val, and the same as archives, FOLDER/train.tar
and val.tar, with KEY.png and KEY.cls. The same pictures each time. Python's standard library only.
"""

import io
import pathlib
import random
import struct
import sys
import tarfile
import zlib

SIDE = 80
# What of a row is in the shape, from -half to half of its width, at the height v, from -1 to 1.
SHAPES = {
    "box": lambda v: 1,
    "cross": lambda v: 1 if abs(v) < 0.35 else 0.35,
    "diamond": lambda v: 1 - abs(v),
    "ellipse": lambda v: (1 - v * v) ** 0.5,
    "triangle": lambda v: (1 + v) / 2,
}


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def picture(shape, draw):
    """The bytes of a PNG file."""
    half = draw.uniform(0.2, 0.4) * SIDE, draw.uniform(0.2, 0.4) * SIDE
    middle = [draw.uniform(size, SIDE - size) for size in half]
    first, last, color = ([draw.randrange(256) for _ in range(3)] for _ in range(3))
    rows = b""
    for y in range(SIDE):
        level = [a + (b - a) * y // SIDE + draw.randrange(-8, 9) for a, b in zip(first, last)]
        row = bytearray(bytes(min(max(one, 0), 255) for one in level) * SIDE)
        v = (y + 0.5 - middle[1]) / half[1]
        if abs(v) < 1:
            left, right = (round(middle[0] + side * half[0] * SHAPES[shape](v)) for side in (-1, 1))
            row[3 * left:3 * right] = bytes(color) * (right - left)
        rows += b"\0" + row
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def add(archive, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(member, io.BytesIO(data))


def write(folder, count):
    draw = random.Random(7)
    for part, pictures in (("train", count - count // 5), ("val", count // 5)):
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(folder / f"{part}.tar", "w") as archive:
            for number in range(pictures):
                for label, shape in enumerate(sorted(SHAPES)):
                    data, name = picture(shape, draw), f"{shape}_{number:04}"
                    path = folder / part / shape / f"{name}.png"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                    add(archive, f"{name}.png", data)
                    add(archive, f"{name}.cls", str(label).encode())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 500)
