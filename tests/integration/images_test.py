#!/usr/bin/env python3
"""Folders of image files to batches: each picture with its own label, the same bits whoever decodes
them and whoever is killed, and broken files named and passed over."""

import json
import os
import pathlib
import struct
import zlib

from brigade_program import ProgramTest, Running, main, sanitizer, wait_until, workers_of

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "images"
GRAPH = """
seed: 3
epochs: EPOCHS
stages:
  files: {producer: image_folder, shuffle: true, params: {root: FOLDER/images}}
  decode:
    transform: decode_image
    from: files
    replicas: REPLICAS
    on_error: ON_ERROR
    params: {crop: random_resized, size: 24, flip: 0.5}
    batch: 16
  end: {consumer: count, from: decode}
"""


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(
        ">I", zlib.crc32(name + data))


def png_of(color, side=9):
    """A square of one colour."""
    rows = (b"\0" + bytes(color) * side) * side
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def tiff_of(channels, side=9):
    """A square whose channels are called gray, as programs for satellite pictures write."""
    pixels = bytes(number % 251 for number in range(side * side * channels))
    tags = [(256, side), (257, side), (258, 8), (259, 1), (262, 1), (273, 8), (277, channels),
            (278, side), (279, len(pixels)), (284, 1)]
    directory = b"".join(struct.pack("<HHII", tag, 4 if tag in (273, 279) else 3, 1, value)
                         for tag, value in tags)
    pixels += b"\0" * (len(pixels) % 2)
    return (struct.pack("<2sHI", b"II", 42, 8 + len(pixels)) + pixels
            + struct.pack("<H", len(tags)) + directory + bytes(4))


