#pragma once

// Makes untrusted text safe to print: names of files and archive members, texts of a YAML,
// output of stages and libraries. printable() makes one line of UTF-8 that shows the contents
// and does nothing else to a terminal or a log. Control characters, DEL, C1 controls, line
// separators, characters that change the direction of writing, and bytes that are not UTF-8
// become \n, \r, \x1b, \u009b, \u202e, \xff. Tabs stay. Done twice it changes nothing.
//
// All code that writes to a terminal or a log does this at the last moment (log.h, Console,
// LogFile, print() of the commands), so that no message needs to think of it and none can
// forget it. quote() of text.h, which also shows where a name ends, keeps messages readable.

#include <string>
#include <string_view>

#include <brigade/export.h>

namespace brigade {

BRIGADE_API std::string printable(std::string_view text);
/// The same for text that has lines of our own; parts of it that are foreign are printable()
/// before.
BRIGADE_API std::string printable_lines(std::string_view text);

/// Length of the well-formed UTF-8 sequence at `at`; 0 where there is none.
BRIGADE_API std::size_t utf8_length(std::string_view text, std::size_t at);

}  // namespace brigade
