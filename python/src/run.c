// Runs and their outputs.

#define _GNU_SOURCE  // syscall()
#include "common.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// --- Run -----------------------------------------------------------------------------------------

static PyTypeObject* run_type;
static PyTypeObject* output_type;

static _Thread_local int64_t wait_until_ns;  // of this thread's call; 0: as long as it takes

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Called about every 100 ms while a call waits: its time, and Ctrl-C and other signals, whose
// handlers Python runs on its main thread alone. On the others, which may outlive the interpreter,
// it takes no GIL.
static int32_t handle_signals(void* context) {
  (void)context;
  if (wait_until_ns != 0 && now_ns() >= wait_until_ns) return 1;
  if (syscall(SYS_gettid) != getpid()) return 0;
  const PyGILState_STATE held = PyGILState_Ensure();
  const int raised = PyErr_CheckSignals();
  PyGILState_Release(held);
  return raised;
}

PyObject* run_started(brigade_graph* graph, brigade_app* app, const brigade_run_options* asked,
                      brigade_status* status) {
  Run* self = (Run*)PyType_GenericAlloc(run_type, 0);
  if (self == NULL) {
    *status = BRIGADE_ERROR_MEMORY;
    return NULL;
  }
  brigade_run_options options = *asked;
  options.size = sizeof options;
  options.interrupted = handle_signals;
  Py_BEGIN_ALLOW_THREADS;
  *status = brigade_run_start(graph, app, &options, &self->run);
  Py_END_ALLOW_THREADS;
  return (PyObject*)self;
}

static PyObject* call_run(PyObject* object, brigade_status (*call)(brigade_run*)) {
  brigade_run* run = enter_run(object);
  if (run == NULL) return NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = call(run);
  Py_END_ALLOW_THREADS;
  PyObject* result = status ? raise_status(status, NULL) : Py_NewRef(Py_None);
  leave_run(object);
  return result;
}

static PyObject* run_stop(PyObject* object, PyObject* none) {
  (void)none;
  return call_run(object, brigade_run_stop);
}

static PyObject* run_wait(PyObject* object, PyObject* none) {
  (void)none;
  return call_run(object, brigade_run_wait);
}

// state(epoch): of 0, where the outputs stand.
static PyObject* run_state(PyObject* object, PyObject* argument) {
  const unsigned long long epoch = PyLong_AsUnsignedLongLong(argument);
  brigade_run* run = PyErr_Occurred() ? NULL : enter_run(object);
  if (run == NULL) return NULL;
  const void* state = NULL;
  size_t bytes = 0;
  // With the GIL: the bytes are valid until another thread asks. It waits for nothing.
  brigade_status status = brigade_run_state_at_epoch(run, epoch, &state, &bytes);
  PyObject* result =
      status ? raise_status(status, NULL) : PyBytes_FromStringAndSize(state, (Py_ssize_t)bytes);
  leave_run(object);
  return result;
}

static PyObject* run_mark(PyObject* object, PyObject* none) {
  (void)none;
  brigade_run* run = enter_run(object);
  if (run == NULL) return NULL;
  const void* mark = NULL;
  size_t bytes = 0;
  brigade_status status = brigade_run_mark(run, &mark, &bytes);  // with the GIL, as in run_state()
  PyObject* result =
      status ? raise_status(status, NULL) : PyBytes_FromStringAndSize(mark, (Py_ssize_t)bytes);
  leave_run(object);
  return result;
}

static PyObject* run_state_at_mark(PyObject* object, PyObject* argument) {
  char* mark = NULL;
  Py_ssize_t mark_bytes = 0;
  if (PyBytes_AsStringAndSize(argument, &mark, &mark_bytes) != 0) return NULL;
  brigade_run* run = enter_run(object);
  if (run == NULL) return NULL;
  const void* state = NULL;
  size_t bytes = 0;
  // With the GIL, as in run_state().
  brigade_status status = brigade_run_state_at_mark(run, mark, (size_t)mark_bytes, &state, &bytes);
  PyObject* result =
      status ? raise_status(status, NULL) : PyBytes_FromStringAndSize(state, (Py_ssize_t)bytes);
  leave_run(object);
  return result;
}

