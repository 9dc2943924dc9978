#include "tests/pipeline/api/c/plain_loop.h"

#include <string.h>

/* Numbers are promised as functions are. */
_Static_assert(BRIGADE_END == 1 && BRIGADE_TIMEOUT == 2 && BRIGADE_ERROR_ARGUMENT == -1 &&
                   BRIGADE_ERROR_GRAPH == -2 && BRIGADE_ERROR_RUN == -3 &&
                   BRIGADE_ERROR_HELD == -4 && BRIGADE_ERROR_UNREAD == -5 &&
                   BRIGADE_ERROR_BUSY == -6 && BRIGADE_ERROR_MEMORY == -7 &&
                   BRIGADE_ERROR_INTERNAL == -8 && BRIGADE_ERROR_INTERRUPTED == -9,
               "codes");
_Static_assert(BRIGADE_QUIET == 1 && BRIGADE_IN_PROCESS == 2 && BRIGADE_RESUME == 4 &&
                   BRIGADE_OVERWRITE == 8 && BRIGADE_RAGGED == 1 && BRIGADE_WRITABLE == 2,
               "flags");
_Static_assert(BRIGADE_BOOL == 0 && BRIGADE_U8 == 1 && BRIGADE_I8 == 2 && BRIGADE_I16 == 3 &&
                   BRIGADE_I32 == 4 && BRIGADE_I64 == 5 && BRIGADE_F16 == 6 && BRIGADE_BF16 == 7 &&
                   BRIGADE_F32 == 8 && BRIGADE_F64 == 9,
               "dtypes");

static void look_at(const brigade_batch* batch, struct plain_loop* seen) {
  brigade_batch_info info = {.size = sizeof info};
  brigade_tensor data = {.size = sizeof data};
  brigade_sample sample = {.size = sizeof sample};
  if (brigade_batch_describe(batch, &info) || brigade_batch_find(batch, "data", &data)) {
    seen->wrong += 1;
    return;
  }
  seen->wrong += data.rank != 2 || data.shape[0] != (int64_t)info.samples || data.shape[1] != 3 ||
                 data.strides[0] != 3 || data.strides[1] != 1 || data.dtype != BRIGADE_I64 ||
                 data.element_bytes != 8 || data.bytes != info.samples * 24 ||
                 strcmp(data.name, "data") != 0;
  for (uint64_t i = 0; i < info.samples; ++i) {
    if (brigade_batch_sample(batch, i, &sample)) seen->wrong += 1;
    seen->wrong += sample.epoch != info.epoch || sample.index != info.index + i;
    for (int k = 0; k < 3; ++k)
      seen->wrong += ((const int64_t*)data.data)[3 * i + (uint64_t)k] != (int64_t)sample.id;
    seen->id_sum += sample.id;
  }
  seen->samples += info.samples;
  seen->batches += 1;
}

static brigade_status read_all(brigade_run* run, struct plain_loop* seen) {
  brigade_output* train = NULL;
  brigade_batch* batch = NULL;
  brigade_status status = brigade_run_output(run, "train", &train);
  if (status) return status;
  while ((status = brigade_output_next(train, &batch)) == BRIGADE_OK) {
    look_at(batch, seen);
    brigade_batch_release(batch);
  }
  seen->wrong += !brigade_output_ended(train);
  brigade_output_close(train);
  return status == BRIGADE_END ? brigade_run_wait(run) : status;
}

brigade_status run_plain_loop(const brigade_app* app, const char* yaml, uint64_t flags,
                              struct plain_loop* seen) {
  brigade_run_options options = {.size = sizeof options, .flags = flags};
  brigade_graph* graph = NULL;
  brigade_run* run = NULL;
  memset(seen, 0, sizeof *seen);
  brigade_status status = brigade_graph_from_text(yaml, "plain_loop", &graph);
  if (status) return status;
  status = brigade_run_start(graph, app, &options, &run);
  brigade_graph_close(graph);
  if (status) return status;
  status = read_all(run, seen);
  brigade_run_close(run);
  return status;
}
