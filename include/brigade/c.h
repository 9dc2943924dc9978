#pragma once

// Brigade for programs in C, and through it for any language that can call C:
// the counterpart of pipeline.h and output.h. C11; stable: existing functions
// and layouts do not change, more may be added. docs/C.md has a whole program.
//
//   brigade_app_open -> brigade_graph_from_files (brigade_graph_set)* -> brigade_run_start
//     -> brigade_run_output -> (brigade_output_next, brigade_batch_release)* -> brigade_run_wait
//
// and, as input.h for C++, for programs that feed a graph:
//
//   brigade_run_input -> (brigade_input_acquire, brigade_slot_find, brigade_slot_submit)*
//     -> brigade_input_close
//
// Functions return BRIGADE_OK or an error; brigade_last_error() describes it in words. Nothing
// aborts or throws: a missing value or an unknown name is BRIGADE_ERROR_ARGUMENT. A
// call writes through an output pointer only if it returns BRIGADE_OK.
//
// Any thread may use a handle, but only one thread at a time may use an app, a graph, an output, an
// input or a slot (outputs and inputs check this). Many threads may use one run or batch. Close a
// handle only when no other thread uses it. Closing NULL does nothing.
//
// The first member of a struct is its size, set by the caller: `brigade_tensor t =
// {.size = sizeof t}`. Structs can therefore get more members: members that the
// caller does not know are omitted, members that the library does not know must be 0.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRIGADE_C_API __attribute__((visibility("default")))

typedef int32_t brigade_status;
enum {
  BRIGADE_OK = 0,
  BRIGADE_END = 1,              // no error: no more batches, or no more samples accepted
  BRIGADE_TIMEOUT = 2,          // no error: no room, or no batch, within the timeout
  BRIGADE_ERROR_ARGUMENT = -1,  // a wrong argument
  BRIGADE_ERROR_GRAPH = -2,     // mistakes in the YAML; brigade_graph_diagnostic() has each
  BRIGADE_ERROR_RUN = -3,       // the run could not start, or failed
  BRIGADE_ERROR_HELD = -4,      // more batches are held than `hold:` allows, or slots than `chunk:`
  BRIGADE_ERROR_UNREAD = -5,    // the next batch comes after unread ones of another output
  BRIGADE_ERROR_BUSY = -6,      // another thread is using this output or input
  BRIGADE_ERROR_MEMORY = -7,
  BRIGADE_ERROR_INTERNAL = -8,
  BRIGADE_ERROR_INTERRUPTED = -9,  // by brigade_run_options.interrupted
  BRIGADE_ERROR_DEVICE = -10       // no such device, out of device memory, or lost
};

// "0.1.0": version of the library, which may differ from the one that the caller was compiled with.
BRIGADE_C_API const char* brigade_version(void);

// Message of the last failed call of this thread: one line, or several for a graph. Valid until the
// next failed call of this thread; never NULL.
BRIGADE_C_API const char* brigade_last_error(void);

// --- the program that stage processes execute ----------------------------------------------------

typedef struct brigade_app brigade_app;
typedef struct brigade_app_options {
  size_t size;
  int32_t argc;  // both from main(), or 0 and NULL
  char** argv;
  const char* program;  // a path, or NULL
} brigade_app_options;

// With `argv`, stage processes execute this program; in those processes the call does not return,
// so make it the first call in main(). Without `argv` they execute `program`, a `brigade` of the
// same version, or, if that is NULL, the one installed with the library. Use that for a host that
// cannot be executed again, such as an interpreter. `options` may be NULL.
BRIGADE_C_API brigade_status brigade_app_open(const brigade_app_options* options,
                                              brigade_app** app);
// Running graphs that were started with it continue.
BRIGADE_C_API void brigade_app_close(brigade_app* app);

// --- graphs -------------------------------------------------------------------------------------

typedef struct brigade_graph brigade_graph;

// Later files override earlier ones, key by key.
BRIGADE_C_API brigade_status brigade_graph_from_files(const char* const* paths, size_t count,
                                                      brigade_graph** graph);
// YAML text with paths relative to the working directory; messages call it `name`.
BRIGADE_C_API brigade_status brigade_graph_from_text(const char* yaml, const char* name,
                                                     brigade_graph** graph);
// Overrides the graph so far, key by key.
BRIGADE_C_API brigade_status brigade_graph_add_text(brigade_graph* graph, const char* yaml,
                                                    const char* name);
