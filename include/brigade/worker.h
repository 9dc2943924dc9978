#pragma once

// A stage in any language: the functions for a program that a graph runs by
// `exec:` as each replica of the stage. C11; stable like c.h, whose rules hold
// here too (errors, sizes of structs). The program owns its main() and its loop:
//
//   attach (describe | report | log)* (next (tensors)* (finish | drop | error))* next close
//
// The process that `exec:` started attaches once and asks for its tasks: a task is a batch if the
// stage takes batches, otherwise a sample. It is killed with the run, and may be killed and
// restarted at any time, like every worker: its output may depend on its parameters and samples,
// but not on the state of an earlier process. docs/EXEC.md has an example.
//
// A program that opens the library at run time finds its absolute path in the environment:
// BRIGADE_LIBRARY is the file that runs the graph. (Not set if the program that runs the graph has
// Brigade linked into it.)
//
// One thread at a time, except report, log and fail, which any thread may call. A negative status
// of next and finish ends the run; the supervisor reports the reason.

#include <stddef.h>
#include <stdint.h>

#include <brigade/c.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brigade_worker brigade_worker;

// BRIGADE_ERROR_RUN: `exec:` did not start this process, it has already attached, or its library
// has another version than the run's.
BRIGADE_C_API brigade_status brigade_worker_attach(brigade_worker** worker);

enum { BRIGADE_PRODUCER = 0, BRIGADE_TRANSFORM = 1, BRIGADE_CONSUMER = 2 };
typedef struct brigade_worker_info {
  size_t size;
  const char* stage;   // name in the YAML; this and the texts below are valid until close
  const char* params;  // `params:` as a JSON object, or "{}"
  const char* device;  // as in the YAML: "cpu"
  int32_t kind;        // BRIGADE_PRODUCER, ...
  int32_t replica;     // 0 .. replicas - 1
  int32_t replicas;
  int32_t threads;       // for libraries in this process
  int32_t batched;       // 1: a task is a batch; tensors have the batch dimension first
  uint64_t samples_max;  // most samples of one task
  uint64_t seed;         // of the graph
} brigade_worker_info;
BRIGADE_C_API brigade_status brigade_worker_describe(const brigade_worker* worker,
                                                     brigade_worker_info* info);

typedef struct brigade_task {
  size_t size;
  uint64_t samples;    // 1, or the batch size; 0 only for an empty batch with `assign: fixed`
  uint64_t inputs;     // tensors to read
  uint64_t outputs;    // tensors to write
  const char* source;  // the input port if the stage reads several; otherwise empty
} brigade_task;

// Waits for the next task, without a timeout. The first call marks the program as ready, so load
// everything before it. BRIGADE_END: no tasks are left; call close.
BRIGADE_C_API brigade_status brigade_worker_next(brigade_worker* worker, brigade_task* task);

// Identity of sample `i` of the current task: `number`, `epoch`, `index` and `id`. A producer makes
// sample `id` of 0 .. count - 1, in any order.
BRIGADE_C_API brigade_status brigade_worker_sample(const brigade_worker* worker, uint64_t i,
                                                   brigade_sample* sample);
// Tensor `i` of the inputs, which are read-only, and of the outputs, which are writable.
BRIGADE_C_API brigade_status brigade_worker_input(const brigade_worker* worker, uint64_t i,
                                                  brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_output(const brigade_worker* worker, uint64_t i,
                                                   brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_find_input(const brigade_worker* worker,
                                                       const char* name, brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_find_output(const brigade_worker* worker,
                                                        const char* name, brigade_tensor* tensor);
// Sets the shape of a ragged output for this sample, within its bounds: `sizes` has `rank` numbers.
// (In a batch a ragged tensor has its upper bounds, and NAME.shape has each sample's sizes.)
BRIGADE_C_API brigade_status brigade_worker_resize(brigade_worker* worker, const char* name,
                                                   const int64_t* sizes, int32_t rank);
// The first `count` random words of sample `i`: the same for any number of replicas and after any
// restart. Use them directly, or as a seed for your own generator.
BRIGADE_C_API brigade_status brigade_worker_random(const brigade_worker* worker, uint64_t i,
                                                   uint64_t* words, size_t count);

// A tensor named by the stage's `shared:`, writable; with `access: own_part` the part of this
// replica. If brigade_shared_fill() returns 1, it is zeros and must be filled before the first
// next(): until then the attach of others that map it waits.
BRIGADE_C_API brigade_status brigade_worker_shared(const brigade_worker* worker, const char* name,
                                                   brigade_shared** shared);

// Ends the task: its outputs are written;
BRIGADE_C_API brigade_status brigade_worker_finish(brigade_worker* worker);
// its samples have no output (not for a consumer);
BRIGADE_C_API brigade_status brigade_worker_drop(brigade_worker* worker);
// or its samples failed for this reason, and `on_error:` decides what follows.
BRIGADE_C_API brigade_status brigade_worker_error(brigade_worker* worker, const char* why);

// Numbers shown while the stage runs and at its end; the last value of a name wins.
BRIGADE_C_API brigade_status brigade_worker_report(brigade_worker* worker, const char* name,
                                                   double value);
BRIGADE_C_API brigade_status brigade_worker_report_count(brigade_worker* worker, const char* name,
                                                         uint64_t value);
// A line for the user, shown with the stage's name. Printed output is shown, too.
BRIGADE_C_API brigade_status brigade_worker_log(brigade_worker* worker, const char* line);
// Ends the run with this reason. The program must exit afterwards.
BRIGADE_C_API brigade_status brigade_worker_fail(brigade_worker* worker, const char* why);

// After BRIGADE_END: the replica is done, and the process may end. A replica that exits without it
// counts as crashed. Do not use tensors afterwards. Closing NULL does nothing.
BRIGADE_C_API void brigade_worker_close(brigade_worker* worker);

#ifdef __cplusplus
}
#endif
