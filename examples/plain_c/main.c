// How bright the images of each class are, in C11.
//
//   plain_c plain_c.yaml

#include <stdio.h>

#include <brigade/c.h>

#define CLASSES 10

typedef struct {
  uint64_t images[CLASSES];
  double sum[CLASSES];  // of their pixels' means
} Brightness;

static brigade_status add_batch(Brightness* all, const brigade_batch* batch) {
  brigade_tensor image = {.size = sizeof image};
  brigade_tensor label = {.size = sizeof label};
  brigade_status status = brigade_batch_find(batch, "image", &image);
  if (!status) status = brigade_batch_find(batch, "label", &label);
  if (status) return status;
  const uint8_t* pixels = image.data;
  const int64_t* labels = label.data;
  for (int64_t i = 0; i < image.shape[0]; ++i, pixels += image.strides[0]) {
    uint64_t sum = 0;
    for (int64_t p = 0; p < image.strides[0]; ++p) sum += pixels[p];
    all->images[labels[i]] += 1;
    all->sum[labels[i]] += (double)sum / (double)image.strides[0];
  }
  return BRIGADE_OK;
}

static brigade_status read_images(brigade_run* run, Brightness* all) {
  brigade_output* images = NULL;
  brigade_status status = brigade_run_output(run, "images", &images);
  for (brigade_batch* batch = NULL; !status;) {
    status = brigade_output_next(images, &batch);
    if (status) break;
    status = add_batch(all, batch);
    brigade_batch_release(batch);
  }
  brigade_output_close(images);
  return status == BRIGADE_END ? brigade_run_wait(run) : status;
}

static brigade_status run_graph(const brigade_app* app, const char* path, Brightness* all) {
  brigade_run_options options = {.size = sizeof options, .flags = BRIGADE_QUIET};
  brigade_graph* graph = NULL;
  brigade_run* run = NULL;
  brigade_status status = brigade_graph_from_files(&path, 1, &graph);
  if (!status) status = brigade_run_start(graph, app, &options, &run);
  if (!status) status = read_images(run, all);
  brigade_run_close(run);
  brigade_graph_close(graph);
  return status;
}

int main(int argc, char** argv) {
  // First: a worker that is started from this program stays in here.
  brigade_app_options options = {.size = sizeof options, .argc = argc, .argv = argv};
  brigade_app* app = NULL;
  Brightness all = {{0}, {0}};
  brigade_status status = brigade_app_open(&options, &app);
  if (!status) status = run_graph(app, argc > 1 ? argv[1] : "plain_c.yaml", &all);
  brigade_app_close(app);
  if (status) {
    fprintf(stderr, "%s\n", brigade_last_error());
    return 1;
  }
  for (int i = 0; i < CLASSES; ++i)
    printf("class %d: %d images, brightness %.1f\n", i, (int)all.images[i],
           all.sum[i] / (double)all.images[i]);
  return 0;
}
