#include "common.h"

static PyObject* version(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  return text_of(brigade_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "Version of the loaded library."},
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
  if (find_exceptions() != 0) return -1;
  if (PyModule_AddStringConstant(module, "VERSION", BRIGADE_PACKAGE_VERSION)) return -1;
  if (PyModule_AddIntMacro(module, BRIGADE_QUIET)) return -1;
  if (PyModule_AddIntMacro(module, BRIGADE_IN_PROCESS)) return -1;
  return add_graph_types(module) || add_run_types(module) || add_batch_types(module) ||
         add_input_types(module) || add_arena_types(module) || add_worker_types(module) ||
         add_shared_types(module) || add_upload_types(module) || add_events_types(module) ||
         add_fork_functions(module);
}

PyMODINIT_FUNC PyInit__brigade(void) {
  PyObject* module = PyModule_Create(&definition);
  if (module == NULL || fill(module) == 0) return module;
  Py_DECREF(module);
  return NULL;
}
