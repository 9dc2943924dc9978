#!/usr/bin/env python3
"""Files of images and labels that are broken or do not fit together: one clear message each,
before anything starts (code 2) or at the start of the stage that reads them (code 1)."""

import gzip

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

    def at_the_check(self, said, **files):
        """`said`: all of the error's line after `stage "images": `, FOLDER standing for ours."""
        finished = self.run_files(**files)
        self.assertEqual(finished.code, 2, finished.err)
        lines = [one for one in finished.err.splitlines() if ": error: " in one]
        self.assertEqual(lines, [
            f'{self.folder}/graph.yaml:5:15: error: stage "images": '
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

    def test_a_file_of_something_else(self):
        self.data("picture", b"\x89PNG" + idx_files.images()[4:])
        for files in ({"images": "picture"}, {"labels": "picture"}):
            self.at_the_check("FOLDER/picture: not an IDX file: it begins with 89 50 4e 47; images "
                              "begin with 00 00 08 03, labels with 00 00 08 01", **files)


if __name__ == "__main__":
    main()
