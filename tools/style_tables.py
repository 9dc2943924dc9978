"""What tools/style.py goes by: adding a room, a library or a ban is a line here."""

LINES_MAX = {".h": 250, ".cpp": 400, ".cu": 400, ".py": 400}
LINES_MAX_OF = {"include/brigade/c.h": 400}  # one header is the whole promise to other languages
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

NAMES_MAX = 25  # of a folder of the product: a.h, a.cpp and a.cu are one name
NAMES_MAX_OF = {"include/brigade": 28}  # what users include, by its subject

# The rooms, in the order of the data. A file includes its own room and those above it in this
# list, less what REFUSED says.
ROOMS = (
    "include/brigade", "base", "transports",
    "stages/api", "stages/detail", "stages/basic",
    "stages/image", "stages/image/geometry", "stages/image/targets", "stages/image/augment",
    "stages/image/index", "stages/image/sources", "stages/image/guess", "stages/image/decode",
    "stages/torch", "stages/cuda", "stages/builtin",
    "pipeline/config/yaml", "pipeline/config/language", "pipeline/config/validate",
    "pipeline/plan", "pipeline/stats", "pipeline/records", "pipeline/cache",
    "pipeline/checkpoint", "pipeline/replica", "pipeline/memory", "pipeline/host",
    "pipeline/worker", "pipeline/launch", "pipeline/program", "pipeline/supervisor",
    "pipeline/session",
    "pipeline/cli/draw", "pipeline/cli/help", "pipeline/cli/samples", "pipeline/cli/commands",
    "pipeline/cli",
    "pipeline/c_api", "python/src",
    "tests", "bench")
# Room -> (what it may not include although it is below, but these).
REFUSED = {
    # The public headers stand for themselves.
    "include/brigade": (("base",), ()),
    # Bytes between processes: no tensor, no stage.
    "transports": (("include/brigade",), tuple(
        f"include/brigade/{name}.h"
        for name in ("check", "export", "random", "result", "sample_info", "text"))),
    "stages": (("transports",), ()),
    "stages/api": (("transports",), ()),
    # A package includes the interface and itself.
    "stages/image": (("transports", "stages/basic"), tuple(
        f"stages/basic/{name}.h" for name in ("mapped_file", "fingerprint", "csv_text",
                                              "csv_table", "half_float"))),
    "stages/torch": (("transports", "stages/basic", "stages/image"), ()),
    "stages/cuda": (("transports", "stages/basic", "stages/image", "stages/torch"), ()),
    # The list of stage types is handed in from the top, and the top alone names it.
    "pipeline": (("stages",), ("stages/api", "stages/detail")),
    "pipeline/cli": (("stages",), ("stages/api", "stages/detail", "stages/builtin.h",
                                   "stages/image/guess")),
    "pipeline/cli/samples": (("stages",), ("stages/api", "stages/image/geometry",
                                           "stages/basic/half_float.h")),
    # A process of `exec:` has no other top: its sources' types name samples.
    "pipeline/c_api": (("stages",), ("stages/api", "stages/detail", "stages/builtin.h")),
    # What Python needs goes through the C ABI.
    "python/src": (("include/brigade", "base", "transports", "stages", "pipeline"),
                   ("include/brigade/c.h", "include/brigade/worker.h")),
    # Tests' helpers are below benchmarks.
    "bench": (("tests",), ("tests/support",)),
    "tests": (("bench",), ()),
}

# Library -> (its headers, the files or folders that may include them). Tests and benchmarks may
# include what the files they test may.
LIBRARIES = {
    "yaml-cpp": (r"yaml-cpp/", ("pipeline/config/yaml/yaml_", "tests/conformance/")),
    "nlohmann-json": (r"nlohmann/", ("base/json", "stages/image/index/json_field", "pipeline/")),
    "CLI11": (r"CLI/", ("pipeline/cli/",)),
    "ConcurrentQueue": (r"concurrentqueue/", ("stages/", "pipeline/")),
    "xxHash": (r"xxhash", ("stages/", "pipeline/")),
    "zlib": (r"zlib", ("stages/", "pipeline/")),
    "LibTorch": (r"torch/|ATen/|c10/",
                 ("include/brigade/torch.h", "stages/torch/", "stages/cuda/",
                  "examples/train_own_model/")),
    "OpenCV": (r"opencv2/", ("bench/",)),
    "libjpeg-turbo": (r"jpeglib|turbojpeg|jerror", ("stages/image/",)),
    "libwebp": (r"webp/", ("stages/image/decode/webp_reader",)),
    "libtiff": (r"tiffio", ("stages/image/decode/tiff_reader",)),
    "libpng": (r"png", ("stages/image/", "pipeline/cli/samples/")),
    "GoogleTest": (r"gtest/|gmock/", ("tests/",)),
    "Google Benchmark": (r"benchmark/", ("bench/",)),
}