static PyObject* run_stats(PyObject* object, PyObject* none) {
  (void)none;
  brigade_run* run = enter_run(object);
  if (run == NULL) return NULL;
  const char* json = NULL;
  // With the GIL, as in run_state().
  brigade_status status = brigade_run_stats(run, &json);
  PyObject* result = status ? raise_status(status, NULL) : text_of(json);
  leave_run(object);
  return result;
}

static PyObject* run_summary(PyObject* object, PyObject* none) {
  (void)none;
  brigade_run* run = enter_run(object);
  if (run == NULL) return NULL;
  brigade_status status;
  const char* json = NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_run_summary(run, &json);
  Py_END_ALLOW_THREADS;
  PyObject* result = status ? raise_status(status, NULL) : text_of(json);
  leave_run(object);
  return result;
}

// Calls of other threads are ended and awaited by themselves.
static PyObject* run_close(PyObject* object, PyObject* none) {
  (void)none;
  Run* self = (Run*)object;
  if (self->uses.closed) Py_RETURN_NONE;
  self->uses.closed = 1;
  if (self->uses.calls > 0) {
    brigade_run_stop(self->run);  // the second stop ends the run at once
    brigade_run_stop(self->run);
  } else {
    close_run(self);
  }
  Py_RETURN_NONE;
}

static void run_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Run* self = (Run*)object;
  if (self->run != NULL) close_run(self);
  PyObject_Free(object);
  Py_DECREF(type);
}

// --- Output --------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD brigade_output* output;
  Uses uses;
} Output;

static PyObject* run_output(PyObject* object, PyObject* argument) {
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  brigade_run* run = name == NULL ? NULL : enter_run(object);
  if (run == NULL) return NULL;
  Output* output = (Output*)PyType_GenericAlloc(output_type, 0);
  brigade_status status =
      output == NULL ? BRIGADE_OK : brigade_run_output(run, name, &output->output);
  if (status) {
    Py_CLEAR(output);
    raise_status(status, NULL);
  }
  leave_run(object);
  return (PyObject*)output;
}

static void close_output(Output* self) {
  brigade_output* output = self->output;
  self->output = NULL;
  Py_BEGIN_ALLOW_THREADS;
  brigade_output_close(output);
  Py_END_ALLOW_THREADS;
}

static void leave_output(Output* self) {
  if (--self->uses.calls == 0 && self->uses.closed) close_output(self);
}

// next(epoch, file, line, seconds=0): a Batch, or None at the end. Epoch -1: whichever comes. After
// so many seconds, where that is given, a TimeoutError, up to 0.1 s late; below 0 without a wait.
static PyObject* output_next(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  Output* self = (Output*)object;
  if (count != 3 && count != 4) {
    PyErr_SetString(PyExc_TypeError, "next(epoch, file, line, seconds=0)");
    return NULL;
  }
  const long long epoch = PyLong_AsLongLong(arguments[0]);
  const char* file = PyUnicode_AsUTF8AndSize(arguments[1], NULL);
  const long line = PyLong_AsLong(arguments[2]);
  const double seconds = count == 4 ? PyFloat_AsDouble(arguments[3]) : 0;
  if (PyErr_Occurred()) return NULL;
  if (self->uses.closed) return raise_closed("output");
  ++self->uses.calls;
  brigade_batch* batch = NULL;
  brigade_status status;
  wait_until_ns = seconds > 0 ? now_ns() + (int64_t)(seconds < 1e9 ? seconds * 1e9 : 1e18) : 0;
  Py_BEGIN_ALLOW_THREADS;
  const uint64_t last = epoch < 0 ? BRIGADE_ANY_EPOCH : (uint64_t)epoch;
  status = (seconds < 0 ? brigade_output_poll_at : brigade_output_next_at)(self->output, last, file,
                                                                           (int32_t)line, &batch);
  Py_END_ALLOW_THREADS;
  PyObject* result = NULL;
  if (status == BRIGADE_OK)
    result = batch_of(batch);
  else if (status == BRIGADE_END)
    result = Py_NewRef(Py_None);
  else if ((status == BRIGADE_TIMEOUT ||
            (status == BRIGADE_ERROR_INTERRUPTED && wait_until_ns != 0)) &&
           !PyErr_Occurred())
    PyErr_SetString(PyExc_TimeoutError, "no batch arrived within the timeout");
  else
    raise_status(status, NULL);
  wait_until_ns = 0;
  leave_output(self);
  return result;
}

