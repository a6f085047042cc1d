#include "proxy/http/exchange.hpp"

namespace brink::http {

std::string_view to_string(Stop stop) {
  static constexpr std::array<std::string_view, 15> names = {
      "",         "accept", "secure",           "parse", "open",
      "match",    "admit",  "request_filters",  "cache", "choose_cluster",
      "dispatch", "fill",   "response_filters", "write", "finish"};
  return names[static_cast<std::size_t>(stop)];
}

std::string_view to_string(CacheResult result) {
  static constexpr std::array<std::string_view, 7> names = {"none",      "hit",  "stale", "revalidated",
                                                            "collapsed", "miss", "bypass"};
  return names[static_cast<std::size_t>(result)];
}

void Exchange::reset() {
  // Keeps the heap blocks of the parts that every request fills again.
  auto fields = std::move(head.fields);
  auto id = std::move(request_id);
  auto trace = std::move(traceparent);
  *this = Exchange{};
  fields.clear();
  id.clear();
  trace.clear();
  head.fields = std::move(fields);
  request_id = std::move(id);
  traceparent = std::move(trace);
}

}  // namespace brink::http
