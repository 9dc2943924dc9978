#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "pipeline/api/c/c_call.h"
#include "pipeline/api/c/handles.h"

using namespace brigade;
using namespace brigade::c_api;

namespace {

Result<App> open_app(const brigade_app_options& options) {
  if (options.argv != nullptr) return App(options.argc, options.argv);
  return App::of_host(options.program == nullptr ? "" : options.program);
}

bool is_open(std::int64_t descriptor) {
  return descriptor >= 0 && fcntl(static_cast<int>(descriptor), F_GETFD) >= 0;
}

}  // namespace

brigade_status brigade_app_open(const brigade_app_options* options, brigade_app** app) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(app);
    brigade_app_options known;
    if (const auto wrong = read_struct(options, "brigade_app_options", known)) return wrong;
    if (known.argv != nullptr && known.program != nullptr)
      return fail(
          BRIGADE_ERROR_ARGUMENT,
          "expected argv or program, found both: workers execute either this program or another");
    if (known.argv != nullptr && known.argc < 0)
      return fail(BRIGADE_ERROR_ARGUMENT, "argc is below 0");
    auto opened = open_app(known);
    if (!opened) return fail(BRIGADE_ERROR_ARGUMENT, opened.error().message);
    *app = new brigade_app{std::make_shared<const App>(std::move(*opened))};
    return BRIGADE_OK;
  });
}

void brigade_app_close(brigade_app* app) { delete app; }

brigade_status brigade_graph_from_files(const char* const* paths, size_t count,
                                        brigade_graph** graph) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(paths);
    BRIGADE_C_NEEDS(graph);
    if (count == 0) return fail(BRIGADE_ERROR_ARGUMENT, "expected at least one YAML file");
    if (std::find(paths, paths + count, nullptr) != paths + count) return is_null("a path");
    auto read = Pipeline::from_file(paths[0], {paths + 1, paths + count});
    if (!read) return fail(BRIGADE_ERROR_GRAPH, read.error().message);
    *graph = new brigade_graph{std::move(*read)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_from_text(const char* yaml, const char* name, brigade_graph** graph) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(yaml);
    BRIGADE_C_NEEDS(name);
    BRIGADE_C_NEEDS(graph);
    *graph = new brigade_graph{Pipeline::from_text(yaml, name)};
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_add_text(brigade_graph* graph, const char* yaml, const char* name) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(yaml);
    BRIGADE_C_NEEDS(name);
    graph->pipeline.add_text(yaml, name);
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_set(brigade_graph* graph, const char* key_and_value) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(key_and_value);
    graph->pipeline.set(key_and_value);
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_read(brigade_graph* graph, const char* const* stages, size_t count) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(stages);
    if (count == 0) return fail(BRIGADE_ERROR_ARGUMENT, "expected at least one stage to read");
    if (std::find(stages, stages + count, nullptr) != stages + count) return is_null("a stage");
    graph->pipeline.read({stages, stages + count});
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_set_rank(brigade_graph* graph, uint64_t rank, uint64_t world,
                                      int32_t over_graph) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    graph->pipeline.rank(rank, world, over_graph != 0);
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_limit(brigade_graph* graph, uint64_t samples) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    graph->pipeline.limit(samples);
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_count(brigade_graph* graph) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    graph->pipeline.count();
    return BRIGADE_OK;
  });
}

brigade_status brigade_graph_set_state(brigade_graph* graph, const void* state, size_t bytes) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(state);
    graph->pipeline.state(std::string(static_cast<const char*>(state), bytes));
    return BRIGADE_OK;
  });
}

void brigade_graph_close(brigade_graph* graph) { delete graph; }

brigade_status brigade_graph_check(brigade_graph* graph, const brigade_app* app) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(app);
    graph->diagnostics = graph->pipeline.check(*app->app);
    const auto mistakes = std::count_if(graph->diagnostics.begin(), graph->diagnostics.end(),
                                        [](const GraphDiagnostic& one) { return one.is_error; });
    if (mistakes == 0) return BRIGADE_OK;
    return fail(BRIGADE_ERROR_GRAPH,
                concat("the graph has ", mistakes, mistakes == 1 ? " mistake" : " mistakes"));
  });
}

