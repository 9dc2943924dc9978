// Batches and their tensors: the memory of the graph, as a buffer of Python's or through DLPack.

#include "common.h"

static PyTypeObject* batch_type;
static PyTypeObject* tensor_type;

// --- Tensor --------------------------------------------------------------------------------------

static Tensor* new_tensor(const brigade_tensor* tensor) {
  if (!dtype_known(tensor->dtype)) {
    PyErr_Format(PyExc_TypeError, "tensor %s: this package does not know dtype %d; update brigade",
                 tensor->name, (int)tensor->dtype);
    return NULL;
  }
  Tensor* self = (Tensor*)PyType_GenericAlloc(tensor_type, 0);
  if (self == NULL) return NULL;
  self->tensor = *tensor;
  sizes_of(tensor, self->shape, self->strides);
  self->contiguous = 1;
  int64_t packed = 1;
  for (int d = tensor->rank - 1; d >= 0; --d) {
    if (tensor->shape[d] > 1 && tensor->strides[d] != packed) self->contiguous = 0;
    packed *= tensor->shape[d];
  }
  return self;
}

PyObject* tensor_of(brigade_batch* batch, const brigade_tensor* tensor) {
  Tensor* self = new_tensor(tensor);
  if (self == NULL) return NULL;
  brigade_batch_retain(batch);
  self->batch = batch;
  return (PyObject*)self;
}

const brigade_tensor* tensor_shown(PyObject* tensor) {
  if (PyObject_TypeCheck(tensor, tensor_type)) return &((Tensor*)tensor)->tensor;
  PyErr_SetString(PyExc_TypeError, "expected a Tensor");
  return NULL;
}

PyObject* tensor_of_task(Task* task, const brigade_tensor* tensor) {
  Tensor* self = new_tensor(tensor);
  if (self == NULL) return NULL;
  self->task = (Task*)Py_NewRef((PyObject*)task);
  self->name = text_of(tensor->name);
  self->tensor.name = self->name == NULL ? NULL : PyUnicode_AsUTF8AndSize(self->name, NULL);
  if (self->tensor.name != NULL) return (PyObject*)self;
  Py_DECREF((PyObject*)self);
  return NULL;
}

static void tensor_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Tensor* self = (Tensor*)object;
  brigade_batch_release(self->batch);
  Py_XDECREF((PyObject*)self->task);
  Py_XDECREF(self->name);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int is_writable(const Tensor* self) { return (self->tensor.flags & BRIGADE_WRITABLE) != 0; }