# What CMake calls those that it finds.
FOUND_AS = {"ZLIB": "zlib", "nlohmann_json": "nlohmann-json", "JPEG": "libjpeg-turbo",
            "PNG": "libpng", "TIFF": "libtiff", "Torch": "LibTorch", "GTest": "GoogleTest",
            "benchmark": "Google Benchmark"}
NO_LIBRARY = ("Threads", "Python3", "Brigade")

# Folders whose files need a test at the same path under tests/, and what needs none, with why.
TESTED = ("include", "base", "transports", "stages", "pipeline")
NO_TEST = {
    "pipeline/config/language/key_reader.cpp": "key_table_test and spec_parser_test read every row",
    "pipeline/config/language/key_printer.cpp": "effective_yaml_test prints every row",
    "pipeline/plan/plan_fields.h": "plan_json_test writes and reads all of it",
    "include/brigade/c.h": "tests/pipeline/c_api calls all of it",
    "include/brigade/worker.h": "tests/conformance/exec_host.cpp calls it, and exec_test.py",
    "pipeline/c_api/show_tensor.h": "part of batch.cpp, input.cpp and worker.cpp",
    "pipeline/c_api/shared_end.h": "part of run.cpp and input.cpp",
    "pipeline/c_api/worker.cpp": "tests/conformance/exec_host.cpp calls it, and exec_test.py",
    "pipeline/worker/exec_worker.cpp": "behind pipeline/c_api/worker.cpp",
    "stages/detail/exec_stage.cpp": "tests/pipeline/config/validate/exec_test.cpp names its types",
    "include/brigade/harness.h": "runs the stages of tests/stages",
    "include/brigade/harness/tensor.h": "part of harness.h",
    "stages/api/harness_params.cpp": "part of harness.h",
    "include/brigade/module.h": "tests/pipeline/host/module_loader_test.cpp opens one",
    "include/brigade/plugin.h": "tests/pipeline/host/plugin_loader_test.cpp opens one",
    "include/brigade/stage_types.h": "every test of a stage fills one",
    "pipeline/config/language/tensors_parser.cpp": "tests/golden/config/values.txt has its texts",
    "pipeline/program/standstill.cpp": "the tests of output_queue.h and input_queue.h stand still",
    "stages/image/augment/canvas.h": "augment_test.cpp runs every operation on one",
    "stages/image/listed_types.cpp": "augment_test.cpp and targets_test.cpp read lists",
    "stages/image/geometry/mask_mover.cpp": "targets_test.cpp moves masks",
    "stages/image/geometry/warp_places.h": "picture_move_test.cpp goes there and back",
    "stages/image/augment/operation.h": "augment_test.cpp runs every operation",
    "stages/basic/application.cpp": "tests/pipeline/program reads it",
    "pipeline/c_api/handles.h": "part of run.cpp, input.cpp and graph.cpp",
    "pipeline/cli/main.cpp": "calls the application; tests/integration runs the program",
    **{f"{folder}/{name}.cpp": f"{test}_test.cpp has them together"
       for folder, test, names in (
           ("stages/basic", "passing_stages", "cache merge passthrough repack repeat"),
           ("stages/image/decode", "bmp_reader", "other_reader pnm_reader"),
           ("stages/image/sources", "image_list", "image_folder"),
           ("stages/image/augment", "augment",
            "colors cuts erasing filters histograms operations policies resizes warps "
            "window_resizer"),
           ("stages/image/targets", "targets", "boxes keypoints mask target"),
           ("pipeline/config/language", "spec_parser", "stage_parser"),
           ("pipeline/config/validate", "validate", "order sources types"),
           ("pipeline/config/validate", "policies", "batches caches"),
           ("pipeline/stats", "summary", "summary_json"),
           ("pipeline/replica", "work_sample", "work_batch"),
           ("pipeline/program", "program_pool", "program_ends"),
           ("pipeline/cli/draw", "graph_printer", "graph_ascii graph_dot graph_labels"),
           ("pipeline/cli/help", "machine_report", "machine_questions"),
           ("pipeline/cli/commands", "commands",
            "check completions doctor draw leases plan run sample sampling sheet stages"),
           ("pipeline/cli/commands", "graph_template", "init"),
           ("stages/image/guess", "data_folder", "data_archive data_table listed_folders"))
       for name in names.split()},
}

