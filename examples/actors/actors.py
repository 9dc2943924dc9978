"""Actors and a learner, in the smallest world there is: ten levers, one of which pays best.

    python3 actors.py [stages.act.batch=4000]    settings of the graph, as after `--set`

The learner (this program) publishes its policy in shared memory; actors pull levers by the newest
one and send what came of it. What is more than AGE_MAX updates old is counted and left out.
"""

import pathlib
import sys

import brigade
import numpy

GRAPH = pathlib.Path(__file__).with_name("actors.yaml")
PAYS = numpy.array([0.1, 0.2, 0.3, 0.1, 0.5, 0.2, 0.9, 0.4, 0.3, 0.1])
PULLS, LEARNING_RATE, AGE_MAX = 8, 0.5, 100


def softmax(policy):
    shares = numpy.exp(policy - policy.max())
    return shares / shares.sum()


@brigade.stage(outputs={"levers": "i64[8]", "rewards": "f32[8]", "version": "i64[]"})
class Actor:
    def __init__(self, worker):
        self.policy, self.version = (numpy.asarray(worker.shared(name))
                                     for name in ("policy", "version"))

    def __call__(self, rng):
        version = self.version[0]
        shares = softmax(self.policy.astype("f8"))
        levers = rng.choice(10, PULLS, p=shares)
        return levers, rng.random(PULLS) < PAYS[levers], version


def learn(run):
    policy, version = (numpy.asarray(run.shared(name)) for name in ("policy", "version"))
    run.shared("policy").set_initialised()  # all zeros; the actors have waited for it
    used = stale = 0
    for batch in run["learn"]:
        for levers, rewards, made_by in zip(*batch.values()):
            if version[0] - made_by > AGE_MAX:
                stale += 1
                continue
            step = numpy.zeros(10)
            for lever, reward in zip(levers, rewards):
                step += (reward - 0.5) * (numpy.eye(10)[lever] - softmax(policy.astype("f8")))
            policy += (LEARNING_RATE / PULLS * step).astype("f4")
            version += 1
            used += 1
    return policy.copy(), used, stale


if __name__ == "__main__":
    with brigade.open(GRAPH, set=sys.argv[1:], tensors="numpy") as run:
        policy, used, stale = learn(run)
    print(f"{used + stale} trajectories, {stale} of them too old; "
          f"the best lever is {policy.argmax()}, pulled with {softmax(policy)[6]:.2f}")
    sys.exit(0 if used + stale == 4000 and policy.argmax() == 6 else 1)
