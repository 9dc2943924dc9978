// Inputs of a run, and the slots that a program writes.

#include "common.h"

static PyTypeObject* input_type;
static PyTypeObject* slot_type;
static PyTypeObject* view_type;

// --- SlotTensor ----------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD brigade_slot* slot;  // NULL: submitted or dropped
  Py_ssize_t exports;  // buffers of its tensors: what they show is the graph's after submit()
} Slot;

typedef struct {
  PyObject_HEAD Slot* slot;  // a reference
  brigade_tensor tensor;
  Py_ssize_t shape[BRIGADE_RANK_MAX];
  Py_ssize_t strides[BRIGADE_RANK_MAX];  // in bytes
} SlotTensor;

static PyObject* slot_is_gone(void) {
  PyErr_SetString(PyExc_ValueError, "the slot was already submitted or dropped; acquire a new one");
  return NULL;
}

static PyObject* slot_tensor_of(Slot* slot, const brigade_tensor* tensor) {
  SlotTensor* self = (SlotTensor*)PyType_GenericAlloc(view_type, 0);
  if (self == NULL) return NULL;
  self->slot = (Slot*)Py_NewRef((PyObject*)slot);
  self->tensor = *tensor;
  sizes_of(tensor, self->shape, self->strides);
  return (PyObject*)self;
}

static void slot_tensor_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_XDECREF((PyObject*)((SlotTensor*)object)->slot);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int slot_tensor_buffer(PyObject* object, Py_buffer* view, int flags) {
  SlotTensor* self = (SlotTensor*)object;
  view->obj = NULL;
  if (self->slot->slot == NULL) {
    slot_is_gone();
    return -1;
  }
  const char* why = why_other_order(&self->tensor, flags);
  if (why != NULL) {
    PyErr_Format(PyExc_BufferError, "tensor %s: %s", self->tensor.name, why);
    return -1;
  }
  fill_view(view, object, &self->tensor, self->shape, self->strides, flags, 0);
  ++self->slot->exports;
  return 0;
}

static void slot_tensor_release(PyObject* object, Py_buffer* view) {
  (void)view;
  --((SlotTensor*)object)->slot->exports;
}

static PyObject* slot_tensor_dtype(PyObject* self, void* none) {
  (void)none;
  return text_of(dtype_name(((SlotTensor*)self)->tensor.dtype));
}

static PyObject* slot_tensor_ragged(PyObject* self, void* none) {
  (void)none;
  return PyBool_FromLong(((SlotTensor*)self)->tensor.flags & BRIGADE_RAGGED);
}

static PyGetSetDef slot_tensor_properties[] = {
    {"dtype", slot_tensor_dtype, NULL, "'float32', ...", NULL},
    {"ragged", slot_tensor_ragged, NULL, "Whether samples have different sizes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slot_tensor_slots[] = {
    {Py_tp_dealloc, slot_tensor_dealloc},
    {Py_bf_getbuffer, slot_tensor_buffer},
    {Py_bf_releasebuffer, slot_tensor_release},
    {Py_tp_getset, slot_tensor_properties},
    {Py_tp_doc, "A writable tensor of a slot; bfloat16 has the type int16."},
    {0, NULL},
};
static PyType_Spec slot_tensor_spec = {"brigade._brigade.SlotTensor", sizeof(SlotTensor), 0,
                                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                       slot_tensor_slots};

// --- Slot ----------------------------------------------------------------------------------------

static brigade_slot* held_slot(PyObject* object) {
  brigade_slot* slot = ((Slot*)object)->slot;
  if (slot == NULL) slot_is_gone();
  return slot;
}

// Of a slot that is about to go: nothing may point into it any more.
static brigade_slot* free_slot(PyObject* object) {
  brigade_slot* slot = held_slot(object);
  const Py_ssize_t exports = ((Slot*)object)->exports;
  if (slot == NULL || exports == 0) return slot;
  PyErr_Format(PyExc_BufferError,
               "%zd array%s of this slot %s still in use; write slot[name][...] = values, or `del` "
               "the arrays before you submit the slot",
               exports, exports == 1 ? "" : "s", exports == 1 ? "is" : "are");
  return NULL;
}

static PyObject* slot_names(PyObject* object, PyObject* none) {
  (void)none;
  brigade_slot* slot = held_slot(object);
  if (slot == NULL) return NULL;
  const size_t count = brigade_slot_tensors(slot);
  PyObject* names = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; names != NULL && i < count; ++i) {
    brigade_tensor tensor = {.size = sizeof tensor};
    brigade_status status = brigade_slot_tensor(slot, i, &tensor);
    PyObject* name = status ? raise_status(status, NULL) : text_of(tensor.name);
    if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name)) Py_CLEAR(names);
  }
  return names;
}

