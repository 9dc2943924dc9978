"""Graphs of configs/ give the samples that loops over other loaders gave, without what is random.

What docs/MIGRATION.md puts side by side is compared, in batches: keys and labels are equal, pixels
as near as that page says. The loops of Pillow and tarfile do what the loaders do; the loaders
themselves (torch's with torchvision; webdataset, nvidia-dali-cuda120, ffcv, which are not Debian's)
are tried where Python finds them. BRIGADE_PHOTOGRAPHS=FOLDER takes a folder of photographs (a
folder per class) instead of the small pictures in this repository, and cuts 224 x 224 out of them.
"""

import io
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest

import brigade

try:
    import numpy
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error} (python3-numpy, python3-pil)")
    sys.exit(77)  # which CTest counts as skipped

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOGRAPHS = os.environ.get("BRIGADE_PHOTOGRAPHS")
RESIZE, SIZE = (256, 224) if PHOTOGRAPHS else (40, 32)
BATCH, SHARDS = 16, 4
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
NOT_RANDOM = {
    "stages.files.shuffle": False,
    "stages.images.params": {"crop": "center", "resize": RESIZE, "size": SIZE},
    "stages.images.batch": BATCH,
}


def make_pictures(folder):
    """FOLDER/CLASS/NAME.jpg: each picture another."""
    with Image.open(ROOT / "tests" / "golden" / "images" / "jpeg" / "444.jpg") as picture:
        picture = picture.resize((200, 150))
    for number in range(42):
        target = folder / f"class_{number // 14}" / f"{number:02}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        picture.rotate(29 * number).save(target, quality=90, subsampling=number % 3,
                                         progressive=number % 4 == 0)


def files_of(folder):
    """(path, label): folders are classes, by their names."""
    classes = sorted(path for path in folder.iterdir() if path.is_dir())
    return [(path, label) for label, one in enumerate(classes) for path in sorted(one.iterdir())]


def make_shards(files, folder):
    """KEY.jpg beside KEY.cls, in turns over the archives."""
    names = [folder / f"train-{number:03}.tar" for number in range(SHARDS)]
    for number, name in enumerate(names):
        with tarfile.open(name, "w", format=tarfile.USTAR_FORMAT) as shard:
            for i in range(number, len(files), SHARDS):
                for extension, data in (("jpg", files[i][0].read_bytes()),
                                        ("cls", str(files[i][1]).encode())):
                    member = tarfile.TarInfo(f"{i:06}.{extension}")
                    member.size = len(data)
                    shard.addfile(member, io.BytesIO(data))
    return names


def center(picture):
    """torchvision's Resize(RESIZE) and CenterCrop(SIZE), of Pillow's pictures."""
    picture = picture.convert("RGB")
    width, height = picture.size
    if width <= height:
        width, height = RESIZE, int(RESIZE * height / width)
    else:
        width, height = int(RESIZE * width / height), RESIZE
    left, top = round((width - SIZE) / 2), round((height - SIZE) / 2)
    picture = picture.resize((width, height), Image.BILINEAR)
    return numpy.asarray(picture.crop((left, top, left + SIZE, top + SIZE)))


def normalise(images):
    """[N, H, W, 3] of u8 to [N, 3, H, W] of f32, as the page shows it."""
    return ((images.astype("f4") - MEAN) / STD).astype("f4").transpose(0, 3, 1, 2)


