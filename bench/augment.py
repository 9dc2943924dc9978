"""The ImageNet recipe over pictures that are decoded already: a random part of 500 x 375 resized to
224 x 224, flipped, colours changed, normalised to f16 in CHW. Milliseconds per picture of one
`augment` replica beside torchvision's own functions in one thread, in turns; and some operations
alone. BRIGADE_TORCHVISION names another interpreter, whose torchvision may have transforms.v2.
"""

import json
import os
import statistics
import subprocess
import tempfile

from graph_runs import run_graph

GRAPH = """
brigade: 1
name: augment-bench
epochs: {epochs}
stages:
  pictures: {{producer: npy, batch: 16, params: {{files: {{image: {file}}}}}}}
  augment:
    {{transform: augment, from: pictures, batch: 64, params: {{operations: {operations}{numbers}}}}}
  count: {{consumer: count, from: augment, params: {{checksum: false}}}}
"""
NUMBERS = ", dtype: f16, layout: CHW, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]"
JITTER = "{color_jitter: {brightness: 0.4, contrast: 0.4, saturation: 0.4, hue: 0.1}}"
# Name: our operations, torchvision's, whether numbers are made of the result.
RECIPES = {
    "imagenet": (f"[{{random_resized_crop: {{size: 224}}}}, random_horizontal_flip, {JITTER}]",
                 "[T.RandomResizedCrop(224, antialias=True), T.RandomHorizontalFlip(), "
                 "T.ColorJitter(0.4, 0.4, 0.4, 0.1)]", True),
    "color_jitter": (f"[{JITTER}]", "[T.ColorJitter(0.4, 0.4, 0.4, 0.1)]", False),
    "gaussian_blur": ("[{gaussian_blur: {kernel_size: 23}}]", "[T.GaussianBlur(23)]", False),
    "random_rotation": ("[{random_rotation: {degrees: 30, interpolation: bilinear}}]",
                        "[T.RandomRotation(30, T.InterpolationMode.BILINEAR)]", False),
    "rand_augment": ("[rand_augment]", "[T.RandAugment()]", False),
}
PICTURES = """
import sys, numpy
noise = numpy.random.default_rng(1).integers(0, 40, (int(sys.argv[2]), 375, 500, 3))
y, x = numpy.mgrid[0:375, 0:500]
periods = (20 + numpy.arange(len(noise)))[:, None, None, None]
waves = 107 + 107 * numpy.sin((y + 2 * x)[None, :, :, None] / periods + numpy.arange(3))
numpy.save(sys.argv[1], (waves + noise).clip(0, 255).astype("u1"))
"""
TORCHVISION = """
import json, sys, time
import numpy, torch, torchvision
torch.set_num_threads(1)
try:
    from torchvision.transforms import v2 as T
except ImportError:
    from torchvision import transforms as T
pictures = torch.from_numpy(numpy.load(sys.argv[1])).permute(0, 3, 1, 2).contiguous()
work, numbers = T.Compose(eval(sys.argv[2])), sys.argv[3] == "True"
normalize = T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
def one(picture):
    made = work(picture)
    return normalize(made.to(torch.float32).div_(255)).half() if numbers else made
one(pictures[0])
began = time.process_time()
for _ in range(int(sys.argv[4])):
    for picture in pictures:
        one(picture)
used = time.process_time() - began
seconds = used / len(pictures) / int(sys.argv[4])
print(json.dumps([seconds, torchvision.__version__ + " " + T.__name__]))
"""


def run(context):
    python = os.environ.get("BRIGADE_TORCHVISION", "/usr/bin/python3")
    if subprocess.run([python, "-c", "import torchvision"], capture_output=True).returncode != 0:
        raise context.Skip("torchvision is not installed (python3-torchvision)")
    count, epochs, rounds = (8, 1, 1) if context.smoke else (64, 20, 5)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "pictures.npy")
        subprocess.run([python, "-c", PICTURES, file, str(count)], check=True)
        for name, (operations, theirs, numbers) in RECIPES.items():
            text = GRAPH.format(epochs=epochs, file=file, operations=operations,
                                numbers=NUMBERS if numbers else "")
            ours, others, version = [], [], ""
            for _ in range(rounds):
                summary = run_graph(context, text)
                stage = next(one for one in summary["stages"] if one["name"] == "augment")
                ours.append(1e3 * stage["busy"] / stage["samples"])
                done = subprocess.run([python, "-c", TORCHVISION, file, theirs, str(numbers),
                                       str(max(1, epochs // 10))],
                                      check=True, stdout=subprocess.PIPE, text=True)
                seconds, version = json.loads(done.stdout)
                others.append(1e3 * seconds)
            figures[name] = {
                "ms": statistics.median(ours), "torchvision_ms": statistics.median(others),
                "times_torchvision": statistics.median(b / a for a, b in zip(ours, others)),
                "torchvision": version}
    return figures