// Same as `--set stages.augment.replicas=4` on the command line; mistakes are reported later.
BRIGADE_C_API brigade_status brigade_graph_set(brigade_graph* graph, const char* key_and_value);
// Sets the stages that the program reads. Upstream stages that none of them needs are omitted. A
// consumer of another type becomes an output of the program; a producer or transform gets one.
// brigade_run_output() finds each by the name given here. Samples without a batch arrive as batches
// of one. The graph's checkpoint is omitted. The last call wins.
BRIGADE_C_API brigade_status brigade_graph_read(brigade_graph* graph, const char* const* stages,
                                                size_t count);
// The part that this process reads, unless `shard:` has numbers and `over_graph` is 0. `world` 0
// means unknown: then RANK without WORLD_SIZE is no mistake, and "ranks" of a plan reports it.
BRIGADE_C_API brigade_status brigade_graph_set_rank(brigade_graph* graph, uint64_t rank,
                                                    uint64_t world, int32_t over_graph);
// Limits the samples of every indexed producer, in plans and runs; 0: no limit.
BRIGADE_C_API brigade_status brigade_graph_limit(brigade_graph* graph, uint64_t samples);
// Lets brigade_graph_plan() open sources of unknown length to count their samples.
BRIGADE_C_API brigade_status brigade_graph_count(brigade_graph* graph);
// Resumes from the state of an earlier run; brigade_run_start() checks it.
BRIGADE_C_API brigade_status brigade_graph_set_state(brigade_graph* graph, const void* state,
                                                     size_t bytes);
BRIGADE_C_API void brigade_graph_close(brigade_graph* graph);

typedef struct brigade_diagnostic {
  size_t size;
  int32_t is_error;     // else a warning
  int32_t line;         // from 1; 0: all of `file`, or no file if that is empty
  int32_t column;       // from 1, in characters
  const char* file;     // as passed; "--set" for settings
  const char* source;   // that line of the file
  const char* message;  // one line: what was expected and found
  const char* help;     // what to do: lines, or empty
} brigade_diagnostic;

// Finds all mistakes and warnings; runs nothing. BRIGADE_ERROR_GRAPH: the graph has mistakes.
BRIGADE_C_API brigade_status brigade_graph_check(brigade_graph* graph, const brigade_app* app);
// Results of the last brigade_graph_check(), or of the last call that returned BRIGADE_ERROR_GRAPH,
// in the order of their places. Texts are valid until the next of these calls.
BRIGADE_C_API size_t brigade_graph_diagnostics(const brigade_graph* graph);
BRIGADE_C_API brigade_status brigade_graph_diagnostic(const brigade_graph* graph, size_t i,
                                                      brigade_diagnostic* diagnostic);
// What `brigade plan --json` prints; valid until the next call or brigade_graph_close().
BRIGADE_C_API brigade_status brigade_graph_plan(brigade_graph* graph, const brigade_app* app,
                                                const char** json);

// --- events -------------------------------------------------------------------------------------

// What happens in a run, as values: event.h describes each kind and member. Events wait in a queue
// of at most 4 MiB. The run never waits for the program: events that do not fit are dropped, and
// `lost` of the next event counts them. Samples and batches have no events.
typedef struct brigade_events brigade_events;
enum {
  BRIGADE_EVENT_MESSAGE = 0,
  BRIGADE_EVENT_PROGRESS = 1,
  BRIGADE_EVENT_LOGGED = 2,
  BRIGADE_EVENT_PRINTED = 3,
  BRIGADE_EVENT_RUNNING = 4,
  BRIGADE_EVENT_EPOCH = 5,
  BRIGADE_EVENT_STOPPING = 6,
  BRIGADE_EVENT_ENDED = 7,
  BRIGADE_EVENT_DIED = 8,
  BRIGADE_EVENT_RESTARTED = 9,
  BRIGADE_EVENT_NOT_STARTED = 10,
  BRIGADE_EVENT_QUARANTINED = 11,
  BRIGADE_EVENT_FAILED = 12,
  BRIGADE_EVENT_STALLED = 13
};
enum {
  BRIGADE_LEVEL_DEBUG = 0,  // no line on standard error
  BRIGADE_LEVEL_INFO = 1,
  BRIGADE_LEVEL_WARNING = 2,
  BRIGADE_LEVEL_ERROR = 3
};
// What the run does about a replica that ended.
enum {
  BRIGADE_NEXT_NOTHING = 0,
  BRIGADE_NEXT_RESTART = 1,
  BRIGADE_NEXT_RESUME = 2,
  BRIGADE_NEXT_CARRY_ON = 3,
  BRIGADE_NEXT_FAIL = 4
};
#define BRIGADE_UNKNOWN UINT64_MAX
#define BRIGADE_FOR_EVER UINT64_MAX  // a timeout, in nanoseconds
typedef struct brigade_event {
  size_t size;
  int32_t kind;
  int32_t level;
  int64_t time_ns;  // since 1970, UTC
  uint64_t lost;
  const char* stage;  // empty: not about a stage
  const char* text;   // the line shown to people
  const char* message;
  const char* help;
  const char* output;
  const char* reason;
  int32_t replica;  // -1: not about a replica
  int32_t pid;      // 0: a thread, or unknown
  int32_t signal;
  int32_t exit_code;
  int32_t next;
  int32_t restarts;
  int32_t restarts_max;
  int32_t deaths;
  int64_t within_ns;
  int64_t delay_ns;
  int64_t duration_ns;
  uint64_t sample;  // BRIGADE_UNKNOWN: none; so are the next three
  uint64_t sample_epoch;
  uint64_t sample_index;
  uint64_t sample_id;
  uint64_t samples;
  uint64_t epoch;
} brigade_event;