class Compared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="migration_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.pictures = pathlib.Path(PHOTOGRAPHS or cls.folder / "pictures")
        if not PHOTOGRAPHS:
            make_pictures(cls.pictures)
        cls.files = files_of(cls.pictures)
        cls.shards = make_shards(cls.files, cls.folder)

    def load(self, config, **settings):
        """Batches of (images, labels, keys), all that an epoch has."""
        loader = brigade.Loader(ROOT / "configs" / config, "images", tensors="numpy",
                                set={"vars.data": self.folder, **NOT_RANDOM, **settings})
        with loader:
            return [self.values(batch) for batch in loader]

    def values(self, batch):
        keys = [bytes(key).decode() for key in batch["key"]] if "key" in batch else None
        return batch["image"].copy(), batch["label"].ravel().tolist(), keys

    def tar_shards(self):
        return self.load("tar_shards.yaml", **{
            "stages.files.params.shards": [str(path) for path in self.shards],
            "stages.files.params.index": str(self.folder / "shards.index"),
            "stages.images.keep": ["label", "key"]})

    def photos(self):
        return self.load("photos.yaml", **{"stages.files.params.root": str(self.pictures)})

    def compare(self, ours, theirs, levels, mean_levels):
        """Batch by batch; `levels`: of 255 that a number may differ by, and in the mean."""
        self.assertEqual([len(labels) for _, labels, *_ in ours],
                         [len(labels) for _, labels, *_ in theirs])
        for (images, *names), (their_images, *their_names) in zip(ours, theirs):
            self.assertEqual(names[:len(their_names)], their_names)
            self.assertEqual(images.shape, their_images.shape)
        images = numpy.concatenate([one[0] for one in ours]).astype("f4")
        their_images = numpy.concatenate([one[0] for one in theirs])
        apart = numpy.abs(images - their_images)
        figures = f"{self.id()}: at most {apart.max():.2f} of 255, {apart.mean():.3f} in the mean"
        self.assertLessEqual(apart.max(), levels, figures)
        self.assertLessEqual(apart.mean(), mean_levels, figures)
        neighbours = numpy.abs(numpy.roll(images, 1, axis=0) - their_images)
        self.assertGreater(neighbours.mean(), 3 * mean_levels, "another sample's would be seen")
        if PHOTOGRAPHS:
            print(figures, f"({len(self.files)} photographs)", flush=True)


def batched(samples):
    """(image, label, key...) to batches."""
    samples = list(samples)
    for at in range(0, len(samples), BATCH):
        images, labels, *keys = zip(*samples[at:at + BATCH])
        yield numpy.stack(images), list(labels), *map(list, keys)


class FromWebDataset(Compared):
    def test_a_loop_of_tarfile_and_pillow(self):
        def samples():
            for path in self.shards:
                found = {}
                with tarfile.open(path) as shard:
                    for member in shard:
                        key, _, extension = member.name.partition(".")
                        found.setdefault(key, {})[extension] = shard.extractfile(member).read()
                for key, sample in found.items():
                    yield (center(Image.open(io.BytesIO(sample["jpg"]))), int(sample["cls"]), key)

        self.compare(self.tar_shards(), list(batched(samples())), 1, 0.2)

    def test_webdataset(self):
        try:
            import webdataset
        except ImportError as missing:
            self.skipTest(str(missing))
        dataset = (webdataset.WebDataset([str(path) for path in self.shards], shardshuffle=False)
                   .decode("pil").to_tuple("jpg", "cls", "__key__")
                   .map_tuple(center, int, str).batched(BATCH))
        theirs = [(images, list(map(int, labels)), list(keys)) for images, labels, keys in dataset]
        self.compare(self.tar_shards(), theirs, 1, 0.2)


