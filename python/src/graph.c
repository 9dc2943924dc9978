// Which program workers execute, and graphs.

#include <stdlib.h>

#include "common.h"

// --- App -----------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD brigade_app* app;
} App;

static PyTypeObject* app_type;

static PyObject* app_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"program", NULL};
  const char* program = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|z", names, &program)) return NULL;
  App* self = (App*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) return NULL;
  brigade_app_options options = {.size = sizeof options, .program = program};
  brigade_status status = brigade_app_open(&options, &self->app);
  if (!status) return (PyObject*)self;
  Py_DECREF(self);
  return raise_status(status, NULL);
}

static void app_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  brigade_app_close(((App*)self)->app);
  PyObject_Free(self);
  Py_DECREF(type);
}

brigade_app* app_handle(PyObject* app) {
  if (PyObject_TypeCheck(app, app_type)) return ((App*)app)->app;
  PyErr_SetString(PyExc_TypeError, "expected an App");
  return NULL;
}

static PyType_Slot app_slots[] = {
    {Py_tp_new, app_new},
    {Py_tp_dealloc, app_dealloc},
    {Py_tp_doc, "App(program=None): the `brigade` program that workers execute."},
    {0, NULL},
};
static PyType_Spec app_spec = {"brigade._brigade.App", sizeof(App), 0, Py_TPFLAGS_DEFAULT,
                               app_slots};

// --- Graph ---------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD brigade_graph* graph;
  int busy;
} Graph;

static PyTypeObject* graph_type;

static brigade_status open_files(PyObject* paths, brigade_graph** graph) {
  const Py_ssize_t count = PyTuple_Size(paths);
  const char** text = calloc((size_t)count + 1, sizeof *text);
  if (text == NULL) return BRIGADE_ERROR_MEMORY;
  brigade_status status = BRIGADE_OK;
  for (Py_ssize_t i = 0; i < count; ++i) {
    text[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
    if (text[i] == NULL) status = BRIGADE_ERROR_ARGUMENT;
  }
  if (!status) status = brigade_graph_from_files(text, (size_t)count, graph);
  free(text);
  return status;
}

static PyObject* graph_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"paths", "text", "name", NULL};
  PyObject* paths = NULL;
  const char* text = NULL;
  const char* name = "graph";
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O!|zs", names, &PyTuple_Type, &paths,
                                   &text, &name))
    return NULL;
  Graph* self = (Graph*)PyType_GenericNew(type, NULL, NULL);
  if (self == NULL) return NULL;
  brigade_status status = text != NULL ? brigade_graph_from_text(text, name, &self->graph)
                                       : open_files(paths, &self->graph);
  if (!status) return (PyObject*)self;
  Py_DECREF(self);
  return raise_status(status, NULL);
}

static void graph_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  brigade_graph_close(((Graph*)self)->graph);
  PyObject_Free(self);
  Py_DECREF(type);
}

static int enter(Graph* self) {
  if (self->busy) PyErr_SetString(PyExc_RuntimeError, "another thread is using the graph");
  return self->busy ? -1 : (self->busy = 1, 0);
}

static PyObject* one_diagnostic(const brigade_diagnostic* one) {
  PyObject* made = PyTuple_New(7);
  if (made == NULL) return NULL;
  PyTuple_SetItem(made, 0, PyBool_FromLong(one->is_error));
  PyTuple_SetItem(made, 1, text_of(one->file));
  PyTuple_SetItem(made, 2, PyLong_FromLong(one->line));
  PyTuple_SetItem(made, 3, PyLong_FromLong(one->column));
  PyTuple_SetItem(made, 4, text_of(one->source));
  PyTuple_SetItem(made, 5, text_of(one->message));
  PyTuple_SetItem(made, 6, text_of(one->help));
  return made;
}

static PyObject* graph_diagnostics(const Graph* self) {
  const size_t count = brigade_graph_diagnostics(self->graph);
  PyObject* all = PyList_New(0);
  for (size_t i = 0; all != NULL && i < count; ++i) {
    brigade_diagnostic one = {.size = sizeof one};
    if (brigade_graph_diagnostic(self->graph, i, &one)) continue;
    PyObject* made = one_diagnostic(&one);
    if (made == NULL || PyList_Append(all, made)) Py_CLEAR(all);
    Py_XDECREF(made);
  }
  return all;
}

// What a call has given, or its exception; the diagnostics of one that found mistakes.
static PyObject* leave(Graph* self, brigade_status status, PyObject* result) {
  self->busy = 0;
  if (!status) return result;
  Py_XDECREF(result);
  PyObject* diagnostics = status == BRIGADE_ERROR_GRAPH ? graph_diagnostics(self) : NULL;
  raise_status(status, diagnostics);
  Py_XDECREF(diagnostics);
  return NULL;
}

static PyObject* graph_set(PyObject* object, PyObject* argument) {
  Graph* self = (Graph*)object;
  const char* text = PyUnicode_AsUTF8AndSize(argument, NULL);
  if (text == NULL || enter(self)) return NULL;
  return leave(self, brigade_graph_set(self->graph, text), Py_NewRef(Py_None));
}

