"""What an edge costs: hand-offs per second, the hand-off of a large batch, a sleeper's wake-up.

Medians of nine runs, and the best of them: on a shared machine a neighbour costs more than the
protocol does.
"""

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def run(context):
    found = context.google_benchmark("protocol")

    def entry(name, which):
        (full,) = [key for key in found if key.startswith(name + "/") and key.endswith("_" + which)]
        return found[full]

    def rate(name):
        return {which: entry(name, which)["per_second"] for which in ("median", "best")}

    def nanoseconds(name, which):
        figures = entry(name, which)
        return figures["real_time"] * SECONDS[figures["time_unit"]] * 1e9

    wake = "wake_up_of_a_sleeping_reader"
    return {
        "one_sample_tasks_per_second": rate("one_sample_tasks_1_to_1/in_order:1"),
        "one_sample_tasks_with_task_words_per_second": rate("one_sample_tasks_1_to_1/in_order:0"),
        "slots_of_784_bytes_1_to_2_to_1_per_second": rate("chunks_of_64_slots_1_to_2_to_1"),
        "hand_off_ns": {
            "of_1_KB": nanoseconds("hand_off_of_a_written_batch/bytes:1024", "median"),
            "of_38.5_MB": nanoseconds("hand_off_of_a_written_batch/bytes:38535168", "median"),
        },
        "wake_up_ns": {
            "protocol": nanoseconds(wake, "median"),
            "bare_futex": entry(wake, "median")["bare_futex_ns"],
            "ratio": entry(wake, "median")["ratio"],
        },
    }
