// Tensors of `shared:`: memory that other processes load from and store to meanwhile. Views hold
// the handle, and the handle the memory, whatever has been closed.

#include "common.h"

static PyTypeObject* shared_type;

typedef struct {
  PyObject_HEAD brigade_shared* shared;
  brigade_tensor tensor;
  Py_ssize_t shape[BRIGADE_RANK_MAX];
  Py_ssize_t strides[BRIGADE_RANK_MAX];  // in bytes
} Shared;

static PyObject* shared_of(brigade_shared* shared) {
  Shared* self = (Shared*)PyType_GenericAlloc(shared_type, 0);
  if (self == NULL) {
    brigade_shared_release(shared);
    return NULL;
  }
  self->shared = shared;
  self->tensor.size = sizeof self->tensor;
  const brigade_status status = brigade_shared_tensor(shared, &self->tensor);
  if (status) {
    Py_DECREF((PyObject*)self);
    return raise_status(status, NULL);
  }
  sizes_of(&self->tensor, self->shape, self->strides);
  return (PyObject*)self;
}

PyObject* run_shared(PyObject* object, PyObject* argument) {
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  brigade_run* run = name == NULL ? NULL : enter_run(object);
  if (run == NULL) return NULL;
  brigade_shared* shared = NULL;
  const brigade_status status = brigade_run_shared(run, name, &shared);
  PyObject* result = status ? raise_status(status, NULL) : shared_of(shared);
  leave_run(object);
  return result;
}

PyObject* worker_shared(PyObject* object, PyObject* argument) {
  Worker* self = (Worker*)object;
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  brigade_worker* worker = name == NULL ? NULL : enter_worker(self);
  if (worker == NULL) return NULL;
  brigade_shared* shared = NULL;
  const brigade_status status = brigade_worker_shared(worker, name, &shared);
  PyObject* result = status ? raise_status(status, NULL) : shared_of(shared);
  leave_worker(self);
  return result;
}

static void shared_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  brigade_shared_release(((Shared*)object)->shared);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int shared_buffer(PyObject* object, Py_buffer* view, int flags) {
  Shared* self = (Shared*)object;
  const int readonly = (self->tensor.flags & BRIGADE_WRITABLE) == 0;
  const char* why = (flags & PyBUF_WRITABLE) && readonly
                        ? "its replicas write it (own_part); copy it before you write"
                        : why_other_order(&self->tensor, flags);
  if (why != NULL) {
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, "shared tensor %s: %s", self->tensor.name, why);
    return -1;
  }
  fill_view(view, object, &self->tensor, self->shape, self->strides, flags, readonly);
  return 0;
}

static PyObject* shared_name(PyObject* self, void* none) {
  (void)none;
  return text_of(((Shared*)self)->tensor.name);
}

static PyObject* shared_dtype(PyObject* self, void* none) {
  (void)none;
  return text_of(dtype_name(((Shared*)self)->tensor.dtype));
}

static PyObject* shared_shape(PyObject* object, void* none) {
  (void)none;
  const Shared* self = (Shared*)object;
  return shape_tuple(self->tensor.rank, self->shape);
}

static PyObject* shared_fill(PyObject* self, void* none) {
  (void)none;
  return PyBool_FromLong(brigade_shared_fill(((Shared*)self)->shared));
}

static PyObject* shared_initialised(PyObject* self, void* none) {
  (void)none;
  return PyBool_FromLong(brigade_shared_initialised(((Shared*)self)->shared));
}

static PyObject* shared_set_initialised(PyObject* self, PyObject* none) {
  (void)none;
  const brigade_status status = brigade_shared_set_initialised(((Shared*)self)->shared);
  return status ? raise_status(status, NULL) : Py_NewRef(Py_None);
}

static PyGetSetDef shared_properties[] = {
    {"name", shared_name, NULL, "Name of the tensor in the graph.", NULL},
    {"dtype", shared_dtype, NULL, "'float32', ...", NULL},
    {"shape", shared_shape, NULL, "Shape; in a replica with own_part, the shape of its part.",
     NULL},
    {"fill", shared_fill, NULL, "True if this replica must initialize it before its first task.",
     NULL},
    {"initialised", shared_initialised, NULL, "True if it is initialized.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef shared_methods[] = {
    {"set_initialised", shared_set_initialised, METH_NOARGS,
     "Marks it as initialized; a replica need not call this."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot shared_slots[] = {
    {Py_tp_dealloc, shared_dealloc},
    {Py_bf_getbuffer, shared_buffer},
    {Py_tp_getset, shared_properties},
    {Py_tp_methods, shared_methods},
    {Py_tp_doc,
     "A tensor of `shared:`, in memory shared by all processes that map it.\n\n`numpy.asarray` and "
     "`memoryview` view it without a copy and keep it mapped; for bfloat16 they\nreturn the 16 "
     "bits."},
    {0, NULL},
};
static PyType_Spec shared_spec = {"brigade.SharedTensor", sizeof(Shared), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  shared_slots};

int add_shared_types(PyObject* module) {
  shared_type = add_type(module, &shared_spec);
  return shared_type == NULL ? -1 : 0;
}
