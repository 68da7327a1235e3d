#pragma once
// The terminal of stderr: a status line that is redrawn in place, and lines above it.

#include <string>
#include <string_view>

namespace symbind {

/// Whether stderr is a terminal.
bool is_terminal();
/// Its width in columns; 80 if it is not known.
int terminal_width();
/// Replaces the status line; an empty text removes it. Does nothing unless stderr is a terminal.
void draw_status(std::string_view text);
/// Whether a status line is shown now. A signal handler may ask.
bool has_status();
/// Writes a line to stderr; the status line is removed first.
void write_line(std::string_view line) noexcept;

}  // namespace symbind
