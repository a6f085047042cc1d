// bench-load: asks a server on 127.0.0.1 as the benchmark needs it and reports as one line of JSON on standard output.
// Latencies are microseconds. Exit status: 0 every answer was right, 1 some was not or the program could not go on, 2
// usage.
#include <getopt.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/client.hpp"

namespace brink::bench {
namespace {

constexpr const char* usage_text =
    "usage: bench-load MODE --port PORT [options]\n"
    "  load      ask again and again; needs -d or -n\n"
    "  idle      ask once on each connection, hold them until standard input ends, ask once more on each\n"
    "  streams   ask once on each connection, all answers at the same time\n"
    "idle prints `open N` when all are held, streams when all have a first byte.\n"
    "  -c N               connections (1)\n"
    "  -d SECONDS         start no request after it\n"
    "  -n N               ask so many times in all\n"
    "  --path PATH        request target (/w1)\n"
    "  --method METHOD    (GET, with --body POST)\n"
    "  --body FILE        the request's JSON body\n"
    "  --expect-bytes N   each answer's body has so many bytes\n"
    "  --expect-events N  each answer is a stream with the events 0 to N-1 and an end\n"
    "  --timeout SECONDS  of one request (30)\n"
    "  --spin             never sleep, so that nobody pays for waking this program\n"
    "An answer that is not status 200 with what is expected is an error.\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename Number>
Number number(const char* name, std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(std::string(name) + " must be a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not '" + std::string(text) + "'");
  }
  return value;
}

std::int64_t nanoseconds(const char* name, std::string_view text) {
  return static_cast<std::int64_t>(number<double>(name, text, 0.001, 86'400) * 1e9);
}

Mode parse_mode(std::string_view text) {
  if (text == "load") return Mode::load;
  if (text == "idle") return Mode::idle;
  if (text == "streams") return Mode::streams;
  throw UsageError("there is no mode '" + std::string(text) + "'");
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad() || text.empty())
    throw UsageError("--body " + path + " cannot be read, or is empty");
  return text;
}

std::string make_request(const std::string& method, const std::string& path, const std::string& body) {
  std::string request = (method.empty() ? (body.empty() ? "GET" : "POST") : method) + " " + path +
                        " HTTP/1.1\r\nhost: bench.test\r\nuser-agent: bench-load\r\naccept: */*\r\n";
  if (!body.empty()) {
    request += "content-type: application/json\r\ncontent-length: " + std::to_string(body.size()) + "\r\n";
  }
  return request + "\r\n" + body;
}

Options parse(int argc, char** argv) {
  enum Long { port = 1, path, method, body, expect_bytes, expect_events, timeout, spin };
  static const option longs[] = {{"port", 1, nullptr, port},
                                 {"path", 1, nullptr, path},
                                 {"method", 1, nullptr, method},
                                 {"body", 1, nullptr, body},
                                 {"expect-bytes", 1, nullptr, expect_bytes},
                                 {"expect-events", 1, nullptr, expect_events},
                                 {"timeout", 1, nullptr, timeout},
                                 {"spin", 0, nullptr, spin},
                                 {}};
  if (argc < 2) throw UsageError("a mode is missing");
  constexpr std::uint64_t many = 1'000'000'000'000;
  Options options;
  options.mode = parse_mode(argv[1]);
  std::string path_text = "/w1", method_text, body_text;
  for (int key; (key = getopt_long(argc - 1, argv + 1, "c:d:n:", longs, nullptr)) != -1;) {
    switch (key) {
      case 'c':
        options.connections = number<std::size_t>("-c", optarg, 1, 100'000);
        break;
      case 'd':
        options.duration_ns = nanoseconds("-d", optarg);
        break;
      case 'n':
        options.requests = number<std::uint64_t>("-n", optarg, 1, many);
        break;
      case port:
        options.port = number<std::uint16_t>("--port", optarg, 1, 65535);
        break;
      case path:
        path_text = optarg;
        break;
      case method:
        method_text = optarg;
        break;
      case body:
        body_text = read_file(optarg);
        break;
      case expect_bytes:
        options.expected_bytes = number<std::uint64_t>("--expect-bytes", optarg, 0, many);
        break;
      case expect_events:
        options.expected_events = number<std::uint64_t>("--expect-events", optarg, 1, many);
        break;
      case spin:
        options.spin = true;
        break;
      case timeout:
        options.timeout_ns = nanoseconds("--timeout", optarg);
        break;
      default:
        throw UsageError("see above");
    }
  }
  if (optind + 1 < argc) throw UsageError(std::string("'") + argv[optind + 1] + "' is too much");
  if (options.port == 0) throw UsageError("--port is missing");
  const bool limited = options.duration_ns > 0 || options.requests > 0;
  if (limited != (options.mode == Mode::load))
    throw UsageError("-d or -n belongs to the mode load, which needs one of them");
  options.request = make_request(method_text, path_text, body_text);
  return options;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + '"';
}

// The smallest sample that `share` of all do not exceed, in microseconds; null without samples.
std::string percentile(const std::vector<std::uint32_t>& sorted, double share) {
  if (sorted.empty()) return "null";
  const auto rank = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", sorted[std::min(rank, sorted.size() - 1)] / 10.0);
  return text;
}

// Processor time of this program so far, so that the runner can tell it from that of others on the machine.
double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void print(Report report, std::size_t connections) {
  std::sort(report.latency.begin(), report.latency.end());
  std::sort(report.first_byte.begin(), report.first_byte.end());
  const double rate = report.seconds > 0 ? static_cast<double>(report.requests) / report.seconds : 0;
  std::printf("{\"connections\":%zu,\"seconds\":%.3f,\"requests\":%llu,\"errors\":%llu,\"first_error\":%s,",
              connections, report.seconds, static_cast<unsigned long long>(report.requests),
              static_cast<unsigned long long>(report.errors), quoted(report.first_error).c_str());
  std::printf("\"requests_per_second\":%.1f,\"latency_us\":{\"p50\":%s,\"p90\":%s,\"p99\":%s,\"max\":%s},", rate,
              percentile(report.latency, 0.5).c_str(), percentile(report.latency, 0.9).c_str(),
              percentile(report.latency, 0.99).c_str(), percentile(report.latency, 1).c_str());
  std::printf("\"first_byte_us\":{\"p50\":%s,\"p99\":%s},", percentile(report.first_byte, 0.5).c_str(),
              percentile(report.first_byte, 0.99).c_str());
  std::printf("\"events\":%llu,\"events_lost\":%llu,\"dropped_idle\":%llu,\"most_open\":%zu,\"cpu_seconds\":%.3f}\n",
              static_cast<unsigned long long>(report.events), static_cast<unsigned long long>(report.events_lost),
              static_cast<unsigned long long>(report.dropped_idle), report.most_open, cpu_seconds());
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Client client(options);
  const Report report = client.run([](std::size_t open) {
    std::printf("open %zu\n", open);
    std::fflush(stdout);
  });
  print(report, options.connections);
  return report.errors > 0 || report.dropped_idle > 0 ? 1 : 0;
}

}  // namespace
}  // namespace brink::bench

int main(int argc, char** argv) {
  try {
    return brink::bench::run(argc, argv);
  } catch (const brink::bench::UsageError& error) {
    std::fprintf(stderr, "%sbench-load: %s\n", brink::bench::usage_text, error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-load: %s\n", error.what());
    return 1;
  }
}
