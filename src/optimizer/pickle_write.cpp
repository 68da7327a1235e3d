// Writing pickles that MXNet 1.x loads: protocol 4, the one Python 3.8 writes.
//
// Decided here: only the name of the array class is memoised. An array is the class called with
// None and then the state {'handle': bytearray}, as in MXNet's own pickles.
#include <cstring>

#include <symbind/detail/states.h>

#include "base/check.h"

namespace symbind {
namespace {

class Writer {
 public:
  Writer() { out_ = "\x80\x04"; }

  void write(const StateValue& v) {
    using Kind = StateValue::Kind;
    switch (v.kind) {
      case Kind::kNone: out_ += 'N'; break;
      case Kind::kBool: out_ += v.integer ? '\x88' : '\x89'; break;
      case Kind::kInt: integer(v); break;
      case Kind::kFloat: real(v.number); break;
      case Kind::kText: text(v.text); break;
      case Kind::kBytes: bytes(v.text); break;
      case Kind::kArray: array(v.array); break;
      case Kind::kTuple: tuple(v.items); break;
      case Kind::kList: list(v.items); break;
      case Kind::kDict: dict(v.items); break;
      case Kind::kObject: object(v); break;
    }
  }

  std::string finish() {
    out_ += '.';
    return std::move(out_);
  }

 private:
  template <class T>
  void raw(T value) {
    char buffer[sizeof(T)];
    std::memcpy(buffer, &value, sizeof(T));
    out_.append(buffer, sizeof(T));
  }

  void integer(const StateValue& v) {
    check(v.text.empty(), "numbers beyond 64 bits cannot be written to a states file");
    if (v.integer >= 0 && v.integer < 256) {
      out_ += 'K';
      out_ += static_cast<char>(v.integer);
    } else if (v.integer >= INT32_MIN && v.integer <= INT32_MAX) {
      out_ += 'J';
      raw(static_cast<std::int32_t>(v.integer));
    } else {
      out_ += "\x8a\x08";
      raw(v.integer);
    }
  }

  void real(double value) {
    out_ += 'G';
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift & 0xff);
  }

  void sized(std::string_view data, const char* short_code, char long_code) {
    if (data.size() < 256) {
      out_ += short_code;
      out_ += static_cast<char>(data.size());
    } else {
      out_ += long_code;
      raw(static_cast<std::uint64_t>(data.size()));
    }
    out_ += data;
  }
  void text(std::string_view value) { sized(value, "\x8c", '\x8d'); }
  void bytes(std::string_view value) { sized(value, "C", '\x8e'); }

  void global(std::string_view module, std::string_view name) {
    text(module);
    text(name);
    out_ += '\x93';
  }

  void array(const NDArray& a) {
    const auto remember = [this](const char* module, const char* name, char place, bool& known) {
      if (known) {
        out_ += 'h';
        out_ += place;
        return;
      }
      global(module, name);
      out_ += 'q';
      out_ += place;
      known = true;
    };
    remember("mxnet.ndarray.ndarray", "NDArray", '\0', array_class_);
    out_ += "N\x85R}";
    text("handle");
    if (a.defined()) {
      remember("builtins", "bytearray", '\1', bytearray_class_);
      const std::vector<std::byte> record = to_record(a);
      bytes({reinterpret_cast<const char*>(record.data()), record.size()});
      out_ += "\x85R";
    } else {
      out_ += 'N';
    }
    out_ += "sb";
  }

  void tuple(const std::vector<StateValue>& items) {
    if (items.empty()) {
      out_ += ')';
      return;
    }
    if (items.size() > 3) out_ += '(';
    for (const StateValue& item : items) write(item);
    constexpr char kCodes[] = {'\x85', '\x86', '\x87'};
    out_ += items.size() > 3 ? 't' : kCodes[items.size() - 1];
  }

  void list(const std::vector<StateValue>& items) {
    out_ += ']';
    if (items.empty()) return;
    out_ += '(';
    for (const StateValue& item : items) write(item);
    out_ += 'e';
  }

  void dict(const std::vector<StateValue>& items) {
    out_ += '}';
    if (items.empty()) return;
    out_ += '(';
    for (const StateValue& item : items) write(item);
    out_ += 'u';
  }

  void object(const StateValue& v) {
    const std::size_t dot = v.text.rfind('.');
    check(dot != std::string::npos, "'{}' is not a class name", v.text);
    global(std::string_view(v.text).substr(0, dot), std::string_view(v.text).substr(dot + 1));
    out_ += ")\x81";
    dict(v.items);
    out_ += 'b';
  }

  std::string out_;
  bool array_class_ = false, bytearray_class_ = false;
};

}  // namespace

std::string dump_states(const StateValue& value) {
  Writer writer;
  writer.write(value);
  return writer.finish();
}

}  // namespace symbind
