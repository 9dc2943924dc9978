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
// aborts or throws: NULL where a value is needed, or an unknown name, is BRIGADE_ERROR_ARGUMENT.
// A call writes through an output pointer only if it returns BRIGADE_OK.
//
// Any thread may use a handle, but one at a time may call with an app, a graph, an output, an
// input or a slot (for outputs and inputs this is checked). Many threads may call with one run or
// batch. No other thread may be in a call with a handle that is closed. Closing NULL does nothing.
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
  BRIGADE_END = 1,              // no error: nothing is left, or nothing more is taken
  BRIGADE_TIMEOUT = 2,          // no error: there was no room, or no batch, in that time
  BRIGADE_ERROR_ARGUMENT = -1,  // of the caller
  BRIGADE_ERROR_GRAPH = -2,     // mistakes in the YAML; brigade_graph_diagnostic() has each
  BRIGADE_ERROR_RUN = -3,       // the run could not start, or failed
  BRIGADE_ERROR_HELD = -4,      // more batches are held than `hold:` allows, or slots than `chunk:`
  BRIGADE_ERROR_UNREAD = -5,    // what is waited for stands behind another output's batches
  BRIGADE_ERROR_BUSY = -6,      // another thread is in a call with this output, or input
  BRIGADE_ERROR_MEMORY = -7,
  BRIGADE_ERROR_INTERNAL = -8,
  BRIGADE_ERROR_INTERRUPTED = -9,  // brigade_run_options.interrupted has said so
  BRIGADE_ERROR_DEVICE = -10       // there is no such device, it has no room, or it was lost
};

// "0.1.0": of the library, which need not be the one that the caller was compiled with.
BRIGADE_C_API const char* brigade_version(void);

// What the last call of this thread that failed has to say: a line, or several about a graph. Valid
// until this thread's next call that fails; never NULL.
BRIGADE_C_API const char* brigade_last_error(void);

// --- which program the stages' processes execute ------------------------------------------------

typedef struct brigade_app brigade_app;
typedef struct brigade_app_options {
  size_t size;
  int32_t argc;  // both as main() has them, or 0 and NULL
  char** argv;
  const char* program;  // a path, or NULL
} brigade_app_options;

// With `argv`: stages run in processes that execute this very program; in those the call does not
// return, so it is the first in main(). Without: they execute `program`, a `brigade` of the same
// version, or, where that is NULL, too, the one that was installed with the library. That is for a
// host that cannot be executed again, such as an interpreter. `options` may be NULL.
BRIGADE_C_API brigade_status brigade_app_open(const brigade_app_options* options,
                                              brigade_app** app);
// Runs that were started with it go on.
BRIGADE_C_API void brigade_app_close(brigade_app* app);

// --- graphs -------------------------------------------------------------------------------------

typedef struct brigade_graph brigade_graph;

// Files after the first lie over it, key by key.
BRIGADE_C_API brigade_status brigade_graph_from_files(const char* const* paths, size_t count,
                                                      brigade_graph** graph);
// YAML in hand. Its paths are relative to the working directory; messages call it `name`.
BRIGADE_C_API brigade_status brigade_graph_from_text(const char* yaml, const char* name,
                                                     brigade_graph** graph);
// Lies over what is there.
BRIGADE_C_API brigade_status brigade_graph_add_text(brigade_graph* graph, const char* yaml,
                                                    const char* name);
// As `--set stages.augment.replicas=4` on the command line; what is wrong is found later.
BRIGADE_C_API brigade_status brigade_graph_set(brigade_graph* graph, const char* key_and_value);
// The program reads these stages, whatever the graph was written for: what is not above one of them
// is left out, a consumer of another type becomes an output of the program, a producer or transform
// gets one; brigade_run_output() knows each by the name given here. Samples that nobody makes
// batches of come as batches of one. The graph's checkpoint is left out, too. The last call holds.
BRIGADE_C_API brigade_status brigade_graph_read(brigade_graph* graph, const char* const* stages,
                                                size_t count);
