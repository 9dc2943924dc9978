"""The graphs that gpu_check runs: what a model learns in every precision, from the device's memory
and on two ranks, edges of `memory: device`, and a ResNet-50 by torch_classifier. `check` is
gpu_check's Check."""

import json
import math
import pathlib
import random
import socket
import struct
import subprocess

BUNDLE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 1800
PICTURES = 256

LEARN = """
seed: 7
epochs: 3
stages:
  images:
    producer: idx_images
    shuffle: true
    params: {images: images, labels: labels}
    batch: 64
  train:
    consumer: torch_classifier
    from: images
    device: DEVICE
    params: {model: resnet18, classes: 2, lr: 0.002, pad: 2, crop: 32, MORE}
"""

# Pictures that nobody has to decode: what is left is the way to the GPU and the step there.
STEP = """
seed: 7
epochs: EPOCHS
stages:
  pictures:
    producer: npy
    params: {files: {image: image.npy, label: label.npy}}
    batch: BATCH
  train:
    consumer: torch_classifier
    from: pictures
    device: DEVICE
    params: {model: resnet50, classes: 10, lr: 0.001, MORE}
"""

# What crosses an edge of `memory: device` comes back and is counted, byte for byte.
EDGE = """
seed: 7
epochs: 3
stages:
  numbers:
    producer: synthetic
    params: {count: 2000, shape: [3000], name: image, fill: random}
    batch: 20
  up:
    {transform: to_device, from: numbers, params: {tensor: image}, batch: 20, device: DEVICE, MORE}
  down:
    {transform: from_device, from: up, params: {tensor: image}, batch: 20, device: DEVICE}
  end: {consumer: count, from: down}
"""

# Floats that are made on the device, of pictures that lie there.
FLOATS = """
seed: 7
epochs: 3
stages:
  pictures:
    producer: synthetic
    params: {count: 2000, shape: [70, 60, 3], name: image, dtype: u8, fill: random}
    batch: 20
  up: {transform: to_device, from: pictures, params: {tensor: image}, batch: 20, THERE}
  floats:
    {transform: normalize_image, from: up, batch: 20, THERE,
     params: {pad: 3, flip: 0.5, mean: [0.4, 0.5, 0.6], std: [0.2, 0.3, 0.4], dtype: DTYPE}}
  down: {transform: from_device, from: floats, params: {tensor: image}, batch: 20, device: DEVICE}
  end: {consumer: count, from: down}
"""


def write_array(path, dtype, shape, item_bytes):
    """Zeros, of which the file system keeps none."""
    said = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    said += b" " * (-(len(said) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(said)) + said)
        file.truncate(10 + len(said) + item_bytes * math.prod(shape))


def run_graph(check, folder, name, graph, device, more, environment=()):
    """The summary of a run, or None: it is told."""
    text = graph.replace("DEVICE", device).replace(", MORE", f", {more}" if more else "")
    text = text.replace("EPOCHS", "1" if check.quick else "10")
    (folder / f"{name}.yaml").write_text(text)
    command = [BUNDLE / "brigade", "run", f"{name}.yaml", "--summary", f"{name}.json"]
    done = check.call(command, folder, environment)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        check.note("runs", name, "failed", why=(lines or [done.stderr[-500:]])[0])
        return None
    said = [line for line in done.stderr.splitlines() if ": pinned " in line or
            ": copies from pageable memory" in line]
    check.report.setdefault("pinning", {})[name] = said
    return json.loads((folder / f"{name}.json").read_text())


def learn(check, folder, no_gpu):
    """resnet18 in every precision learns what it does on the CPU in f32."""
    made = random.Random(1)
    labels = bytes(made.randrange(2) for _ in range(PICTURES))
    pixels = bytes(made.randrange(100) + (100 if (x < 16) == (label == 1) else 0)
                   for label in labels for _ in range(32) for x in range(32))
    for name, magic, sizes, data in (("images", 3, (PICTURES, 32, 32), pixels),
                                     ("labels", 1, (PICTURES,), labels)):
        header = struct.pack(f">I{len(sizes)}I", 0x800 + magic, *sizes)
        (folder / name).write_bytes(header + data)
    names = ["learn_from_there", "learn_from_huge_pages",
             *(f"learn_{device}_{precision}" for device in ("cpu", "cuda")
               for precision in ("f32", "bf16", "f16"))]
    if not check.wants(*names):
        return
    base = run_graph(check, folder, "learn_cpu_f32", LEARN, "cpu", "")
    if base is None:
        return
    loss = base["results"]["train"]["loss"]
    check.note("runs", "learn_cpu_f32", "passed", loss=loss)
    for device in ("cpu", "cuda"):
        for precision in ("f32", "bf16", "f16"):
            name = f"learn_{device}_{precision}"
            if name == "learn_cpu_f32" or name == "learn_cpu_f16" or not check.wants(name):
                continue
            if device == "cuda" and no_gpu:
                check.note("runs", name, "skipped", why=no_gpu)
                continue
            more = f"precision: {precision}, channels_last: {str(precision != 'f32').lower()}"
            summary = run_graph(check, folder, name, LEARN, device, more)
            if summary:
                found = summary["results"]["train"]["loss"]
                near = abs(found - loss) < 0.15
                check.note("runs", name, "passed" if near else "failed", loss=found,
                           why=f"loss {found:.3f}, on the CPU in f32 {loss:.3f}")
    learn_from_device(check, folder, loss, no_gpu)


