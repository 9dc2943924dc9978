#include <string.h>

#include "common.h"

static PyObject* exception_of;  // brigade._errors.exception_of

int find_exceptions(void) {
  PyObject* errors = PyImport_ImportModule("brigade._errors");
  if (errors == NULL) return -1;
  exception_of = PyObject_GetAttrString(errors, "exception_of");
  Py_DECREF(errors);
  return exception_of == NULL ? -1 : 0;
}

PyObject* text_of(const char* text) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject* said_bytes(PyObject* text) {
  if (PyUnicode_Check(text)) return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  PyErr_Format(PyExc_TypeError, "expected a str, found %R", (PyObject*)Py_TYPE(text));
  return NULL;
}

PyObject* raise_status(brigade_status status, PyObject* diagnostics) {
  if (PyErr_Occurred()) return NULL;  // of a signal's handler
  PyObject* message = text_of(brigade_last_error());
  if (message == NULL) return NULL;
  PyObject* made = PyObject_CallFunction(exception_of, "iOO", (int)status, message,
                                         diagnostics == NULL ? Py_None : diagnostics);
  Py_DECREF(message);
  if (made == NULL) return NULL;
  PyErr_SetObject((PyObject*)Py_TYPE(made), made);
  Py_DECREF(made);
  return NULL;
}

// Of Python's buffers, and what the dtype is called. NumPy has no bf16, and buffers none.
static const struct {
  const char* format;
  const char* name;
} dtypes[] = {
    [BRIGADE_BOOL] = {"?", "bool"},   [BRIGADE_U8] = {"B", "uint8"},
    [BRIGADE_I8] = {"b", "int8"},     [BRIGADE_I16] = {"h", "int16"},
    [BRIGADE_I32] = {"i", "int32"},   [BRIGADE_I64] = {"l", "int64"},
    [BRIGADE_F16] = {"e", "float16"}, [BRIGADE_BF16] = {NULL, "bfloat16"},
    [BRIGADE_F32] = {"f", "float32"}, [BRIGADE_F64] = {"d", "float64"},
};
_Static_assert(sizeof(long) == 8, "`l` is 64 bits");

const char* dtype_format(brigade_dtype dtype) { return dtypes[dtype].format; }
const char* dtype_name(brigade_dtype dtype) { return dtypes[dtype].name; }

int dtype_known(brigade_dtype dtype) {
  return dtype >= 0 && (size_t)dtype < sizeof dtypes / sizeof *dtypes;
}

void sizes_of(const brigade_tensor* tensor, Py_ssize_t* shape, Py_ssize_t* strides) {
  for (int d = 0; d < tensor->rank; ++d) {
    shape[d] = (Py_ssize_t)tensor->shape[d];
    strides[d] = (Py_ssize_t)(tensor->strides[d] * (int64_t)tensor->element_bytes);
  }
}

PyObject* shape_tuple(int rank, const Py_ssize_t* shape) {
  PyObject* tuple = PyTuple_New(rank);
  for (int d = 0; tuple != NULL && d < rank; ++d)
    PyTuple_SetItem(tuple, d, PyLong_FromSsize_t(shape[d]));
  return tuple;
}

const char* why_other_order(const brigade_tensor* tensor, int flags) {
  const int fortran = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
  return fortran && tensor->rank > 1 ? "it is in C order, not in Fortran order" : NULL;
}

void fill_view(Py_buffer* view, PyObject* owner, const brigade_tensor* tensor, Py_ssize_t* shape,
               Py_ssize_t* strides, int flags, int readonly) {
  const char* format = dtype_format(tensor->dtype);
  view->obj = Py_NewRef(owner);
  view->buf = tensor->data;
  view->len = (Py_ssize_t)tensor->bytes;
  view->readonly = readonly;
  view->itemsize = (Py_ssize_t)tensor->element_bytes;
  view->format = flags & PyBUF_FORMAT ? (char*)(format == NULL ? "h" : format) : NULL;
  view->ndim = tensor->rank;
  view->shape = flags & PyBUF_ND ? shape : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? strides : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
}

PyObject* raise_closed(const char* what) {
  PyErr_Format(PyExc_ValueError, "the %s is closed", what);
  return NULL;
}

PyTypeObject* add_type(PyObject* module, PyType_Spec* spec) {
  PyObject* type = PyType_FromSpec(spec);
  if (type == NULL) return NULL;
  if (PyModule_AddType(module, (PyTypeObject*)type) == 0) return (PyTypeObject*)type;
  Py_DECREF(type);
  return NULL;
}