// The part that this process reads, unless `shard:` has numbers and `over_graph` is 0. `world` 0:
// not known; RANK without WORLD_SIZE is then told in "ranks" of a plan, and is no mistake.
BRIGADE_C_API brigade_status brigade_graph_set_rank(brigade_graph* graph, uint64_t rank,
                                                    uint64_t world, int32_t over_graph);
// Only so many samples of every indexed producer, in plans and runs; 0: all.
BRIGADE_C_API brigade_status brigade_graph_limit(brigade_graph* graph, uint64_t samples);
// brigade_graph_plan() opens sources that do not tell how many samples they have, and asks them.
BRIGADE_C_API brigade_status brigade_graph_count(brigade_graph* graph);
// Goes on where the run stood that gave this state; checked when the run is started.
BRIGADE_C_API brigade_status brigade_graph_set_state(brigade_graph* graph, const void* state,
                                                     size_t bytes);
BRIGADE_C_API void brigade_graph_close(brigade_graph* graph);

typedef struct brigade_diagnostic {
  size_t size;
  int32_t is_error;     // else a warning
  int32_t line;         // from 1; 0: about all of `file`, or about no file where that is empty
  int32_t column;       // from 1, in characters
  const char* file;     // as it was given; "--set" for what was set
  const char* source;   // that line of the file
  const char* message;  // one line: what was expected and found
  const char* help;     // what to do: lines, or empty
} brigade_diagnostic;

// Finds all mistakes and warnings, and runs nothing. BRIGADE_ERROR_GRAPH: there are mistakes.
BRIGADE_C_API brigade_status brigade_graph_check(brigade_graph* graph, const brigade_app* app);
// What the last brigade_graph_check(), or the last call that said BRIGADE_ERROR_GRAPH, has found,
// in the order of the places. Its text is valid until the next of these calls.
BRIGADE_C_API size_t brigade_graph_diagnostics(const brigade_graph* graph);
BRIGADE_C_API brigade_status brigade_graph_diagnostic(const brigade_graph* graph, size_t i,
                                                      brigade_diagnostic* diagnostic);
// What `brigade plan --json` prints; valid until the next call or brigade_graph_close().
BRIGADE_C_API brigade_status brigade_graph_plan(brigade_graph* graph, const brigade_app* app,
                                                const char** json);

// --- events -------------------------------------------------------------------------------------

// What happens in a run, as values: event.h says what each kind and member means. Events wait in a
// queue of at most 4 MiB. The run never waits for the program: what does not fit is dropped, and
// `lost` of the next event counts it. There is no event for a sample or a batch.
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
// What the run does about a replica that has ended.
enum {
  BRIGADE_NEXT_NOTHING = 0,
  BRIGADE_NEXT_RESTART = 1,
  BRIGADE_NEXT_RESUME = 2,
  BRIGADE_NEXT_CARRY_ON = 3,
  BRIGADE_NEXT_FAIL = 4
};
#define BRIGADE_UNKNOWN UINT64_MAX
#define BRIGADE_FOR_EVER UINT64_MAX  // of a timeout in nanoseconds
typedef struct brigade_event {
  size_t size;
  int32_t kind;
  int32_t level;
  int64_t time_ns;  // since 1970, UTC
  uint64_t lost;
  const char* stage;  // empty: the event is about none
  const char* text;   // the line that people read
  const char* message;
  const char* help;
  const char* output;
  const char* reason;
  int32_t replica;  // -1: the event is about none
  int32_t pid;      // 0: a thread, or not known
  int32_t signal;
  int32_t exit_code;
  int32_t next;
  int32_t restarts;
  int32_t restarts_max;
  int32_t deaths;
  int64_t within_ns;
  int64_t delay_ns;
  int64_t duration_ns;
  uint64_t sample;  // BRIGADE_UNKNOWN: none, as the next three
  uint64_t sample_epoch;
  uint64_t sample_index;
  uint64_t sample_id;
  uint64_t samples;
  uint64_t epoch;
} brigade_event;