static PyObject* output_ended(PyObject* object, PyObject* none) {
  (void)none;
  Output* self = (Output*)object;
  return PyBool_FromLong(self->uses.closed || brigade_output_ended(self->output));
}

static PyObject* output_full(PyObject* object, PyObject* none) {
  (void)none;
  Output* self = (Output*)object;
  return PyBool_FromLong(!self->uses.closed && brigade_output_full(self->output));
}

static PyObject* output_close(PyObject* object, PyObject* none) {
  (void)none;
  Output* self = (Output*)object;
  if (self->uses.closed) Py_RETURN_NONE;
  self->uses.closed = 1;
  if (self->uses.calls == 0) close_output(self);
  Py_RETURN_NONE;
}

static void output_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Output* self = (Output*)object;
  if (self->output != NULL) close_output(self);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyMethodDef run_methods[] = {
    {"output", run_output, METH_O, "output(name): the Output with this name."},
    {"input", run_input, METH_O, "input(name): the Input with this name."},
    {"shared", run_shared, METH_O, "shared(name): the SharedTensor with this name."},
    {"uploads", run_uploads, METH_O, "uploads(device): copies batches to the device."},
    {"stop", run_stop, METH_NOARGS, "Drains the run; a second call ends it at once."},
    {"wait", run_wait, METH_NOARGS, "Waits until every stage has ended."},
    {"state", run_state, METH_O,
     "state(epoch): the position of the outputs, or the beginning of a later epoch, as bytes."},
    {"mark", run_mark, METH_NOARGS, "The position of the outputs, as a few bytes."},
    {"state_at_mark", run_state_at_mark, METH_O, "state_at_mark(mark): the state at the mark."},
    {"stats", run_stats, METH_NOARGS, "Current statistics as JSON."},
    {"summary", run_summary, METH_NOARGS, "Waits for the end; the summary as JSON."},
    {"close", run_close, METH_NOARGS, "Ends the run at once."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot run_slots[] = {
    {Py_tp_dealloc, run_dealloc},
    {Py_tp_methods, run_methods},
    {Py_tp_doc, "A running graph, returned by Graph.start()."},
    {0, NULL},
};
static PyType_Spec run_spec = {"brigade._brigade.Run", sizeof(Run), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, run_slots};

static PyMethodDef output_methods[] = {
    {"next", (PyCFunction)(void (*)(void))output_next, METH_FASTCALL,
     "next(epoch, file, line, seconds=0): a Batch, or None at the end; epoch -1: any epoch."},
    {"ended", output_ended, METH_NOARGS, "True if no more batches follow."},
    {"full", output_full, METH_NOARGS,
     "True if the program holds as many batches as `hold:` allows."},
    {"close", output_close, METH_NOARGS, "Discards batches that were not read."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot output_slots[] = {
    {Py_tp_dealloc, output_dealloc},
    {Py_tp_methods, output_methods},
    {Py_tp_doc, "An output of a run that the program reads."},
    {0, NULL},
};
static PyType_Spec output_spec = {"brigade._brigade.Output", sizeof(Output), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  output_slots};

int add_run_types(PyObject* module) {
  run_type = add_type(module, &run_spec);
  output_type = add_type(module, &output_spec);
  return run_type == NULL || output_type == NULL ? -1 : 0;
}