static const char* why_no_buffer(const Tensor* self, int flags) {
  if (self->task != NULL) {
    if (task_lends(self->task) != NULL) return task_lends(self->task);
  } else if (dtype_format(self->tensor.dtype) == NULL) {
    return "buffers do not support bfloat16; use DLPack";
  } else if (self->tensor.flags & BRIGADE_RAGGED) {
    return "it is ragged; read it from batch.row(i)";
  }
  if ((flags & PyBUF_WRITABLE) && !is_writable(self))
    return self->task == NULL ? "other stages read it, too; copy it before you write"
                              : "it is an input; copy it before you write";
  const int plain = (flags & PyBUF_STRIDES) != PyBUF_STRIDES ||
                    (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                    (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS;
  if (plain && !self->contiguous) return "its rows are not contiguous";
  return why_other_order(&self->tensor, flags);
}

static int tensor_buffer(PyObject* object, Py_buffer* view, int flags) {
  Tensor* self = (Tensor*)object;
  const char* why = why_no_buffer(self, flags);
  if (why != NULL) {
    view->obj = NULL;
    PyErr_Format(PyExc_BufferError, "tensor %s: %s", self->tensor.name, why);
    return -1;
  }
  fill_view(view, object, &self->tensor, self->shape, self->strides, flags, !is_writable(self));
  if (self->task != NULL) task_count(self->task, is_writable(self), 1);
  return 0;
}

static void tensor_buffer_end(PyObject* object, Py_buffer* view) {
  (void)view;
  const Tensor* self = (Tensor*)object;
  if (self->task != NULL) task_count(self->task, is_writable(self), -1);
}

static PyObject* tensor_name(PyObject* self, void* none) {
  (void)none;
  return text_of(((Tensor*)self)->tensor.name);
}

static PyObject* tensor_dtype(PyObject* self, void* none) {
  (void)none;
  return text_of(dtype_name(((Tensor*)self)->tensor.dtype));
}

static PyObject* tensor_shape(PyObject* object, void* none) {
  (void)none;
  const Tensor* self = (Tensor*)object;
  return shape_tuple(self->tensor.rank, self->shape);
}

static PyObject* tensor_repr(PyObject* object) {
  PyObject* name = PyObject_GetAttrString(object, "name");
  PyObject* shape = name == NULL ? NULL : tensor_shape(object, NULL);
  PyObject* sizes = shape == NULL ? NULL : PySequence_List(shape);
  PyObject* text = sizes == NULL
                       ? NULL
                       : PyUnicode_FromFormat("Tensor(%S: %s%R)", name,
                                              dtype_name(((Tensor*)object)->tensor.dtype), sizes);
  Py_XDECREF(sizes);
  Py_XDECREF(shape);
  Py_XDECREF(name);
  return text;
}

static PyObject* tensor_nbytes(PyObject* self, void* none) {
  (void)none;
  return PyLong_FromUnsignedLongLong(((Tensor*)self)->tensor.bytes);
}

static PyObject* tensor_flag(PyObject* self, void* flag) {
  return PyBool_FromLong(((Tensor*)self)->tensor.flags & *(const uint32_t*)flag);
}

static const uint32_t writable = BRIGADE_WRITABLE;
static const uint32_t ragged = BRIGADE_RAGGED;

// The same memory as int16: what NumPy can read of bfloat16.
static PyObject* tensor_bits(PyObject* object, PyObject* none) {
  (void)none;
  const Tensor* self = (Tensor*)object;
  if (self->task != NULL) return Py_NewRef(object);  // whose buffer has them
  brigade_tensor bits = self->tensor;
  bits.dtype = BRIGADE_I16;
  return tensor_of(self->batch, &bits);
}

static PyGetSetDef tensor_properties[] = {
    {"name", tensor_name, NULL, "Name of the tensor in the graph.", NULL},
    {"dtype", tensor_dtype, NULL, "'float32', ...", NULL},
    {"shape", tensor_shape, NULL, "Shape, batch dimension first.", NULL},
    {"nbytes", tensor_nbytes, NULL, NULL, NULL},
    {"writable", tensor_flag, NULL, "True if no other stage reads it.", (void*)&writable},
    {"ragged", tensor_flag, NULL, "True if samples have different sizes.", (void*)&ragged},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef tensor_methods[] = {
    {"__dlpack__", (PyCFunction)(void (*)(void))tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n\nFollows the array "
     "API. A tensor that must not be written is read-only in a versioned\ncapsule, and copied into "
     "an unversioned one."},
    {"__dlpack_device__", tensor_dlpack_device, METH_NOARGS, "(1, 0), the CPU."},
    {"_bytes_capsule", tensor_bytes_capsule, METH_NOARGS,
     "An unversioned capsule, with bool as uint8 for readers that do not know bool."},
    {"_bits", tensor_bits, METH_NOARGS, "A bfloat16 tensor: the same memory as int16."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tensor_slots[] = {
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_repr, tensor_repr},
    {Py_bf_getbuffer, tensor_buffer},
    {Py_bf_releasebuffer, tensor_buffer_end},
    {Py_tp_getset, tensor_properties},
    {Py_tp_methods, tensor_methods},
    {Py_tp_doc,
     "A tensor in the memory of the graph. The memory is valid while any view of it "
     "exists.\n\n`memoryview`, `numpy.asarray` and libraries that read DLPack use it without a "
     "copy; JAX accepts\nit like a NumPy array."},
    {0, NULL},
};
static PyType_Spec tensor_spec = {"brigade.Tensor", sizeof(Tensor), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  tensor_slots};

// --- Batch ---------------------------------------------------------------------------------------

PyObject* batch_of(brigade_batch* batch) {
  Batch* self = (Batch*)PyType_GenericAlloc(batch_type, 0);
  if (self == NULL)
    brigade_batch_release(batch);
  else
    self->batch = batch;
  return (PyObject*)self;
}

brigade_batch* batch_handle(PyObject* batch) {
  if (PyObject_TypeCheck(batch, batch_type)) return ((Batch*)batch)->batch;
  PyErr_SetString(PyExc_TypeError, "expected a Batch");
  return NULL;
}

static void batch_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  brigade_batch_release(((Batch*)object)->batch);
  PyObject_Free(object);
  Py_DECREF(type);
}

static PyObject* found(brigade_batch* batch, brigade_status status, const brigade_tensor* tensor) {
  return status ? raise_status(status, NULL) : tensor_of(batch, tensor);
}

static PyObject* batch_tensor(PyObject* object, PyObject* argument) {
  brigade_batch* batch = ((Batch*)object)->batch;
  const char* name = PyUnicode_AsUTF8AndSize(argument, NULL);
  if (name == NULL) return NULL;
  brigade_tensor tensor = {.size = sizeof tensor};
  return found(batch, brigade_batch_find(batch, name, &tensor), &tensor);
}

static PyObject* batch_row(PyObject* object, PyObject* arguments) {
  brigade_batch* batch = ((Batch*)object)->batch;
  unsigned long long i = 0;
  const char* name = NULL;
  if (!PyArg_ParseTuple(arguments, "Ks", &i, &name)) return NULL;
  brigade_tensor tensor = {.size = sizeof tensor};
  return found(batch, brigade_batch_row(batch, i, name, &tensor), &tensor);
}

static PyObject* batch_names(PyObject* object, PyObject* none) {
  (void)none;
  const brigade_batch* batch = ((Batch*)object)->batch;
  brigade_batch_info info = {.size = sizeof info};
  brigade_status status = brigade_batch_describe(batch, &info);
  if (status) return raise_status(status, NULL);
  PyObject* names = PyTuple_New((Py_ssize_t)info.tensors);
  for (uint64_t i = 0; names != NULL && i < info.tensors; ++i) {
    brigade_tensor tensor = {.size = sizeof tensor};
    status = brigade_batch_tensor(batch, i, &tensor);
    PyObject* name = status ? raise_status(status, NULL) : text_of(tensor.name);
    if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name)) Py_CLEAR(names);
  }
  return names;
}

static PyObject* batch_describe(PyObject* object, PyObject* none) {
  (void)none;
  brigade_batch_info info = {.size = sizeof info};
  brigade_status status = brigade_batch_describe(((Batch*)object)->batch, &info);
  if (status) return raise_status(status, NULL);
  return Py_BuildValue("(KKKN)", (unsigned long long)info.samples, (unsigned long long)info.epoch,
                       (unsigned long long)info.index, text_of(info.source));
}

static PyObject* sample_of(const brigade_batch* batch, uint64_t i) {
  brigade_sample sample = {.size = sizeof sample};
  brigade_status status = brigade_batch_sample(batch, i, &sample);
  if (status) return raise_status(status, NULL);
  return Py_BuildValue("(KKKK)", (unsigned long long)sample.number,
                       (unsigned long long)sample.epoch, (unsigned long long)sample.index,
                       (unsigned long long)sample.id);
}

static PyObject* batch_ids(PyObject* object, PyObject* none) {
  (void)none;
  const brigade_batch* batch = ((Batch*)object)->batch;
  brigade_batch_info info = {.size = sizeof info};
  brigade_status status = brigade_batch_describe(batch, &info);
  if (status) return raise_status(status, NULL);
  PyObject* ids = PyList_New((Py_ssize_t)info.samples);
  for (uint64_t i = 0; ids != NULL && i < info.samples; ++i) {
    brigade_sample sample = {.size = sizeof sample};
    status = brigade_batch_sample(batch, i, &sample);
    PyObject* id = status ? raise_status(status, NULL) : PyLong_FromUnsignedLongLong(sample.id);
    if (id == NULL || PyList_SetItem(ids, (Py_ssize_t)i, id)) Py_CLEAR(ids);
  }
  return ids;
}

static PyObject* batch_samples(PyObject* object, PyObject* none) {
  (void)none;
  const brigade_batch* batch = ((Batch*)object)->batch;
  brigade_batch_info info = {.size = sizeof info};
  brigade_status status = brigade_batch_describe(batch, &info);
  if (status) return raise_status(status, NULL);
  PyObject* samples = PyList_New((Py_ssize_t)info.samples);
  for (uint64_t i = 0; samples != NULL && i < info.samples; ++i) {
    PyObject* sample = sample_of(batch, i);
    if (sample == NULL || PyList_SetItem(samples, (Py_ssize_t)i, sample)) Py_CLEAR(samples);
  }
  return samples;
}

static PyObject* batch_sample(PyObject* object, PyObject* argument) {
  const unsigned long long i = PyLong_AsUnsignedLongLong(argument);
  return PyErr_Occurred() ? NULL : sample_of(((Batch*)object)->batch, i);
}

static PyMethodDef batch_methods[] = {
    {"tensor", batch_tensor, METH_O, "tensor(name): a Tensor."},
    {"row", batch_row, METH_VARARGS,
     "row(i, name): the tensor of one sample, in its actual shape."},
    {"names", batch_names, METH_NOARGS, "Names of the tensors, in order."},
    {"describe", batch_describe, METH_NOARGS, "(samples, epoch, index, source)."},
    {"ids", batch_ids, METH_NOARGS, "Ids of the samples in their source."},
    {"samples", batch_samples, METH_NOARGS, "sample(i) of every sample."},
    {"sample", batch_sample, METH_O, "sample(i): (number, epoch, index, id)."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot batch_slots[] = {
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, batch_methods},
    {Py_tp_doc, "A batch held by the program."},
    {0, NULL},
};
static PyType_Spec batch_spec = {"brigade._brigade.Batch", sizeof(Batch), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 batch_slots};

int add_batch_types(PyObject* module) {
  batch_type = add_type(module, &batch_spec);
  tensor_type = add_type(module, &tensor_spec);
  return batch_type == NULL || tensor_type == NULL ? -1 : 0;
}
