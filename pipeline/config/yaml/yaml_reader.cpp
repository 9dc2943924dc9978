#include "pipeline/config/yaml/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include <brigade/text.h>
#include "pipeline/config/yaml/yaml_syntax.h"

namespace brigade {

namespace {

struct StopReading {};  // thrown through the library when going on makes no sense

struct Size {
  std::size_t nodes = 1;
  std::size_t bytes = 0;
  int depth = 1;
};

Size size_of(const YamlNode& node) {
  Size size{1, node.text.size(), 1};
  const auto count = [&size](const YamlNode& child) {
    const Size inner = size_of(child);
    size.nodes += inner.nodes;
    size.bytes += inner.bytes;
    size.depth = std::max(size.depth, inner.depth + 1);
  };
  for (const YamlNode& item : node.items) count(item);
  for (const YamlEntry& entry : node.entries) {
    count(entry.value);
    size.bytes += entry.key.size();
  }
  return size;
}

// Builds the tree from the library's events. The stack holds the lists and maps that are open.
class Builder : public YAML::EventHandler {
 public:
  Builder(const SourceText& source, int file, int column, Diagnostics& diagnostics)
      : source_(source), file_(file), column_(column), diagnostics_(diagnostics) {}

  YamlNode take() { return std::move(root_); }
  SourceMark mark_of(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + (mark.line == 0 ? column_ : 1)};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(YamlNode::of_kind(YamlNode::Kind::null), mark, anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = YamlNode::scalar(value);
    node.quoted = tag == "!";
    check_tag(tag, mark);
    if (node.quoted) check_closed(mark);
    add(std::move(node), mark, anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      diagnostics_.error(span_of(mark), "this alias is inside its own anchor",
                         {"an alias repeats a value that ends before the alias"});
      throw StopReading{};
    }
    const Size size = size_of(found->second);
    if (static_cast<int>(stack_.size()) + size.depth > kYamlDepthMax) too_deep(mark);
    count(size, mark);
    place(found->second, span_of(mark));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    Span key_span;
    bool skip_value = false;                        // of a key that was refused
    std::map<std::string, int, std::less<>> lines;  // of the keys so far
  };

  // A token's length: what the source shows at its mark.
  Span span_of(const YAML::Mark& mark, const YamlNode* node = nullptr) const {
    Span span{mark_of(mark), 1};
    const std::string_view line = source_.line(span.mark);
    const auto at = static_cast<std::size_t>(span.mark.column - 1);
    if (at >= line.size()) return span;
    const std::string_view rest = line.substr(at);
    std::size_t length = 1;
    if (rest[0] == '"' || rest[0] == '\'') {
      const std::size_t end = rest.find(rest[0], 1);
      length = end == rest.npos ? rest.size() : end + 1;
    } else if (rest[0] == '*') {
      length = rest.find_first_of(" ,]}", 1);
    } else if (node != nullptr && node->is_scalar() && rest.starts_with(node->text)) {
      length = node->text.size();
    }
    span.length = static_cast<int>(std::max<std::size_t>(1, std::min(length, rest.size())));
    return span;
  }

  void check_tag(const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
    diagnostics_.error(span_of(mark), "tags (`!...`) are not part of the language",
                       {"remove the tag"});
  }

  // The library lets a quote run to the end of the text.
  void check_closed(const YAML::Mark& mark) {
    const SourceMark start = mark_of(mark);
    std::string_view line = source_.line(start);
    line.remove_prefix(std::min(line.size(), static_cast<std::size_t>(start.column - 1)));
    if (line.empty() || (line[0] != '"' && line[0] != '\'')) return;
    const char quote = line[0];
    line.remove_prefix(1);
    const int last = source_.lines(file_);
    for (SourceMark at = start; at.line <= last; line = source_.line(at)) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        const bool doubled = quote == '\'' && line.substr(i).starts_with("''");
        if (line[i] == quote && !doubled) return;
        if (doubled || (line[i] == '\\' && quote == '"')) ++i;
      }
      ++at.line;
    }
    diagnostics_.error({start, 1}, "this quote is never closed");
    throw StopReading{};
  }

  [[noreturn]] void too_deep(const YAML::Mark& mark) {
    diagnostics_.error(span_of(mark), concat("nested more than ", kYamlDepthMax, " levels deep"));
    throw StopReading{};
  }