// For brigade_run_options.events, of one run.
BRIGADE_C_API brigade_status brigade_events_open(brigade_events** events);
// The next event; its text is valid until the next call of this with these events, by one thread at
// a time. BRIGADE_TIMEOUT: none has come; BRIGADE_FOR_EVER waits. BRIGADE_END: the run has ended,
// or could not start, and all were taken.
BRIGADE_C_API brigade_status brigade_events_next(brigade_events* events, uint64_t timeout_ns,
                                                 brigade_event* event);
// Readable when brigade_events_next() would not wait, for poll().
BRIGADE_C_API int32_t brigade_events_descriptor(const brigade_events* events);
// The run goes on.
BRIGADE_C_API void brigade_events_close(brigade_events* events);

// --- runs ---------------------------------------------------------------------------------------

typedef struct brigade_run brigade_run;
#define BRIGADE_NO_LINES (-1)
enum {
  BRIGADE_QUIET = 1,       // warnings and errors only; otherwise progress goes to standard error
  BRIGADE_IN_PROCESS = 2,  // threads of this process instead of processes, for debuggers
  BRIGADE_RESUME = 4,      // from the graph's checkpoint
  BRIGADE_OVERWRITE = 8    // begins anew where a checkpoint is there, and replaces it
};
typedef struct brigade_run_options {
  size_t size;
  uint64_t flags;
  uint64_t limit;  // only so many samples of every indexed producer; 0: all
  // May be NULL. Asked by calls that wait (for a batch, for room, for the end of the run), on their
  // own thread, whenever a signal has ended its sleep and about every 100 ms; never where nothing
  // has to be waited for. Not 0: the call returns BRIGADE_ERROR_INTERRUPTED, and everything is as
  // it was before it. It must not call this run.
  int32_t (*interrupted)(void* context);
  void* interrupted_context;
  // Where lines go; 0: standard error; BRIGADE_NO_LINES: nowhere. A slow reader delays nothing.
  int64_t log_descriptor;
  // A socket, or 0. Workers of `exec:` stages are then forked by the process at its other end. For
  // interpreters that come with the library; its messages change with the version.
  int64_t forker_descriptor;
  brigade_events* events;  // NULL, or where the events of this run go
} brigade_run_options;

// Checks everything and starts. `options` may be NULL. The graph may be closed, or started again.
BRIGADE_C_API brigade_status brigade_run_start(brigade_graph* graph, const brigade_app* app,
                                               const brigade_run_options* options,
                                               brigade_run** run);
// Lets the sources finish and drains the line; the second call ends the run at once.
BRIGADE_C_API brigade_status brigade_run_stop(brigade_run* run);
// Until every stage has ended: every output that was asked for has been read to its end or is
// closed. BRIGADE_ERROR_RUN: why it failed. A run that was stopped and drained is no error.
BRIGADE_C_API brigade_status brigade_run_wait(brigade_run* run);
// What to keep beside what was learned of the batches that have been given, held or not, for
// brigade_graph_set_state(). Some KiB; valid until the next call of this with the run, by one
// thread at a time.
BRIGADE_C_API brigade_status brigade_run_state(brigade_run* run, const void** state, size_t* bytes);
// The same at the beginning of an epoch, counted from 0, where an output has not come so far: what
// is left of the epochs before it is never given. BRIGADE_ERROR_RUN, too, where an output has given
// no batch yet.
BRIGADE_C_API brigade_status brigade_run_state_at_epoch(brigade_run* run, uint64_t epoch,
                                                        const void** state, size_t* bytes);
// Where the outputs stand, as a few numbers, for a program that reads ahead of the loop that it
// feeds: brigade_run_state_at_mark() makes the state of that moment when it is asked for. A mark is
// some 8 bytes and is of this run alone. Valid until the next call of this with the run, by one
// thread at a time.
BRIGADE_C_API brigade_status brigade_run_mark(brigade_run* run, const void** mark, size_t* bytes);
// As brigade_run_state(), and in the same memory. BRIGADE_ERROR_RUN, too: not a mark of this run.
BRIGADE_C_API brigade_status brigade_run_state_at_mark(brigade_run* run, const void* mark,
                                                       size_t mark_bytes, const void** state,
                                                       size_t* bytes);