def learn_from_device(check, folder, loss, no_gpu):
    """Pictures that another process has brought there; rings in huge pages where some are free."""
    device = "host" if no_gpu else "cuda"
    there = LEARN.replace("  train:\n", "  there: {transform: to_device, from: images, batch: 64, "
                          "params: {tensor: image}, device: DEVICE, memory: device}\n  train:\n")
    huge = LEARN.replace("    batch: 64\n", "    batch: 64\n    hugepages: true\n")
    huge = huge.replace("    device: DEVICE\n", "    device: DEVICE\n    pin: yes\n")
    there = there.replace("from: images\n    device", "from: there\n    device")
    for name, graph in (("there", there), ("huge_pages", huge)):
        if not check.wants(f"learn_from_{name}"):
            continue
        if name == "huge_pages" and free_huge_pages() < 64:
            check.note("runs", "learn_from_huge_pages", "skipped",
                       why="fewer than 64 huge pages are free (sysctl vm.nr_hugepages=64)")
            continue
        summary = run_graph(check, folder, f"learn_from_{name}", graph, device, "")
        if summary:
            found = summary["results"]["train"]["loss"]
            check.note("runs", f"learn_from_{name}",
                       "passed" if abs(found - loss) < 0.15 else "failed", loss=found,
                       why=f"loss {found:.3f} on {device}, on the CPU {loss:.3f}")


def free_huge_pages():
    text = pathlib.Path("/proc/meminfo").read_text()
    return int(text.partition("HugePages_Free:")[2].split()[0])


def floats(check, folder, no_gpu):
    """The bits of the host's device, whose arithmetic is the CPU's, from every dtype."""
    for dtype in ("f32", "f16", "bf16"):
        if not check.wants(f"floats_{dtype}"):
            continue
        graph = FLOATS.replace("THERE", "device: DEVICE, memory: device").replace("DTYPE", dtype)
        wanted = run_graph(check, folder, f"floats_{dtype}_host", graph, "host", "")
        found = wanted and run_graph(check, folder, f"floats_{dtype}", graph,
                                     "host" if no_gpu else "cuda", "")
        if found:
            same = found["results"]["end"] == wanted["results"]["end"]
            check.note("runs", f"floats_{dtype}", "passed" if same else "failed",
                       why=f"{found['results']['end']}; on the host's {wanted['results']['end']}")


def ranks(check, folder, gpu_count, no_gpu):
    if not check.wants("two_ranks_nccl"):
        return
    if no_gpu or gpu_count < 2:
        check.note("runs", "two_ranks_nccl", "skipped", why=no_gpu or "there is one GPU")
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    (folder / "ranks.yaml").write_text(LEARN.replace("DEVICE", "cuda").replace(", MORE", ""))
    ranks = []
    for rank in range(2):
        ranks.append(subprocess.Popen(
            [str(BUNDLE / "brigade"), "run", "ranks.yaml"], cwd=folder, text=True,
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
            env={**check.environment, "RANK": str(rank), "LOCAL_RANK": str(rank),
                 "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": str(port)}))
    said = [rank.communicate(timeout=SECONDS_MAX)[1] for rank in ranks]
    bad = [text for rank, text in zip(ranks, said) if rank.returncode != 0]
    check.note("runs", "two_ranks_nccl", "failed" if bad else "passed",
               **({"why": bad[0][-300:]} if bad else {}))


def edges(check, folder, no_gpu):
    """Tensors that stay on the device between two processes, each of which is killed once."""
    device = "host" if no_gpu else "cuda"
    faults = {"edge_of_device_memory": "",
              "edge_whose_writer_is_killed": "up.0=finish.after_done:17:kill",
              "edge_whose_reader_is_killed": "down.0=work.start:12:kill"}
    if not check.wants(*faults):
        return
    plain = run_graph(check, folder, "edge_of_host_memory", EDGE, device, "memory: host")
    if plain is None:
        return
    wanted = plain["results"]["end"]
    for name, fault in faults.items():
        if not check.wants(name):
            continue
        summary = run_graph(check, folder, name, EDGE, device, "memory: device, pin: yes",
                            {"BRIGADE_FAULT": fault} if fault else {})
        if summary is None:
            continue
        restarts = sum(stage["restarts"] for stage in summary["stages"])
        right = summary["results"]["end"] == wanted and restarts == bool(fault)
        check.note("runs", name, "passed" if right else "failed",
                   why=f"{wanted['samples']} samples on {device}, {restarts} restarts"
                   if right else f"{summary['results']['end']}, wanted {wanted}; "
                   f"{restarts} restarts")


def step(check, folder, no_gpu):
    """torch_classifier on pictures that nobody decodes; without a GPU two small batches."""
    precisions = [precision for precision in ("f32", "bf16", "f16")
                  if check.wants(f"resnet50_step_{precision}")]
    on_cpu = bool(no_gpu) and check.wants("resnet50_step_cpu")
    if not precisions and not on_cpu:
        return
    count, side, batch = (4, 64, 2) if no_gpu else (2560, 224, 256)
    write_array(folder / "image.npy", "|u1", (count, side, side, 3), 1)
    write_array(folder / "label.npy", "<i8", (count,), 8)
    graph = STEP.replace("BATCH", str(batch))
    if on_cpu and run_graph(check, folder, "resnet50_step_cpu", graph, "cpu", ""):
        check.note("runs", "resnet50_step_cpu", "passed", why="that it runs; no figure")
    for precision in precisions:
        name = f"resnet50_step_{precision}"
        if no_gpu:
            check.note("runs", name, "skipped", why=no_gpu)
            continue
        more = f"precision: {precision}, channels_last: true"
        summary = run_graph(check, folder, name, graph, "cuda", more)
        if summary:
            train = next(s for s in summary["stages"] if s["name"] == "train")
            speed = summary["samples_per_second"]
            check.note("runs", name, "passed", samples_per_second=speed,
                       busy_seconds=train["busy"], why=f"{speed:,.0f} samples/s, the first "
                       f"steps among them; the trainer works {train['busy']:.2f} s")
