#!/usr/bin/env python3
"""Writes tests/golden/images: small pictures of many kinds, and what Pillow makes of parts of them.

    BRIGADE_PICTURES=FOLDER build/release/tests/stages_image_test
    tools/image_goldens.py FOLDER      needs Pillow (written with version 13); the tests do not

cases.txt has a line per case: the file, the part (x y width height), the side of the square that it
is resized to with Pillow's antialiased bilinear filter, and the file with the result.
pillow.txt has a line per whole picture, of those here and of those that the tests make as they run,
which they have written to FOLDER: its name, height, width, and the CRC-32 of its RGB bytes.
"""

import math
import pathlib
import sys
import zlib

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
        rgb.save(FOLDER / f"jpeg/{name}.jpg", quality=88, subsampling=subsampling)
    rgb.save(FOLDER / "jpeg/progressive.jpg", quality=85, progressive=True)
    rgb.save(FOLDER / "jpeg/restarts.jpg", quality=85, restart_marker_blocks=5)
    gray.save(FOLDER / "jpeg/gray.jpg", quality=88)
    picture("CMYK").save(FOLDER / "jpeg/cmyk.jpg", quality=90)
    for orientation in range(2, 9):
        exif = Image.Exif()
        exif[274] = orientation
        turned = rgb.crop((0, 0, 40, 24))
        turned.save(FOLDER / f"jpeg/turned_{orientation}.jpg", quality=70, exif=exif)
    small = rgb.crop((0, 0, 40, 30))
    small.save(FOLDER / "rgb.png")
    small.quantize(16).save(FOLDER / "palette.png", bits=4)
    gray.crop((0, 0, 40, 30)).convert("1").save(FOLDER / "one_bit.png")
    picture("RGBA").crop((0, 0, 40, 30)).save(FOLDER / "alpha.png")
    write_transparent(rgb, gray)
    write_others(small, gray.crop((0, 0, 40, 30)), picture("RGBA").crop((0, 0, 40, 30)))


def write_others(rgb, gray, rgba):
    """Formats that are neither JPEG nor PNG."""
    turned = Image.Exif()
    turned[274] = 6
    few, bits = rgb.quantize(60), gray.convert("1")
    twice = Image.frombytes("I;16", (40, 30), bytes(v for v in gray.tobytes() for _ in range(2)))
    rgb.save(FOLDER / "lossy.webp", quality=80, exif=turned)
    rgb.save(FOLDER / "lossless.webp", lossless=True)
    rgba.save(FOLDER / "alpha_lossy.webp", quality=80)
    rgba.save(FOLDER / "alpha_lossless.webp", lossless=True, exact=True)
    rgb.save(FOLDER / "tiff/turned.tif", tiffinfo={274: 8})
    for name, compression in (("lzw", "tiff_lzw"), ("deflate", "tiff_adobe_deflate"),
                              ("packbits", "packbits"), ("jpeg", "jpeg")):
        rgb.save(FOLDER / f"tiff/{name}.tif", compression=compression)
    for name, image in (("gray", gray), ("palette", few), ("alpha", rgba), ("gray_16", twice)):
        image.save(FOLDER / f"tiff/{name}.tif")
    bits.save(FOLDER / "tiff/fax.tif", compression="group4")
    for name, image in (("bits", bits), ("gray", gray), ("palette", few), ("rgb", rgb),
                        ("alpha", rgba)):
        image.save(FOLDER / f"{name}.bmp")
    for name, image in (("bits.pbm", bits), ("gray.pgm", gray), ("rgb.ppm", rgb),
                        ("gray_16.pgm", twice)):
        image.save(FOLDER / name)


def write_transparent(rgb, gray):
    """What is quantised and has a transparent color is half of the PNG files of the web."""
    for colors, bits in ((2, 1), (4, 2), (16, 4), (60, 8)):
        picture_of_few = rgb.crop((0, 0, 101, 20)).quantize(colors)
        picture_of_few.save(FOLDER / f"transparent_palette_{bits}.png", bits=bits, transparency=1)
        if bits == 8:
            picture_of_few.save(FOLDER / "alphas_palette.png", transparency=bytes(range(0, 240, 4)))
    rgb.crop((0, 0, 40, 30)).save(FOLDER / "transparent_rgb.png", transparency=rgb.getpixel((9, 9)))
    gray.crop((0, 0, 40, 30)).save(FOLDER / "transparent_gray.png", transparency=128)
    levels = gray.crop((0, 0, 40, 30)).tobytes()
    twice = bytes(level for level in levels for _ in range(2))  # any way to 8 bits gives `levels`
    Image.frombytes("I;16", (40, 30), twice).save(FOLDER / "gray_16.png")


def upright_rgb(name):
    image = Image.open(FOLDER / name)
    if image.format == "TIFF":
        image.load()  # which turns it
        return rgb_of(image)
    turns = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180,
             4: Image.Transpose.FLIP_TOP_BOTTOM, 5: Image.Transpose.TRANSPOSE,
             6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
             8: Image.Transpose.ROTATE_90}
    turn = turns.get(image.getexif().get(274))
    image.load()
    if turn is not None:
        image = image.transpose(turn)
    return rgb_of(image)


def rgb_of(image):
    if image.mode == "I":  # of PNM
        image = image.point(lambda level: level / 256).convert("L")
    if image.mode in ("I;16", "I;16B"):  # which Pillow cuts off at 255 otherwise
        image = Image.frombytes("L", image.size, image.tobytes()[image.mode != "I;16B"::2])
    return image.convert("RGB")


def cases():
    for name in ("420", "422", "444", "progressive", "restarts", "gray", "cmyk"):
        yield f"jpeg/{name}.jpg", (9, 5, 83, 62), 40
    yield "jpeg/420.jpg", (0, 0, WIDTH, HEIGHT), 16
    yield "jpeg/420.jpg", (51, 33, 21, 17), 40
    yield "jpeg/420.jpg", (3, 40, 100, 9), 32
    for orientation in range(2, 9):
        yield f"jpeg/turned_{orientation}.jpg", (2, 3, 19, 17), 12
    for name in ("rgb", "palette", "one_bit", "alpha"):
        yield f"{name}.png", (4, 3, 31, 26), 20


def digests(folders):
    found = ((folder, path) for folder in folders for path in folder.rglob("*.*"))
    for folder, path in sorted(found):
        if path.suffix not in (".txt", ".jpg") and path.parent.name != "expected":
            image = upright_rgb(path)
            sum = zlib.crc32(image.tobytes())
            yield f"{path.relative_to(folder)} {image.height} {image.width} {sum}\n"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for folder in ("expected", "jpeg", "tiff"):
        (FOLDER / folder).mkdir(parents=True, exist_ok=True)
    write_sources()
    lines = []
    for number, (name, (x, y, width, height), side) in enumerate(cases()):
        part = upright_rgb(name).crop((x, y, x + width, y + height))
        part.resize((side, side), Image.BILINEAR).save(FOLDER / f"expected/{number:02}.png")
        lines.append(f"{name} {x} {y} {width} {height} {side} expected/{number:02}.png\n")
    (FOLDER / "cases.txt").write_text("".join(lines))
    lines = digests([FOLDER, pathlib.Path(sys.argv[1])])
    (FOLDER / "pillow.txt").write_text("".join(sorted(lines)))


if __name__ == "__main__":
    main()
