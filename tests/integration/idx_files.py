"""Small files of images and labels in the IDX format of MNIST, sound ones; tests break them."""

import random
import struct


def images(count=64, height=8, width=8, seed=1):
    """The bytes of a file of u8 images."""
    pixels = random.Random(seed).randbytes(count * height * width)
    return b"\0\0\x08\x03" + struct.pack(">III", count, height, width) + pixels


def labels(count=64, classes=10):
    """The bytes of a file of u8 labels: 0, 1, ... and again."""
    return b"\0\0\x08\x01" + struct.pack(">I", count) + bytes(i % classes for i in range(count))
