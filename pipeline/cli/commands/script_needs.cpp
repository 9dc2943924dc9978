#include "pipeline/cli/commands/script_needs.h"

#include <chrono>
#include <filesystem>
#include <optional>

#include <brigade/text.h>
#include "pipeline/config/graph/file_metadata.h"
#include "pipeline/run/launch/describe_process.h"

namespace brigade {
namespace {

constexpr std::chrono::seconds kAnswerMax{60};  // of an interpreter on a slow disk

// Names the first module that cannot be found; `-` for none.
constexpr const char* kFindModules =
    "import importlib.util, os, sys\n"
    "names = [name for name in sys.argv[2].split() if importlib.util.find_spec(name) is None]\n"
    "os.write(int(sys.argv[1]), (names or ['-'])[0].encode())\n";

}  // namespace

std::string script_python() { return DescribeProcess().python(); }

std::string missing_for_script() {
  const std::string python = script_python();
  FileMetadataProbe files;
  const auto program =
      python.find('/') == python.npos ? files.find_program(python) : std::optional(python);
  if (!program || !files.may_execute(*program))
    return concat("there is no Python interpreter ", python);
  StageQuestion question;
  question.command = {*program, "-c", kFindModules};
  std::error_code ignored;
  question.folder = std::filesystem::current_path(ignored).string();
  question.text = "brigade torch";
  question.timeout = kAnswerMax;
  const auto answer = DescribeProcess().describe(question);
  if (!answer) return concat(python, ", which runs it, ", answer.error().message);
  if (*answer == "brigade")
    return concat(python,
                  " lacks the package brigade: `brigade docs PYTHON` explains how to install it");
  if (*answer == "torch") return concat(python, " lacks torch: ", python, " -m pip install torch");
  return "";
}

}  // namespace brigade
