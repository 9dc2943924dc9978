// Capsules of DLPack (https://dmlc.github.io/dlpack/latest/c_api.html, version 1.0). A deleter may
// run on any thread, at any time, and when the interpreter is gone: it is plain C and never takes
// the GIL.

#include <stdlib.h>
#include <string.h>

#include "common.h"

typedef struct {
  int32_t type;  // 1: the CPU
  int32_t id;
} Device;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DataType;

typedef struct {
  void* data;
  Device device;
  int32_t rank;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
} View;

typedef struct Managed {
  View view;
  void* context;
  void (*deleter)(struct Managed* self);
} Managed;

typedef struct Versioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* context;
  void (*deleter)(struct Versioned* self);
  uint64_t flags;
  View view;
} Versioned;

enum { CPU = 1, READ_ONLY = 1, IS_COPIED = 2, COPY_ALIGNMENT = 256 };
enum { GIL_BYTES_MAX = 64 << 10 };  // larger ones are copied without it

// A managed tensor and what it keeps: the batch, or a copy.
typedef struct {
  union {
    Managed managed;
    Versioned versioned;
  } as;
  brigade_batch* batch;
  void* copy;
  int64_t shape[BRIGADE_RANK_MAX];
  int64_t strides[BRIGADE_RANK_MAX];
} Lease;

static void end_lease(Lease* lease) {
  brigade_batch_release(lease->batch);
  free(lease->copy);
  free(lease);
}

static void delete_managed(Managed* self) { end_lease(self->context); }
static void delete_versioned(Versioned* self) { end_lease(self->context); }

static DataType data_type(const brigade_tensor* tensor, int as_bytes) {
  enum { INT = 0, UINT = 1, FLOAT = 2, BFLOAT = 4, BOOL = 6 };
  static const uint8_t codes[] = {
      [BRIGADE_BOOL] = BOOL, [BRIGADE_U8] = UINT,   [BRIGADE_I8] = INT,    [BRIGADE_I16] = INT,
      [BRIGADE_I32] = INT,   [BRIGADE_I64] = INT,   [BRIGADE_F16] = FLOAT, [BRIGADE_BF16] = BFLOAT,
      [BRIGADE_F32] = FLOAT, [BRIGADE_F64] = FLOAT,
  };
  const uint8_t code = codes[tensor->dtype];  // known(): tensor_of() looks
  return (DataType){as_bytes && code == BOOL ? UINT : code, (uint8_t)(8 * tensor->element_bytes),
                    1};
}

static void* copy_of(const brigade_tensor* tensor) {
  const size_t bytes = (size_t)tensor->bytes;
  void* copy = aligned_alloc(COPY_ALIGNMENT, (bytes / COPY_ALIGNMENT + 1) * COPY_ALIGNMENT);
  if (copy == NULL) return PyErr_NoMemory();
  if (bytes <= GIL_BYTES_MAX) return memcpy(copy, tensor->data, bytes);
  Py_BEGIN_ALLOW_THREADS;
  memcpy(copy, tensor->data, bytes);
  Py_END_ALLOW_THREADS;
  return copy;
}

static Lease* lease_of(Tensor* self, int copied) {
  Lease* lease = calloc(1, sizeof *lease);
  if (lease == NULL) return (Lease*)PyErr_NoMemory();
  memcpy(lease->shape, self->tensor.shape, sizeof lease->shape);
  memcpy(lease->strides, self->tensor.strides, sizeof lease->strides);
  if (copied) {
    lease->copy = copy_of(&self->tensor);
    if (lease->copy != NULL) return lease;
    free(lease);
    return NULL;
  }
  brigade_batch_retain(self->batch);
  lease->batch = self->batch;
  return lease;
}

static View view_of(const Tensor* self, Lease* lease, int as_bytes) {
  return (View){.data = lease->copy != NULL ? lease->copy : self->tensor.data,
                .device = {CPU, 0},
                .rank = self->tensor.rank,
                .dtype = data_type(&self->tensor, as_bytes),
                .shape = lease->shape,
                .strides = lease->strides};
}

// Of a capsule that nobody has taken: who takes it gives it another name.
static void managed_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  Managed* managed = PyCapsule_GetPointer(capsule, "dltensor");
  managed->deleter(managed);
}