_CODE = ("include", "base", "transports", "stages", "pipeline")
# Pattern (over code without comments and strings), what to use instead, where it holds, but where.
BANNED = (
    (r"(?<!v)\bfork\s*\(", "start processes through pipeline/launch/spawner.h", ("",),
     ("tests/", "bench/")),
    (r"\b(?:std::|::)system\s*\(|(?<![\w.>:])system\s*\(", "pipeline/launch/spawner.h", ("",), ()),
    (r"\bpopen\s*\(", "pipeline/launch/spawner.h", _CODE, ()),
    (r"\bposix_spawnp?\s*\(", "pipeline/launch/spawner.h (it sets the death signal)", _CODE, ()),
    (r"\bv?sprintf\s*\(", "concat() of <brigade/text.h>", ("",), ()),
    # libtiff gives a format and what belongs in it.
    (r"\bv?snprintf\s*\(", "concat() of <brigade/text.h>", _CODE,
     ("stages/image/decode/tiff_reader.cpp",)),
    (r"(?<!\w)(?:std::)?f?printf\s*\(|\bputs\s*\(", "log_info() of base/log.h", _CODE,
     ("base/check.cpp",)),
    (r"\bstr(?:n?cpy|n?cat)\s*\(", "std::string, or std::copy_n with a checked length", ("",), ()),
    (r"(?<![\w.>])(?:std::)?s?rand\s*\(|\bstd::(?:mt19937|random_device|minstd_rand)",
     "Philox of <brigade/random.h>", ("",), ("bench/", "tests/")),
    (r"\bstd::(?:cout|cerr|clog)\b(?!\.flush)", "log_info() of base/log.h; commands print", _CODE,
     ("pipeline/cli/commands/",)),
    (r"\bassert\s*\(|<cassert>|<assert\.h>", "BRIGADE_CHECK of <brigade/check.h>", ("",), ()),
    (r"\b(?:std::)?(?:ato[ifl]l?|strto[a-z]+|sto[ifdl]l?|stou?ll?)\s*\(",
     "std::from_chars, or base/units.h", _CODE, ()),
    (r"\bstd::endl\b", "'\\n'", ("",), ()),
    (r"\bstd::atomic_(?:wait|notify)\w*", "a doorbell (transports/doorbell.h)", ("",), ()),
    # spawn: a vfork child writes its parent's memory. signals: what a handler may touch.
    (r"\bvolatile\b", "std::atomic", _CODE,
     ("pipeline/launch/spawner", "pipeline/supervisor/stop_requests")),
    (r"\busing\s+namespace\s+std\b(?!::\w*literals\b)", "the full name", ("",), ()),
    (r"\b(?:shm_open|shmget)\s*\(", "transports/memory_file.h", ("",), ()),
    (r"\b(?:managed_shared_memory|message_queue|interprocess_(?:mutex|semaphore|condition))\b",
     "the words of transports/ (a killed holder blocks these for ever)", ("",), ()),
    (r"\b(?:std::)?(?:ofstream|fopen|creat|mkstemp)\b|\bO_(?:CREAT|TRUNC)\b",
     "NewFile of base/atomic_file.h, or base/shared_path.h (they write into nothing planted)",
     _CODE, ("base/atomic_file", "base/shared_path", "pipeline/cli/commands/init.cpp")),
    (r"\bstd::regex\b", "split() and friends of include/brigade/text.h", ("",), ()),
)

# In any text file of the product.
WORDS = (
    (r"\b(?:T[O]DO|F[I]XME|X[X]X|H[A]CK)\b", "do it now, or leave it out"),
    (r"\b(?:not|un)[ -]?implement[e]d\b", "say what is expected and what to do instead"),
    (r"[<]<<<<<<|[>]>>>>>>", "resolve the merge"),
)
TEXT_SUFFIXES = {".h", ".cpp", ".cu", ".py", ".md", ".cmake", ".txt", ".yaml", ".json", ".sh", ""}
SKIPPED_FOLDERS = {"build", "dist", "__pycache__", "golden", "corpus", "third_party"}
