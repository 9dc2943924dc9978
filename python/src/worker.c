// worker.h: this process as a replica of a stage.

#include "common.h"

static PyTypeObject* worker_type;

static PyObject* attach(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  Worker* self = (Worker*)PyType_GenericAlloc(worker_type, 0);
  if (self == NULL) return NULL;
  begin_worker(self);
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_worker_attach(&self->worker);
  Py_END_ALLOW_THREADS;
  if (!status) return (PyObject*)self;
  Py_DECREF((PyObject*)self);
  return raise_status(status, NULL);
}

static PyObject* worker_next(PyObject* object, PyObject* none) {
  (void)none;
  Worker* self = (Worker*)object;
  brigade_worker* worker = enter_alone(self);
  if (worker == NULL) return NULL;
  brigade_task task = {.size = sizeof task};
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_worker_next(worker, &task);
  Py_END_ALLOW_THREADS;
  PyObject* result = status == BRIGADE_OK    ? task_of(self, &task)
                     : status == BRIGADE_END ? Py_NewRef(Py_None)
                                             : NULL;
  return leave_alone(self, status, result);
}

static PyObject* worker_describe(PyObject* object, PyObject* none) {
  (void)none;
  Worker* self = (Worker*)object;
  brigade_worker* worker = enter_worker(self);
  if (worker == NULL) return NULL;
  brigade_worker_info info = {.size = sizeof info};
  const brigade_status status = brigade_worker_describe(worker, &info);
  PyObject* result = NULL;
  if (status)
    raise_status(status, NULL);
  else
    result = Py_BuildValue(
        "{s:N,s:N,s:N,s:i,s:i,s:i,s:i,s:N,s:K,s:K}", "stage", text_of(info.stage), "params",
        text_of(info.params), "device", text_of(info.device), "kind", (int)info.kind, "replica",
        (int)info.replica, "replicas", (int)info.replicas, "threads", (int)info.threads, "batched",
        PyBool_FromLong(info.batched), "samples_max", (unsigned long long)info.samples_max, "seed",
        (unsigned long long)info.seed);
  leave_worker(self);
  return result;
}

static PyObject* said(Worker* self, brigade_status status) {
  PyObject* result = status ? raise_status(status, NULL) : Py_NewRef(Py_None);
  leave_worker(self);
  return result;
}

// Counts stay whole numbers.
static PyObject* worker_report(PyObject* object, PyObject* arguments) {
  Worker* self = (Worker*)object;
  const char* name = NULL;
  PyObject* value = NULL;
  if (!PyArg_ParseTuple(arguments, "sO", &name, &value)) return NULL;
  const int whole = PyLong_Check(value);
  const unsigned long long count = whole ? PyLong_AsUnsignedLongLong(value) : 0;
  const double number = whole ? 0 : PyFloat_AsDouble(value);
  brigade_worker* worker = PyErr_Occurred() ? NULL : enter_worker(self);
  if (worker == NULL) return NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = whole ? brigade_worker_report_count(worker, name, count)
                 : brigade_worker_report(worker, name, number);
  Py_END_ALLOW_THREADS;
  return said(self, status);
}

static PyObject* say(PyObject* object, PyObject* argument,
                     brigade_status (*how)(brigade_worker*, const char*)) {
  Worker* self = (Worker*)object;
  PyObject* bytes = said_bytes(argument);
  const char* text = bytes == NULL ? NULL : PyBytes_AsString(bytes);
  brigade_worker* worker = text == NULL ? NULL : enter_worker(self);
  PyObject* result = NULL;
  if (worker != NULL) {
    brigade_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = how(worker, text);
    Py_END_ALLOW_THREADS;
    result = said(self, status);
  }
  Py_XDECREF(bytes);
  return result;
}

static PyObject* worker_log(PyObject* self, PyObject* line) {
  return say(self, line, brigade_worker_log);
}

static PyObject* worker_fail(PyObject* self, PyObject* why) {
  return say(self, why, brigade_worker_fail);
}

static PyObject* worker_close(PyObject* object, PyObject* none) {
  (void)none;
  Worker* self = (Worker*)object;
  if (self->uses.closed) Py_RETURN_NONE;
  self->uses.closed = 1;
  if (self->uses.calls == 0) close_worker(self);
  Py_RETURN_NONE;
}

static void worker_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Worker* self = (Worker*)object;
  if (self->worker != NULL) close_worker(self);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyMethodDef worker_methods[] = {
    {"describe", worker_describe, METH_NOARGS,
     "A dict that describes the replica; `params` is JSON."},
    {"next", worker_next, METH_NOARGS, "Waits for the next Task; None at the end."},
    {"shared", worker_shared, METH_O, "shared(name): the SharedTensor with this name."},
    {"report", worker_report, METH_VARARGS, "report(name, value): reports a count or a float."},
    {"log", worker_log, METH_O, "log(line): logs a line."},
    {"fail", worker_fail, METH_O, "fail(why): ends the run with an error."},
    {"close", worker_close, METH_NOARGS,
     "Ends the replica; a replica that exits without it counts as crashed."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot worker_slots[] = {
    {Py_tp_dealloc, worker_dealloc},
    {Py_tp_methods, worker_methods},
    {Py_tp_doc, "This process as a replica; returned by attach()."},
    {0, NULL},
};
static PyType_Spec worker_spec = {"brigade._brigade.Worker", sizeof(Worker), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  worker_slots};

static PyMethodDef functions[] = {
    {"attach", attach, METH_NOARGS,
     "Returns the Worker; call it once, in a process that `exec:` has started."},
    {NULL, NULL, 0, NULL},
};

int add_worker_types(PyObject* module) {
  worker_type = add_type(module, &worker_spec);
  if (worker_type == NULL || add_task_types(module)) return -1;
  watch_forks();
  return PyModule_AddFunctions(module, functions);
}