static PyObject* slot_tensor(PyObject* object, PyObject* argument) {
  brigade_slot* slot = held_slot(object);
  const char* name = slot == NULL ? NULL : PyUnicode_AsUTF8AndSize(argument, NULL);
  if (name == NULL) return NULL;
  brigade_tensor tensor = {.size = sizeof tensor};
  brigade_status status = brigade_slot_find(slot, name, &tensor);
  return status ? raise_status(status, NULL) : slot_tensor_of((Slot*)object, &tensor);
}

static PyObject* slot_resize(PyObject* object, PyObject* arguments) {
  const char* name = NULL;
  PyObject* shape = NULL;
  brigade_slot* slot = held_slot(object);
  if (slot == NULL || !PyArg_ParseTuple(arguments, "sO!", &name, &PyTuple_Type, &shape))
    return NULL;
  int64_t sizes[BRIGADE_RANK_MAX];
  const Py_ssize_t rank = PyTuple_Size(shape);
  for (Py_ssize_t d = 0; d < rank && d < BRIGADE_RANK_MAX; ++d)
    sizes[d] = PyLong_AsLongLong(PyTuple_GetItem(shape, d));
  if (PyErr_Occurred()) return NULL;
  brigade_status status = brigade_slot_resize(slot, name, sizes, (int32_t)rank);
  if (status) return raise_status(status, NULL);
  Py_RETURN_NONE;
}

static PyObject* slot_sample(PyObject* object, PyObject* none) {
  (void)none;
  brigade_slot* slot = held_slot(object);
  if (slot == NULL) return NULL;
  brigade_sample sample = {.size = sizeof sample};
  brigade_status status = brigade_slot_sample(slot, &sample);
  if (status) return raise_status(status, NULL);
  return Py_BuildValue("(KKK)", (unsigned long long)sample.number, (unsigned long long)sample.epoch,
                       (unsigned long long)sample.index);
}

static PyObject* slot_submit(PyObject* object, PyObject* none) {
  (void)none;
  brigade_slot* slot = free_slot(object);
  if (slot == NULL) return NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_slot_submit(slot);
  Py_END_ALLOW_THREADS;
  if (status) return raise_status(status, NULL);
  ((Slot*)object)->slot = NULL;
  Py_RETURN_NONE;
}

static PyObject* slot_drop(PyObject* object, PyObject* none) {
  (void)none;
  if (((Slot*)object)->slot == NULL) Py_RETURN_NONE;
  brigade_slot* slot = free_slot(object);
  if (slot == NULL) return NULL;
  ((Slot*)object)->slot = NULL;
  brigade_slot_drop(slot);
  Py_RETURN_NONE;
}

static PyObject* slot_held(PyObject* object, void* none) {
  (void)none;
  return PyBool_FromLong(((Slot*)object)->slot != NULL);
}

