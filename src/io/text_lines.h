#pragma once
// Lines of text files, read piece by piece, with what an error message needs to name one.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace symbind {

/// The lines of one file, of several ("a.csv;b.csv") or of a folder (in the order of their names),
/// one after another; of part `part` of `parts` if the bytes are split into that many, at line
/// ends.
class TextLines {
 public:
  explicit TextLines(const std::string& paths, int parts = 1, int part = 0);
  ~TextLines();

  /// The next line that is not blank, without its end; false after the last. It stays valid until
  /// the next call.
  bool next(std::string_view& line);
  /// Restarts. The open file stays open, as in MXNet: a single file is read again
  /// even if it was deleted or replaced.
  void rewind();
  /// Throws an Error kIo: "<path>, line <n>: <what>".
  [[noreturn]] void fail(std::string_view what) const;
  const std::string& path() const;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Piece {
    std::string path;
    std::int64_t begin, end;  // a line belongs to it if the line before ends in (begin, end]
  };
  void open();
  void start();
  bool read_line(std::string_view& line);
  std::size_t refill();

  std::vector<Piece> pieces_;
  std::size_t piece_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
  std::size_t open_ = 0;  // the piece whose file is file_
  bool started_ = false;  // whether lines of pieces_[piece_] were read
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::int64_t offset_ = 0;  // in the file, of buffer_[at_]
  std::int64_t line_ = 0;
};

}  // namespace symbind