static void versioned_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
  Versioned* versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  versioned->deleter(versioned);
}

static PyObject* managed_capsule(Tensor* self, int copied, int as_bytes) {
  Lease* lease = lease_of(self, copied);
  if (lease == NULL) return NULL;
  lease->as.managed = (Managed){view_of(self, lease, as_bytes), lease, delete_managed};
  PyObject* capsule = PyCapsule_New(&lease->as.managed, "dltensor", managed_unused);
  if (capsule == NULL) end_lease(lease);
  return capsule;
}

static PyObject* versioned_capsule(Tensor* self, int copied) {
  Lease* lease = lease_of(self, copied);
  if (lease == NULL) return NULL;
  const int read_only = !copied && !(self->tensor.flags & BRIGADE_WRITABLE);
  lease->as.versioned =
      (Versioned){.version = {1, 0},
                  .context = lease,
                  .deleter = delete_versioned,
                  .flags = (uint64_t)((read_only ? READ_ONLY : 0) | (copied ? IS_COPIED : 0)),
                  .view = view_of(self, lease, 0)};
  PyObject* capsule = PyCapsule_New(&lease->as.versioned, "dltensor_versioned", versioned_unused);
  if (capsule == NULL) end_lease(lease);
  return capsule;
}

static PyObject* refuse(const Tensor* self, const char* why) {
  PyErr_Format(PyExc_BufferError, "tensor %s: %s", self->tensor.name, why);
  return NULL;
}

static const char* no_capsule(const Tensor* self) {
  if (self->task != NULL && task_lends(self->task) != NULL) return task_lends(self->task);
  if (!(self->tensor.flags & BRIGADE_RAGGED)) return NULL;
  return self->task != NULL ? "it is ragged; read it as a buffer, for example with NumPy"
                            : "it is ragged; read it from batch.row(i)";
}

// The major number of (major, minor); 0 of None.
static long major_of(PyObject* max_version) {
  if (max_version == Py_None) return 0;
  PyObject* major = PySequence_GetItem(max_version, 0);
  const long number = major == NULL ? -1 : PyLong_AsLong(major);
  Py_XDECREF(major);
  return number;
}

static int is_elsewhere(PyObject* device) {
  if (device == Py_None) return 0;
  int type = 0;
  int id = 0;
  PyObject* pair = PySequence_Tuple(device);
  const int parsed = pair != NULL && PyArg_ParseTuple(pair, "ii", &type, &id);
  Py_XDECREF(pair);
  return parsed ? type != CPU : -1;
}

PyObject* tensor_dlpack(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  Tensor* self = (Tensor*)object;
  PyObject* stream = Py_None;
  PyObject* max_version = Py_None;
  PyObject* device = Py_None;
  PyObject* copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$OOOO", names, &stream, &max_version,
                                   &device, &copy))
    return NULL;
  const long major = major_of(max_version);
  const int elsewhere = is_elsewhere(device);
  const int asked = copy == Py_None ? -1 : PyObject_IsTrue(copy);
  if (PyErr_Occurred()) return NULL;
  if (elsewhere)
    return refuse(self, "it is in CPU memory; read it there and copy it to the device");
  if (stream != Py_None)
    return refuse(self, "expected stream None, because the CPU has no streams");
  if (no_capsule(self) != NULL) return refuse(self, no_capsule(self));
  if (major >= 1) return versioned_capsule(self, asked == 1);
  const int may_write = (self->tensor.flags & BRIGADE_WRITABLE) != 0;
  if (asked == 0 && !may_write)
    return refuse(self,
                  "other stages read it, too, and an unversioned capsule cannot be read-only");
  return managed_capsule(self, asked == 1 || !may_write, 0);
}

PyObject* tensor_bytes_capsule(PyObject* object, PyObject* none) {
  (void)none;
  Tensor* self = (Tensor*)object;
  if (no_capsule(self) != NULL) return refuse(self, no_capsule(self));
  return managed_capsule(self, !(self->tensor.flags & BRIGADE_WRITABLE), 1);
}

PyObject* tensor_dlpack_device(PyObject* self, PyObject* none) {
  (void)self;
  (void)none;
  return Py_BuildValue("(ii)", CPU, 0);
}
