// Reading pickles from untrusted sources: the stack machine.
//
// Decided here: every opcode of protocols 0 to 5 that data needs is supported, the rest is refused
// by number. Each makes at most one node, and lengths are checked against the remaining bytes, so
// memory is proportional to the file. What may be called is in pickle_classes.cpp.
#include <charconv>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "optimizer/pickle.h"

namespace symbind {
namespace {

using Kind = PickleNode::Kind;

class Machine {
 public:
  Machine(PickleHeap& heap, const KnownClass& known) : heap_(heap), known_(known) {}

  const PickleNode& run() {
    while (true) {
      heap_.at = offset_;
      const auto code = static_cast<unsigned char>(take(1)[0]);
      if (code == '.') return *pop();
      if (!(scalar(code) || text(code) || container(code) || memory(code) || object(code)))
        heap_.fail(fmt::format("opcode 0x{:02x} is not allowed in a states file", code));
    }
  }

 private:
  // ---- Bytes ------------------------------------------------------------------------------------

  std::string_view take(std::uint64_t n) {
    const std::string_view input = heap_.input();
    if (n > input.size() - offset_)
      heap_.fail(fmt::format("{} bytes wanted, {} left: the file is cut short or damaged", n,
                             input.size() - offset_));
    const std::string_view piece = input.substr(offset_, n);
    offset_ += n;
    return piece;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    const std::size_t end = heap_.input().find('\n', offset_);
    if (end == std::string_view::npos) heap_.fail("a line without end: the file is cut short");
    const std::string_view piece = take(end - offset_);
    take(1);
    return piece;
  }
  template <class T>
  T parsed(std::string_view digits) {
    T value{};
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size())
      heap_.fail(fmt::format("'{}' is not a number", digits.substr(0, 40)));
    return value;
  }

  // ---- The stack --------------------------------------------------------------------------------

