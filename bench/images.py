"""JPEG files (about 500 x 375, 90 KB) to random 224 x 224 crops, flipped, in batches of 256: images
per second of Brigade, and of bare loops over the same files and cuts that have no loader at all.

`raw` is the limit: libjpeg-turbo's own partial decoding and a resize, one thread per core; the
files are read, but nothing is handed on. `bare_loop` is that loop around Brigade's reader: what
is missing to 1 there is what processes, queues and batches cost. All run in turns; ratios are of
neighbours in time, so that a busy machine slows both sides down. The files lie in the page cache.

BRIGADE_PHOTOGRAPHS names a folder of folders of .jpg files to use instead of the ones made here.
"""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from graph_runs import median_of, run_graph

WALLPAPERS = pathlib.Path("/usr/share/wallpapers")  # Debian: plasma-workspace-wallpapers

GRAPH = """
brigade: 1
name: images-bench
seed: 7
epochs: {epochs}
stages:
  files:
    producer: image_folder
    shuffle: true
    params: {{root: {root}}}
  decode:
    transform: decode_image
    from: files
    replicas: {replicas}
    batch: 256
    params: {{crop: random_resized, size: 224, flip: 0.5, quality: {quality}}}
  count:
    consumer: count
    from: decode
    params: {{checksum: false}}
"""

LOOPS = {
    "raw_antialias": ("--decoder", "libjpeg", "--resize", "antialias"),
    "raw_bilinear": ("--decoder", "libjpeg", "--resize", "bilinear"),
    "raw_opencv_bilinear": ("--decoder", "libjpeg", "--resize", "opencv"),
    "bare_loop_antialias": ("--decoder", "brigade", "--resize", "antialias"),
}


def photographs(context, images: int) -> tuple:
    """(folder, what is in it); made once per build folder."""
    own = os.environ.get("BRIGADE_PHOTOGRAPHS")
    if own:
        return pathlib.Path(own), "files of BRIGADE_PHOTOGRAPHS"
    kind = "photographs" if any(WALLPAPERS.glob("**/*.jpg")) else "made-up"
    folder = context.build / "bench" / f"{kind}-{images}"
    if not (folder / "complete").exists():
        arguments = [] if kind == "photographs" else ["--from", "made-up"]
        subprocess.run([str(context.program("make_photographs")), str(folder), "--images",
                        str(images), *arguments], check=True, stdout=subprocess.DEVNULL)
        (folder / "complete").touch()
    return folder, kind


def run_loop(context, folder, epochs: int, *arguments: str) -> dict:
    command = [str(context.program("raw_images")), str(folder), "--epochs", str(epochs), *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def run_brigade(context, folder, epochs: int, quality: str) -> dict:
    text = GRAPH.format(root=folder, epochs=epochs, quality=quality, replicas=os.cpu_count())
    figures = run_graph(context, text)
    return {"images_per_second": figures["samples_per_second"],
            "first_batch_seconds": figures["first_sample_seconds"],
            "cpu_ms_per_image": figures["cpu_seconds"] * 1e3 / figures["samples"]}


def tree_of(pid: int) -> list:
    """A process and all below it."""
    pids = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            pids += tree_of(int(child))
    return pids


def memory_of(pid: int) -> dict:
    """PSS in MB: pages in several processes count in parts. Rings (and the control segment) are the
    mappings of memory files; what lies beside them is the rest."""
    pss, rings = 0, 0
    for each in tree_of(pid):
        in_ring = False
        for line in pathlib.Path(f"/proc/{each}/smaps").read_text().splitlines():
            first = line.split(maxsplit=1)[0]
            if not first.endswith(":"):
                in_ring = "/memfd:" in line
            elif first == "Pss:":
                kilobytes = int(line.split()[1])
                pss += kilobytes
                rings += kilobytes if in_ring else 0
    return {"tree_mb": pss / 1e3, "rings_mb": rings / 1e3, "beside_rings_mb": (pss - rings) / 1e3}


def measure_memory(context, folder) -> dict:
    """In the middle of a run of its own, since looking costs time."""
    with tempfile.TemporaryDirectory() as temporary:
        graph = pathlib.Path(temporary) / "graph.yaml"
        graph.write_text(GRAPH.format(root=folder, epochs=1000, quality="antialias",
                                      replicas=os.cpu_count()))
        process = subprocess.Popen([str(context.brigade), "run", str(graph), "--quiet"])
        try:
            time.sleep(0.5 if context.smoke else 3)
            figures = memory_of(process.pid)
            figures["processes"] = len(tree_of(process.pid))
        finally:
            process.kill()
            process.wait()
    return figures


def ratios(runs, above: str, below: str) -> dict:
    """Median over the rounds, by the clock and by the CPU time, which neighbours disturb less."""
    return {
        "by_clock": statistics.median(r[above]["images_per_second"]
                                      / r[below]["images_per_second"] for r in runs),
        "by_cpu": statistics.median(r[below]["cpu_ms_per_image"]
                                    / r[above]["cpu_ms_per_image"] for r in runs),
    }


def run(context):
    folder, kind = photographs(context, 40 if context.smoke else 1000)
    rounds, epochs = (1, 1) if context.smoke else (7, 6)
    loops = LOOPS if context.program("raw_images").exists() else {}
    try:
        run_loop(context, folder, 1, *LOOPS["raw_opencv_bilinear"])  # warms the page cache, too
    except subprocess.CalledProcessError:  # built without OpenCV
        loops = {name: loop for name, loop in loops.items() if "opencv" not in name}
    runs = []
    for _ in range(rounds):
        this = {}
        for quality in ("antialias", "bilinear"):
            this[f"brigade_{quality}"] = run_brigade(context, folder, epochs, quality)
            for name, loop in loops.items():
                if quality in loop or (quality == "bilinear" and "opencv" in loop):
                    this[name] = run_loop(context, folder, epochs, *loop)
        runs.append(this)
    figures = {"files": kind, "images_per_second": statistics.median(
        r["brigade_antialias"]["images_per_second"] for r in runs)}
    for name in runs[0]:
        figures[name] = median_of([r[name] for r in runs], "images_per_second")
        figures[name]["cpu_ms_per_image"] = statistics.median(
            r[name]["cpu_ms_per_image"] for r in runs)
    figures["ratio_to_raw_antialias"] = ratios(runs, "brigade_antialias", "raw_antialias")
    figures["ratio_to_bare_loop"] = ratios(runs, "brigade_antialias", "bare_loop_antialias")
    if "raw_opencv_bilinear" in runs[0]:
        figures["ratio_to_raw_opencv_bilinear"] = ratios(
            runs, "brigade_bilinear", "raw_opencv_bilinear")
    figures["antialias_to_bilinear"] = ratios(runs, "brigade_antialias", "brigade_bilinear")
    figures["first_batch_seconds"] = median_of(
        [r["brigade_antialias"] for r in runs], "first_batch_seconds")
    figures["memory"] = measure_memory(context, folder)
    figures["targets"] = {"ratio_to_raw_antialias": 0.95, "first_batch_seconds": 0.1,
                          "beside_rings_mb": 100}
    return figures
