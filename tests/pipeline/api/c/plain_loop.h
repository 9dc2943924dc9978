#pragma once

// A loop over a graph's batches in C11, for the tests of the C ABI: compiled as a C program is.

#include <brigade/c.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What the loop has seen.
struct plain_loop {
  uint64_t batches;
  uint64_t samples;
  uint64_t id_sum;
  uint64_t wrong; /* elements that are not their sample's id, places that do not fit */
};

/// Starts the graph and reads all of its output `train`: tensor `data`, i64[N, 3], each element its
/// sample's id. Returns what failed first, or BRIGADE_OK.
brigade_status run_plain_loop(const brigade_app* app, const char* yaml, uint64_t flags,
                              struct plain_loop* seen);

#ifdef __cplusplus
}
#endif
