#include "module.h"

#include <string.h>

static PyObject* exception_of;  // brigade._errors.exception_of

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

static PyObject* version(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  return text_of(brigade_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "Of the library that was loaded."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "brigade._brigade",
                                        "c.h and worker.h as Python objects.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

static int fill(PyObject* module) {
  PyObject* errors = PyImport_ImportModule("brigade._errors");
  if (errors == NULL) return -1;
  exception_of = PyObject_GetAttrString(errors, "exception_of");
  Py_DECREF(errors);
  if (exception_of == NULL) return -1;
  if (PyModule_AddStringConstant(module, "VERSION", BRIGADE_PACKAGE_VERSION)) return -1;
  if (PyModule_AddIntMacro(module, BRIGADE_QUIET)) return -1;
  if (PyModule_AddIntMacro(module, BRIGADE_IN_PROCESS)) return -1;
  return add_graph_types(module) || add_run_types(module) || add_batch_types(module) ||
         add_input_types(module) || add_arena_types(module) || add_worker_types(module);
}

PyMODINIT_FUNC PyInit__brigade(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL || fill(module) == 0) return module;
  Py_DECREF(module);
  return NULL;
}
