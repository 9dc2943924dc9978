#include "stages/detail/exec_stage.h"

#include "pipeline/config/graph/exec_params.h"
#include "pipeline/config/validate/draft.h"

namespace brigade {

namespace {

class ExecCheck {
 public:
  ExecCheck(Validation& validation, Draft& draft)
      : v(validation), draft_(draft), program_(draft.spec->exec->program) {}

  /// Its command, with the absolute path of its program.
  void run() {
    const auto& [written, origin] = program_.value;
    const std::string path =
        written.find('/') == written.npos ? search(written) : absolute_path(v, written, origin);
    if (path.empty() || !check(path)) return;
    draft_.stage.exec = {path};
    for (const std::string& argument : draft_.spec->exec->arguments)
      draft_.stage.exec.push_back(argument);
    draft_.stage.exec_folder = absolute_path(v, ".", origin);
  }

 private:
  void error(std::string message, std::vector<std::string> help) {
    v.error(draft_, program_.span, concat("`exec`: ", message), std::move(help));
  }

  /// A name alone, as shells know it.
  std::string search(const std::string& name) {
    if (const auto found = v.context.metadata.find_program(name)) return *found;
    const std::string beside = absolute_path(v, name, program_.value.origin);
    const bool is_beside = v.context.metadata.kind(beside) == PathKind::file;
    error(concat("there is no program ", quote(name), " in the folders of PATH"),
          {is_beside ? concat(beside, " exists: write `./", name, "`")
                     : "for a program beside this file, write the path: `./NAME`"});
    return "";
  }

  bool check(const std::string& path) {
    switch (v.context.metadata.kind(path)) {
      case PathKind::missing:
        error(concat("there is no program ", path),
              {"relative paths are relative to the file that contains them"});
        return false;
      case PathKind::forbidden:
        error(concat(path, " is not accessible: permission denied"), {});
        return false;
      case PathKind::folder:
      case PathKind::other:
        error(concat(path, " is not a file"), {"name a program, or a script with a `#!` line"});
        return false;
      case PathKind::file:
        break;
    }
    if (v.context.metadata.may_execute(path)) return true;
    error(concat(path, " is not executable"),
          {concat("`chmod +x ", path, "`, or name its interpreter: `exec: [python3, ",
                  program_.value.path, "]`")});
    return false;
  }

  Validation& v;
  Draft& draft_;
  const Marked<PathSpec>& program_;
};

}  // namespace

void validate_exec(Validation& v, Draft& draft) {
  draft.stage.type = &exec_type(draft.stage.kind);
  draft.has_type = true;
  ExecCheck(v, draft).run();
  if (draft.stage.kind == StageKind::producer && draft.stage.count == 0 &&
      !draft.spec->find("count"))
    v.error(draft, draft.spec->exec->program.span,
            "`count:` is missing: the number of samples is unknown",
            {"write `count: 1000` to request samples 0 .. 999 from the program in every epoch"});
}

bool take_exec_params(Draft& draft) {
  if (draft.spec->params_broken) return false;
  if (!draft.spec->params) return true;
  for (const YamlEntry& entry : draft.spec->params->value.entries)
    draft.stage.param_values.emplace_back(entry.key,
                                          ParamValue::scalar(exec_param_text(entry.value)));
  return true;
}

}  // namespace brigade