// For brigade_run_options.events; serves one run.
BRIGADE_C_API brigade_status brigade_events_open(brigade_events** events);
// The next event. Its texts are valid until the next call with these events; one thread at a time.
// BRIGADE_TIMEOUT: no event within the timeout; BRIGADE_FOR_EVER waits without one. BRIGADE_END:
// the run has ended, or could not start, and all events were read.
BRIGADE_C_API brigade_status brigade_events_next(brigade_events* events, uint64_t timeout_ns,
                                                 brigade_event* event);
// For poll(): readable when brigade_events_next() would not wait.
BRIGADE_C_API int32_t brigade_events_descriptor(const brigade_events* events);
// The run continues.
BRIGADE_C_API void brigade_events_close(brigade_events* events);

// --- runs ---------------------------------------------------------------------------------------

typedef struct brigade_run brigade_run;
#define BRIGADE_NO_LINES (-1)
enum {
  BRIGADE_QUIET = 1,       // warnings and errors only; otherwise progress goes to standard error
  BRIGADE_IN_PROCESS = 2,  // threads of this process instead of processes, for debuggers
  BRIGADE_RESUME = 4,      // from the graph's checkpoint
  BRIGADE_OVERWRITE = 8    // starts over and replaces an existing checkpoint
};
typedef struct brigade_run_options {
  size_t size;
  uint64_t flags;
  uint64_t limit;  // most samples of every indexed producer; 0: all
  // May be NULL. Calls that wait (for a batch, for room, for the end of the run) ask it on their
  // own thread, whenever a signal interrupts the wait and about every 100 ms; calls that need not
  // wait never ask. If it returns another value than 0, the call returns BRIGADE_ERROR_INTERRUPTED
  // and changes nothing. It must not use this run.
  int32_t (*interrupted)(void* context);
  void* interrupted_context;
  // Where log lines go; 0: standard error; BRIGADE_NO_LINES: nowhere. A slow reader delays nothing.
  int64_t log_descriptor;
  // A socket, or 0. The process at its other end then forks the workers of `exec:` stages. For
  // interpreters that come with the library; its messages change between versions.
  int64_t forker_descriptor;
  brigade_events* events;  // NULL, or where the events of this run go
} brigade_run_options;

// Checks everything and starts. `options` may be NULL. The graph may be closed or started again.
BRIGADE_C_API brigade_status brigade_run_start(brigade_graph* graph, const brigade_app* app,
                                               const brigade_run_options* options,
                                               brigade_run** run);
// Stops the sources and drains the pipeline; a second call ends the run at once.
BRIGADE_C_API brigade_status brigade_run_stop(brigade_run* run);
// Waits until every stage has ended, that is, until every requested output was read to its end or
// closed. BRIGADE_ERROR_RUN: the run failed, brigade_last_error() says why. A run that was stopped
// and drained did not fail.
BRIGADE_C_API brigade_status brigade_run_wait(brigade_run* run);
// The position after the batches that were delivered, held or not, for brigade_graph_set_state();
// store it with what was learned from them. Some KiB; valid until the next call with the run; one
// thread at a time.
BRIGADE_C_API brigade_status brigade_run_state(brigade_run* run, const void** state, size_t* bytes);
// The same at the beginning of an epoch (from 0) that an output has not reached: the rest of
// earlier epochs is never delivered. BRIGADE_ERROR_RUN also if an output has not delivered a batch
// yet.
BRIGADE_C_API brigade_status brigade_run_state_at_epoch(brigade_run* run, uint64_t epoch,
                                                        const void** state, size_t* bytes);
