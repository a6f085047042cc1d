#include "tests/bench/script.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <random>
#include <utility>

namespace brink::bench {
namespace {

constexpr std::size_t workload_events = 64;
constexpr std::size_t max_events = 100'000;
constexpr std::size_t max_stream_lengths = 64;  // scripts kept; bounds the memory that targets can claim
constexpr std::uint32_t random_scripts = 16;

// When the answers are made: what a cache takes for their age counts from it.
std::string date_line() {
  char text[64];
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
  return text;
}

std::string chunk(std::string_view data) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  return size + std::string(data) + "\r\n";
}

std::string event(std::size_t number) {
  return "data: {\"i\":" + std::to_string(number) +
         ",\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"bench-"
         "model\","
         "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"finish_reason\":null}]}\n\n";
}

std::string json_body(std::size_t bytes) {
  const std::string_view head = "{\"object\":\"chat.completion\",\"content\":\"";
  const std::string_view tail = "\"}";
  return std::string(head) + std::string(bytes - head.size() - tail.size(), 'x') + std::string(tail);
}

// The value of `name=` in the query, `otherwise` without it; none when it is not a number up to `max`.
std::optional<std::size_t> parameter(std::string_view query, std::string_view name, std::size_t otherwise,
                                     std::size_t max) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.size() <= name.size() || !pair.starts_with(name) || pair[name.size()] != '=') continue;
    const std::string_view text = pair.substr(name.size() + 1);
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size() || value > max) return std::nullopt;
    return value;
  }
  return otherwise;
}

}  // namespace

Script plain_answer(std::string_view content_type, std::size_t body_bytes) {
  Script script;
  script.bytes = "HTTP/1.1 200 OK\r\nserver: bench-origin\r\n" + date_line() + "content-type: " +
                 std::string(content_type) + "\r\ncontent-length: " + std::to_string(body_bytes) + "\r\n\r\n";
  script.bytes += content_type == "application/json" ? json_body(body_bytes) : std::string(body_bytes, 'x');
  script.ends = {script.bytes.size()};
  return script;
}

Script event_stream(std::size_t events) {
  Script script;
  const auto write = [&script](std::string_view bytes) {
    script.bytes += bytes;
    script.ends.push_back(script.bytes.size());
  };
  write(
      "HTTP/1.1 200 OK\r\nserver: bench-origin\r\n" + date_line() +
      "content-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n");
  for (std::size_t i = 0; i < events; ++i) write(chunk(event(i)));
  write(chunk("data: [DONE]\n\n") + "0\r\n\r\n");
  return script;
}

Script in_random_writes(Script script, std::uint32_t seed) {
  std::mt19937 random(seed);
  script.ends.clear();
  for (std::size_t end = 0; end < script.bytes.size();) {
    end = std::min(end + 1 + random() % 128, script.bytes.size());
    script.ends.push_back(end);
  }
  return script;
}

Answers::Answers() {
  const auto add = [this](const char* path, std::string_view content_type, std::size_t bytes) {
    plain_.emplace(path, std::make_shared<const Script>(plain_answer(content_type, bytes)));
  };
  add("/w1", "text/plain", 128);
  add("/w2", "application/json", 1024);
  add("/w4", "application/octet-stream", 262'144);
  add("/w220k", "application/json", 1024);
  for (std::uint32_t seed = 1; seed <= random_scripts; ++seed) {
    random_writes_.push_back(std::make_shared<const Script>(in_random_writes(event_stream(workload_events), seed)));
  }
}

std::shared_ptr<const Script> Answers::stream_of(std::size_t events) {
  if (const auto known = streams_.find(events); known != streams_.end()) return known->second;
  if (streams_.size() >= max_stream_lengths) return nullptr;
  return streams_.emplace(events, std::make_shared<const Script>(event_stream(events))).first->second;
}

std::optional<Answer> Answers::find(std::string_view target) {
  constexpr std::int64_t microsecond = 1'000;
  constexpr std::int64_t millisecond = 1'000'000;
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = path.size() == target.size() ? std::string_view() : target.substr(path.size() + 1);
  if (const auto found = plain_.find(path); found != plain_.end()) return Answer{found->second, 0};

  const auto gap = parameter(query, "gap", 0, 1'000'000);
  const auto events = parameter(query, "events", workload_events, max_events);
  if (!gap || !events || *events == 0) return std::nullopt;
  Answer answer;
  answer.gap_ns = static_cast<std::int64_t>(*gap) * (path == "/stream" ? millisecond : microsecond);
  if (path == "/w3") answer.script = stream_of(workload_events);
  if (path == "/w3r") answer.script = random_writes_[next_random_++ % random_writes_.size()];
  if (path == "/stream") answer.script = stream_of(*events);
  if (!answer.script) return std::nullopt;
  return answer;
}

}  // namespace brink::bench
