// Heads and entries for the tests of cache/http, written as text.
#pragma once

#include <list>
#include <string>
#include <vector>

#include "cache/http/dates.hpp"
#include "cache/http/messages.hpp"
#include "cache/http/stored_fields.hpp"
#include "cache/http/storing.hpp"

namespace brink::cache::http {

using namespace std::chrono_literals;

// Tue, 01 Dec 2026 12:00:00 GMT
inline const WallTime noon{std::chrono::sys_days(std::chrono::year(2026) / 12 / 1) + 12h};

inline std::string date_at(Duration from_noon) { return format_date(noon + from_noon); }

// The fields of "name: value" lines, which it keeps.
class Head {
 public:
  Head(std::initializer_list<std::string> lines) : lines_(lines) {
    for (const std::string& line : lines_) {
      const std::size_t colon = line.find(':');
      fields_.push_back({std::string_view(line).substr(0, colon), trim(std::string_view(line).substr(colon + 1))});
    }
  }
  Head(const Head&) = delete;
  Head& operator=(const Head&) = delete;
  operator Fields() const { return fields_; }  // NOLINT(google-explicit-constructor): stands for its fields

 private:
  std::list<std::string> lines_;
  std::vector<Field> fields_;
};

inline Request get(Fields fields = {}) { return {"GET", "http://example.org/a", fields}; }
inline Response answer(unsigned status, Fields fields) { return {status, fields, noon, noon}; }

// As a fill would make it.
inline boost::intrusive_ptr<Entry> stored(Fields fields, unsigned status = 200, const StoreOptions& options = {}) {
  const Response response = answer(status, fields);
  const Storing storing = may_store(get(), response, options);
  boost::intrusive_ptr<Entry> entry(new Entry);
  entry->url = "http://example.org/a";
  entry->status = status;
  entry->head = stored_head(response, storing.directives);
  entry->index_fields();
  entry->freshness = storing.freshness;
  entry->useful_until = storing.useful_until;
  entry->body = "0123456789";
  return entry;
}

}  // namespace brink::cache::http