static PyObject* graph_read(PyObject* object, PyObject* stage) {
  Graph* self = (Graph*)object;
  const char* name = PyUnicode_AsUTF8AndSize(stage, NULL);
  if (name == NULL || enter(self)) return NULL;
  return leave(self, brigade_graph_read(self->graph, &name, 1), Py_NewRef(Py_None));
}

static PyObject* graph_set_rank(PyObject* object, PyObject* arguments) {
  Graph* self = (Graph*)object;
  unsigned long long rank = 0;
  unsigned long long world = 0;
  int over_graph = 0;
  if (!PyArg_ParseTuple(arguments, "KKp", &rank, &world, &over_graph) || enter(self)) return NULL;
  return leave(self, brigade_graph_set_rank(self->graph, rank, world, over_graph),
               Py_NewRef(Py_None));
}

static PyObject* graph_limit(PyObject* object, PyObject* argument) {
  Graph* self = (Graph*)object;
  const unsigned long long samples = PyLong_AsUnsignedLongLong(argument);
  if (PyErr_Occurred() || enter(self)) return NULL;
  return leave(self, brigade_graph_limit(self->graph, samples), Py_NewRef(Py_None));
}

static PyObject* graph_count(PyObject* object, PyObject* none) {
  (void)none;
  Graph* self = (Graph*)object;
  if (enter(self)) return NULL;
  return leave(self, brigade_graph_count(self->graph), Py_NewRef(Py_None));
}

static PyObject* graph_set_state(PyObject* object, PyObject* argument) {
  Graph* self = (Graph*)object;
  char* bytes = NULL;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(argument, &bytes, &size) || enter(self)) return NULL;
  return leave(self, brigade_graph_set_state(self->graph, bytes, (size_t)size), Py_NewRef(Py_None));
}

static PyObject* graph_check(PyObject* object, PyObject* app) {
  Graph* self = (Graph*)object;
  brigade_app* handle = app_handle(app);
  if (handle == NULL || enter(self)) return NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_graph_check(self->graph, handle);
  Py_END_ALLOW_THREADS;
  const int found = !status || status == BRIGADE_ERROR_GRAPH;
  return leave(self, found ? BRIGADE_OK : status, found ? graph_diagnostics(self) : NULL);
}

static PyObject* graph_plan(PyObject* object, PyObject* app) {
  Graph* self = (Graph*)object;
  brigade_app* handle = app_handle(app);
  if (handle == NULL || enter(self)) return NULL;
  brigade_status status;
  const char* json = NULL;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_graph_plan(self->graph, handle, &json);
  Py_END_ALLOW_THREADS;
  return leave(self, status, status ? NULL : text_of(json));
}

static PyObject* graph_start(PyObject* object, PyObject* arguments) {
  Graph* self = (Graph*)object;
  PyObject* app = NULL;
  PyObject* events = NULL;
  unsigned long long flags = 0;
  long long forker = 0;
  if (!PyArg_ParseTuple(arguments, "OKO|L", &app, &flags, &events, &forker)) return NULL;
  brigade_app* handle = app_handle(app);
  const brigade_run_options options = {.flags = flags,
                                       .log_descriptor = BRIGADE_NO_LINES,
                                       .forker_descriptor = forker,
                                       .events = events_handle(events)};
  if (handle == NULL || PyErr_Occurred() || enter(self)) return NULL;
  brigade_status status = BRIGADE_OK;
  PyObject* run = run_started(self->graph, handle, &options, &status);
  return leave(self, status, run);
}

static PyMethodDef graph_methods[] = {
    {"set", graph_set, METH_O, "Sets a value, like --set on the command line."},
    {"read", graph_read, METH_O, "Sets the stage whose batches the program reads."},
    {"set_rank", graph_set_rank, METH_VARARGS, "set_rank(rank, world, over_graph)."},
    {"limit", graph_limit, METH_O, "Limits the samples of every indexed producer."},
    {"count", graph_count, METH_NOARGS, "Counts the samples of the sources, for later plans."},
    {"set_state", graph_set_state, METH_O, "Resumes from the state of an earlier run (bytes)."},
    {"check", graph_check, METH_O, "check(app): returns all diagnostics."},
    {"plan", graph_plan, METH_O, "plan(app): JSON."},
    {"start", graph_start, METH_VARARGS,
     "start(app, flags, events, forker=0): returns a Run; it prints nothing."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot graph_slots[] = {
    {Py_tp_new, graph_new},
    {Py_tp_dealloc, graph_dealloc},
    {Py_tp_methods, graph_methods},
    {Py_tp_doc,
     "Graph(paths, text=None, name='graph'): a graph from files (paths as bytes), or from text."},
    {0, NULL},
};
static PyType_Spec graph_spec = {"brigade._brigade.Graph", sizeof(Graph), 0, Py_TPFLAGS_DEFAULT,
                                 graph_slots};

int add_graph_types(PyObject* module) {
  app_type = add_type(module, &app_spec);
  graph_type = add_type(module, &graph_spec);
  return app_type == NULL || graph_type == NULL ? -1 : 0;
}
