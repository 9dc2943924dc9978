#pragma once

// A stage in any language: the functions for a program that a graph runs by
// `exec:` as each replica of the stage. C11; stable like c.h, whose rules hold
// here too (errors, sizes of structs). The program owns its main() and its loop:
//
//   attach (describe | report | log)* (next (tensors)* (finish | drop | error))* next close
//
// The process that `exec:` started attaches once, and asks for its tasks: a task is a batch if
// the stage takes batches, otherwise a sample. It is killed with the run, and may be killed
// and restarted at any time, like every worker: its output may depend on its parameters and
// its samples, but not on the state of an earlier process. docs/EXEC.md has an example.
//
// A program that opens the library at run time finds its absolute path
// in the environment: BRIGADE_LIBRARY is the file that runs the graph.
// (Not set if a program with Brigade linked into it runs the graph.)
//
// One thread at a time, except report, log and fail, which any thread may call. A
// status below 0 of next and finish ends the run; the supervisor has the reason.

#include <stddef.h>
#include <stdint.h>

#include <brigade/c.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct brigade_worker brigade_worker;

// BRIGADE_ERROR_RUN: this process was not started by `exec:`, or has attached already, or its
// library is of another version than the run's.
BRIGADE_C_API brigade_status brigade_worker_attach(brigade_worker** worker);

enum { BRIGADE_PRODUCER = 0, BRIGADE_TRANSFORM = 1, BRIGADE_CONSUMER = 2 };
typedef struct brigade_worker_info {
  size_t size;
  const char* stage;   // its name in the YAML; this and the texts below until close
  const char* params;  // `params:` as a JSON object, "{}" where there are none
  const char* device;  // as the YAML says it: "cpu"
  int32_t kind;        // BRIGADE_PRODUCER, ...
  int32_t replica;     // 0 .. replicas - 1
  int32_t replicas;
  int32_t threads;       // that libraries in this process may use
  int32_t batched;       // 1: a task is a batch, and tensors have its dimension first
  uint64_t samples_max;  // in one task at most
  uint64_t seed;         // of the graph
} brigade_worker_info;
BRIGADE_C_API brigade_status brigade_worker_describe(const brigade_worker* worker,
                                                     brigade_worker_info* info);

typedef struct brigade_task {
  size_t size;
  uint64_t samples;    // 1, or the batch's; 0 only of an empty batch under `assign: fixed`
  uint64_t inputs;     // tensors to read
  uint64_t outputs;    // tensors to write
  const char* source;  // the port it came through, where the stage reads several; else empty
} brigade_task;

// The next task. The first call says that the program is ready, so it has loaded what it needs
// before; it waits as long as it takes. BRIGADE_END: nothing is left; close is what remains.
BRIGADE_C_API brigade_status brigade_worker_next(brigade_worker* worker, brigade_task* task);

// Of the task, until it is settled. `number`, `epoch`, `index` and `id` of its sample `i`: a
// producer makes sample `id` of 0 .. count - 1, whatever the order it is asked in.
BRIGADE_C_API brigade_status brigade_worker_sample(const brigade_worker* worker, uint64_t i,
                                                   brigade_sample* sample);
// Tensor `i` of those to read, and of those to write, which are writable.
BRIGADE_C_API brigade_status brigade_worker_input(const brigade_worker* worker, uint64_t i,
                                                  brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_output(const brigade_worker* worker, uint64_t i,
                                                   brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_find_input(const brigade_worker* worker,
                                                       const char* name, brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_worker_find_output(const brigade_worker* worker,
                                                        const char* name, brigade_tensor* tensor);
// Of a ragged output, its shape for this sample, at most the one that it has shown: `sizes` has its
// `rank` numbers. (In a batch a ragged tensor has its upper bounds, and NAME.shape each sample's
// sizes.)
BRIGADE_C_API brigade_status brigade_worker_resize(brigade_worker* worker, const char* name,
                                                   const int64_t* sizes, int32_t rank);
// The first `count` words of the random numbers of sample `i`: the same for any number of replicas
// and after any restart. A seed for the program's own generator, or all that it needs.
BRIGADE_C_API brigade_status brigade_worker_random(const brigade_worker* worker, uint64_t i,
                                                   uint64_t* words, size_t count);

// A tensor that the stage's `shared:` names, writable; under `access: own_part` its replica's part.
// Where brigade_shared_fill() says so, it is zeros and to be filled before the first next(): until
// then the attach of others that map it waits.
BRIGADE_C_API brigade_status brigade_worker_shared(const brigade_worker* worker, const char* name,
                                                   brigade_shared** shared);

// Each ends the task. Its outputs are written;
BRIGADE_C_API brigade_status brigade_worker_finish(brigade_worker* worker);
// or its samples have no output (not of a consumer);
BRIGADE_C_API brigade_status brigade_worker_drop(brigade_worker* worker);
// or they have failed, for this reason: `on_error:` says what becomes of that.
BRIGADE_C_API brigade_status brigade_worker_error(brigade_worker* worker, const char* why);

// Numbers of the stage, shown while it runs and at its end; the last value of a name wins.
BRIGADE_C_API brigade_status brigade_worker_report(brigade_worker* worker, const char* name,
                                                   double value);
BRIGADE_C_API brigade_status brigade_worker_report_count(brigade_worker* worker, const char* name,
                                                         uint64_t value);
// A line for the user, shown with the stage's name. What the program prints is shown, too.
BRIGADE_C_API brigade_status brigade_worker_log(brigade_worker* worker, const char* line);
// The program cannot go on, for this reason: the run ends. It exits afterwards.
BRIGADE_C_API brigade_status brigade_worker_fail(brigade_worker* worker, const char* why);

// After BRIGADE_END: the replica is done, and the process may end. Before it the replica counts as
// one that has died. Tensors are not touched any more. Closing NULL does nothing.
BRIGADE_C_API void brigade_worker_close(brigade_worker* worker);

#ifdef __cplusplus
}
#endif
