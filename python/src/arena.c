// Memory that processes of one program share without a name and without a descriptor for each part
// (mmap.mmap() of Python keeps one): parts of a memory file, and leases of them.
//
// A child of fork() has private copies of these parts: what it writes there is its own. It reads
// what a lease held at the fork for as long as it lives:
// - In a worker of a DataLoader (`snapshot`) the child gets a copy that is made before the fork.
// - In the program that would take the memory of all batches that are held. There the child reads
//   the file, and children() says which forks still have a process; Arena waits for their end
//   before such a block is written again.

#define _GNU_SOURCE  // fallocate(), mremap()
#include "common.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "forks.h"

enum { kPage = 4096 };

// --- Mapping -------------------------------------------------------------------------------------

typedef struct Mapping {
  PyObject_HEAD char* data;
  Py_ssize_t size;
  PyObject* file;  // keeps the descriptor
  int descriptor;
  long long offset;
  int private;              // of this process alone
  int snapshot;             // what children have of it
  char* copy;               // of what is leased, during a fork
  Py_ssize_t leases;        // that a child may have, too
  Py_ssize_t leased;        // bytes up to the end of the last of them
  struct Mapping* next;     // in `shared`
  struct Mapping** before;  // what points to this one; NULL: not in `shared`
} Mapping;

static PyTypeObject* mapping_type;

// Of all below that a fork looks at. Not the GIL: other threads fork without it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Mapping* shared;
static Py_ssize_t shared_count;
static Py_ssize_t held_bytes;  // of leases that say when they are returned; guarded by the GIL

static void add_shared(Mapping* self) {
  ++shared_count;
  self->next = shared;
  self->before = &shared;
  if (shared != NULL) shared->before = &self->next;
  shared = self;
}

static void remove_shared(Mapping* self) {
  if (self->before == NULL) return;
  --shared_count;
  *self->before = self->next;
  if (self->next != NULL) self->next->before = self->before;
  self->before = NULL;
}

static PyObject* mapping_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"file", "offset", "size", "private", "snapshot", NULL};
  PyObject* file = NULL;
  long long offset = 0;
  Py_ssize_t size = 0;
  int private = 0, snapshot = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OLn|pp", names, &file, &offset, &size,
                                   &private, &snapshot))
    return NULL;
  const int descriptor = PyObject_AsFileDescriptor(file);
  Mapping* self = descriptor < 0 ? NULL : (Mapping*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  pthread_mutex_lock(&lock);
  void* data = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, private ? MAP_PRIVATE : MAP_SHARED,
                    descriptor, (off_t)offset);
  if (data != MAP_FAILED) {
    self->data = data;
    self->size = size;
    self->descriptor = descriptor;
    self->offset = offset;
    self->private = private;
    self->snapshot = snapshot;
    if (!private) add_shared(self);
  }
  pthread_mutex_unlock(&lock);
  if (data == MAP_FAILED) {
    PyErr_SetFromErrno(PyExc_OSError);
    Py_DECREF((PyObject*)self);
    return NULL;
  }
  self->file = Py_NewRef(file);
  return (PyObject*)self;
}

static void mapping_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Mapping* self = (Mapping*)object;
  pthread_mutex_lock(&lock);
  remove_shared(self);
  if (self->data != NULL) munmap(self->data, (size_t)self->size);
  pthread_mutex_unlock(&lock);
  Py_XDECREF(self->file);
  PyObject_Free(object);
  Py_DECREF(type);
}

static int mapping_buffer(PyObject* object, Py_buffer* view, int flags) {
  Mapping* self = (Mapping*)object;
  return PyBuffer_FillInfo(view, object, self->data, self->size, 0, flags);
}

// Gives memory of the file back, for all who have mapped it.
static PyObject* mapping_trim(PyObject* object, PyObject* arguments) {
  Mapping* self = (Mapping*)object;
  long long from = 0, end = 0;
  if (!PyArg_ParseTuple(arguments, "LL", &from, &end)) return NULL;
  from = (from + kPage - 1) / kPage * kPage;
  if (!self->private && from >= 0 && from < end)
    fallocate(self->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)(self->offset + from), (off_t)(end - from));
  Py_RETURN_NONE;
}

// A copy of what is leased, in memory as large as the mapping; NULL where none is left.
static char* copy_leased(const Mapping* self) {
  char* copy = mmap(NULL, (size_t)self->size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) return NULL;
  memcpy(copy, self->data, (size_t)self->leased);
  return copy;
}

// Puts a copy in the place of the mapping.
static int install(Mapping* self, char* copy) {
  if (mremap(copy, (size_t)self->size, (size_t)self->size, MREMAP_MAYMOVE | MREMAP_FIXED,
             self->data) == MAP_FAILED)
    return -1;
  remove_shared(self);
  self->private = 1;
  return 0;
}