// The position of the outputs as a few numbers, for a program that reads ahead of its training
// loop: brigade_run_state_at_mark() turns it into a state later. A mark has about 8 bytes and
// belongs to this run. Valid until the next call with the run; one thread at a time.
BRIGADE_C_API brigade_status brigade_run_mark(brigade_run* run, const void** mark, size_t* bytes);
// Same as brigade_run_state(), in the same memory. BRIGADE_ERROR_RUN also: not a mark of this run.
BRIGADE_C_API brigade_status brigade_run_state_at_mark(brigade_run* run, const void* mark,
                                                       size_t mark_bytes, const void** state,
                                                       size_t* bytes);
// Progress of the current run, in the form of brigade_run_summary(): "end" is "running", "seconds"
// counts from the first sample, and sources, edges and results are missing. Valid until the next
// call with the run; one thread at a time.
BRIGADE_C_API brigade_status brigade_run_stats(brigade_run* run, const char** json);
// Waits, then returns what `brigade run --summary` writes; valid until brigade_run_close().
BRIGADE_C_API brigade_status brigade_run_summary(brigade_run* run, const char** json);
// Ends the run at once if it is running. Outputs and batches stay usable with what they have.
BRIGADE_C_API void brigade_run_close(brigade_run* run);

// --- outputs and batches ------------------------------------------------------------------------

typedef struct brigade_output brigade_output;
typedef struct brigade_batch brigade_batch;

#define BRIGADE_ANY_EPOCH UINT64_MAX

// The output of the stage `name`, a `consumer: application`. Every call returns a handle to the
// same output; closing the last one closes the output, and batches that were not read are dropped.
BRIGADE_C_API brigade_status brigade_run_output(brigade_run* run, const char* name,
                                                brigade_output** output);
// The next batch; release it after use. BRIGADE_END: no batches are left, in the epochs up to
// `epoch`, or because the run was stopped or failed (brigade_run_wait() says which).
// BRIGADE_ERROR_HELD (after `hold_timeout:`) and BRIGADE_ERROR_UNREAD (after a second) leave the
// run unchanged. `file` and `line` are the caller's place, for messages; `file` may be NULL.
BRIGADE_C_API brigade_status brigade_output_next_at(brigade_output* output, uint64_t epoch,
                                                    const char* file, int32_t line,
                                                    brigade_batch** batch);
#define brigade_output_next(output, batch) \
  brigade_output_next_at(output, BRIGADE_ANY_EPOCH, __FILE__, __LINE__, batch)
#define brigade_output_next_in_epoch(output, epoch, batch) \
  brigade_output_next_at(output, epoch, __FILE__, __LINE__, batch)
// Does not wait. BRIGADE_TIMEOUT: the next batch is not ready.
BRIGADE_C_API brigade_status brigade_output_poll_at(brigade_output* output, uint64_t epoch,
                                                    const char* file, int32_t line,
                                                    brigade_batch** batch);

// 1: no more batches follow. 0: more may follow, or another thread is using the output.
BRIGADE_C_API int32_t brigade_output_ended(brigade_output* output);
// 1: the program holds `hold:` batches, so the next call waits until one is released.
BRIGADE_C_API int32_t brigade_output_full(brigade_output* output);
BRIGADE_C_API void brigade_output_close(brigade_output* output);

// A new batch has one holder. It returns to the graph when its last holder releases it, at once and
// on any thread. Until then its memory is not written, even if the run has ended.
BRIGADE_C_API void brigade_batch_retain(brigade_batch* batch);
BRIGADE_C_API void brigade_batch_release(brigade_batch* batch);

typedef struct brigade_batch_info {
  size_t size;
  uint64_t samples;
  uint64_t tensors;
  uint64_t epoch;
  uint64_t index;      // of its first sample, in the epoch
  const char* source;  // the input port if the output reads several; otherwise empty
} brigade_batch_info;
BRIGADE_C_API brigade_status brigade_batch_describe(const brigade_batch* batch,
                                                    brigade_batch_info* info);

typedef struct brigade_sample {
  size_t size;
  uint64_t number;  // in the stream through all epochs
  uint64_t epoch;
  uint64_t index;  // in its epoch
  uint64_t id;     // in its source: the same in every epoch
} brigade_sample;
BRIGADE_C_API brigade_status brigade_batch_sample(const brigade_batch* batch, uint64_t i,
                                                  brigade_sample* sample);