static void slot_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  brigade_slot_drop(((Slot*)object)->slot);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyGetSetDef slot_properties[] = {
    {"held", slot_held, NULL, "True until it is submitted or dropped.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef slot_methods[] = {
    {"names", slot_names, METH_NOARGS, "Names of the tensors."},
    {"tensor", slot_tensor, METH_O, "tensor(name): a SlotTensor."},
    {"resize", slot_resize, METH_VARARGS,
     "resize(name, shape): sets the shape of a ragged tensor."},
    {"sample", slot_sample, METH_NOARGS, "(number, epoch, index)."},
    {"submit", slot_submit, METH_NOARGS, "Passes the sample to the graph."},
    {"drop", slot_drop, METH_NOARGS, "Drops the sample."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slot_slots[] = {
    {Py_tp_dealloc, slot_dealloc},
    {Py_tp_getset, slot_properties},
    {Py_tp_methods, slot_methods},
    {Py_tp_doc, "Memory for one sample."},
    {0, NULL},
};
static PyType_Spec slot_spec = {"brigade._brigade.Slot", sizeof(Slot), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slot_slots};

// --- Input ---------------------------------------------------------------------------------------

typedef struct {
  PyObject_HEAD brigade_input* input;
  Uses uses;
} Input;

PyObject* run_input(PyObject* run, PyObject* argument) {
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  brigade_run* handle = name == NULL ? NULL : enter_run(run);
  if (handle == NULL) return NULL;
  Input* input = (Input*)PyType_GenericAlloc(input_type, 0);
  brigade_status status =
      input == NULL ? BRIGADE_OK : brigade_run_input(handle, name, &input->input);
  if (status) {
    Py_CLEAR(input);
    raise_status(status, NULL);
  }
  leave_run(run);
  return (PyObject*)input;
}

static void close_input(Input* self) {
  brigade_input* input = self->input;
  self->input = NULL;
  Py_BEGIN_ALLOW_THREADS;
  brigade_input_close(input);
  Py_END_ALLOW_THREADS;
}

static void leave_input(Input* self) {
  if (--self->uses.calls == 0 && self->uses.closed) close_input(self);
}

static PyObject* slot_of(brigade_slot* taken) {
  Slot* slot = (Slot*)PyType_GenericAlloc(slot_type, 0);
  if (slot == NULL)
    brigade_slot_drop(taken);
  else
    slot->slot = taken;
  return (PyObject*)slot;
}

// acquire(seconds, file, line): a Slot, or None; below 0 seconds it waits as long as it takes.
static PyObject* input_acquire(PyObject* object, PyObject* arguments) {
  Input* self = (Input*)object;
  double seconds = 0;
  const char* file = NULL;
  int line = 0;
  if (!PyArg_ParseTuple(arguments, "dsi", &seconds, &file, &line)) return NULL;
  if (self->uses.closed) return raise_closed("input");
  const uint64_t most = (uint64_t)INT64_MAX;
  const uint64_t timeout = seconds < 0     ? BRIGADE_FOR_EVER
                           : seconds > 9e9 ? most
                                           : (uint64_t)(seconds * 1e9);
  ++self->uses.calls;
  brigade_slot* taken = NULL;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_input_acquire_at(self->input, timeout, file, line, &taken);
  Py_END_ALLOW_THREADS;
  PyObject* result = NULL;
  if (status == BRIGADE_OK)
    result = slot_of(taken);
  else if (status == BRIGADE_END || status == BRIGADE_TIMEOUT)
    result = Py_NewRef(Py_None);
  else
    raise_status(status, NULL);
  leave_input(self);
  return result;
}

static PyObject* input_end_epoch(PyObject* object, PyObject* none) {
  (void)none;
  Input* self = (Input*)object;
  if (self->uses.closed) return raise_closed("input");
  ++self->uses.calls;
  brigade_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = brigade_input_end_epoch(self->input);
  Py_END_ALLOW_THREADS;
  PyObject* result = status ? raise_status(status, NULL) : Py_NewRef(Py_None);
  leave_input(self);
  return result;
}

static PyObject* input_ended(PyObject* object, PyObject* none) {
  (void)none;
  Input* self = (Input*)object;
  return PyBool_FromLong(self->uses.closed || brigade_input_ended(self->input));
}

static PyObject* input_close(PyObject* object, PyObject* none) {
  (void)none;
  Input* self = (Input*)object;
  if (self->uses.closed) Py_RETURN_NONE;
  self->uses.closed = 1;
  if (self->uses.calls == 0) close_input(self);
  Py_RETURN_NONE;
}

static void input_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Input* self = (Input*)object;
  if (self->input != NULL) close_input(self);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyMethodDef input_methods[] = {
    {"acquire", input_acquire, METH_VARARGS,
     "acquire(seconds, file, line): a Slot; None at the end or after the timeout (below 0: no "
     "timeout)."},
    {"end_epoch", input_end_epoch, METH_NOARGS, "Ends the epoch: the next slot starts a new one."},
    {"ended", input_ended, METH_NOARGS, "True if the run accepts no more samples."},
    {"close", input_close, METH_NOARGS, "Ends the input: no more samples follow."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot input_slots[] = {
    {Py_tp_dealloc, input_dealloc},
    {Py_tp_methods, input_methods},
    {Py_tp_doc, "An input that the program writes."},
    {0, NULL},
};
static PyType_Spec input_spec = {"brigade._brigade.Input", sizeof(Input), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 input_slots};

int add_input_types(PyObject* module) {
  view_type = add_type(module, &slot_tensor_spec);
  slot_type = add_type(module, &slot_spec);
  input_type = add_type(module, &input_spec);
  return view_type == NULL || slot_type == NULL || input_type == NULL ? -1 : 0;
}