size_t brigade_graph_diagnostics(const brigade_graph* graph) {
  return graph == nullptr ? 0 : graph->diagnostics.size();
}

brigade_status brigade_graph_diagnostic(const brigade_graph* graph, size_t i,
                                        brigade_diagnostic* diagnostic) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    if (i >= graph->diagnostics.size())
      return fail(BRIGADE_ERROR_ARGUMENT,
                  concat("there is no diagnostic ", i, ": expected an index below ",
                         graph->diagnostics.size()));
    const GraphDiagnostic& one = graph->diagnostics[i];
    return write_struct({.size = 0,
                         .is_error = one.is_error,
                         .line = one.line,
                         .column = one.column,
                         .file = one.file.c_str(),
                         .source = one.source.c_str(),
                         .message = one.message.c_str(),
                         .help = one.help.c_str()},
                        "diagnostic", diagnostic);
  });
}

brigade_status brigade_graph_plan(brigade_graph* graph, const brigade_app* app, const char** json) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(app);
    BRIGADE_C_NEEDS(json);
    auto plan = graph->pipeline.plan_json(*app->app, &graph->diagnostics);
    if (!plan) return fail(BRIGADE_ERROR_GRAPH, plan.error().message);
    graph->plan = std::move(*plan);
    *json = graph->plan.c_str();
    return BRIGADE_OK;
  });
}

brigade_status brigade_run_start(brigade_graph* graph, const brigade_app* app,
                                 const brigade_run_options* options, brigade_run** run) {
  return guarded([&]() -> brigade_status {
    BRIGADE_C_NEEDS(graph);
    BRIGADE_C_NEEDS(app);
    BRIGADE_C_NEEDS(run);
    constexpr std::uint64_t kFlags =
        BRIGADE_QUIET | BRIGADE_IN_PROCESS | BRIGADE_RESUME | BRIGADE_OVERWRITE;
    brigade_run_options known;
    if (const auto wrong = read_struct(options, "brigade_run_options", known)) return wrong;
    if ((known.flags & ~kFlags) != 0)
      return fail(BRIGADE_ERROR_ARGUMENT, concat("unknown flags: ", known.flags & ~kFlags));
    const auto asked = [&known](std::uint64_t flag) { return (known.flags & flag) != 0; };
    Pipeline pipeline = graph->pipeline;
    pipeline.quiet(asked(BRIGADE_QUIET))
        .in_process(asked(BRIGADE_IN_PROCESS))
        .resume(asked(BRIGADE_RESUME))
        .overwrite(asked(BRIGADE_OVERWRITE));
    if (known.limit != 0) pipeline.limit(known.limit);
    if (known.events != nullptr) pipeline.events(known.events->events);
    if (known.log_descriptor == BRIGADE_NO_LINES) {
      pipeline.log_to(Pipeline::kNoLines);
    } else if (known.log_descriptor != 0) {
      if (!is_open(known.log_descriptor))
        return fail(BRIGADE_ERROR_ARGUMENT,
                    concat("log_descriptor is ", known.log_descriptor, ", which is not open"));
      pipeline.log_to(static_cast<int>(known.log_descriptor));
    }
    if (known.forker_descriptor != 0) {
      if (!is_open(known.forker_descriptor))
        return fail(BRIGADE_ERROR_ARGUMENT, concat("forker_descriptor is ", known.forker_descriptor,
                                                   ", which is not open"));
      pipeline.fork_workers(static_cast<int>(known.forker_descriptor));
    }
    if (known.interrupted != nullptr)
      pipeline.interrupted([asked = known.interrupted, context = known.interrupted_context] {
        return asked(context) != 0;
      });
    std::vector<GraphDiagnostic> mistakes;
    auto started = pipeline.start(*app->app, &mistakes);
    if (started) {
      *run = new brigade_run{app->app, std::move(*started)};
      return BRIGADE_OK;
    }
    if (mistakes.empty()) return fail(started.error(), BRIGADE_ERROR_RUN);
    graph->diagnostics = std::move(mistakes);
    return fail(BRIGADE_ERROR_GRAPH, started.error().message);
  });
}
