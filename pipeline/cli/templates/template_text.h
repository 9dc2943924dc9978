#pragma once

// Texts of files that `brigade init` writes, with placeholders for their values. Pure.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace brigade {

/// The text with each @key@ replaced, once: what a value holds is no key.
std::string fill_template(std::string_view text,
                          std::initializer_list<std::pair<std::string_view, std::string>> values);

/// The one way of a name into the YAML: reading it gives these bytes back, whatever they are, as
/// long as they are UTF-8 (unwritable() of graph_template.h).
std::string yaml_text(std::string_view name);

/// The way of a name into a comment, which nobody reads back.
std::string comment_text(std::string_view name);

/// The same as yaml_text(), without quotes where YAML takes it for what it is.
std::string name_text(std::string_view name);

/// Whether yaml_text() has a way for it.
bool is_utf8(std::string_view name);

/// A list of names for one line of YAML; empty where there are none, more than a line is for, or
/// some that are not UTF-8.
std::string yaml_list(const std::vector<std::string>& names);

}  // namespace brigade
