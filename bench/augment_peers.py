"""What bench/augment.py compares with, run by an interpreter that has it:

    python augment_peers.py NAME PICTURES.npy

Says its version, or why it cannot be measured, in one line; then reads lines `RECIPE SECONDS`,
works for so long and answers each with the processor's seconds for a picture, or `none`. One thread
works.
"""

import itertools
import sys
import time

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def torchvision(pictures):
    import torch
    import torchvision
    torch.set_num_threads(1)
    try:
        from torchvision.transforms import v2 as T
    except ImportError:
        from torchvision import transforms as T
    tensors = torch.from_numpy(pictures).permute(0, 3, 1, 2).contiguous()
    normalize = T.Normalize(MEAN, STD)
    jitter = T.ColorJitter(0.4, 0.4, 0.4, 0.1)
    crop = T.RandomResizedCrop(224, antialias=True)

    def numbers(picture):
        return normalize(picture.to(torch.float32).div_(255)).half()

    recipes = {
        "imagenet": T.Compose([crop, T.RandomHorizontalFlip(), jitter, numbers]),
        "color_jitter": jitter,
        "gaussian_blur": T.GaussianBlur(23),
        "random_rotation": T.RandomRotation(30, T.InterpolationMode.BILINEAR),
        "rand_augment": T.RandAugment(),
    }
    return f"{torchvision.__version__}, {T.__name__}", each(recipes, list(tensors))


def albumentations(pictures):
    import albumentations
    import cv2
    import numpy
    A = albumentations
    cv2.setNumThreads(0)
    crop = A.RandomResizedCrop(size=(224, 224), scale=(0.08, 1), ratio=(3 / 4, 4 / 3))
    jitter = A.ColorJitter((0.6, 1.4), (0.6, 1.4), (0.6, 1.4), (-0.1, 0.1), p=1)
    recipe = A.Compose([crop, A.HorizontalFlip(p=0.5), jitter, A.Normalize(MEAN, STD)])

    def imagenet(picture):
        made = recipe(image=picture)["image"]
        return numpy.ascontiguousarray(made.transpose(2, 0, 1).astype(numpy.float16))

    def alone(one):
        composed = A.Compose([one])
        return lambda picture: composed(image=picture)["image"]

    recipes = {
        "imagenet": imagenet,
        "color_jitter": alone(jitter),
        "gaussian_blur": alone(A.GaussianBlur(blur_limit=(23, 23), sigma_limit=(0.1, 2), p=1)),
        "random_rotation": alone(A.Rotate(limit=(-30, 30), border_mode=cv2.BORDER_CONSTANT, p=1)),
    }
    return f"{A.__version__}, OpenCV {cv2.__version__}", each(recipes, list(pictures))


def dali(pictures):
    import nvidia.dali
    from nvidia.dali import fn, pipeline_def, types
    batch = min(64, len(pictures))

    @pipeline_def(batch_size=batch, num_threads=1, device_id=None, prefetch_queue_depth=1,
                  exec_async=False, exec_pipelined=False, seed=1)
    def imagenet():
        made = fn.external_source(lambda: list(pictures[:batch]), layout="HWC", no_copy=True)
        made = fn.random_resized_crop(made, size=(224, 224), random_area=(0.08, 1),
                                      random_aspect_ratio=(3 / 4, 4 / 3), antialias=True)
        between = [0.6, 1.4]
        made = fn.color_twist(made, brightness=fn.random.uniform(range=between),
                              contrast=fn.random.uniform(range=between),
                              saturation=fn.random.uniform(range=between),
                              hue=fn.random.uniform(range=[-36.0, 36.0]))
        return fn.crop_mirror_normalize(
            made, dtype=types.FLOAT16, output_layout="CHW", mirror=fn.random.coin_flip(),
            mean=[255 * one for one in MEAN], std=[255 * one for one in STD])

    pipeline = imagenet()
    pipeline.build()

    def run():
        pipeline.run()
        return batch

    return nvidia.dali.__version__, {"imagenet": run}


def each(recipes, pictures):
    """Recipe -> a function that works through some pictures, and says how many."""
    def runs(work):
        following = itertools.cycle(pictures)

        def run():
            for _ in range(4):
                work(next(following))
            return 4
        return run
    return {name: runs(work) for name, work in recipes.items()}


def main():
    import numpy
    pictures = numpy.load(sys.argv[2])
    try:
        version, recipes = globals()[sys.argv[1]](pictures)
        for run in recipes.values():
            run()  # what only the first time costs
    except Exception as error:
        print(f"not measured: {type(error).__name__}: {error}".splitlines()[0], flush=True)
        return
    print(version, flush=True)
    for line in sys.stdin:
        name, seconds = line.split()
        if name not in recipes:
            print("none", flush=True)
            continue
        began, done, used = time.process_time(), 0, 0
        while done == 0 or used < float(seconds):
            done += recipes[name]()
            used = time.process_time() - began
        print(used / done, flush=True)


main()
