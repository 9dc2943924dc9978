"""The random numbers of a sample, as include/brigade/random.h defines them."""

import math

MASK = 2**64 - 1


def mix64(value):
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def stream_id(name):
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 & MASK
    return mix64(hashed)


class Draws:
    """Of one stage and one sample in one epoch."""

    def __init__(self, seed, stage, sample, epoch=0):
        key = mix64(mix64(seed + 0x9E3779B97F4A7C15 & MASK) ^ stream_id(stage))
        self.key, self.block, self.words = (key & 0xFFFFFFFF, key >> 32), 0, []
        self.rest = epoch, sample & 0xFFFFFFFF, sample >> 32

    def next(self):
        if not self.words:
            a, b, c, d = (self.block, *self.rest)
            k0, k1 = self.key
            for _ in range(10):
                left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
                a, c = (right >> 32) ^ b ^ k0, (left >> 32) ^ d ^ k1
                b, d = right & 0xFFFFFFFF, left & 0xFFFFFFFF
                k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
            self.words, self.block = [d, c, b, a], self.block + 1
        return self.words.pop()

    def uniform(self, low=0.0, high=1.0):
        lower = self.next()
        return low + (high - low) * ((lower | self.next() << 32) >> 11) * 2.0**-53

    def below(self, n):
        while True:
            product = self.next() * n
            if product & 0xFFFFFFFF >= 2**32 % n:
                return product >> 32

    def normal(self):
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def chance(self, p):
        return p >= 1 or p > 0 and self.uniform() < p


def part_to_resize(draws, height, width):
    """What `random_resized_crop` draws with its own limits: (first row, first column, rows,
    columns)."""
    for _ in range(10):
        area = height * width * draws.uniform(0.08, 1)
        ratio = math.exp(draws.uniform(math.log(0.75), math.log(4 / 3)))
        columns, rows = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < columns <= width and 0 < rows <= height:
            y, x = draws.below(height - rows + 1), draws.below(width - columns + 1)
            return y, x, rows, columns
    raise AssertionError("none of ten fits")
