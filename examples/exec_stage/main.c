/* What a graph runs by `exec:`, as each replica of a stage: a source of numbers where it reads
   nothing, and else y = scale * x + noise. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <brigade/worker.h>

static int failed(brigade_worker* worker, const char* what) {
  fprintf(stderr, "%s: %s\n", what, brigade_last_error());
  brigade_worker_fail(worker, what);
  return 1;
}

/* The number behind "scale" in {"scale": 2, ...}; a real program takes a JSON library. */
static double scale_of(const char* params) {
  const char* found = strstr(params, "\"scale\":");
  return found == NULL ? 1 : strtod(found + strlen("\"scale\":"), NULL);
}

/* In [0, 1), the same for this sample in every run, whoever computes it. */
static double noise(const brigade_worker* worker, uint64_t sample) {
  uint64_t word = 0;
  brigade_worker_random(worker, sample, &word, 1);
  return (double)(word >> 11) / 9007199254740992.0;
}

/* The sample of a source: its number, whoever is asked, and in whatever order. */
static int make(brigade_worker* worker) {
  brigade_sample sample = {.size = sizeof sample};
  brigade_tensor data = {.size = sizeof data};
  if (brigade_worker_sample(worker, 0, &sample) != BRIGADE_OK ||
      brigade_worker_find_output(worker, "data", &data) != BRIGADE_OK)
    return 0;
  for (uint64_t k = 0; k < data.bytes / data.element_bytes; ++k)
    ((float*)data.data)[k] = (float)sample.id;
  return 1;
}

/* Of a batch: its samples lie one after the other. */
static int transform(brigade_worker* worker, uint64_t samples, double scale) {
  brigade_tensor x = {.size = sizeof x}, y = {.size = sizeof y};
  if (brigade_worker_find_input(worker, "data", &x) != BRIGADE_OK ||
      brigade_worker_find_output(worker, "y", &y) != BRIGADE_OK)
    return 0;
  const uint64_t elements = samples == 0 ? 0 : x.bytes / x.element_bytes / samples;
  for (uint64_t i = 0; i < samples; ++i) {
    const float* from = (const float*)x.data + i * elements;
    float* to = (float*)y.data + i * elements;
    const float offset = (float)noise(worker, i);
    for (uint64_t k = 0; k < elements; ++k) to[k] = (float)scale * from[k] + offset;
  }
  return 1;
}

int main(void) {
  brigade_worker* worker = NULL;
  if (brigade_worker_attach(&worker) != BRIGADE_OK) {
    fprintf(stderr, "%s\n", brigade_last_error());
    return 1;
  }
  brigade_worker_info info = {.size = sizeof info};
  brigade_worker_describe(worker, &info);
  const double scale = scale_of(info.params);

  brigade_task task = {.size = sizeof task};
  brigade_status status;
  while ((status = brigade_worker_next(worker, &task)) == BRIGADE_OK) {
    const int done =
        info.kind == BRIGADE_PRODUCER ? make(worker) : transform(worker, task.samples, scale);
    if (!done) return failed(worker, "a tensor is missing");
    if (brigade_worker_finish(worker) != BRIGADE_OK) return failed(worker, "finish");
  }
  if (status != BRIGADE_END) return failed(worker, "next");
  brigade_worker_close(worker);
  return 0;
}
