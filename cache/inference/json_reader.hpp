// Walks JSON text member by member without building a tree: who wants two members of a large object reads them and
// skips the rest. Strict: an error anywhere, also in what is skipped, ends the walk, so done() vouches for the whole
// text. The text must outlive the reader. One thread at a time.
//
//   JsonReader reader(text);
//   if (reader.enter_object())
//     while (reader.next_member())
//       if (reader.name() == "model") reader.read_string(model); else reader.skip();
//   if (!reader.done()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace brink::cache::inference {

class JsonReader {
 public:
  enum class Kind : std::uint8_t { object, array, string, number, boolean, null, none };  // none: the end, or an error

  struct Limits {
    unsigned depth = 128;            // open brackets
    std::size_t members = SIZE_MAX;  // of one object
    bool huge_integers = true;       // that do not fit 64 bits
  };

  explicit JsonReader(std::string_view text) : JsonReader(text, Limits{}) {}
  JsonReader(std::string_view text, Limits limits)
      : at_(text.data()), end_(text.data() + text.size()), limits_(limits) {}

  Kind peek();  // what the next value is

  // Into the object or array that comes next; false, and an error, if another value comes.
  bool enter_object();
  bool enter_array();
  // True: a member's value, or an element, comes next, and must be read, entered or skipped. False: the object or array
  // is closed, or there was an error. A member's name is valid until the next call.
  bool next_member();
  bool next_element();
  std::string_view name() const { return name_; }

  bool read_string(std::string& out);  // escapes decoded
  bool read_boolean(bool& out);
  bool read_number(std::string_view& out);  // as spelled
  bool read_index(std::size_t& out);        // a number spelled as an integer from 0 to 2^32 - 1
  bool skip();                              // the next value, whatever it is
  // Skips the next value and says where it stands.
  bool skip(std::string_view& out);

  bool ok() const { return ok_; }
  bool done();  // no error, and nothing but white space is left; REQUIRES: every entered object and array is closed

 private:
  bool fail();
  bool enter(char bracket);
  bool fits(std::string_view number) const;
  bool next(char closing);
  bool read_raw_string(std::string_view& inside, bool& escaped);

  const char* at_;
  const char* end_;
  Limits limits_;
  unsigned depth_ = 0;
  bool first_ = false;  // an object or array was just entered
  bool ok_ = true;
  std::string_view name_;
  std::string name_text_;  // of a name with escapes
};

}  // namespace brink::cache::inference
