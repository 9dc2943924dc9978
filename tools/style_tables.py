"""What tools/style.py goes by: adding a room, a library or a ban is a line here."""

LINES_MAX = {".h": 250, ".inc": 400, ".cpp": 400, ".cu": 400, ".py": 400}
LINES_MAX_OF = {"include/brigade/c.h": 490}  # the whole promise to other languages
COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70

NAMES_MAX = 25  # of a folder of the product: a.h, a.cpp and a.cu are one name
TESTS_NAMES_MAX = 32  # of a folder under tests/: whatever lies in it, folders too
NAMES_MAX_OF = {"include/brigade": 31}  # what users include, by its subject

# The rooms, in the order of the data. A file includes its own room and those above it in this
# list, less what REFUSED says.
ROOMS = (
    "include/brigade", "base", "transports",
    "stages/api", "stages/detail", "device", "stages/basic", "stages/device",
    "stages/image", "stages/image/geometry", "stages/image/targets", "stages/image/augment",
    "stages/image/index", "stages/image/sources", "stages/image/guess", "stages/image/decode",
    "stages/opencv", "stages/cuda", "stages/torch", "stages/builtin",
    "pipeline/config/yaml", "pipeline/config/language", "pipeline/config/graph",
    "pipeline/config/validate",
    "pipeline/plan", "pipeline/plan/planner", "pipeline/report", "pipeline/records",
    "pipeline/memory", "pipeline/state",
    "pipeline/worker/tasks", "pipeline/worker/replica", "pipeline/worker", "pipeline/application",
    "pipeline/run/launch", "pipeline/run/supervisor", "pipeline/run",
    "pipeline/api", "pipeline/api/c",
    "pipeline/cli/draw", "pipeline/cli/help", "pipeline/cli/samples", "pipeline/cli/templates",
    "pipeline/cli/commands", "pipeline/cli",
    "python/src",
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
    "stages/opencv": (("transports", "stages/basic"), ()),
    "stages/device": (("transports", "stages/basic"), ()),
    "stages/cuda": (("transports", "stages/basic", "stages/image"),
                    ("stages/basic/half_float.h",)),
    # The list of stage types is handed in from the top, and the top alone names it.
    "pipeline": (("stages",), ("stages/api", "stages/detail", "stages/basic/csv_table.h",
                               "stages/basic/csv_text.h")),
    "pipeline/cli": (("stages",), ("stages/api", "stages/detail", "stages/builtin.h",
                                   "stages/image/guess")),
    "pipeline/cli/samples": (("stages",), ("stages/api", "stages/image/geometry",
                                           "stages/basic/half_float.h")),
    # Workers of any program know the types that come with Brigade.
    "pipeline/api": (("stages",), ("stages/api", "stages/detail", "stages/basic/csv_table.h",
                                       "stages/basic/csv_text.h", "stages/builtin.h")),
    # A process of `exec:` has no other top: its sources' types name samples.
    "pipeline/api/c": (("stages",), ("stages/api", "stages/detail", "stages/builtin.h")),
    # What Python needs goes through the C ABI.
    "python/src": (("include/brigade", "base", "device", "transports", "stages", "pipeline"),
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
    "Boost": (r"boost/", ("stages/basic/mapped_file", "pipeline/plan/key_fields.h")),
    "ConcurrentQueue": (r"concurrentqueue/", ("stages/", "pipeline/")),
    "xxHash": (r"xxhash", ("stages/", "pipeline/")),
    "zlib": (r"zlib", ("stages/", "pipeline/")),
    "LibTorch": (r"torch/|ATen/|c10/",
                 ("include/brigade/torch.h", "stages/torch/", "include/brigade/torch/",
                  "examples/")),
    "OpenCV": (r"opencv2/", ("bench/", "stages/opencv/")),
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
TESTED = ("include", "base", "device", "transports", "stages", "pipeline")
NO_TEST = {
    "pipeline/config/language/key_values.h": "key_table_test and spec_parser_test read every row",
    "pipeline/config/language/key_reader.cpp": "key_table_test and spec_parser_test read every row",
    "pipeline/config/language/key_text.cpp": "effective_yaml_test prints every row",
    "pipeline/plan/plan_fields.h": "plan_json_test writes and reads all of it",
    "pipeline/plan/key_fields.h": "plan_json_test writes and reads all of it",
    "pipeline/plan/ring_layout.cpp": "planner/buffer_budget_test lays rings out",
    "include/brigade/cuda.h": "tests/stages/cuda/normalize_test.cpp calls all of it",
    "include/brigade/c.h": "tests/pipeline/api/c calls all of it",
    "include/brigade/worker.h": "tests/conformance/exec_host.cpp calls it, and exec_test.py",
    "pipeline/api/c/show_tensor.h": "part of batch.cpp, input.cpp and worker.cpp",
    "pipeline/api/c/shared_end.h": "part of run.cpp and input.cpp",
    "pipeline/api/c/worker.cpp": "tests/conformance/exec_host.cpp calls it, and exec_test.py",
    "pipeline/worker/exec_worker.cpp": "behind pipeline/api/c/worker.cpp",
    "pipeline/worker/replica/work_sample.cpp": "tests/conformance compares every sample of it",
    "pipeline/worker/replica/work_shared_stream.cpp": "work_stream_test.cpp runs three replicas",
    "pipeline/worker/replica/opening.cpp": "tests/conformance opens sources of all kinds by it",
    "stages/detail/mix_type.cpp": "tests/pipeline/config/validate/mix_test.cpp loads it",
    "stages/detail/exec_stage.cpp": "tests/golden/graphs/graphs.txt names its types",
    "include/brigade/harness.h": "runs the stages of tests/stages",
    "include/brigade/harness/tensor.h": "part of harness.h",
    "include/brigade/torch/view.h": "part of torch.h",
    "stages/api/harness_params.cpp": "part of harness.h",
    "include/brigade/module.h": "tests/pipeline/worker/module_loader_test.cpp opens one",
    "include/brigade/plugin.h": "tests/pipeline/worker/module_loader_test.cpp opens one",
    "include/brigade/stage_types.h": "every test of a stage fills one",
    "pipeline/config/language/tensors_parser.cpp": "tests/golden/config/values.txt has its texts",
    "pipeline/config/language/policy_parser.cpp": "tests/golden/graphs/keys.txt has its values",
    "pipeline/config/language/subset_parser.cpp": "tests/golden/graphs/keys.txt has its values",
    "pipeline/config/validate/exec.cpp": "tests/golden/graphs/graphs.txt has its graphs",
    "pipeline/config/validate/policies.cpp": "tests/golden/graphs/policies.txt has its graphs",
    "pipeline/config/validate/ports.cpp": "tests/golden/graphs/graphs.txt has its graphs",
    "pipeline/config/validate/memory.cpp": "tests/golden/config/device_memory.txt",
    "pipeline/config/validate/subsets.cpp": "tests/golden/sources/subsets.txt has its texts",
    "pipeline/config/validate/shared.cpp": "tests/golden/config/shared.txt has its texts",
    "pipeline/memory/shared_files.cpp": "tests/pipeline/memory/shared_tensors_test.cpp saves",
    "pipeline/api/c/shared.cpp": "python/tests/shared_test.py calls it",
    "include/brigade/shared.h": "tests/pipeline/memory/shared_tensors_test.cpp reads and writes",
    "pipeline/run/supervisor/supervisor_events.cpp": "supervisor_test.cpp reads the events",
    "pipeline/report/run_output.h": "event_queue_test.cpp and console_test.cpp read events",
    "pipeline/api/load_and_plan.cpp": "tests/pipeline/run/run_session_test.cpp loads by it",
    "pipeline/application/program_ends.cpp": "run/launch/program_pool_test.cpp waits on them",
    "stages/api/npy_header.cpp": "npy_test.cpp prints headers, tests/golden/stages reads them",
    "pipeline/application/standstill.cpp": "output_queue_test and input_queue_test stand still",
    "stages/image/augment/canvas.h": "augment_test.cpp runs every operation on one",
    "stages/api/channel_order.cpp": "tests/golden/stages says how channels lie",
    "stages/api/other_names.cpp": "tests/golden/stages says what is elsewhere",
    "stages/image/index/json_field.cpp": "tests/golden/stages/tar_shards.txt reads labels in JSON",
    "stages/image/index/tar_walk.cpp": "tests/golden/stages/tar_walk.txt walks archives",
    "include/brigade/labels.h": "tests/golden/stages shows the labels of every source",
    "stages/image/decode_image_contract.cpp": "tests/golden/stages/decode_image.txt has it",
    "stages/image/listed_types.cpp": "augment_test.cpp and targets_test.cpp read lists",
    "stages/image/decode/jpeg_huffman_tables.cpp": "jpeg_huffman_test.cpp uses them",
    "stages/image/decode/jpeg_positions.cpp": "jpeg_huffman_test.cpp enters at each",
    "stages/image/geometry/mask_mover.cpp": "targets_test.cpp moves masks",
    "stages/image/geometry/warp_places.h": "picture_move_test.cpp goes there and back",
    "stages/image/augment/operation.h": "augment_test.cpp runs every operation",
    "stages/cuda/normalize_pixel.h": "normalize_test.cpp and kernel_driver_test.cpp run it",
    "stages/cuda/normalize_value.h": "kernel_driver_test.cpp runs it where there is nvcc",
    "stages/torch/training_ranks.cpp": "tests/integration/training_ranks_test.py runs two ranks",
    "stages/opencv/codec_header.cpp": "python/tests/opencv_codecs_test.py reads such files",
    "stages/opencv/codec_reader.cpp": "python/tests/opencv_codecs_test.py reads such files",
    "stages/opencv/opencv.cpp": "python/tests/opencv_test.py compares its pictures with cv2's",
    "stages/opencv/opencv_contract.cpp": "python/tests/opencv_test.py checks graphs with it",
    "stages/opencv/opencv_steps.cpp": "python/tests/opencv_test.py compares each with cv2",
    "stages/opencv/moving_steps.cpp": "python/tests/opencv_test.py compares each with cv2",
    "stages/basic/application.cpp": "tests/pipeline/application reads it",
    "pipeline/api/c/handles.h": "part of run.cpp, input.cpp and graph.cpp",
    "pipeline/cli/main.cpp": "calls the application; tests/integration runs the program",
    **{f"{folder}/{name}.cpp": f"{test}_test.cpp has them together"
       for folder, test, names in (
           ("stages/basic", "passing_stages", "cache merge passthrough repack repeat"),
           ("stages/image/decode", "bmp_reader", "other_reader pnm_reader"),
           ("stages/image/sources", "image_list", "image_folder"),
           ("stages/image/sources", "tar_shards", "tar_shards_params"),
           ("stages/image/augment", "augment",
            "colors cuts erasing filters histograms operations policies resizes warps"),
           ("stages/image/targets", "targets", "boxes keypoints mask target"),
           ("pipeline/config/language", "spec_parser", "stage_parser"),
           ("pipeline/config/validate", "validate", "order sources types"),
           ("pipeline/config/validate", "policies", "batches caches"),
           ("pipeline/worker/replica", "work_sample", "work_batch"),
           ("pipeline/cli/draw", "graph_printer", "graph_ascii graph_dot graph_labels"),
           ("pipeline/cli/help", "machine_report", "machine_questions"),
           ("pipeline/cli/commands", "commands",
            "check completions docs doctor draw leases plan run sample sampling sheet stages"),
           ("pipeline/cli/commands", "init", "script_needs"),
           ("pipeline/cli/templates", "graph_template", "found_data"),
           ("stages/image/guess", "data_folder", "data_archive data_table listed_folders"))
       for name in names.split()},
}

# Groups of the core in cmake/brigade.cmake, and what is not of the core.
CORE_GROUPS = 16
APART = ("stages/image/decode", "stages/torch", "stages/cuda", "pipeline/cli/main.cpp")

# Functions that are there for tests, with why.
FOR_TESTS = {
    "disarm_fault": "a fault point that was armed and has not come",
    "fault_point_name": "tests tell which one it was",
    "kFirstPointOfRepair": "chaos delays the supervisor there",
    "plan_from_json": "what `plan --json` prints is read again by tests and by a fuzzer",
    "lower_end": "what a supervisor does in two steps, of which tests need the first alone",
}

# Names of the standard library that a file includes the header of, or reaches it by its own
# includes: those that a compiler's headers do not all bring along.
STANDARD = {
    name: header for header, names in (
        ("algorithm", "sort stable_sort min max clamp copy copy_n fill fill_n find find_if "
                      "find_if_not any_of all_of none_of count count_if transform for_each "
                      "reverse unique remove remove_if lower_bound upper_bound equal equal_range "
                      "max_element min_element minmax_element nth_element partition rotate "
                      "replace generate is_sorted mismatch search binary_search set_difference "
                      "set_intersection set_union includes swap_ranges adjacent_find "
                      "lexicographical_compare partial_sort"),
        ("array", "array"),
        ("atomic", "atomic atomic_bool atomic_thread_fence atomic_signal_fence memory_order "
                   "memory_order_relaxed memory_order_acquire memory_order_release "
                   "memory_order_acq_rel memory_order_seq_cst"),
        ("bit", "bit_cast bit_ceil bit_floor bit_width countr_zero countl_zero popcount "
                "has_single_bit endian rotl"),
        ("charconv", "from_chars to_chars chars_format"),
        ("chrono", "chrono"),
        ("cmath", "sqrt floor ceil round lround pow exp log isfinite isnan fabs hypot sin cos"),
        ("condition_variable", "condition_variable cv_status condition_variable_any"),
        ("cstdint", "uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t "
                    "intptr_t"),
        ("cstring", "memcpy memset memmove memcmp strlen"),
        ("deque", "deque"),
        ("filesystem", "filesystem"),
        ("fstream", "ifstream fstream"),
        ("functional", "function hash less greater reference_wrapper ref plus"),
        ("limits", "numeric_limits"),
        ("map", "map multimap"),
        ("memory", "unique_ptr shared_ptr weak_ptr make_unique make_shared default_delete "
                   "addressof enable_shared_from_this destroy_at construct_at uninitialized_copy"),
        ("mutex", "mutex lock_guard unique_lock scoped_lock once_flag call_once recursive_mutex"),
        ("new", "bad_alloc launder"),
        ("numeric", "accumulate iota gcd lcm partial_sum"),
        ("optional", "optional nullopt nullopt_t make_optional"),
        ("ostream", "ostream"),
        ("queue", "queue priority_queue"),
        ("set", "set multiset"),
        ("span", "span as_bytes"),
        ("sstream", "ostringstream stringstream istringstream"),
        ("stdexcept", "runtime_error invalid_argument out_of_range logic_error length_error"),
        ("string", "string to_string"),
        ("string_view", "string_view"),
        ("thread", "thread this_thread jthread"),
        ("tuple", "tuple tie apply make_tuple"),
        ("type_traits", "is_same_v is_integral_v is_trivially_copyable_v decay_t remove_cvref_t "
                        "conditional_t is_enum_v underlying_type_t is_floating_point_v "
                        "is_base_of_v"),
        ("unordered_map", "unordered_map"),
        ("unordered_set", "unordered_set"),
        ("utility", "pair exchange swap declval"),
        ("variant", "variant get_if holds_alternative visit monostate"),
        ("vector", "vector"),
    ) for name in names.split()
}

_CODE = ("include", "base", "device", "transports", "stages", "pipeline")
# Pattern (over code without comments and strings), what to use instead, where it holds, but where.
BANNED = (
    (r"(?<!v)\bfork\s*\(", "start processes through pipeline/run/launch/spawner.h", ("",),
     ("tests/", "bench/")),
    (r"\b(?:std::|::)system\s*\(|(?<![\w.>:])system\s*\(", "pipeline/run/launch/spawner.h", ("",),
     ()),
    (r"\bpopen\s*\(", "pipeline/run/launch/spawner.h", _CODE, ()),
    (r"\bposix_spawnp?\s*\(", "pipeline/run/launch/spawner.h (it sets the death signal)", _CODE,
     ()),
    (r"\bv?sprintf\s*\(", "concat() of <brigade/text.h>", ("",), ()),
    # libtiff gives a format and what belongs in it.
    (r"\bv?snprintf\s*\(", "concat() of <brigade/text.h>", _CODE,
     ("stages/image/decode/tiff_reader.cpp",)),
    (r"(?<!\w)(?:std::)?f?printf\s*\(|\bputs\s*\(", "log_error() of base/log.h", _CODE,
     ("base/check.cpp",)),
    (r"\bstr(?:n?cpy|n?cat)\s*\(", "std::string, or std::copy_n with a checked length", ("",), ()),
    (r"(?<![\w.>])(?:std::)?s?rand\s*\(|\bstd::(?:mt19937|random_device|minstd_rand)",
     "Philox of <brigade/random.h>", ("",), ("bench/", "tests/")),
    (r"\bstd::(?:cout|cerr|clog)\b(?!\.flush)", "log_error() of base/log.h; commands print", _CODE,
     ("pipeline/cli/commands/",)),
    (r"\bassert\s*\(|<cassert>|<assert\.h>", "BRIGADE_CHECK of <brigade/check.h>", ("",), ()),
    (r"\b(?:std::)?(?:ato[ifl]l?|strto[a-z]+|sto[ifdl]l?|stou?ll?)\s*\(",
     "std::from_chars, or base/units.h", _CODE, ()),
    (r"\bstd::endl\b", "'\\n'", ("",), ()),
    (r"\bstd::atomic_(?:wait|notify)\w*", "a doorbell (transports/doorbell.h)", ("",), ()),
    # spawn: a vfork child writes its parent's memory. signals: what a handler may touch.
    (r"\bvolatile\b", "std::atomic", _CODE,
     ("pipeline/run/launch/spawner", "pipeline/run/supervisor/stop_requests")),
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
# What pages do not say, beside code.
PAGES = r"docs/(?:decisions/)?\w+\.md|(?:README|CHANGELOG)\.md|examples/(?:\w+/)?README\.md"
PAGE_WORDS = (
    (r"\b(?:who|some|any|every|no)(?:ever|body)\b", "name the subject"),
    (r"\b(?:go|goes|going|gone|went) on\b", "continue, resume or run"),
    (r"\b(?:let|lets|letting) go\b", "release"),
    (r"\b(?:is|are|was|were) refused\b", "is rejected"),
    (r"\b(?:is|are) (?:said|told)\b", "name what says it"),
    (r"\bpictures?\b(?!/)", "image"),
    (r"\b\w*(?:normalis|optimis|initialis|colour|grey|neighbour)\w*", "American spelling"),
    (r"\bone's own\b", "your own"),
    (r"\b(?:take|takes|taken|left|leave|leaves) away\b", "delete, omit"),
    (r"\bin turns\b", "interleaved"),
    (r"(?:^|[.] )So\b", "begin with the subject; therefore"),
    (r"\bit is there\b", "name what exists"),
    (r"\bwhat becomes\b", "name the result"),
)
# Where the first comment of a header avoids these words, too.
REFERENCE = ("include", "base", "device", "transports", "stages", "pipeline", "python")
# Where the texts in string literals avoid them, and these; and where docstrings do.
TEXTS = ("include", "base", "device", "transports", "stages", "pipeline", "python/brigade",
         "python/src")
DOCSTRINGS = ("python/brigade",)
TEXT_WORDS = (
    (r"\banew\b", "again, from scratch"),
    (r"\bmay be had\b", "is available"),
    (r"\bof which\b|\bth(?:at|ose) of\b", "repeat the noun"),
    (r"(?<!there )\b(?:is|are) (?:none\b|no (?!longer\b|more\b))", "is not a"),
    (r"\bcarr(?:y|ies) on\b", "continue"),
    (r"\b(?:travel|travels) on\b", "pass through"),
    (r"\buses? up\b", "consume"),
    (r"\bl(?:ie|ies) over\b", "override"),
    (r"\b(?:begin|begins|start|starts|started) again\b", "restart"),
    (r"\bfor ever\b", "forever"),
    (r"\bunasked\b", "automatically"),
    (r"\bone that\b", "name it"),
    (r"\bsays (?:both|neither|so)\b", "has, contains"),
)
# Parts of pages that a test writes from the program's own texts.
WRITTEN_PART = r"<!-- (?:keys|operations|targets):.*?(?=\n## W|\n<!-- end|\Z)"
TEXT_SUFFIXES = {".h", ".inc", ".cpp", ".cu", ".py", ".md", ".cmake", ".txt", ".yaml", ".json",
                 ".sh", ""}
SKIPPED_FOLDERS = {"build", "dist", "__pycache__", "golden", "corpus", "third_party"}
