"""From the death of a worker to repaired, and to the first task of its successor."""

import json
import subprocess


def run(context):
    kills = 5 if context.smoke else 500
    done = subprocess.run([str(context.program("recovery_bench")), str(kills)], check=True,
                          stdout=subprocess.PIPE, text=True, timeout=600)
    figures = json.loads(done.stdout)
    figures["target_death_to_repaired_s"] = 0.001
    return figures
