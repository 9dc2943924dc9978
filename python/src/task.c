// Tasks of a replica and their tensors, which lie in slots that are this replica's until the task
// is settled, and others' afterwards. The memory stays mapped, so a view that Python still has
// reads what others write; therefore no view is given any more, and a task counts those that are
// alive.

#include "common.h"

static PyTypeObject* task_type;
static PyTypeObject* sample_type;

static brigade_worker* enter_task(Task* self) {
  if (self->settled) {
    PyErr_SetString(PyExc_ValueError, "the task is settled");
    return NULL;
  }
  return enter_alone(self->worker);
}

PyObject* task_of(Worker* worker, const brigade_task* given) {
  Task* self = (Task*)PyType_GenericAlloc(task_type, 0);
  if (self == NULL) return NULL;
  self->worker = (Worker*)Py_NewRef((PyObject*)worker);
  self->source = text_of(given->source);
  self->samples = given->samples;
  self->inputs = given->inputs;
  self->outputs = given->outputs;
  return (PyObject*)self;
}

static void task_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF(((Task*)object)->source);
  Py_DECREF((PyObject*)((Task*)object)->worker);
  PyObject_Free(object);
  Py_DECREF(type);
}

typedef struct {
  brigade_status (*at)(const brigade_worker*, uint64_t, brigade_tensor*);
  brigade_status (*find)(const brigade_worker*, const char*, brigade_tensor*);
} Side;
static const Side inputs = {brigade_worker_input, brigade_worker_find_input};
static const Side outputs = {brigade_worker_output, brigade_worker_find_output};

// By its name or its number.
static PyObject* task_tensor(Task* self, PyObject* key, const Side* side) {
  const int is_name = PyUnicode_Check(key);
  const char* name = is_name ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
  const unsigned long long i = is_name ? 0 : PyLong_AsUnsignedLongLong(key);
  brigade_worker* worker = PyErr_Occurred() ? NULL : enter_task(self);
  if (worker == NULL) return NULL;
  brigade_tensor tensor = {.size = sizeof tensor};
  const brigade_status status =
      is_name ? side->find(worker, name, &tensor) : side->at(worker, i, &tensor);
  return leave_alone(self->worker, status, status ? NULL : tensor_of_task(self, &tensor));
}

static PyObject* task_input(PyObject* self, PyObject* key) {
  return task_tensor((Task*)self, key, &inputs);
}

static PyObject* task_output(PyObject* self, PyObject* key) {
  return task_tensor((Task*)self, key, &outputs);
}

static PyObject* task_names(Task* self, uint64_t count, const Side* side) {
  brigade_worker* worker = enter_task(self);
  if (worker == NULL) return NULL;
  PyObject* names = PyTuple_New((Py_ssize_t)count);
  brigade_status status = BRIGADE_OK;
  for (uint64_t i = 0; names != NULL && !status && i < count; ++i) {
    brigade_tensor tensor = {.size = sizeof tensor};
    status = side->at(worker, i, &tensor);
    PyObject* name = status ? NULL : text_of(tensor.name);
    if (!status && (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name))) Py_CLEAR(names);
  }
  return leave_alone(self->worker, status, names);
}

static PyObject* task_inputs(PyObject* self, void* none) {
  (void)none;
  return task_names((Task*)self, ((Task*)self)->inputs, &inputs);
}

static PyObject* task_outputs(PyObject* self, void* none) {
  (void)none;
  return task_names((Task*)self, ((Task*)self)->outputs, &outputs);
}

static PyObject* sample_of(const brigade_sample* sample) {
  const uint64_t numbers[] = {sample->number, sample->epoch, sample->index, sample->id};
  PyObject* made = PyStructSequence_New(sample_type);
  for (int i = 0; made != NULL && i < 4; ++i) {
    PyObject* number = PyLong_FromUnsignedLongLong(numbers[i]);
    if (number == NULL)
      Py_CLEAR(made);
    else
      PyStructSequence_SetItem(made, i, number);
  }
  return made;
}

static PyObject* task_sample(PyObject* object, PyObject* arguments) {
  Task* self = (Task*)object;
  unsigned long long i = 0;
  if (!PyArg_ParseTuple(arguments, "|K", &i)) return NULL;
  brigade_worker* worker = enter_task(self);
  if (worker == NULL) return NULL;
  brigade_sample sample = {.size = sizeof sample};
  const brigade_status status = brigade_worker_sample(worker, i, &sample);
  return leave_alone(self->worker, status, status ? NULL : sample_of(&sample));
}

static PyObject* task_resize(PyObject* object, PyObject* arguments) {
  Task* self = (Task*)object;
  const char* name = NULL;
  PyObject* given = NULL;
  if (!PyArg_ParseTuple(arguments, "sO", &name, &given)) return NULL;
  PyObject* sizes = PySequence_Tuple(given);
  if (sizes == NULL) return NULL;
  const Py_ssize_t rank = PyTuple_Size(sizes);
  int64_t shape[BRIGADE_RANK_MAX] = {0};
  for (Py_ssize_t i = 0; i < rank && i < BRIGADE_RANK_MAX; ++i)
    shape[i] = PyLong_AsLongLong(PyTuple_GetItem(sizes, i));
  Py_DECREF(sizes);
  brigade_worker* worker = PyErr_Occurred() ? NULL : enter_task(self);
  if (worker == NULL) return NULL;
  const brigade_status status =
      brigade_worker_resize(worker, name, shape, rank > INT32_MAX ? INT32_MAX : (int32_t)rank);
  return leave_alone(self->worker, status, status ? NULL : Py_NewRef(Py_None));
}