def first_pixel(png):
    """Of a PNG file with 8 bits of RGB; nothing precedes it, so no filter changes it."""
    at, data = 8, b""
    while at < len(png):
        size, name = struct.unpack_from(">I4s", png, at)
        data += png[at + 8:at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    return tuple(zlib.decompress(data)[1:4])


class Images(ProgramTest):
    def graph(self, replicas=2, epochs=1, on_error="stop"):
        return (GRAPH.replace("FOLDER", str(self.folder)).replace("REPLICAS", str(replicas))
                .replace("EPOCHS", str(epochs)).replace("ON_ERROR", on_error))

    def image(self, label, name, content):
        path = self.folder / "images" / f"class_{label}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def photographs(self, copies):
        """Files of many kinds, some turned, some CMYK; `copies` of each."""
        files = sorted((GOLDEN / "jpeg").glob("*.jpg"))
        files += [GOLDEN / "rgb.png", GOLDEN / "palette.png"]
        for number, file in enumerate(files):
            for copy in range(copies):
                self.image(number % 3, f"{copy:03}_{file.name}", file.read_bytes())
        return len(files) * copies

    # --- labels ------------------------------------------------------------------------------

    def samples(self, count):
        """(label as decoded, label as written into the picture) of each sample, and their ids."""
        graph = self.write("graph.yaml", self.graph())
        out = self.folder / "samples"
        self.runs.append(self.command("sample", graph, "--stage", "decode", "-n", count,
                                      "--out", out))
        finished = self.runs[-1].finish()
        self.assertEqual(finished.code, 0, finished.err)
        lines = [line.split("\t") for line in (out / "samples.tsv").read_text().splitlines()]
        columns = {name: column for column, name in enumerate(lines[0])}
        pairs = [(int(line[columns["label"]]),
                  first_pixel((out / line[columns["image"]]).read_bytes())[0] // 40)
                 for line in lines[1:]]
        return pairs, [int(line[columns["id"]]) for line in lines[1:]]

    def command(self, *arguments):
        return Running(arguments, environment={"TMPDIR": str(self.temporary)}, cwd=self.folder)

    def test_each_picture_has_its_own_label(self):
        for label in range(6):
            for number in range(20):
                self.image(label, f"{number}.png", png_of((label * 40, number, 7)))
        pairs, ids = self.samples(120)
        self.assertEqual(sorted(ids), list(range(120)))
        self.assertNotEqual(ids, sorted(ids), "they are shuffled")
        self.assertEqual([said for said, _ in pairs], [seen for _, seen in pairs])
        # A picture's neighbour would be seen.
        shifted = [(pairs[i - 1][0], seen) for i, (_, seen) in enumerate(pairs)]
        self.assertGreater(sum(said != seen for said, seen in shifted), 50)

    # --- the same bits -----------------------------------------------------------------------

    def checksum(self, yaml, *arguments, **options):
        summary = self.summary(yaml, *arguments, **options)
        end = summary["results"]["end"]
        return (end["samples"], end["checksum"]), {s["name"]: s for s in summary["stages"]}

    def test_batches_are_the_same_to_the_bit(self):
        count = self.photographs(copies=6)
        expected, _ = self.checksum(self.graph(replicas=1, epochs=2))
        self.assertEqual(expected[0], 2 * count)
        for replicas in (2, 4):
            self.assertEqual(self.checksum(self.graph(replicas, epochs=2))[0], expected)
        self.assertEqual(self.checksum(self.graph(2, epochs=2), "--in-process")[0], expected)
        for place in ("claim.after_cas:5", "work.start:9", "finish.after_done:12"):
            # Small tasks, so that both replicas have many; but one may be slow to start.
            for _ in range(20):
                found, stages = self.checksum(
                    self.graph(2, epochs=2), "--set", "stages.decode.chunk=1",
                    environment={"BRIGADE_FAULT": f"decode.0={place}:kill"})
                self.assertEqual(found, expected, place)
                if stages["decode"]["restarts"] > 0:
                    break
            self.assertEqual(stages["decode"]["restarts"], 1, place)
        other, _ = self.checksum(self.graph(2, epochs=2), "--set", "seed=4")
        self.assertNotEqual(other[1], expected[1], "another seed is another run")

    # --- channels ------------------------------------------------------------------------------

    def without_tiff(self, finished):
        if "cannot open the module that reads WebP and TIFF" in finished.err + finished.out:
            self.skipTest("libwebp or libtiff is not built in")

    def test_channels_that_are_left_out_are_said_once(self):
        content = tiff_of(5, side=160)  # long enough for every replica to have some
        for number in range(150):
            self.image(0, f"{number:03}.tif", content)
        finished = self.run_graph(self.graph(replicas=3, epochs=2), "--set",
                                  "stages.decode.chunk=1")
        self.without_tiff(finished)
        self.assertEqual(finished.code, 0, finished.err)
        said = (finished.err + finished.out).count("2 channels besides its colors and alpha")
        self.assertEqual(said, 1, finished.err)

    def test_files_of_another_number_of_channels_are_named_and_skipped(self):
        for number in range(8):
            self.image(0, f"{number}.tif", tiff_of(5))
        other = {self.image(1, "four.tif", tiff_of(4)): 4,
                 self.image(1, "rgb.png", png_of((1, 2, 3))): 3}
        graph = self.graph(on_error="{skip: 2}").replace("size: 24,", "size: 24, channels: 5,")
        path = self.folder / "summary.json"
        finished = self.run_graph(graph, "--summary", path)
        self.without_tiff(finished)
        self.assertEqual(finished.code, 0, finished.err)
        for file, channels in other.items():
            self.assertIn(f"{file}: it has {channels} channels; `channels: 5` accepts only files "
                          "with 5; write", finished.err + finished.out)
        summary = json.loads(path.read_text())
        self.assertEqual(summary["samples"], 8)
        stages = {stage["name"]: stage for stage in summary["stages"]}
        self.assertEqual(stages["decode"]["skipped"], 2)
        self.assertNotIn("besides its colors", finished.err + finished.out)

    # --- memory ------------------------------------------------------------------------------

    def test_a_decoder_may_not_take_more_than_its_pixels_need(self):
        self.photographs(copies=1)
        graph = self.write("graph.yaml", self.graph())
        self.runs.append(self.command("plan", graph))
        finished = self.runs[-1].finish()
        self.assertIn("1.0 GiB  for a sample in each process of decode (RLIMIT_DATA follows), "
                      "by pixels_max: 67108864", finished.out)
        if sanitizer():
            return  # it has terabytes mapped
        run = self.start(self.graph(epochs=100_000))

        def limits():
            return sorted(self.data_limit(pid) for pid in workers_of(run.pid).values())

        wait_until(lambda: sum(limit < 2 << 30 for limit in limits()) == 2, "limits of decode")
        self.assertGreater(limits()[0], 1 << 30)
        self.assertEqual(limits()[-1], float("inf"), "sources and consumers have none")
        run.end()

    @staticmethod
    def data_limit(pid):
        try:
            lines = pathlib.Path(f"/proc/{pid}/limits").read_text().splitlines()
        except OSError:  # gone
            return float("inf")
        soft = next(line for line in lines if line.startswith("Max data size")).split()[3]
        return float("inf") if soft == "unlimited" else int(soft)

    # --- broken files ------------------------------------------------------------------------

    def thousand_files(self):
        content = (GOLDEN / "jpeg" / "turned_2.jpg").read_bytes()
        first = self.image(0, "0000.jpg", content)
        for number in range(1, 1000):
            path = self.folder / "images" / f"class_{number % 2}" / f"{number:04}.jpg"
            path.parent.mkdir(exist_ok=True)
            os.link(first, path)

    def break_file(self, number, content):
        path = self.folder / "images" / f"class_{number % 2}" / f"{number:04}.jpg"
        path.unlink()
        path.write_bytes(content)
        return path

    def broken(self):
        """path -> what is said about it."""
        whole = (GOLDEN / "jpeg" / "turned_2.jpg").read_bytes()
        middle = whole.index(b"\xff\xda") + 40
        damaged = whole[:middle] + b"\xff\xd9" * 8 + whole[middle + 16:]
        return {
            self.break_file(17, b""): "the file is empty",
            self.break_file(400, whole[:len(whole) // 2]): "the JPEG data ends too early",
            self.break_file(801, damaged): "the JPEG data cannot be read: ",
            self.break_file(999, b"hello"): "not a JPEG, PNG, WebP, TIFF, BMP or PNM file: ",
        }

    def test_broken_files_in_a_thousand_are_named_and_skipped(self):
        self.thousand_files()
        broken = self.broken()
        path = self.folder / "summary.json"
        finished = self.run_graph(self.graph(on_error="{skip: 4}", epochs=2), "--summary",
                                  path)
        self.assertEqual(finished.code, 0, finished.err)
        for file, said in broken.items():
            self.assertIn(f"{file}: {said}", finished.err + finished.out)
        summary = json.loads(path.read_text())
        self.assertEqual(summary["samples"], 2 * 996)
        stages = {stage["name"]: stage for stage in summary["stages"]}
        self.assertEqual(stages["decode"]["skipped"], 2 * len(broken))
        edges = {edge["to"]: edge for edge in summary["edges"]}
        self.assertEqual((edges["end"]["produced"], edges["end"]["delivered"]), (1992, 1992))
        self.assertEqual((edges["decode"]["produced"], edges["decode"]["leaked"]), (2000, 0))


if __name__ == "__main__":
    main()
