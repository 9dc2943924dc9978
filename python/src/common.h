#pragma once

// The C module behind the package `brigade`: c.h and worker.h as Python
// objects, and nothing else. The package's own modules build the users'
// interface on it. One stable ABI for all CPythons from 3.11 on.
//
// Every call of c.h that can wait releases the GIL. A handle that is closed while other threads are
// in calls with it is closed by the last of them (`Uses`). An exported part of a batch (a capsule's
// tensor, whose deleter may run on any thread) holds the batch itself and no Python object.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <brigade/c.h>
#include <brigade/worker.h>

#pragma GCC visibility push(hidden)

typedef struct {
  int calls;   // that are in progress; read and written with the GIL
  int closed;  // by close(); the last call that is in progress takes the handle away
} Uses;

typedef struct {
  PyObject_HEAD brigade_batch* batch;
} Batch;

typedef struct {
  PyObject_HEAD brigade_run* run;
  Uses uses;
} Run;

typedef struct {
  PyObject_HEAD brigade_worker* worker;
  Uses uses;
  int busy;  // a call is in progress that one thread at a time makes
  int forks;
} Worker;

typedef struct {
  PyObject_HEAD Worker* worker;
  PyObject* source;
  uint64_t samples;
  uint64_t inputs;
  uint64_t outputs;
  Py_ssize_t views[2];  // of inputs, of outputs
  int settled;
} Task;

typedef struct {
  PyObject_HEAD brigade_batch* batch;  // retained; NULL: of a task
  Task* task;
  PyObject* name;  // of a task's, whose library forgets it
  brigade_tensor tensor;
  Py_ssize_t shape[BRIGADE_RANK_MAX];
  Py_ssize_t strides[BRIGADE_RANK_MAX];  // in bytes
  int contiguous;
} Tensor;

/// Before the first exception of the package is raised.
int find_exceptions(void);

/// Sets the exception that belongs to a status (brigade._errors.exception_of) and gives NULL.
/// `diagnostics`: a list, or NULL.
PyObject* raise_status(brigade_status status, PyObject* diagnostics);
PyObject* raise_closed(const char* what);

/// Text of the library, whatever bytes a file's name has.
PyObject* text_of(const char* text);

/// Bytes of a text that people read: what UTF-8 does not have, a lone surrogate, is `\\udcff`.
/// NULL: an exception is set.
PyObject* said_bytes(PyObject* text);

/// Of Python's buffers; NULL of bfloat16, which they do not have. `dtype` is one that exists.
const char* dtype_format(brigade_dtype dtype);
const char* dtype_name(brigade_dtype dtype);
int dtype_known(brigade_dtype dtype);

/// Sizes and steps of a tensor as Python's buffers have them, steps in bytes; and a tuple of sizes.
void sizes_of(const brigade_tensor* tensor, Py_ssize_t* shape, Py_ssize_t* strides);
PyObject* shape_tuple(int rank, const Py_ssize_t* shape);

/// Why a tensor of the graph, whose rows are whole, may not be shown in the order of elements that
/// `flags` asks for; NULL: it may.
const char* why_other_order(const brigade_tensor* tensor, int flags);

/// Fills a buffer of `owner`, whose sizes these are, as `flags` asks for it; of bfloat16 it has the
/// 16 bits. What may not be shown so is refused before.
void fill_view(Py_buffer* view, PyObject* owner, const brigade_tensor* tensor, Py_ssize_t* shape,
               Py_ssize_t* strides, int flags, int readonly);

brigade_events* events_handle(PyObject* events);  // NULL of None, or an exception is set
PyObject* batch_of(brigade_batch* batch);         // takes the holder that the batch was given with
brigade_batch* batch_handle(PyObject* batch);     // NULL: an exception is set
PyObject* tensor_of(brigade_batch* batch, const brigade_tensor* tensor);
const brigade_tensor* tensor_shown(PyObject* tensor);  // likewise
PyObject* tensor_of_task(Task* task, const brigade_tensor* tensor);

PyObject* task_of(Worker* worker, const brigade_task* given);
const char* task_lends(const Task* task);            // NULL: it does; else why it does not any more
void task_count(Task* task, int output, int views);  // that begin, or, below 0, end

PyObject* tensor_dlpack(PyObject* self, PyObject* arguments, PyObject* keywords);
PyObject* tensor_dlpack_device(PyObject* self, PyObject* none);
PyObject* tensor_bytes_capsule(PyObject* self, PyObject* none);

/// Of a Run; NULL: it is closed, and an exception is set. Every one that is entered is left.
brigade_run* enter_run(PyObject* run);
void leave_run(PyObject* run);
void close_run(Run* self);
PyObject* run_input(PyObject* run, PyObject* name);
PyObject* run_shared(PyObject* run, PyObject* name);
PyObject* run_uploads(PyObject* run, PyObject* device);
PyObject* worker_shared(PyObject* worker, PyObject* name);

/// Once; and of a worker that has just been made. It is this process's alone: forks are counted.
void watch_forks(void);
void begin_worker(Worker* self);
void close_worker(Worker* self);
/// Around a call with it; the second pair keeps other threads' calls of that pair away, and raises
/// what the call's status says. NULL: an exception is set, and nothing is to be left.
brigade_worker* enter_worker(Worker* self);
void leave_worker(Worker* self);
brigade_worker* enter_alone(Worker* self);
PyObject* leave_alone(Worker* self, brigade_status status, PyObject* result);

int add_graph_types(PyObject* module);
int add_run_types(PyObject* module);
int add_batch_types(PyObject* module);
int add_input_types(PyObject* module);
int add_arena_types(PyObject* module);
int add_worker_types(PyObject* module);
int add_shared_types(PyObject* module);
int add_events_types(PyObject* module);
int add_upload_types(PyObject* module);
int add_task_types(PyObject* module);
int add_fork_functions(PyObject* module);
PyTypeObject* add_type(PyObject* module, PyType_Spec* spec);

brigade_app* app_handle(PyObject* app);  // NULL: an exception is set
/// A Run; what came of it is in `status`, which is for the caller to raise.
PyObject* run_started(brigade_graph* graph, brigade_app* app, const brigade_run_options* asked,
                      brigade_status* status);

#pragma GCC visibility pop