static PyObject* mapping_detach(PyObject* object, PyObject* none) {
  (void)none;
  Mapping* self = (Mapping*)object;
  if (self->private) Py_RETURN_NONE;
  pthread_mutex_lock(&lock);
  char* copy = copy_leased(self);
  const int failed = copy == NULL || install(self, copy) < 0;
  if (failed && copy != NULL) munmap(copy, (size_t)self->size);
  pthread_mutex_unlock(&lock);
  if (failed) return PyErr_NoMemory();
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

static PyObject* mapping_private(PyObject* object, void* none) {
  (void)none;
  return PyBool_FromLong(((Mapping*)object)->private);
}

static PyObject* mapping_leases(PyObject* object, void* none) {
  (void)none;
  return PyLong_FromSsize_t(((Mapping*)object)->leases);
}

static PyGetSetDef mapping_properties[] = {
    {"address", mapping_address, NULL, NULL, NULL},
    {"size", mapping_size, NULL, "Size in bytes.", NULL},
    {"private", mapping_private, NULL, "True if writes are invisible to other processes.", NULL},
    {"leases", mapping_leases, NULL, "Number of live leases.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef mapping_methods[] = {
    {"trim", mapping_trim, METH_VARARGS,
     "trim(begin, end): frees this part of the file; offsets count from the start of the mapping."},
    {"detach", mapping_detach, METH_NOARGS,
     "detach(): turns leased memory into a private copy at the same addresses."},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot mapping_slots[] = {
    {Py_tp_new, mapping_new},
    {Py_tp_dealloc, mapping_dealloc},
    {Py_bf_getbuffer, mapping_buffer},
    {Py_tp_methods, mapping_methods},
    {Py_tp_getset, mapping_properties},
    {Py_tp_doc,
     "Mapping(file, offset, size, private=False, snapshot=False): maps a part of a file. `file` is "
     "a descriptor, or an object with fileno() that keeps it open."},
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
  Mapping* mapping;    // the owner, where it counts this lease
} Lease;

static void count_lease(Lease* self, int change) {
  pthread_mutex_lock(&lock);
  self->mapping->leases += change;
  const Py_ssize_t end = self->data + self->size - self->mapping->data;
  if (self->mapping->leases == 0) self->mapping->leased = 0;
  if (change > 0 && end > self->mapping->leased) self->mapping->leased = end;
  pthread_mutex_unlock(&lock);
}

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
  if (returned != NULL) held_bytes += size;
  self->item = Py_NewRef(item);
  if (PyObject_TypeCheck(owner, mapping_type)) {
    self->mapping = (Mapping*)owner;
    count_lease(self, 1);
  }
  return (PyObject*)self;
}

static void lease_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Lease* self = (Lease*)object;
  if (self->mapping != NULL) count_lease(self, -1);
  if (self->returned != NULL) {
    held_bytes -= self->size;
    if (PyList_Append(self->returned, self->item)) PyErr_Clear();
  }
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
     "Lease(owner, address, size, returned=[], item=None): memory kept alive by `owner`, as a "
     "buffer.\nWhen the last view is gone, `item` is appended to the list `returned`."},
    {0, NULL},
};
static PyType_Spec lease_spec = {"brigade._brigade.Lease", sizeof(Lease), 0, Py_TPFLAGS_DEFAULT,
                                 lease_slots};

// --- Forks ---------------------------------------------------------------------------------------

static void before_fork(void) {
  pthread_mutex_lock(&lock);
  int reads = 0;  // whether the child reads the file
  for (Mapping* one = shared; one != NULL; one = one->next) {
    if (one->leases == 0) continue;
    if (one->snapshot) one->copy = copy_leased(one);
    reads |= one->copy == NULL;
  }
  fork_begins(reads);
}

static void in_parent(void) {
  fork_in_parent();
  for (Mapping* one = shared; one != NULL; one = one->next) {
    if (one->copy != NULL) munmap(one->copy, (size_t)one->size);
    one->copy = NULL;
  }
  pthread_mutex_unlock(&lock);
}

// What cannot be made private may at least not be written.
static void make_private(Mapping* self) {
  if (self->copy != NULL && install(self, self->copy) == 0) return;
  if (mmap(self->data, (size_t)self->size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, self->descriptor,
           (off_t)self->offset) == MAP_FAILED &&
      mprotect(self->data, (size_t)self->size, PROT_READ) < 0)
    abort();
  remove_shared(self);
  self->private = 1;
}

static void in_child(void) {
  while (shared != NULL) make_private(shared);
  fork_in_child();
  pthread_mutex_unlock(&lock);
}

static PyObject* count_forks(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  pthread_mutex_lock(&lock);
  const int64_t count = fork_count();
  pthread_mutex_unlock(&lock);
  return PyLong_FromLongLong(count);
}

static PyObject* has_children(PyObject* module, PyObject* arguments) {
  (void)module;
  long long since = 0, until = 0;
  if (!PyArg_ParseTuple(arguments, "LL", &since, &until)) return NULL;
  pthread_mutex_lock(&lock);
  const int has = fork_has_children(since, until);
  pthread_mutex_unlock(&lock);
  return PyBool_FromLong(has);
}

static PyObject* held(PyObject* module, PyObject* none) {
  (void)module;
  (void)none;
  pthread_mutex_lock(&lock);
  const Py_ssize_t mappings = shared_count;
  pthread_mutex_unlock(&lock);
  return Py_BuildValue("nn", mappings, held_bytes);
}

static PyMethodDef functions[] = {
    {"held", held, METH_NOARGS,
     "held(): (mappings of this process, bytes of leases with a list `returned`)."},
    {"forks", count_forks, METH_NOARGS, "Number of forks of this process."},
    {"has_children", has_children, METH_VARARGS,
     "has_children(since, until): True if a child of the forks after the first `since` and up to "
     "the first `until` may still read leases of the program."},
    {NULL, NULL, 0, NULL},
};

int add_arena_types(PyObject* module) {
  mapping_type = add_type(module, &mapping_spec);
  if (mapping_type == NULL || add_type(module, &lease_spec) == NULL) return -1;
  if (PyModule_AddFunctions(module, functions)) return -1;
  return pthread_atfork(before_fork, in_parent, in_child);
}
