"""What `decode_image` reads by OpenCV's imgcodecs, beside cv2.imread; its libraries are opened at
the first such file."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

VARIABLE = "OPENCV_IO_ENABLE_OPENEXR"
os.environ[VARIABLE] = "1"  # cv2 reads it when it begins

import brigade  # noqa: E402
import graphs  # noqa: F401,E402, it silences what is logged

try:
    import cv2
    import numpy
except ImportError as missing:
    print(f"skipped: {missing} (python3-opencv)")
    sys.exit(77)

PROGRAM = pathlib.Path(sys.argv[1], "bin", "brigade")
MODULE = PROGRAM.parents[1] / "lib" / "brigade" / "brigade_opencv_imgcodecs.so"
FACTS = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
BUILT_WITH = re.search(r"OpenCV ([0-9.]+)", FACTS)
if not MODULE.exists() or BUILT_WITH is None:
    print("skipped: the module opencv_imgcodecs is not built (libopencv-imgcodecs-dev)")
    sys.exit(77)
if BUILT_WITH[1] != cv2.__version__:
    print(f"skipped: cv2 is {cv2.__version__}, the module was built with {BUILT_WITH[1]}")
    sys.exit(77)
HEIGHT, WIDTH = 37, 52
LOSSLESS = [cv2.IMWRITE_JPEG2000_COMPRESSION_X1000, 1000]


def picture(channels=3, most=255, dtype="u1"):
    y, x = numpy.mgrid[0:HEIGHT, 0:WIDTH]
    noise = numpy.random.default_rng(3).random((HEIGHT, WIDTH, channels))
    wave = numpy.sin((y + 2 * x)[..., None] / 9 + numpy.arange(channels))
    return ((0.4 + 0.4 * wave + 0.2 * noise) * most).astype(dtype)


class OpenCvCodecsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, image, *flags):
        path = self.folder / name
        self.assertTrue(cv2.imwrite(str(path), image, *flags), name)
        return path

    def graph(self, paths, **params):
        table = self.folder / "table.csv"
        table.write_text("path,label\n" + "".join(f"{path},0\n" for path in paths))
        return {"stages": {
            "list": {"producer": "image_list", "params": {"file": str(table)}},
            "decode": {"transform": "decode_image", "from": "list", "batch": 1,
                       "params": {"crop": "none", "size": 0, **params}},
            "train": {"consumer": "application", "from": "decode"}}}

    def decode(self, *paths, **params):
        with brigade.Loader(self.graph(paths, **params), tensors="numpy") as loader:
            return [batch.row(0)["image"].copy() for batch in loader]

    def test_jpeg_2000_of_8_and_16_bits(self):
        colors = self.write("colors.jp2", picture(), LOSSLESS)
        deep = self.write("deep.jp2", picture(3, 65535, "u2"), LOSSLESS)
        gray = self.write("gray.jp2", picture(1), LOSSLESS)
        lossy = self.write("lossy.jp2", picture())
        found = self.decode(colors, deep, gray, lossy)
        self.assertEqual(cv2.imread(str(colors)).tobytes(), picture().tobytes())
        for path, one in zip((colors, gray, lossy), (found[0], found[2], found[3])):
            numpy.testing.assert_array_equal(one[..., ::-1], cv2.imread(str(path)), path.name)
        exact = (picture(3, 65535, "u2").astype("i8") * 255 + 32767) // 65535
        numpy.testing.assert_array_equal(found[1][..., ::-1], exact)
        stream = self.folder / "stream.j2k"  # without the boxes around it
        data = colors.read_bytes()
        stream.write_bytes(data[data.index(b"\xff\x4f\xff\x51"):])
        numpy.testing.assert_array_equal(self.decode(stream)[0], found[0])

    def test_all_channels_of_jpeg_2000(self):
        path = self.write("alpha.jp2", picture(4), LOSSLESS)
        [found] = self.decode(path, channels=4)
        numpy.testing.assert_array_equal(found, picture(4)[..., [2, 1, 0, 3]])
        [colors] = self.decode(path)
        numpy.testing.assert_array_equal(colors, picture(4)[..., 2::-1])

    def test_floats_of_radiance_hdr_and_openexr(self):
        """1 is 255; what is brighter is 255, too."""
        image = picture(3, 1.3, "f4")
        image[0, 0] = -1, 0, 7
        for name in ("light.hdr", "light.exr"):
            path = self.write(name, image)
            stored = cv2.imread(str(path), cv2.IMREAD_COLOR | cv2.IMREAD_ANYDEPTH)
            self.assertEqual(stored.dtype, numpy.float32)
            [found] = self.decode(path)
            expected = numpy.rint(stored.clip(0, 1) * numpy.float32(255)).astype("u1")
            numpy.testing.assert_array_equal(found[..., ::-1], expected, name)
            self.assertEqual(expected.max(), 255)

    def test_a_crop_is_that_of_the_same_pixels_as_png(self):
        image = picture()
        paths = self.write("one.jp2", image, LOSSLESS), self.write("one.png", image)
        found = self.decode(*paths, crop="center", size=24)
        numpy.testing.assert_array_equal(found[0], found[1])

    def run_program(self, *paths, log=None, environment=None):
        stages = "\n".join((
            "brigade: 1", "stages:",
            f"  list: {{producer: image_list, params: {{file: {self.folder}/table.csv}}}}",
            "  decode: {transform: decode_image, from: list, batch: 1, params: {size: 16}}",
            "  count: {consumer: count, from: decode}"))
        self.graph(paths)
        graph = self.folder / "graph.yaml"
        graph.write_text(stages)
        environment = {**os.environ, **(environment or {})}
        if log is not None:
            environment |= {"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log / "loads")}
        return subprocess.run([PROGRAM, "run", graph, "--quiet"], env=environment,
                              capture_output=True, text=True, timeout=300, check=False)

    def test_libraries_are_opened_at_the_first_such_file(self):
        image = picture()
        png, jp2 = self.write("one.png", image), self.write("one.jp2", image)
        for paths, opened in (((png, png), False), ((png, jp2), True)):
            log = self.folder / f"log{opened}"
            log.mkdir()
            done = self.run_program(*paths, log=log)
            self.assertEqual(done.returncode, 0, done.stderr)
            loads = "".join(path.read_text() for path in log.iterdir())
            self.assertIn("brigade_image.so", loads)
            self.assertEqual("libopencv_imgcodecs" in loads, opened)

    def test_what_cannot_be_read_is_said_with_the_cure(self):
        exr = self.write("one.exr", picture(3, 1, "f4"))
        done = self.run_program(exr, environment={VARIABLE: ""})
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"decodes only with the environment variable {VARIABLE}=1", done.stderr)
        jp2 = self.write("one.jp2", picture()).read_bytes()
        header = self.folder / "header.jp2"
        header.write_bytes(jp2[:60])
        done = self.run_program(header)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the JPEG 2000 data cannot be read: it has no codestream", done.stderr)

    def test_avif_is_read_or_named(self):
        """OpenCV reads it from 4.8 on, if it was built with libavif; Debian 12 has 4.6."""
        if cv2.haveImageWriter("one.avif"):
            path = self.write("one.avif", picture())
            [found] = self.decode(path)
            numpy.testing.assert_array_equal(found[..., ::-1], cv2.imread(str(path)))
            return
        said = (f"it is an AVIF file, which OpenCV {cv2.__version__} cannot decode; convert it to "
                "PNG, JPEG or WebP, or build with an OpenCV that supports AVIF (4.8 or later, with "
                "libavif)")
        path = self.folder / "one.avif"
        for brands, is_avif in ((b"avif\0\0\0\0avifmif1miaf", True),
                                (b"mif1\0\0\0\0mif1avifmiaf", True),
                                (b"mp42\0\0\0\0mp42isomavc1", False)):  # another user of its boxes
            path.write_bytes(b"\0\0\0\x1cftyp" + brands + bytes(100))
            done = self.run_program(path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(str(path), done.stderr)
            self.assertEqual(said in done.stderr, is_avif, done.stderr)

    def test_a_large_picture_is_refused_by_its_header(self):
        """Before memory is taken for it."""
        data = bytearray(self.write("one.jp2", picture()).read_bytes())
        at = data.index(b"\xff\x4f\xff\x51")
        data[at + 8:at + 16] = (2**31 - 1).to_bytes(4, "big") * 2
        path = self.folder / "large.jp2"
        path.write_bytes(data)
        done = self.run_program(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("it has 2147483647 x 2147483647 pixels; pixels_max is", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
