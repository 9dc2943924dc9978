// Calls that are in progress with a handle that may be closed, which the last of them closes; and
// what a task lends for as long as it is not settled.

#include <pthread.h>

#include "common.h"

// --- Runs ----------------------------------------------------------------------------------------

void close_run(Run* self) {
  brigade_run* run = self->run;
  self->run = NULL;
  Py_BEGIN_ALLOW_THREADS;
  brigade_run_close(run);
  Py_END_ALLOW_THREADS;
}

brigade_run* enter_run(PyObject* object) {
  Run* self = (Run*)object;
  if (self->uses.closed) {
    raise_closed("run");
    return NULL;
  }
  ++self->uses.calls;
  return self->run;
}

void leave_run(PyObject* object) {
  Run* self = (Run*)object;
  if (--self->uses.calls == 0 && self->uses.closed) close_run(self);
}

// --- Workers -------------------------------------------------------------------------------------

static int forks;  // of this process and its parents: a child is no replica
static void count_fork(void) { ++forks; }
void watch_forks(void) { pthread_atfork(NULL, NULL, count_fork); }
void begin_worker(Worker* self) { self->forks = forks; }

void close_worker(Worker* self) {
  brigade_worker* worker = self->worker;
  self->worker = NULL;
  if (self->forks != forks) return;
  Py_BEGIN_ALLOW_THREADS;
  brigade_worker_close(worker);
  Py_END_ALLOW_THREADS;
}

brigade_worker* enter_worker(Worker* self) {
  if (self->uses.closed) {
    raise_closed("worker");
    return NULL;
  }
  if (self->forks != forks) {
    PyErr_SetString(PyExc_RuntimeError,
                    "this is a forked child; only the replica itself can use its worker");
    return NULL;
  }
  ++self->uses.calls;
  return self->worker;
}

void leave_worker(Worker* self) {
  if (--self->uses.calls == 0 && self->uses.closed) close_worker(self);
}

brigade_worker* enter_alone(Worker* self) {
  if (self->busy) {
    PyErr_SetString(PyExc_RuntimeError, "another thread is using the worker");
    return NULL;
  }
  brigade_worker* worker = enter_worker(self);
  self->busy = worker != NULL;
  return worker;
}

PyObject* leave_alone(Worker* self, brigade_status status, PyObject* result) {
  self->busy = 0;
  leave_worker(self);
  if (status < 0) {
    Py_XDECREF(result);
    return raise_status(status, NULL);
  }
  return result;
}

// --- Tasks ---------------------------------------------------------------------------------------

const char* task_lends(const Task* task) {
  return task->settled ? "its task is settled; copy what you need before you settle it" : NULL;
}

void task_count(Task* task, int output, int views) { task->views[output] += views; }
