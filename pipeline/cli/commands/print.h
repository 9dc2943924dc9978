#pragma once

// Output of commands: results to standard output, messages to standard error. A closed
// reader (`brigade plan | head`) is not an error; a full disk is one, and is reported once.

#include <string>
#include <string_view>

namespace brigade {

/// Text of several lines, made printable line by line.
void print(std::string_view text);
void print_error(std::string_view text);
/// One line, whatever is in it; ends it. (One for standard error: log_error.)
void print_line(std::string_view text);

/// Whether standard output lacks something that its reader did not leave: the command has failed.
bool output_was_lost();

/// Says why the command fails; gives its exit code.
int failed(int code, const std::string& message);

/// Ends the program, and needs no memory for that.
[[noreturn]] void say_out_of_memory();

/// What a run ends with, to standard output. A reader that takes nothing for kFlushPatience (a
/// terminal that Ctrl-S has stopped) does not hold up the exit: the rest is lost.
void print_at_the_end(std::string_view text);

}  // namespace brigade
