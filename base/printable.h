#pragma once

// Foreign text: names of files and of what is in archives, texts of a YAML, what stages and
// libraries print. It may hold anything; printable() makes one line of UTF-8 of it that shows what
// is in it and does nothing else to a terminal or a log. Control characters, DEL, C1 controls,
// separators of lines, what turns the direction of writing, and bytes that are no UTF-8 become
// \n, \r, \x1b, \u009b, \u202e, \xff. Tabs stay. Done twice it changes nothing.
//
// Whatever writes to a terminal or a log does this at the last moment (log.h, Console, LogFile,
// print() of the commands), so that no message needs to think of it and none can forget it. quote()
// of text.h, which also shows where a name ends, keeps messages readable.

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