  void push(PickleNode* node) { stack_.push_back(node); }
  PickleNode* top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) heap_.fail("the stack is empty");
    return stack_.back();
  }
  PickleNode* pop() {
    PickleNode* node = top();
    stack_.pop_back();
    return node;
  }
  std::vector<PickleNode*> pop_to_mark() {
    if (marks_.empty()) heap_.fail("no mark is set");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleNode*> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  void push_items(Kind kind, std::vector<PickleNode*> items) {
    PickleNode* node = heap_.make(kind);
    node->items = std::move(items);
    push(node);
  }

  // ---- Opcodes: each function returns whether it handled the code -------------------------------

  bool scalar(unsigned char code) {
    switch (code) {
      case 'N': push(heap_.make(Kind::kNone)); return true;
      case 0x88: push_bool(true); return true;
      case 0x89: push_bool(false); return true;
      case 'K': push(heap_.make_int(number<std::uint8_t>())); return true;
      case 'M': push(heap_.make_int(number<std::uint16_t>())); return true;
      case 'J': push(heap_.make_int(number<std::int32_t>())); return true;
      case 'G': push_double(); return true;
      case 'F': push(heap_.make_float(parsed<double>(line()))); return true;
      case 'I': push_line_int(line(), false); return true;
      case 'L': push_line_int(line(), true); return true;
      case 0x8a: push_long(take(number<std::uint8_t>())); return true;
      case 0x8b: {
        const auto size = number<std::int32_t>();
        if (size < 0) heap_.fail("a number of negative length");
        push_long(take(static_cast<std::uint64_t>(size)));
        return true;
      }
      default: return false;
    }
  }

  void push_bool(bool value) {
    PickleNode* node = heap_.make(Kind::kBool);
    node->integer = value ? 1 : 0;
    push(node);
  }
  void push_double() {
    std::uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    push(heap_.make_float(value));
  }
  void push_line_int(std::string_view digits, bool is_long) {
    if (!is_long && (digits == "01" || digits == "00")) return push_bool(digits == "01");
    if (is_long && digits.ends_with('L')) digits.remove_suffix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool complete = end == digits.data() + digits.size() && !digits.empty();
    if (error == std::errc() && complete) return push(heap_.make_int(value));
    if (error != std::errc::result_out_of_range || !complete) parsed<std::int64_t>(digits);
    check_digits(digits.size());
    push_big(heap_.keep(std::string(digits)));
  }
  /// Python converts them to an int in quadratic time; random generators have 6,000 bits.
  void check_digits(std::size_t digits) {
    constexpr std::size_t kMostDigits = 4300;
    if (digits > kMostDigits)
      heap_.fail(fmt::format("a number of {} digits; the limit is {}", digits, kMostDigits));
  }
  void push_long(std::string_view raw) {
    const bool negative = !raw.empty() && (raw.back() & 0x80) != 0;
    if (raw.size() <= 8) {
      std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
      for (std::size_t i = raw.size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(raw[i]);
      return push(heap_.make_int(static_cast<std::int64_t>(value)));
    }
    if (negative) heap_.fail("negative numbers beyond 64 bits are not read");
    check_digits(2 * raw.size());
    std::string hex = "0x";
    for (std::size_t i = raw.size(); i-- > 0;)
      hex += fmt::format("{:02x}", static_cast<unsigned char>(raw[i]));
    push_big(heap_.keep(std::move(hex)));
  }
  void push_big(std::string_view text) {
    PickleNode* node = heap_.make(Kind::kInt);
    node->text = text;
    push(node);
  }

  bool text(unsigned char code) {
    const auto sized = [this](Kind kind, std::uint64_t size) {
      push(heap_.make_text(kind, take(size)));
      return true;
    };
    switch (code) {
      case 0x8c: return sized(Kind::kText, number<std::uint8_t>());
      case 'X': return sized(Kind::kText, number<std::uint32_t>());
      case 0x8d: return sized(Kind::kText, number<std::uint64_t>());
      case 'C': return sized(Kind::kBytes, number<std::uint8_t>());
      case 'B': return sized(Kind::kBytes, number<std::uint32_t>());
      case 0x8e:
      case 0x96: return sized(Kind::kBytes, number<std::uint64_t>());
      case 'U': return latin(take(number<std::uint8_t>()));
      case 'T': return latin(take(number<std::uint32_t>()));
      case 'S': return latin(unquoted(line()));
      case 'V':
        push(heap_.make_text(Kind::kText, heap_.keep(pickle_unescaped(heap_, line(), true))));
        return true;
      default: return false;
    }
  }

  // A string of Python 2, in which bytes beyond ASCII are taken literally.
  bool latin(std::string_view raw) {
    std::string utf8 = pickle_from_latin(raw);
    push(heap_.make_text(Kind::kText, utf8 == raw ? raw : heap_.keep(std::move(utf8))));
    return true;
  }
  std::string_view unquoted(std::string_view quoted) {
    if (quoted.size() < 2 || quoted.front() != quoted.back() ||
        (quoted.front() != '\'' && quoted.front() != '"'))
      heap_.fail("a string without quotes");
    return heap_.keep(pickle_unescaped(heap_, quoted.substr(1, quoted.size() - 2), false));
  }

  bool container(unsigned char code) {
    switch (code) {
      case '(': marks_.push_back(stack_.size()); return true;
      case ')': push(heap_.make(Kind::kTuple)); return true;
      case ']': push(heap_.make(Kind::kList)); return true;
      case '}': push(heap_.make(Kind::kDict)); return true;
      case 't': push_items(Kind::kTuple, pop_to_mark()); return true;
      case 'l': push_items(Kind::kList, pop_to_mark()); return true;
      case 'd': push_items(Kind::kDict, even(pop_to_mark())); return true;
      case 0x85:
      case 0x86:
      case 0x87: small_tuple(static_cast<std::size_t>(code - 0x84)); return true;
      case 'a': {
        PickleNode* item = pop();
        expect(top(), Kind::kList).items.push_back(item);
        return true;
      }
      case 'e': extend(Kind::kList, pop_to_mark()); return true;
      case 's': {
        PickleNode* value = pop();
        PickleNode* key = pop();
        extend(Kind::kDict, {key, value});
        return true;
      }
      case 'u': extend(Kind::kDict, even(pop_to_mark())); return true;
      default: return false;
    }
  }

  void small_tuple(std::size_t n) {
    std::vector<PickleNode*> items(n);
    for (std::size_t i = n; i-- > 0;) items[i] = pop();
    push_items(Kind::kTuple, std::move(items));
  }
  PickleNode& expect(PickleNode* node, Kind kind) {
    if (node->kind != kind) heap_.fail("an entry for something that takes none");
    return *node;
  }
  void extend(Kind kind, const std::vector<PickleNode*>& items) {
    PickleNode& target = expect(top(), kind);
    target.items.insert(target.items.end(), items.begin(), items.end());
  }
  std::vector<PickleNode*> even(std::vector<PickleNode*> items) {
    if (items.size() % 2 != 0) heap_.fail("a key without value");
    return items;
  }

  bool memory(unsigned char code) {
    switch (code) {
      case 0x80: {
        const int protocol = number<std::uint8_t>();
        if (protocol > 5) heap_.fail(fmt::format("pickle protocol {}; 0 to 5 are read", protocol));
        return true;
      }
      case 0x95: {
        const auto frame = number<std::uint64_t>();
        if (frame > heap_.input().size() - offset_)
          heap_.fail("a frame longer than the file: it is cut short or damaged");
        return true;
      }
      case '0':
        if (!marks_.empty() && marks_.back() == stack_.size())
          marks_.pop_back();
        else
          pop();
        return true;
      case '1': pop_to_mark(); return true;
      case '2': push(top()); return true;
      case 0x94: memo_[memo_.size()] = top(); return true;
      case 'q': memo_[number<std::uint8_t>()] = top(); return true;
      case 'r': memo_[number<std::uint32_t>()] = top(); return true;
      case 'p': memo_[parsed<std::uint64_t>(line())] = top(); return true;
      case 'h': recall(number<std::uint8_t>()); return true;
      case 'j': recall(number<std::uint32_t>()); return true;
      case 'g': recall(parsed<std::uint64_t>(line())); return true;
      default: return false;
    }
  }
  void recall(std::uint64_t place) {
    const auto it = memo_.find(place);
    if (it == memo_.end()) heap_.fail(fmt::format("memo {} was never set", place));
    push(it->second);
  }

  bool object(unsigned char code) {
    switch (code) {
      case 'c': {
        const std::string_view module = line();
        push(pickle_global(heap_, module, line(), known_));
        return true;
      }
      case 0x93: {
        const std::string_view name = expect(pop(), Kind::kText).text;
        push(pickle_global(heap_, expect(pop(), Kind::kText).text, name, known_));
        return true;
      }
      case 'R': {
        const PickleNode* args = pop();
        push(pickle_call(heap_, *pop(), *args));
        return true;
      }
      case 0x81: {
        const PickleNode* args = pop();
        push(pickle_new(heap_, *pop(), *args));
        return true;
      }
      case 'b': {
        const PickleNode* state = pop();
        pickle_build(heap_, *top(), *state);
        return true;
      }
      default: return false;
    }
  }

  PickleHeap& heap_;
  const KnownClass& known_;
  std::size_t offset_ = 0;
  std::vector<PickleNode*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleNode*> memo_;
};

}  // namespace

StateValue load_states(std::string_view bytes, const std::string& source, const KnownClass& known) {
  PickleHeap heap(bytes, source);
  Machine machine(heap, known);
  return pickle_value(heap, machine.run());
}

}  // namespace symbind