  void count(const Size& size, const YAML::Mark& mark) {
    nodes_ += size.nodes;
    bytes_ += size.bytes;
    if (nodes_ <= kYamlNodesMax && bytes_ <= kYamlBytesMax) return;
    diagnostics_.error(
        span_of(mark),
        concat("too large: more than ", format_count(kYamlNodesMax),
               " values after alias expansion"),
        {"a graph has a few hundred values; remove aliases that are nested in others"});
    throw StopReading{};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    check_tag(tag, mark);
    if (static_cast<int>(stack_.size()) >= kYamlDepthMax) too_deep(mark);
    Open open;
    open.node = YamlNode::of_kind(kind);
    open.node.span = span_of(mark);
    open.anchor = anchor;
    stack_.push_back(std::move(open));
  }

  void close() {
    Open top = std::move(stack_.back());
    stack_.pop_back();
    top.node.origin = file_;
    const Span span = top.node.span;
    nodes_ += 1;
    if (top.anchor != 0) remember(top.anchor, top.node);
    place(std::move(top.node), span);
  }

  void add(YamlNode node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    node.span = span_of(mark, &node);
    node.origin = file_;
    count({1, node.text.size(), 1}, mark);
    if (anchor != 0) remember(anchor, node);
    const Span span = node.span;
    place(std::move(node), span);
  }

  void remember(YAML::anchor_t anchor, const YamlNode& node) {
    const Size size = size_of(node);
    nodes_ += size.nodes;
    bytes_ += size.bytes;
    anchors_[anchor] = node;
  }

  // A finished node becomes the root, an item, a key or a value.
  void place(YamlNode node, const Span& span) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& top = stack_.back();
    if (top.node.is_list()) {
      top.node.items.push_back(std::move(node));
    } else if (!top.has_key) {
      place_key(top, node, span);
    } else {
      top.has_key = false;
      if (top.skip_value) return;
      if (node.is_null()) node.span = top.key_span;  // the library's mark is the next token's
      top.node.entries.push_back({std::move(top.key), top.key_span, std::move(node)});
    }
  }

  void place_key(Open& top, const YamlNode& key, const Span& span) {
    top.has_key = true;
    top.skip_value = true;
    top.key_span = span;
    if (key.is_null()) {
      diagnostics_.error(span, "expected a key, found none", {"remove the extra comma or colon"});
    } else if (!key.is_scalar()) {
      diagnostics_.error(span, concat("a key must be text, found ", describe(key)),
                         {"put the key in quotes if it is text"});
    } else if (key.text == "<<" && !key.quoted) {
      diagnostics_.error(
          span, "merge keys (`<<`) are not part of the language",
          {"repeat a whole value with an alias (`params: *common`), or move the shared part to",
           "a second file: `brigade run base.yaml machine.yaml` merges them"});
    } else if (const auto [seen, fresh] = top.lines.emplace(key.text, span.mark.line); !fresh) {
      diagnostics_.error(
          span, concat("duplicate key ", quote(key.text)),
          {concat("the first one is in line ", seen->second, "; one of them would be ignored")});
    } else {
      top.skip_value = false;
      top.key = key.text;
    }
  }

  const SourceText& source_;
  int file_;
  int column_;
  Diagnostics& diagnostics_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  YamlNode root_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

// Where another document begins, whatever is wrong with it.
std::optional<Span> second_document(YAML::Parser& parser, const SourceText& source, int file) {
  Diagnostics unseen;
  Builder second(source, file, 1, unseen);
  try {
    if (!parser.HandleNextDocument(second)) return std::nullopt;
  } catch (const StopReading&) {
    return unseen.all().empty() ? Span{{file, 1, 1}, 1} : unseen.all().front().span;
  }
  return second.take().span;
}

}  // namespace

std::optional<YamlNode> read_yaml(const SourceText& source, int file, Diagnostics& diagnostics,
                                  int column) {
  Builder builder(source, file, column, diagnostics);
  try {
    std::istringstream text(source.file(file).text.substr(static_cast<std::size_t>(column - 1)));
    YAML::Parser parser(text);
    parser.HandleNextDocument(builder);
    YamlNode root = builder.take();
    if (root.span.mark.file < 0) root.span = {{file, 1, column}, 1};  // nothing but comments
    if (const auto next = second_document(parser, source, file)) {
      diagnostics.error(*next, "a second document (`---`) in one file",
                        {"a graph is one document; pass several files to merge them"});
    }
    return root;
  } catch (const StopReading&) {
    return std::nullopt;
  } catch (const YAML::Exception& failure) {
    explain_syntax_error(source, builder.mark_of(failure.mark), failure.msg, diagnostics);
    return std::nullopt;
  } catch (const std::exception& failure) {
    diagnostics.error({{file, 1, 1}, 1}, concat("not YAML: ", failure.what()));
    return std::nullopt;
  }
}

}  // namespace brigade
