// One spelling for all JSON texts of the same meaning, in one pass and without a tree: members sorted, no white space,
// one spelling for each number and string. An object is written as it stands and put in order where it ends, so a text
// that is in order already is copied once. Takes up to twice the text's size in memory, and keeps 4 MiB of it for the
// next one; one thread at a time.
//
// A number is its decimal digits without zeros at either end, and a power of ten: 0, -12, 1e2, 15e-1. So 1, 1.0 and
// 10e-1 are one number, while integers beyond 2^53 stay apart. In strings only `"`, `\` and control characters are
// escaped.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace brink::cache::inference {

class Canonical {
 public:
  static constexpr unsigned max_depth = 128;  // open brackets

  struct Member {
    std::string_view name;   // as in canonical text, without quotes
    std::string_view value;  // canonical text
  };

  // Reads one JSON object. nullptr, and members() are set; or static text that says what is wrong.
  const char* read(std::string_view text);
  std::span<const Member> members() const { return members_; }  // of the object, sorted by name; until the next read

 private:
  // Where a member stands in out_: its name from `begin`, then `:`, its value from `value` to `end`.
  struct Place {
    std::size_t begin;
    std::size_t value;
    std::size_t end;
  };

  bool value();
  bool object();
  bool members(std::size_t first);
  bool sort(std::size_t first);
  bool reorder(std::size_t first);
  bool array();
  bool string();
  bool number();
  bool literal();
  bool fail(const char* why);
  bool take(char c);
  void space();
  std::string_view name(const Place& place) const;

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* why_ = nullptr;
  unsigned depth_ = 0;
  std::size_t may_move_ = 0;  // bytes, to put objects in order
  std::string out_;
  std::string spare_;
  std::vector<Place> places_;  // of the members of all open objects
  std::vector<Member> members_;
};

}  // namespace brink::cache::inference