static PyObject* task_random(PyObject* object, PyObject* arguments) {
  enum { WORDS_MAX = 64 };
  Task* self = (Task*)object;
  unsigned long long i = 0;
  Py_ssize_t count = 1;
  if (!PyArg_ParseTuple(arguments, "|Kn", &i, &count)) return NULL;
  if (count < 0 || count > WORDS_MAX) {
    PyErr_Format(PyExc_ValueError, "%zd words are not in 0 .. %d: seed a generator", count,
                 (int)WORDS_MAX);
    return NULL;
  }
  brigade_worker* worker = enter_task(self);
  if (worker == NULL) return NULL;
  uint64_t words[WORDS_MAX];
  const brigade_status status = brigade_worker_random(worker, i, words, (size_t)count);
  PyObject* result = status ? NULL : PyTuple_New(count);
  for (Py_ssize_t k = 0; result != NULL && k < count; ++k) {
    PyObject* word = PyLong_FromUnsignedLongLong(words[k]);
    if (word == NULL || PyTuple_SetItem(result, k, word)) Py_CLEAR(result);
  }
  return leave_alone(self->worker, status, result);
}

// Views are refused from here on, unless the library has refused and the task goes on.
static PyObject* settle(Task* self, brigade_status (*how)(brigade_worker*), const char* why) {
  brigade_worker* worker = enter_task(self);
  if (worker == NULL) return NULL;
  self->settled = 1;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = how != NULL ? how(worker) : brigade_worker_error(worker, why);
  Py_END_ALLOW_THREADS;
  if (status == BRIGADE_ERROR_ARGUMENT) self->settled = 0;
  return leave_alone(self->worker, status, status ? NULL : Py_NewRef(Py_None));
}

static PyObject* task_finish(PyObject* self, PyObject* none) {
  (void)none;
  const Py_ssize_t views = ((Task*)self)->views[1];
  if (views == 0) return settle((Task*)self, brigade_worker_finish, NULL);
  PyErr_Format(PyExc_BufferError,
               "%zd array%s of the task's outputs %s still in use; `del` the arrays before you "
               "finish the task",
               views, views == 1 ? "" : "s", views == 1 ? "is" : "are");
  return NULL;
}

static PyObject* task_drop(PyObject* self, PyObject* none) {
  (void)none;
  return settle((Task*)self, brigade_worker_drop, NULL);
}

static PyObject* task_error(PyObject* self, PyObject* why) {
  PyObject* text = said_bytes(why);
  PyObject* settled = text == NULL ? NULL : settle((Task*)self, NULL, PyBytes_AsString(text));
  Py_XDECREF(text);
  return settled;
}

static PyObject* task_samples(PyObject* self, void* none) {
  (void)none;
  return PyLong_FromUnsignedLongLong(((Task*)self)->samples);
}

static PyObject* task_source(PyObject* self, void* none) {
  (void)none;
  return Py_XNewRef(((Task*)self)->source);
}

static PyObject* task_views(PyObject* self, void* none) {
  (void)none;
  return PyLong_FromSsize_t(((Task*)self)->views[0] + ((Task*)self)->views[1]);
}

static PyObject* task_settled(PyObject* self, void* none) {
  (void)none;
  return PyBool_FromLong(((Task*)self)->settled);
}

static PyGetSetDef task_properties[] = {
    {"samples", task_samples, NULL, "Number of samples: 1, or the size of the batch.", NULL},
    {"source", task_source, NULL, "The input port, if there are several.", NULL},
    {"inputs", task_inputs, NULL, "Names of the tensors to read.", NULL},
    {"outputs", task_outputs, NULL, "Names of the tensors to write.", NULL},
    {"views", task_views, NULL, "Number of live buffers of its tensors.", NULL},
    {"settled", task_settled, NULL, "True if it was finished or dropped, or has failed.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef task_methods[] = {
    {"input", task_input, METH_O, "input(name or number): a Tensor to read."},
    {"output", task_output, METH_O, "output(name or number): a Tensor to write."},
    {"sample", task_sample, METH_VARARGS, "sample(i=0): a Sample (number, epoch, index, id)."},
    {"resize", task_resize, METH_VARARGS,
     "resize(name, sizes): sets the shape of a ragged output; earlier arrays keep the old one."},
    {"random", task_random, METH_VARARGS,
     "random(i=0, count=1): the first random words of sample i."},
    {"finish", task_finish, METH_NOARGS,
     "Finishes the task; its outputs are written and no array of them exists."},
    {"drop", task_drop, METH_NOARGS, "Drops its samples."},
    {"error", task_error, METH_O, "error(why): marks its samples as failed."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot task_slots[] = {
    {Py_tp_dealloc, task_dealloc},
    {Py_tp_getset, task_properties},
    {Py_tp_methods, task_methods},
    {Py_tp_doc,
     "A sample or batch that this replica processes until finish(), drop() or error() settles "
     "it.\nThen its slots are reused: its Tensors return no views, and remaining views read "
     "or\noverwrite other samples."},
    {0, NULL},
};
static PyType_Spec task_spec = {"brigade.Task", sizeof(Task), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, task_slots};

static PyStructSequence_Field sample_fields[] = {
    {"number", "in the stream through all epochs"},   {"epoch", NULL}, {"index", "in its epoch"},
    {"id", "in its source: the same in every epoch"}, {NULL, NULL},
};
static PyStructSequence_Desc sample_description = {"brigade.Sample", "The identity of a sample.",
                                                   sample_fields, 4};

int add_task_types(PyObject* module) {
  task_type = add_type(module, &task_spec);
  sample_type = PyStructSequence_NewType(&sample_description);
  if (task_type == NULL || sample_type == NULL) return -1;
  return PyModule_AddType(module, sample_type);
}
