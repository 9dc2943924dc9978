"""What the smallest parts cost: a random draw."""


def run(context):
    return context.google_benchmark("base")
