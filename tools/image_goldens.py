#!/usr/bin/env python3
"""Writes tests/golden/images: small pictures of many kinds, and what Pillow makes of parts of them.

    tools/image_goldens.py      needs Pillow (written with version 13); the tests do not

cases.txt has a line per case: the file, the part (x y width height), the side of the square that it
is resized to with Pillow's antialiased bilinear filter, and the file with the result.
"""

import math
import pathlib

from PIL import Image

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "images"
WIDTH, HEIGHT = 104, 78


def level(x, y, channel):
    """Waves, an edge and some noise."""
    value = 128 + 60 * math.sin(x / 7 + channel) + 45 * math.cos(y / 5 - channel)
    if (x // 16 + y // 16 + channel) % 5 == 0:
        value = 255 - value / 2
    noise = (x * 7919 + y * 104729 + channel * 31) * 2654435761 % 2**32 >> 28
    return min(max(int(value) + noise, 0), 255)


def picture(mode):
    image = Image.new(mode, (WIDTH, HEIGHT))
    channels = len(image.getbands())
    for y in range(HEIGHT):
        for x in range(WIDTH):
            color = tuple(level(x, y, channel) for channel in range(channels))
            image.putpixel((x, y), color if channels > 1 else color[0])
    return image


def write_sources():
    rgb, gray = picture("RGB"), picture("L")
    for name, subsampling in (("420", 2), ("422", 1), ("444", 0)):
        rgb.save(FOLDER / f"{name}.jpg", quality=88, subsampling=subsampling)
    rgb.save(FOLDER / "progressive.jpg", quality=85, progressive=True)
    rgb.save(FOLDER / "restarts.jpg", quality=85, restart_marker_blocks=5)
    gray.save(FOLDER / "gray.jpg", quality=88)
    picture("CMYK").save(FOLDER / "cmyk.jpg", quality=90)
    for orientation in range(2, 9):
        exif = Image.Exif()
        exif[274] = orientation
        rgb.crop((0, 0, 40, 24)).save(FOLDER / f"turned_{orientation}.jpg", quality=70, exif=exif)
    small = rgb.crop((0, 0, 40, 30))
    small.save(FOLDER / "rgb.png")
    small.quantize(16).save(FOLDER / "palette.png", bits=4)
    gray.crop((0, 0, 40, 30)).convert("1").save(FOLDER / "one_bit.png")
    picture("RGBA").crop((0, 0, 40, 30)).save(FOLDER / "alpha.png")


def upright_rgb(name):
    image = Image.open(FOLDER / name)
    turns = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
             4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
             6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
             8: Image.Transpose.ROTATE_90}
    turn = turns.get(image.getexif().get(274))
    image.load()
    if turn is not None:
        image = image.transpose(turn)
    return image.convert("RGB")


def cases():
    for name in ("420", "422", "444", "progressive", "restarts", "gray", "cmyk"):
        yield f"{name}.jpg", (9, 5, 83, 62), 40
    yield "420.jpg", (0, 0, WIDTH, HEIGHT), 16
    yield "420.jpg", (51, 33, 21, 17), 40
    yield "420.jpg", (3, 40, 100, 9), 32
    for orientation in range(2, 9):
        yield f"turned_{orientation}.jpg", (2, 3, 19, 17), 12
    for name in ("rgb", "palette", "one_bit", "alpha"):
        yield f"{name}.png", (4, 3, 31, 26), 20


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_sources()
    lines = []
    for number, (name, (x, y, width, height), side) in enumerate(cases()):
        part = upright_rgb(name).crop((x, y, x + width, y + height))
        part.resize((side, side), Image.BILINEAR).save(FOLDER / f"expected_{number:02}.png")
        lines.append(f"{name} {x} {y} {width} {height} {side} expected_{number:02}.png\n")
    (FOLDER / "cases.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
