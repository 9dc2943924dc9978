"""Events of the run behind a DataLoader, in terms of the loader."""

_LEFT_OUT = ("progress", "epoch", "running", "stopping")  # the program knows its own epochs


def told_of(event, anew, is_stopped=False, is_left=False):
    """An event of the run, in terms of a loader; None if it does not concern programs.
    `is_stopped`: the pool has ended its forker, so a worker that died just before has no successor;
    `is_left`: the same since the program ended the workers."""
    if event.kind in _LEFT_OUT or (is_stopped and event.kind == "not_started"):
        return None
    text = event.text
    if event.kind == "ended":
        text = "DataLoader: the workers have ended"
    elif event.kind == "quarantined":
        text = f"DataLoader: a batch crashed {event.deaths} workers"
    if event.replica is not None:
        text = f"DataLoader: worker {event.replica}"
        if event.pid:
            text += f" (pid {event.pid})"
        text = _SENTENCES.get(event.kind, _any_text)(event, text)
        if event.next == "restart":
            again = f"in {_seconds(event.delay)}" if event.delay else "at once"
            text += f"; restarted {again}{anew}"
    told = event._replace(text=text, stage="DataLoader" if event.stage else "", sample=None,
                          sample_epoch=None, sample_index=None, sample_id=None)
    if event.kind != "ended":
        return told
    message = "" if is_left else event.message
    return told._replace(message=message, exit_code=int(bool(message)), signal=0, samples=0)


def _seconds(seconds):
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def _died(event, name):
    text = f"{name} {event.message}"
    if event.sample is not None:
        text += " with a batch in flight"
    if event.output:
        text += f"; its last output: {event.output}"
    if event.samples:
        text += f"; that batch has crashed {event.deaths} workers"
    return text + event.reason


def _any_text(event, name):
    return f"{name}: {event.message}"


_SENTENCES = {
    "died": _died,
    "not_started": lambda event, name: f"{name} cannot start: {event.message}",
    "restarted": lambda event, name: f"{name} replaces a worker that ended",
    "stalled": lambda event, name: f"{name} {event.message}"}