// How far the run is at this moment, in the form of brigade_run_summary(): "end" is "running",
// "seconds" are those since the first sample, and there are no sources, edges and results. Valid
// until the next call of this with the run, by one thread at a time.
BRIGADE_C_API brigade_status brigade_run_stats(brigade_run* run, const char** json);
// What `brigade run --summary` writes, valid until brigade_run_close(). Waits.
BRIGADE_C_API brigade_status brigade_run_summary(brigade_run* run, const char** json);
// Ends the run at once if it still goes. Outputs and batches stay usable; they give what they have.
BRIGADE_C_API void brigade_run_close(brigade_run* run);

// --- outputs and batches ------------------------------------------------------------------------

typedef struct brigade_output brigade_output;
typedef struct brigade_batch brigade_batch;

#define BRIGADE_ANY_EPOCH UINT64_MAX

// The stage of that name, a `consumer: application`. Every call gives a handle on the same output;
// with the last one that is closed, the output is: what it has not given is read by nobody.
BRIGADE_C_API brigade_status brigade_run_output(brigade_run* run, const char* name,
                                                brigade_output** output);
// The next batch, which is to be released. BRIGADE_END: nothing is left, of the epochs up to
// `epoch`, or of a run that was stopped or that failed (brigade_run_wait() says which). After
// BRIGADE_ERROR_HELD (after `hold_timeout:`) and BRIGADE_ERROR_UNREAD (after a second) the run is
// as it was. `file` and `line` say where the batch is taken, for messages; `file` may be NULL.
BRIGADE_C_API brigade_status brigade_output_next_at(brigade_output* output, uint64_t epoch,
                                                    const char* file, int32_t line,
                                                    brigade_batch** batch);
#define brigade_output_next(output, batch) \
  brigade_output_next_at(output, BRIGADE_ANY_EPOCH, __FILE__, __LINE__, batch)
#define brigade_output_next_in_epoch(output, epoch, batch) \
  brigade_output_next_at(output, epoch, __FILE__, __LINE__, batch)
// Without a wait. BRIGADE_TIMEOUT: the next batch is not there yet.
BRIGADE_C_API brigade_status brigade_output_poll_at(brigade_output* output, uint64_t epoch,
                                                    const char* file, int32_t line,
                                                    brigade_batch** batch);

// 1: nothing will be given any more. 0: something may be, or another thread is in a call with it.
BRIGADE_C_API int32_t brigade_output_ended(brigade_output* output);
// 1: `hold:` batches are held, so that the next call waits for one to be released.
BRIGADE_C_API int32_t brigade_output_full(brigade_output* output);
BRIGADE_C_API void brigade_output_close(brigade_output* output);

// A batch has one holder when it is given, and goes back to the graph with the last one, at once
// and on whatever thread. Nobody writes its memory before, also when the run has ended.
BRIGADE_C_API void brigade_batch_retain(brigade_batch* batch);
BRIGADE_C_API void brigade_batch_release(brigade_batch* batch);

typedef struct brigade_batch_info {
  size_t size;
  uint64_t samples;
  uint64_t tensors;
  uint64_t epoch;
  uint64_t index;      // of its first sample, in the epoch
  const char* source;  // the port it came through, where the output reads several; else empty
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
  BRIGADE_RAGGED = 1,   // sizes are upper bounds: brigade_batch_row() has those of each sample
  BRIGADE_WRITABLE = 2  // nobody else reads it: its holder may write
};

