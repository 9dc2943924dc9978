// Memory that processes of one program share without a name and without a descriptor for each part
// (mmap.mmap() of Python keeps one): parts of a memory file, and leases of them.

#define _GNU_SOURCE  // MADV_REMOVE
#include "common.h"

#include <sys/mman.h>

// --- Mapping -------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD char* data;
  Py_ssize_t size;
} Mapping;

static PyObject* mapping_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"descriptor", "offset", "size", "private", NULL};
  int descriptor = -1;
  long long offset = 0;
  Py_ssize_t size = 0;
  int private = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "iLn|p", names, &descriptor, &offset, &size,
                                   &private))
    return NULL;
  Mapping* self = (Mapping*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  void* data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, private ? MAP_PRIVATE : MAP_SHARED,
                    descriptor, (off_t)offset);
  if (data == MAP_FAILED) {
    PyErr_SetFromErrno(PyExc_OSError);
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  self->data = data;
  self->size = size;
  return (PyObject*)self;
}

static void mapping_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Mapping* self = (Mapping*)object;
  if (self->data != NULL) munmap(self->data, (size_t)self->size);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int mapping_buffer(PyObject* object, Py_buffer* view, int flags) {
  Mapping* self = (Mapping*)object;
  return PyBuffer_FillInfo(view, object, self->data, self->size, 0, flags);
}

// Gives the memory behind the first bytes back, for all who have mapped it.
static PyObject* mapping_trim(PyObject* object, PyObject* argument) {
  Mapping* self = (Mapping*)object;
  const Py_ssize_t page = 4096;
  const Py_ssize_t from = (PyLong_AsSsize_t(argument) + page - 1) / page * page;
  if (PyErr_Occurred()) return NULL;
  if (from >= 0 && from < self->size)
    madvise(self->data + from, (size_t)(self->size - from), MADV_REMOVE);
  Py_RETURN_NONE;
}

static PyObject* mapping_address(PyObject* object, void* none) {
  (void)none;
  return PyLong_FromVoidPtr(((Mapping*)object)->data);
}

static PyObject* mapping_size(PyObject* object, void* none) {
  (void)none;
  return PyLong_FromSsize_t(((Mapping*)object)->size);
}

static PyGetSetDef mapping_properties[] = {
    {"address", mapping_address, NULL, NULL, NULL},
    {"size", mapping_size, NULL, "In bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef mapping_methods[] = {
    {"trim", mapping_trim, METH_O, "trim(size): gives back what lies behind the first bytes."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot mapping_slots[] = {
    {Py_tp_new, mapping_new},
    {Py_tp_dealloc, mapping_dealloc},
    {Py_bf_getbuffer, mapping_buffer},
    {Py_tp_methods, mapping_methods},
    {Py_tp_getset, mapping_properties},
    {Py_tp_doc, "Mapping(descriptor, offset, size, private=False): a part of a file, in memory."},
    {0, NULL},
};
static PyType_Spec mapping_spec = {"brigade._brigade.Mapping", sizeof(Mapping), 0,
                                   Py_TPFLAGS_DEFAULT, mapping_slots};

// --- Lease ---------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD PyObject* owner;  // keeps the memory
  char* data;
  Py_ssize_t size;
  PyObject* returned;  // a list, or NULL
  PyObject* item;      // what is appended to it at the end
} Lease;

static PyObject* lease_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"owner", "address", "size", "returned", "item", NULL};
  PyObject* owner = NULL;
  unsigned long long address = 0;
  Py_ssize_t size = 0;
  PyObject* returned = NULL;
  PyObject* item = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OKn|O!O", names, &owner, &address, &size,
                                   &PyList_Type, &returned, &item))
    return NULL;
  Lease* self = (Lease*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  self->owner = Py_NewRef(owner);
  self->data = (char*)(uintptr_t)address;
  self->size = size;
  self->returned = Py_XNewRef(returned);
  self->item = Py_NewRef(item);
  return (PyObject*)self;
}

static void lease_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Lease* self = (Lease*)object;
  if (self->returned != NULL && PyList_Append(self->returned, self->item)) PyErr_Clear();
  Py_XDECREF(self->returned);
  Py_XDECREF(self->item);
  Py_XDECREF(self->owner);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int lease_buffer(PyObject* object, Py_buffer* view, int flags) {
  Lease* self = (Lease*)object;
  return PyBuffer_FillInfo(view, object, self->data, self->size, 0, flags);
}

static PyType_Slot lease_slots[] = {
    {Py_tp_new, lease_new},
    {Py_tp_dealloc, lease_dealloc},
    {Py_bf_getbuffer, lease_buffer},
    {Py_tp_doc,
     "Lease(owner, address, size, returned=[], item=None): memory that `owner` keeps, as a "
     "buffer.\n"
     "With the last of what was made of it, `item` is appended to the list `returned`."},
    {0, NULL},
};
static PyType_Spec lease_spec = {"brigade._brigade.Lease", sizeof(Lease), 0, Py_TPFLAGS_DEFAULT,
                                 lease_slots};

int add_arena_types(PyObject* module) {
  return add_type(module, &mapping_spec) == NULL || add_type(module, &lease_spec) == NULL ? -1 : 0;
}