typedef int32_t brigade_dtype;
enum {
  BRIGADE_BOOL = 0,
  BRIGADE_U8 = 1,
  BRIGADE_I8 = 2,
  BRIGADE_I16 = 3,
  BRIGADE_I32 = 4,
  BRIGADE_I64 = 5,
  BRIGADE_F16 = 6,
  BRIGADE_BF16 = 7,
  BRIGADE_F32 = 8,
  BRIGADE_F64 = 9
};
#define BRIGADE_RANK_MAX 8
enum {
  BRIGADE_RAGGED = 1,   // sizes are upper bounds; brigade_batch_row() has the actual ones
  BRIGADE_WRITABLE = 2  // no other stage reads it: the holder may write
};

// All pointers are valid while the batch is held.
typedef struct brigade_tensor {
  size_t size;
  const char* name;
  void* data;  // read-only unless BRIGADE_WRITABLE
  uint64_t bytes;
  brigade_dtype dtype;
  uint32_t element_bytes;
  uint32_t flags;
  int32_t rank;  // with the batch dimension, the first one; a row has none
  int64_t shape[BRIGADE_RANK_MAX];
  // In elements, as in DLPack. Samples of a ragged tensor may have gaps between them; `bytes`
  // counts only elements.
  int64_t strides[BRIGADE_RANK_MAX];
} brigade_tensor;
BRIGADE_C_API brigade_status brigade_batch_tensor(const brigade_batch* batch, uint64_t i,
                                                  brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_batch_find(const brigade_batch* batch, const char* name,
                                                brigade_tensor* tensor);
// The tensor of sample `i`; a ragged tensor has its actual shape.
BRIGADE_C_API brigade_status brigade_batch_row(const brigade_batch* batch, uint64_t i,
                                               const char* name, brigade_tensor* tensor);

// --- batches on a device ------------------------------------------------------------------------

typedef struct brigade_uploads brigade_uploads;  // used by any thread
typedef struct brigade_upload brigade_upload;    // used by one thread at a time
enum {
  BRIGADE_PIN_AUTO = 0,  // pin if possible; otherwise copy from pageable memory, slower
  BRIGADE_PIN_YES = 1,
  BRIGADE_PIN_NO = 2
};

// Copies batches of this run to "cuda:N", in its primary context and on a separate stream, or to
// "host", a GPU emulator of threads. It pins the memory of the run's outputs, which blocks the
// driver; call it before training. Every call for a device returns a handle to the same uploads.
// They stay usable when the run is closed.
BRIGADE_C_API brigade_status brigade_run_uploads(brigade_run* run, const char* device, int32_t pin,
                                                 brigade_uploads** uploads);
// One line: what was pinned and how long that took, or why not; valid until they are closed.
BRIGADE_C_API const char* brigade_uploads_report(const brigade_uploads* uploads);
// Copies `tensors` of the batch, as brigade_batch_find() returns them (rows for ragged ones), to
// the device addresses `to`, after all earlier work of `stream` (a CUstream; NULL: the default
// stream; for "host" the calling thread). Holds the batch until the device has read it.
BRIGADE_C_API brigade_status brigade_uploads_copy(brigade_uploads* uploads, brigade_batch* batch,
                                                  const brigade_tensor* const* tensors,
                                                  const uint64_t* to, size_t count, void* stream,
                                                  brigade_upload** upload);
// Later work on `stream` waits for the copy; brigade_upload_wait(): the calling thread waits.
BRIGADE_C_API brigade_status brigade_upload_await(brigade_upload* upload, void* stream);
BRIGADE_C_API brigade_status brigade_upload_wait(brigade_upload* upload);
// Waits if neither was called, because the memory is still being written.
BRIGADE_C_API void brigade_upload_close(brigade_upload* upload);
BRIGADE_C_API void brigade_uploads_close(brigade_uploads* uploads);

// --- shared tensors ------------------------------------------------------------------------------

// A tensor of `shared:` in the YAML: plain shared memory that processes of the run read and write
// freely. A handle keeps it mapped, even if the run is closed.
typedef struct brigade_shared brigade_shared;

// The whole tensor `name`. BRIGADE_WRITABLE unless its access is own_part.
BRIGADE_C_API brigade_status brigade_run_shared(brigade_run* run, const char* name,
                                                brigade_shared** shared);
BRIGADE_C_API brigade_status brigade_shared_tensor(const brigade_shared* shared,
                                                   brigade_tensor* tensor);
// 1: this process is a replica that must initialize it (brigade_worker_shared()).
BRIGADE_C_API int32_t brigade_shared_fill(const brigade_shared* shared);
// Marks it as initialized. A program calls it for its own stage that `init:` names; for replicas
// the first request for a task has this effect. 1: it is initialized.
BRIGADE_C_API brigade_status brigade_shared_set_initialised(brigade_shared* shared);
BRIGADE_C_API int32_t brigade_shared_initialised(const brigade_shared* shared);
// Releasing NULL does nothing.
BRIGADE_C_API void brigade_shared_release(brigade_shared* shared);

// --- inputs and slots ---------------------------------------------------------------------------

typedef struct brigade_input brigade_input;
typedef struct brigade_slot brigade_slot;

// The input of the stage `name`, a `producer: application`. Every call returns a handle to the same
// input; closing the last one closes the input: only slots that are held can still be submitted.
BRIGADE_C_API brigade_status brigade_run_input(brigade_run* run, const char* name,
                                               brigade_input** input);
// The next slot, memory of the graph for one sample; submit it or drop it. Waits for room for at
// most `timeout_ns`: 0 does not wait, BRIGADE_FOR_EVER has no timeout. BRIGADE_TIMEOUT: no room
// within the timeout. BRIGADE_END: the run was stopped or failed (brigade_run_wait() says which).
// BRIGADE_ERROR_ARGUMENT: the last epoch was ended. BRIGADE_ERROR_HELD (the program held all slots
// of a task, see `chunk:`) comes after `hold_timeout:`, BRIGADE_ERROR_UNREAD (the graph is full of
// results that this program has not read) after a second; both leave the run unchanged. `file` and
// `line` are the caller's place, for messages.
BRIGADE_C_API brigade_status brigade_input_acquire_at(brigade_input* input, uint64_t timeout_ns,
                                                      const char* file, int32_t line,
                                                      brigade_slot** slot);
#define brigade_input_acquire(input, timeout_ns, slot) \
  brigade_input_acquire_at(input, timeout_ns, __FILE__, __LINE__, slot)

// Ends the epoch: the next slot is the first of the next epoch. After the last of `epochs:` the
// input accepts no more samples.
BRIGADE_C_API brigade_status brigade_input_end_epoch(brigade_input* input);
// 1: the run accepts no more samples. Any number of threads.
BRIGADE_C_API int32_t brigade_input_ended(const brigade_input* input);
BRIGADE_C_API void brigade_input_close(brigade_input* input);

// Samples keep the order in which their slots were acquired. Slots stay usable, and must be
// submitted or dropped, when their input is closed and when the run has ended or is closed. A call
// with a slot that was submitted or dropped returns BRIGADE_ERROR_ARGUMENT while its input is open,
// until acquire returns the slot again.

// The identity of the sample downstream; its `id` is its `index`.
BRIGADE_C_API brigade_status brigade_slot_sample(const brigade_slot* slot, brigade_sample* sample);
// Number of tensors; 0 if the slot has no sample to write.
BRIGADE_C_API size_t brigade_slot_tensors(const brigade_slot* slot);
// A tensor to write completely; it still has old contents. It is one sample, without the batch
// dimension; a BRIGADE_RAGGED tensor has its upper bounds until it is resized.
BRIGADE_C_API brigade_status brigade_slot_tensor(brigade_slot* slot, uint64_t i,
                                                 brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_slot_find(brigade_slot* slot, const char* name,
                                               brigade_tensor* tensor);
// Sets the shape of a ragged tensor for this sample, within its bounds; `sizes` has `rank` numbers.
// Earlier results of brigade_slot_find() keep the old shape.
BRIGADE_C_API brigade_status brigade_slot_resize(brigade_slot* slot, const char* name,
                                                 const int64_t* sizes, int32_t rank);
// Passes the sample to the graph; takes the slot if it returns BRIGADE_OK. Otherwise the slot must
// still be dropped. BRIGADE_ERROR_ARGUMENT: a ragged tensor has a shape that `tensors:` does not
// allow; resize it and retry. BRIGADE_ERROR_RUN: the run was ended at once.
BRIGADE_C_API brigade_status brigade_slot_submit(brigade_slot* slot);
// Takes the slot and drops its sample. NULL does nothing.
BRIGADE_C_API void brigade_slot_drop(brigade_slot* slot);

#ifdef __cplusplus
}
#endif
