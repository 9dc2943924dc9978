#!/usr/bin/env python3
"""Files of images and labels that are broken or do not fit together: one clear message each,
before anything starts (code 2) or at the start of the stage that reads them (code 1)."""

import gzip
import struct

import idx_files
from brigade_program import ProgramTest, main

GRAPH = """
epochs: 2
stages:
  images:
    producer: idx_images
    params: {images: FOLDER/IMAGES, labels: FOLDER/LABELS}
  augment:
    transform: augment_image
    from: images
    replicas: 2
    params: {pad: 2, crop: 8}
    batch: 16
  end: {consumer: count, from: augment}
"""
NOT_IDX = "images begin with 00 00 08 03, labels with 00 00 08 01"


class BadData(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data("images", idx_files.images())
        self.data("labels", idx_files.labels())

    def data(self, name, content):
        (self.folder / name).write_bytes(content)

    def run_files(self, images="images", labels="labels"):
        graph = GRAPH.replace("IMAGES", images).replace("LABELS", labels)
        return self.run_graph(graph.replace("FOLDER", str(self.folder)), "--quiet")

    def at_the_check(self, said, where="5:15", **files):
        """`said`: all of the error's line after `stage "images": `, FOLDER standing for ours."""
        finished = self.run_files(**files)
        self.assertEqual(finished.code, 2, finished.err)
        lines = [one for one in finished.err.splitlines() if ": error: " in one]
        self.assertEqual(lines, [
            f'{self.folder}/graph.yaml:{where}: error: stage "images": '
            + said.replace("FOLDER", str(self.folder))], finished.err)

    def at_the_start(self, said, **files):
        finished = self.run_files(**files)
        self.assertEqual(finished.code, 1, finished.err)
        self.assertEqual(len(finished.err.splitlines()), 1, finished.err)
        self.assertRegex(finished.err, r'^brigade: error: stage "images" replica 0 \(pid \d+\) '
                                       "failed: ")
        self.assertEqual(finished.err.split(" failed: ")[1].rstrip("\n"),
                         said.replace("FOLDER", str(self.folder)))

    def test_control_sound_files_run_plain_and_gzipped(self):
        self.data("images.gz", gzip.compress(idx_files.images()))
        self.data("labels.gz", gzip.compress(idx_files.labels()))
        for files in ({}, {"images": "images.gz", "labels": "labels.gz"}):
            finished = self.run_files(**files)
            self.assertEqual((finished.code, finished.err), (0, ""))

    def test_a_file_that_ends_early(self):
        self.data("short", idx_files.images()[:-100])
        self.at_the_start("FOLDER/short: ends after 3,996 bytes of data; its header says "
                          "[64, 8, 8], which is 4,096", images="short")
        self.data("short_labels", idx_files.labels()[:-4])
        self.at_the_start("FOLDER/short_labels: ends after 60 bytes of data; its header says "
                          "[64], which is 64", labels="short_labels")

    def test_a_file_that_goes_on(self):
        self.data("long", idx_files.images() + b"x")
        self.at_the_start("FOLDER/long: goes on after the 4,096 bytes of data that its header "
                          "says: [64, 8, 8]", images="long")

    def test_a_gzipped_file_that_ends_early(self):
        whole = gzip.compress(idx_files.images())
        self.data("short.gz", whole[:-500])
        self.at_the_start("FOLDER/short.gz: the gzip data ends early; is the download complete?",
                          images="short.gz")
        self.data("stub.gz", whole[:15])
        self.at_the_check('parameter "images": FOLDER/stub.gz: the gzip data ends too early',
                          where="6:22", images="stub.gz")

    def test_a_gzipped_file_with_a_damaged_byte(self):
        small = bytearray(gzip.compress(idx_files.images()))
        small[-8] ^= 0xFF  # of its checksum
        self.data("small.gz", bytes(small))
        self.at_the_check('parameter "images": FOLDER/small.gz: damaged gzip data',
                          where="6:22", images="small.gz")
        large = bytearray(gzip.compress(idx_files.images(count=4096)))  # the check sees its head
        large[-8] ^= 0xFF
        self.data("large.gz", bytes(large))
        self.data("many", idx_files.labels(4096))
        self.at_the_start("FOLDER/large.gz: broken gzip data: incorrect data check",
                          images="large.gz", labels="many")

    def test_a_file_of_something_else(self):
        self.data("picture", b"\x89PNG" + idx_files.images()[4:])
        self.at_the_check(f"FOLDER/picture: not an IDX file: it begins with 89 50 4e 47; {NOT_IDX}",
                          images="picture")
        self.at_the_check(f"FOLDER/picture: not an IDX file: it begins with 89 50 4e 47; {NOT_IDX}",
                          labels="picture")

    def test_a_header_that_is_not_whole(self):
        self.data("empty", b"")
        self.at_the_check("FOLDER/empty: not an IDX file: it has only 0 bytes", images="empty")
        self.data("stub", idx_files.images()[:9])
        self.at_the_check("FOLDER/stub: ends in the middle of its header, after 9 bytes",
                          images="stub")

    def test_a_header_that_promises_too_much(self):
        huge = 1 << 30
        self.data("huge", b"\0\0\x08\x03" + struct.pack(">III", huge, 8, 8) + b"x" * 100)
        self.data("many", b"\0\0\x08\x01" + struct.pack(">I", huge) + b"x" * 100)
        self.at_the_start(f"FOLDER/huge: its header says [{huge}, 8, 8], but the file has 116 B",
                          images="huge", labels="many")

    def test_labels_and_images_of_different_numbers(self):
        self.data("fewer", idx_files.labels(63))
        self.at_the_check("FOLDER/fewer: holds 63 labels, but FOLDER/images holds 64 images",
                          labels="fewer")

    def test_the_two_files_the_wrong_way_round(self):
        self.at_the_check("FOLDER/labels: has shape [64]; images have [N, H, W] or [N, H, W, C]; "
                          "is this the file of labels?", images="labels", labels="images")
        self.at_the_check("FOLDER/images: has shape [64, 8, 8]; labels have [N]; is this the file "
                          "of images?", labels="images")

    def test_a_file_that_is_not_there(self):
        self.at_the_check('parameter "images": there is no file or folder FOLDER/nowhere',
                          where="6:22", images="nowhere")
        column = len(f"    params: {{images: {self.folder}/images, labels: ") + 1
        self.at_the_check('parameter "labels": there is no file or folder FOLDER/nowhere',
                          where=f"6:{column}", labels="nowhere")


if __name__ == "__main__":
    main()
