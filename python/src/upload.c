// Batches on their way to a device.

#include <stdlib.h>

#include "common.h"

typedef struct {
  PyObject_HEAD brigade_uploads* uploads;
} Uploads;

typedef struct {
  PyObject_HEAD brigade_upload* upload;
  PyObject* targets;  // whose memory is written
} Upload;

static PyTypeObject* uploads_type;
static PyTypeObject* upload_type;

PyObject* run_uploads(PyObject* object, PyObject* device) {
  const char* name = PyUnicode_AsUTF8AndSize(device, NULL);
  brigade_run* run = name == NULL ? NULL : enter_run(object);
  if (run == NULL) return NULL;
  Uploads* self = (Uploads*)PyType_GenericAlloc(uploads_type, 0);
  brigade_status status = BRIGADE_ERROR_MEMORY;
  if (self != NULL) {
    Py_BEGIN_ALLOW_THREADS;
    status = brigade_run_uploads(run, name, BRIGADE_PIN_AUTO, &self->uploads);
    Py_END_ALLOW_THREADS;
    if (status) raise_status(status, NULL);
  }
  leave_run(object);
  if (!status) return (PyObject*)self;
  Py_XDECREF((PyObject*)self);
  return NULL;
}

static void uploads_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Uploads* self = (Uploads*)object;
  Py_BEGIN_ALLOW_THREADS;
  brigade_uploads_close(self->uploads);
  Py_END_ALLOW_THREADS;
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject* uploads_report(PyObject* object, PyObject* none) {
  (void)none;
  return text_of(brigade_uploads_report(((Uploads*)object)->uploads));
}

// What is copied where: `count` of each.
typedef struct {
  const brigade_tensor** tensors;
  uint64_t* to;
  Py_ssize_t count;
} Parts;

static int read_parts(PyObject* tensors, PyObject* addresses, Parts* parts) {
  parts->count = PyTuple_Size(tensors);
  if (PyTuple_Size(addresses) != parts->count) {
    PyErr_SetString(PyExc_ValueError, "expected one address per tensor");
    return -1;
  }
  parts->tensors = calloc((size_t)parts->count + 1, sizeof *parts->tensors);
  parts->to = calloc((size_t)parts->count + 1, sizeof *parts->to);
  if (parts->tensors == NULL || parts->to == NULL) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < parts->count; ++i) {
    parts->tensors[i] = tensor_shown(PyTuple_GetItem(tensors, i));
    parts->to[i] = PyLong_AsUnsignedLongLong(PyTuple_GetItem(addresses, i));
    if (PyErr_Occurred()) return -1;
  }
  return 0;
}

static PyObject* uploads_copy(PyObject* object, PyObject* arguments) {
  PyObject *batch = NULL, *tensors = NULL, *addresses = NULL, *targets = NULL;
  unsigned long long stream = 0;
  if (!PyArg_ParseTuple(arguments, "OO!O!KO", &batch, &PyTuple_Type, &tensors, &PyTuple_Type,
                        &addresses, &stream, &targets))
    return NULL;
  brigade_batch* of = batch_handle(batch);
  Parts parts = {NULL, NULL, 0};
  Upload* self = NULL;
  brigade_status status = BRIGADE_ERROR_ARGUMENT;
  if (of != NULL && read_parts(tensors, addresses, &parts) == 0)
    self = (Upload*)PyType_GenericAlloc(upload_type, 0);
  if (self != NULL) {
    self->targets = Py_NewRef(targets);
    Py_BEGIN_ALLOW_THREADS;
    status = brigade_uploads_copy(((Uploads*)object)->uploads, of, parts.tensors, parts.to,
                                  (size_t)parts.count, (void*)(uintptr_t)stream, &self->upload);
    Py_END_ALLOW_THREADS;
    if (status) raise_status(status, NULL);
  }
  free(parts.tensors);
  free(parts.to);
  if (!status) return (PyObject*)self;
  Py_XDECREF((PyObject*)self);
  return NULL;
}

// Memory that is waited for may go.
static PyObject* waited(Upload* self, brigade_status status) {
  if (status) return raise_status(status, NULL);
  Py_CLEAR(self->targets);
  Py_RETURN_NONE;
}

static PyObject* upload_await(PyObject* object, PyObject* argument) {
  const unsigned long long stream = PyLong_AsUnsignedLongLong(argument);
  if (PyErr_Occurred()) return NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_upload_await(((Upload*)object)->upload, (void*)(uintptr_t)stream);
  Py_END_ALLOW_THREADS;
  return waited((Upload*)object, status);
}

static PyObject* upload_wait(PyObject* object, PyObject* none) {
  (void)none;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_upload_wait(((Upload*)object)->upload);
  Py_END_ALLOW_THREADS;
  return waited((Upload*)object, status);
}

// The memory goes when nobody writes it any more.
static void upload_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Upload* self = (Upload*)object;
  Py_BEGIN_ALLOW_THREADS;
  brigade_upload_close(self->upload);
  Py_END_ALLOW_THREADS;
  Py_XDECREF(self->targets);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyMethodDef uploads_methods[] = {
    {"report", uploads_report, METH_NOARGS,
     "How much memory was pinned and in what time, or why none was."},
    {"copy", uploads_copy, METH_VARARGS,
     "copy(batch, tensors, addresses, stream, targets): an Upload; it keeps `targets` alive."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot uploads_slots[] = {
    {Py_tp_dealloc, uploads_dealloc},
    {Py_tp_methods, uploads_methods},
    {Py_tp_doc, "Copies the batches of a run to a device; returned by Run.uploads()."},
    {0, NULL},
};
static PyType_Spec uploads_spec = {"brigade._brigade.Uploads", sizeof(Uploads), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   uploads_slots};

static PyMethodDef upload_methods[] = {
    {"wait_on", upload_await, METH_O,
     "wait_on(stream): later work on the stream waits for the copy."},
    {"wait", upload_wait, METH_NOARGS, "Blocks this thread until the copy is done."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot upload_slots[] = {
    {Py_tp_dealloc, upload_dealloc},
    {Py_tp_methods, upload_methods},
    {Py_tp_doc, "A copy in progress. Its destructor waits for the copy."},
    {0, NULL},
};
static PyType_Spec upload_spec = {"brigade._brigade.Upload", sizeof(Upload), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  upload_slots};

int add_upload_types(PyObject* module) {
  uploads_type = add_type(module, &uploads_spec);
  upload_type = add_type(module, &upload_spec);
  return uploads_type == NULL || upload_type == NULL ? -1 : 0;
}
