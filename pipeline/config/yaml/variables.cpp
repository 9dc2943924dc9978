#include "pipeline/config/yaml/variables.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <brigade/text.h>

namespace brigade {

namespace {

constexpr int kVariableDepthMax = 16;        // variables inside variables
constexpr std::size_t kCandidatesMax = 256;  // names compared for a suggestion

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
          c == '-'))
      return false;
  return true;
}

// The brace that closes the one before `at`, inner `${...}` skipped.
std::size_t closing_brace(std::string_view text, std::size_t at) {
  int depth = 1;
  for (; at < text.size(); ++at) {
    if (text.substr(at).starts_with("${")) {
      ++depth;
      ++at;
    } else if (text[at] == '}' && --depth == 0) {
      return at;
    }
  }
  return text.npos;
}

struct Text {
  std::string text;
  int origin = -1;
};

class Expander {
 public:
  Expander(const YamlNode* vars, const Environment& environment, const SourceText& source,
           Diagnostics& diagnostics)
      : environment_(environment), source_(source), diagnostics_(diagnostics) {
    if (vars == nullptr) return;
    for (const YamlEntry& entry : vars->entries)
      if (entry.value.is_scalar()) vars_.emplace(entry.key, Var{entry.value});
  }

  void expand(YamlNode& node) {
    if (node.is_scalar() && node.text.find('$') != node.text.npos) {
      node_ = &node;
      if (auto text = expand_text(node.text, node.origin, 0)) {
        node.text = std::move(text->text);
        node.origin = text->origin;
      } else {
        diagnostics_.silence(node.span.mark);
      }
    }
    for (YamlNode& item : node.items) expand(item);
    for (YamlEntry& entry : node.entries) expand(entry.value);
  }

 private:
  struct Var {
    YamlNode node;  // as written
    bool open = false;
    bool done = false;
    std::optional<Text> value{};
  };

  std::optional<Text> expand_text(std::string_view text, int origin, int depth) {
    if (depth > kVariableDepthMax)
      return fail("${", concat("variables are nested more than ", kVariableDepthMax, " deep"));
    Text out{"", origin};
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] != '$') {
        const std::size_t end = std::min(text.find('$', at), text.size());
        out.text += text.substr(at, end - at);
        at = end;
        continue;
      }
      if (text.substr(at).starts_with("$$")) {
        out.text += '$';
        at += 2;
        continue;
      }
      const bool first = out.text.empty() && at == 0;
      const auto value = expand_one(text, at, origin, depth);
      if (!value || !count(value->text.size())) return std::nullopt;
      if (first) out.origin = value->origin;
      out.text += value->text;
    }
    return out;
  }

  // The `${...}` at `at`, which moves behind it.
  std::optional<Text> expand_one(std::string_view text, std::size_t& at, int origin, int depth) {
    const std::string_view rest = text.substr(at);
    if (!rest.starts_with("${"))
      return fail(rest.substr(0, 1), "expected a variable, found a single `$`",
                  {"write ${name} for a variable, $$ for a dollar sign"});
    const std::size_t end = closing_brace(rest, 2);
    if (end == rest.npos) return fail(rest, "this `${` is never closed");
    const std::string_view whole = rest.substr(0, end + 1);
    const std::string_view inside = rest.substr(2, end - 2);
    at += end + 1;
    const std::size_t colon = inside.find(":-");
    const std::string name(inside.substr(0, colon));
    if (!is_name(name))
      return fail(whole, concat(quote(name), " is not a valid variable name"),
                  {"write ${name} or ${name:-default}, with letters, digits, - and _"});
    auto value = look_up(name, whole, depth);
    if (!value) return std::nullopt;
    if (value->origin != kUnknown && (colon == inside.npos || !value->text.empty())) return value;
    if (colon != inside.npos) return expand_text(inside.substr(colon + 2), origin, depth + 1);
    return fail(whole, concat("unknown variable ", quote(name)), unknown_help(name));
  }

  // Origin kUnknown: there is no such variable. Nothing: it is broken, which has been said.
  std::optional<Text> look_up(const std::string& name, std::string_view whole, int depth) {
    const auto found = vars_.find(name);
    if (found == vars_.end()) {
      auto value = environment_ ? environment_(name) : std::nullopt;
      if (!value) return Text{"", kUnknown};
      return Text{std::move(*value), -1};
    }
    Var& var = found->second;
    if (var.done) return var.value;
    if (var.open) return fail(whole, concat("variable ", quote(name), " uses itself"));
    var.open = true;
    const YamlNode* outer = std::exchange(node_, &var.node);
    var.value = expand_text(var.node.text, var.node.origin, depth + 1);
    node_ = outer;
    var.open = false;
    var.done = true;
    return var.value;
  }

  std::vector<std::string> unknown_help(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& [var, value] : vars_)
      if (known.size() < kCandidatesMax) known.push_back(var);
    if (const auto meant = did_you_mean(name, known))
      return {concat("did you mean \"", *meant, "\"?")};
    return {concat("the name is neither in `vars:` nor in the environment; `--set vars.", name,
                   "=VALUE` sets it,"),
            concat("${", name, ":-VALUE} sets a default")};
  }

  std::optional<Text> fail(std::string_view token, std::string message,
                           std::vector<std::string> help = {}) {
    diagnostics_.error(span_of(token), std::move(message), std::move(help));
    return std::nullopt;
  }

  // Where the token stands in the source; the whole value where escapes or line ends hide it.
  Span span_of(std::string_view token) const {
    Span span = node_->span;
    const std::string_view line = source_.line(span.mark);
    const auto from = static_cast<std::size_t>(std::max(span.mark.column, 1) - 1);
    const std::size_t found = line.find(token, from);
    if (from > line.size() || found == line.npos) return span;
    span.mark.column = static_cast<int>(found) + 1;
    span.length = static_cast<int>(token.size());
    return span;
  }

  bool count(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= kYamlBytesMax) return true;
    diagnostics_.error(node_->span, "too large: the variables expand each other");
    return false;
  }

  static constexpr int kUnknown = -2;

  const Environment& environment_;
  const SourceText& source_;
  Diagnostics& diagnostics_;
  std::map<std::string, Var, std::less<>> vars_;
  const YamlNode* node_ = nullptr;  // whose text is being expanded
  std::size_t bytes_ = 0;
};

}  // namespace

void expand_variables(YamlNode& root, const Environment& environment, const SourceText& source,
                      Diagnostics& diagnostics) {
  const YamlEntry* vars = root.find("vars");
  Expander expander(vars == nullptr ? nullptr : &vars->value, environment, source, diagnostics);
  for (YamlEntry& entry : root.entries)
    if (!entry.key.starts_with("x-")) expander.expand(entry.value);
}

}  // namespace brigade