class FromFolders(Compared):
    """What .beton files are written from, and what DALI's readers.file reads."""

    def test_a_loop_of_pillow(self):
        samples = ((center(Image.open(path)), label) for path, label in self.files)
        self.compare(self.photos(), list(batched(samples)), 1, 0.2)

    def test_torch(self):
        try:
            import torch
            from torchvision import datasets, transforms
        except ImportError as missing:
            self.skipTest(str(missing))
        dataset = datasets.ImageFolder(str(self.pictures), transforms.Compose([
            transforms.Resize(RESIZE), transforms.CenterCrop(SIZE), transforms.PILToTensor()]))
        theirs = [(images.permute(0, 2, 3, 1).numpy(), labels.tolist(), None)
                  for images, labels in torch.utils.data.DataLoader(dataset, batch_size=BATCH)]
        self.compare(self.photos(), theirs, 1, 0.2)

    def test_dali(self):
        try:
            from nvidia.dali import fn, pipeline_def, types
        except ImportError as missing:
            self.skipTest(str(missing))

        def pictures():
            encoded, label = fn.readers.file(file_root=str(self.pictures), name="files")
            image = fn.decoders.image(encoded)
            return fn.resize(image, resize_shorter=RESIZE, subpixel_scale=False), label

        @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
        def cut():
            image, label = pictures()
            return fn.crop(image, crop=(SIZE, SIZE), rounding="truncate"), label

        @pipeline_def(batch_size=BATCH, num_threads=2, device_id=None)
        def normalised():
            image, label = pictures()
            return fn.crop_mirror_normalize(image, crop=(SIZE, SIZE), mean=MEAN, std=STD,
                                            output_layout="CHW", dtype=types.FLOAT,
                                            rounding="truncate"), label

        ours = self.photos()
        self.compare(ours, list(self.batches_of(cut())), 2, 0.3)
        scale = numpy.array(STD, "f4").reshape(1, 3, 1, 1)  # back to levels
        self.compare([(normalise(images) * scale, *names) for images, *names in ours],
                     [(images * scale, *names)
                      for images, *names in self.batches_of(normalised())], 2, 0.3)

    def batches_of(self, pipeline):
        """The reader begins anew with the last batch, which is cut off here as PARTIAL does it."""
        pipeline.build()
        left = len(self.files)
        while left > 0:
            images, labels = pipeline.run()
            yield (numpy.stack([numpy.asarray(one) for one in images])[:left],
                   labels.as_array().ravel().tolist()[:left], None)
            left -= BATCH

    def test_ffcv(self):
        ffcv = import_ffcv(self)
        files = self.files

        class Pictures:
            def __len__(self):
                return len(files)

            def __getitem__(self, i):
                return Image.open(files[i][0]).convert("RGB"), files[i][1]

        cut = ffcv.fields.decoders.CenterCropRGBImageDecoder((SIZE, SIZE), ratio=SIZE / RESIZE)
        theirs = read_beton(ffcv, Pictures(), self.folder / "pictures.beton", cut)
        # The part's edges are whole pixels there, and its filter is a box.
        self.compare(self.photos(), theirs, 255, 8)


class FromSmallPictures(Compared):
    """Of one size, as CIFAR has them: nothing is decoded, so that nothing differs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        random = numpy.random.default_rng(7)
        cls.labels = random.integers(0, 10, 50).astype("u1")
        cls.images = random.integers(0, 256, (50, 3, 32, 32)).astype("u1")
        rows = numpy.concatenate([cls.labels[:, None], cls.images.reshape(50, -1)], axis=1)
        cls.images = cls.images.transpose(0, 2, 3, 1)
        (cls.folder / "data_batch_1.bin").write_bytes(rows.tobytes())

    def cifar(self):
        files = str(self.folder / "data_batch_1.bin")
        settings = {"stages.images.params.files": files, "stages.images.shuffle": False,
                    "stages.images.batch": BATCH, "vars.data": self.folder}
        with brigade.Loader(ROOT / "configs" / "cifar10.yaml", "images", tensors="numpy",
                            set=settings) as loader:
            return [self.values(batch) for batch in loader]

    def test_a_loop_of_numpy(self):
        self.compare(self.cifar(), list(batched(zip(self.images, self.labels.tolist()))), 0, 0)

    def test_ffcv(self):
        ffcv = import_ffcv(self)
        images, labels = self.images, self.labels

        class Pictures:
            def __len__(self):
                return len(images)

            def __getitem__(self, i):
                return numpy.ascontiguousarray(images[i]), int(labels[i])

        theirs = read_beton(ffcv, Pictures(), self.folder / "cifar.beton",
                            ffcv.fields.decoders.SimpleRGBImageDecoder())
        self.compare(self.cifar(), theirs, 0, 0)


def import_ffcv(test):
    try:
        import ffcv
        import ffcv.fields.decoders
        import ffcv.loader
    except ImportError as missing:
        test.skipTest(str(missing))
    return ffcv


def read_beton(ffcv, dataset, path, decoder):
    """Batches of a dataset of pictures and labels, written to a .beton file as it is."""
    fields = {"image": ffcv.fields.RGBImageField(write_mode="raw"),
              "label": ffcv.fields.IntField()}
    ffcv.DatasetWriter(str(path), fields, num_workers=1).from_indexed_dataset(dataset)
    loader = ffcv.loader.Loader(
        str(path), batch_size=BATCH, num_workers=1, drop_last=False,
        order=ffcv.loader.OrderOption.SEQUENTIAL,
        pipelines={"image": [decoder], "label": [ffcv.fields.decoders.IntDecoder()]})
    return [(images.copy(), labels.ravel().tolist(), None) for images, labels in loader]


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
