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