// All pointers are valid as long as somebody holds the batch.
typedef struct brigade_tensor {
  size_t size;
  const char* name;
  void* data;  // only to be read, unless BRIGADE_WRITABLE
  uint64_t bytes;
  brigade_dtype dtype;
  uint32_t element_bytes;
  uint32_t flags;
  int32_t rank;  // the batch's dimension, the first one, included; of a row without it
  int64_t shape[BRIGADE_RANK_MAX];
  // In elements, as DLPack has them. Between samples of a ragged one there may be room, so that
  // `bytes` are those of its elements.
  int64_t strides[BRIGADE_RANK_MAX];
} brigade_tensor;
BRIGADE_C_API brigade_status brigade_batch_tensor(const brigade_batch* batch, uint64_t i,
                                                  brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_batch_find(const brigade_batch* batch, const char* name,
                                                brigade_tensor* tensor);
// Of sample `i`, a ragged tensor in its real shape.
BRIGADE_C_API brigade_status brigade_batch_row(const brigade_batch* batch, uint64_t i,
                                               const char* name, brigade_tensor* tensor);

// --- batches on a device ------------------------------------------------------------------------

typedef struct brigade_uploads brigade_uploads;  // of any thread
typedef struct brigade_upload brigade_upload;    // of one thread at a time
enum {
  BRIGADE_PIN_AUTO = 0,  // where that can be had; else memory is copied as any other, more slowly
  BRIGADE_PIN_YES = 1,
  BRIGADE_PIN_NO = 2
};

// Copies batches of this run to "cuda:N" in its primary context, on a stream of its own, or to
// "host", threads that stand for a device. The memory that the run's outputs lie in is pinned,
// which holds up the driver: before training. Every call gives a handle on the same ones of a
// device. They are usable when the run is closed.
BRIGADE_C_API brigade_status brigade_run_uploads(brigade_run* run, const char* device, int32_t pin,
                                                 brigade_uploads** uploads);
// What was pinned and what that took, or why not: one line; valid until they are closed.
BRIGADE_C_API const char* brigade_uploads_report(const brigade_uploads* uploads);
// Copies `tensors` of the batch, as brigade_batch_find() has them (of ragged ones rows), to the
// addresses `to` on the device, when `stream` (a CUstream; NULL: the default one; of "host" the
// calling thread) has done what it was told before. The batch is held until the device has read it.
BRIGADE_C_API brigade_status brigade_uploads_copy(brigade_uploads* uploads, brigade_batch* batch,
                                                  const brigade_tensor* const* tensors,
                                                  const uint64_t* to, size_t count, void* stream,
                                                  brigade_upload** upload);
// What `stream` is told from now on waits for it; brigade_upload_wait(): the calling thread does.
BRIGADE_C_API brigade_status brigade_upload_await(brigade_upload* upload, void* stream);
BRIGADE_C_API brigade_status brigade_upload_wait(brigade_upload* upload);
// Waits, unless one of the two has: memory that is still written may not go.
BRIGADE_C_API void brigade_upload_close(brigade_upload* upload);
BRIGADE_C_API void brigade_uploads_close(brigade_uploads* uploads);

// --- shared tensors ------------------------------------------------------------------------------

// A tensor in shared memory, of `shared:` in the YAML: nothing but memory, which processes of the
// run load from and store to as they like. A handle keeps it mapped, also when the run is closed.
typedef struct brigade_shared brigade_shared;

// All of the one of that name. BRIGADE_WRITABLE unless its access is own_part.
BRIGADE_C_API brigade_status brigade_run_shared(brigade_run* run, const char* name,
                                                brigade_shared** shared);
BRIGADE_C_API brigade_status brigade_shared_tensor(const brigade_shared* shared,
                                                   brigade_tensor* tensor);
// 1: this process is a replica that is to initialise it (brigade_worker_shared()).
BRIGADE_C_API int32_t brigade_shared_fill(const brigade_shared* shared);
// What initialises it is done: a program says so for a stage of its own that `init:` names, and its
// replicas are waited for until they ask for their first task. 1: somebody has.
BRIGADE_C_API brigade_status brigade_shared_set_initialised(brigade_shared* shared);
BRIGADE_C_API int32_t brigade_shared_initialised(const brigade_shared* shared);
// Releasing NULL does nothing.
BRIGADE_C_API void brigade_shared_release(brigade_shared* shared);

// --- inputs and slots ---------------------------------------------------------------------------

typedef struct brigade_input brigade_input;
typedef struct brigade_slot brigade_slot;

// The stage of that name, a `producer: application`. Every call gives a handle on the same input;
// with the last one that is closed, the input is: no more samples come, but for slots that are
// held.
BRIGADE_C_API brigade_status brigade_run_input(brigade_run* run, const char* name,
                                               brigade_input** input);
// The next slot, one sample in the graph's own memory, which is to be submitted or dropped. Waits
// for room for at most `timeout_ns`: 0 does not wait, BRIGADE_FOR_EVER as long as it takes.
// BRIGADE_TIMEOUT: there was none. BRIGADE_END: the run was stopped or has failed
// (brigade_run_wait() says which). BRIGADE_ERROR_ARGUMENT: the last epoch was ended. After
// BRIGADE_ERROR_HELD (the slots of a whole task are held: `chunk:` says how many that is) and
// BRIGADE_ERROR_UNREAD (the graph is full of what this program has not read) the run is as it was;
// both take a second. `file` and `line` say where the slot is taken, for messages.
BRIGADE_C_API brigade_status brigade_input_acquire_at(brigade_input* input, uint64_t timeout_ns,
                                                      const char* file, int32_t line,
                                                      brigade_slot** slot);
#define brigade_input_acquire(input, timeout_ns, slot) \
  brigade_input_acquire_at(input, timeout_ns, __FILE__, __LINE__, slot)

// No more samples in this epoch; the slot acquired next is the first of the next. After the last of
// `epochs:` nothing more is taken.
BRIGADE_C_API brigade_status brigade_input_end_epoch(brigade_input* input);
// 1: the run takes no more. Any number of threads.
BRIGADE_C_API int32_t brigade_input_ended(const brigade_input* input);
BRIGADE_C_API void brigade_input_close(brigade_input* input);

// Samples go on in the order in which their slots were acquired. Slots are usable, and are settled,
// when their input is closed and when the run has ended or is closed. A call with one that was
// submitted or dropped is BRIGADE_ERROR_ARGUMENT while its input is open, until it is given again.

// What the sample is called below; its `id` is its `index`.
BRIGADE_C_API brigade_status brigade_slot_sample(const brigade_slot* slot, brigade_sample* sample);
// How many tensors there are; 0 where there is no sample to write.
BRIGADE_C_API size_t brigade_slot_tensors(const brigade_slot* slot);
// To be written, all of it: what stood there before is left. Of one sample, without the batch's
// dimension; a BRIGADE_RAGGED one has its upper bounds until it was resized.
BRIGADE_C_API brigade_status brigade_slot_tensor(brigade_slot* slot, uint64_t i,
                                                 brigade_tensor* tensor);
BRIGADE_C_API brigade_status brigade_slot_find(brigade_slot* slot, const char* name,
                                               brigade_tensor* tensor);
// Of a ragged tensor, its shape for this sample, at most its bounds: `sizes` has its `rank`
// numbers. What brigade_slot_find() has told before is then another shape's.
BRIGADE_C_API brigade_status brigade_slot_resize(brigade_slot* slot, const char* name,
                                                 const int64_t* sizes, int32_t rank);
// Gives the sample to the graph, and takes the slot if it returns BRIGADE_OK. Otherwise the slot is
// still to be dropped. BRIGADE_ERROR_ARGUMENT: a ragged tensor has a shape that `tensors:` does not
// allow, which can be mended. BRIGADE_ERROR_RUN: the run was ended at once.
BRIGADE_C_API brigade_status brigade_slot_submit(brigade_slot* slot);
// Takes the slot; its sample is a dropped one. NULL does nothing.
BRIGADE_C_API void brigade_slot_drop(brigade_slot* slot);

#ifdef __cplusplus
}
#endif
