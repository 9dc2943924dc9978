#!/usr/bin/env python3
"""Writes a little data of each kind that configs/recipes/ read, to try them out on.

    recipe_data.py KIND FOLDER

    photos     FOLDER/CLASS/*.png: one shape on each picture, which is its class
    labelled   FOLDER/a.tar with KEY.png and KEY.cls
    masked     FOLDER/a.tar with KEY.png and KEY.seg.png: the class of each pixel
    boxes      FOLDER/{images,boxes,labels}.npy: three shapes on each picture
    cifar      FOLDER/data_batch_{1..5}.bin, the binary version of CIFAR-10

The same pictures each time. Python's standard library only.
"""

import io
import pathlib
import random
import struct
import sys
import tarfile
import zlib

HEIGHT, WIDTH, COUNT, SHAPES = 96, 128, 16, 3


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(pixels, channels):
    """Of rows of RGB (3 channels) or numbers (1)."""
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2 if channels == 3 else 0, 0, 0, 0)
    size = WIDTH * channels
    rows = b"".join(b"\0" + pixels[at:at + size] for at in range(0, len(pixels), size))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def npy(kind, shape, data):
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


class Picture:
    """Shapes on a gradient: their pixels, the class of each pixel, and boxes."""

    def __init__(self, number, shapes=SHAPES):
        draw = random.Random(number)
        tint = [draw.randrange(20, 120) for _ in range(3)]
        self.pixels, self.classes = bytearray(), bytearray(HEIGHT * WIDTH)
        for y in range(HEIGHT):
            for x in range(WIDTH):
                self.pixels += bytes((tint[0] + x // 2, tint[1] + y // 2, tint[2] + (x + y) // 4))
        self.boxes = []
        for kind in (draw.randrange(1, 4) for _ in range(shapes)):
            width, height = draw.randrange(30, 60), draw.randrange(30, 60)
            left, top = draw.randrange(WIDTH - width), draw.randrange(HEIGHT - height)
            self.boxes.append((kind, left, top, left + width, top + height))
            self.paint(kind, bytes(draw.randrange(100, 256) for _ in range(3)))

    def paint(self, kind, color):
        _, left, top, right, bottom = self.boxes[-1]
        for y in range(top, bottom):
            for x in range(left, right):
                # From -1 to 1 across the box.
                u = (2 * x + 1 - left - right) / (right - left)
                v = (2 * y + 1 - top - bottom) / (bottom - top)
                inside = (True, u * u + v * v <= 1, abs(u) + abs(v) <= 1)  # box, ellipse, diamond
                if inside[kind - 1]:
                    at = y * WIDTH + x
                    self.pixels[3 * at:3 * at + 3] = color
                    self.classes[at] = kind


def write_photos(folder):
    for number in range(COUNT):
        picture = Picture(number, shapes=1)
        path = folder / ("box", "ellipse", "diamond")[picture.boxes[0][0] - 1] / f"{number:04}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(png(picture.pixels, 3))


def write_archive(folder, extension, data_of):
    with tarfile.open(folder / "a.tar", "w") as archive:
        for number in range(COUNT):
            picture = Picture(number)
            for kind, data in (("png", png(picture.pixels, 3)), (extension, data_of(picture))):
                member = tarfile.TarInfo(f"{number:04}.{kind}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def write_labelled(folder):
    write_archive(folder, "cls", lambda picture: str(picture.boxes[-1][0] - 1).encode())


def write_masked(folder):
    write_archive(folder, "seg.png", lambda picture: png(picture.classes, 1))


def write_boxes(folder):
    pictures = [Picture(number) for number in range(COUNT)]
    boxes = [box for picture in pictures for box in picture.boxes]
    for name, kind, shape, data in (
            ("images", "|u1", (COUNT, HEIGHT, WIDTH, 3), b"".join(p.pixels for p in pictures)),
            ("boxes", "<f4", (COUNT, SHAPES, 4),
             b"".join(struct.pack("<4f", *corners) for _, *corners in boxes)),
            ("labels", "<i8", (COUNT, SHAPES),
             b"".join(struct.pack("<q", box[0] - 1) for box in boxes))):
        (folder / f"{name}.npy").write_bytes(npy(kind, shape, data))


def write_cifar(folder):
    for batch in range(1, 6):
        records = b""
        for number in range(COUNT):
            pixels = Picture(batch * COUNT + number, shapes=1).pixels
            small = [pixels[3 * (y * 3 * WIDTH + x * 4) + c]
                     for c in range(3) for y in range(32) for x in range(32)]
            records += bytes([number % 10]) + bytes(small)
        (folder / f"data_batch_{batch}.bin").write_bytes(records)


KINDS = {"photos": write_photos, "labelled": write_labelled, "masked": write_masked,
         "boxes": write_boxes, "cifar": write_cifar}


def write(kind, folder):
    folder.mkdir(parents=True, exist_ok=True)
    KINDS[kind](folder)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in KINDS:
        sys.exit(__doc__)
    write(sys.argv[1], pathlib.Path(sys.argv[2]))
