#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <brigade/text.h>
#include "pipeline/cli/commands/commands.h"
#include "pipeline/cli/commands/print.h"
#include "pipeline/worker/module_loader.h"

namespace brigade {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDocsExamples = R"(Examples:
  brigade docs                   all pages
  brigade docs TUTORIAL | less   one of them

Messages and pages refer to a page as docs/PAGE.md or `brigade docs PAGE`.)";

struct DocsArguments {
  std::string page;
};

void declare(Options& options, DocsArguments& arguments) {
  options.text("PAGE", arguments.page, "the page to print; without it, lists all pages");
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::vector<std::string> pages_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_page(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int list_pages(const fs::path& shared, const std::vector<std::string>& names) {
  std::size_t width = 0;
  for (const std::string& name : names) width = std::max(width, name.size());
  for (const std::string& name : names) {
    const std::string page = read_page(shared / "docs" / (name + ".md"));
    const std::string_view title = std::string_view(page).substr(0, page.find('\n'));
    print_line(concat("  ", name, std::string(width - name.size() + 2, ' '),
                      title.starts_with("# ") ? title.substr(2) : title));
  }
  print_line("`brigade docs PAGE` prints a page. Pages, graphs and example programs are in");
  print_line(concat("  ", shared.string()));
  return 0;
}

int docs(const DocsArguments& arguments, const StageTypes&, std::int64_t) {
  const auto shared = shared_files_folder();
  if (!shared) return failed(2, shared.error().message);
  const std::vector<std::string> names = pages_in(fs::path(*shared) / "docs");
  if (arguments.page.empty()) return list_pages(*shared, names);
  std::string wanted = upper(fs::path(arguments.page).filename());
  if (wanted.ends_with(".MD")) wanted.resize(wanted.size() - 3);
  if (std::find(names.begin(), names.end(), wanted) == names.end()) {
    const auto meant = did_you_mean(wanted, names);
    return failed(2, concat("there is no page ", quote(arguments.page),
                            meant ? concat("; did you mean ", *meant, "?") : "",
                            "  `brigade docs` lists all"));
  }
  print(read_page(fs::path(*shared) / "docs" / (wanted + ".md")));
  return 0;
}

}  // namespace

Command docs_command() {
  return make_command<DocsArguments>("docs", "print a page of the documentation", kDocsExamples,
                                     declare, docs);
}

}  // namespace brigade
