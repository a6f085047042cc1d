// Prints what content coding costs and saves, as the table of docs/compression.md: bytes on the wire, processor time
// and memory of Brink's own encoders, with contexts from a pool as a worker has them. One thread, no network.
//
//     bench-encode [MILLISECONDS]    how long each line is measured; 200 if not given
//
// The bodies are made here. The prompt is English-like: words drawn from a list of 400 by Zipf's law, so that it
// shrinks about as English prose does; no text of anybody's.
#include <time.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/filter/encoder_pool.hpp"

namespace {

using brink::filter::Coding;
using brink::filter::EncoderPool;
using brink::filter::EncoderSpec;

// Made of syllables, so that words share parts as those of a language do.
std::vector<std::string> make_words(std::mt19937& random) {
  static constexpr std::array syllables = {"the", "in", "er", "an", "re", "on", "at", "en", "ti", "es",
                                           "or",  "te", "of", "ed", "is", "it", "al", "ar", "st", "to",
                                           "nt",  "ng", "se", "ha", "as", "ou", "io", "le", "ve", "co",
                                           "me",  "de", "hi", "ri", "ro", "ic", "ne", "ea"};
  std::vector<std::string> words;
  while (words.size() < 400) {
    std::string word;
    for (auto parts = 1 + random() % 4; parts > 0; --parts) word += syllables[random() % syllables.size()];
    words.push_back(word);
  }
  return words;
}

class Prose {
 public:
  Prose() : words_(make_words(random_)) {}
  std::string_view word() {
    const auto rank = std::exp(std::uniform_real_distribution<>(0, std::log(words_.size() + 0.999))(random_));
    return words_[static_cast<std::size_t>(rank) - 1];
  }
  std::string text(std::size_t size) {
    std::string out;
    while (out.size() < size) {
      out += word();
      out += random_() % 12 == 0 ? ". " : random_() % 9 == 0 ? ", " : " ";
    }
    out.resize(size);
    return out;
  }
  std::string id() {
    static constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string out;
    for (int i = 0; i < 29; ++i) out += digits[random_() % digits.size()];
    return out;
  }
  unsigned number(unsigned below) { return static_cast<unsigned>(random_() % below); }

 private:
  std::mt19937 random_{20240601};
  std::vector<std::string> words_;
};

struct Body {
  std::string name;
  std::vector<std::string> pieces;  // one: sent with its length; more: each is flushed
  std::size_t size() const {
    std::size_t sum = 0;
    for (const auto& piece : pieces) sum += piece.size();
    return sum;
  }
};

std::string chat_completion(Prose& prose) {
  return R"({"id":"chatcmpl-)" + prose.id() +
         R"(","object":"chat.completion","created":1718000000,"model":"gpt-4o-mini",)" +
         R"("choices":[{"index":0,"message":{"role":"assistant","content":")" + prose.text(560) +
         R"(","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":212,"completion_tokens":)" +
         R"(131,"total_tokens":343,"prompt_tokens_details":{"cached_tokens":0}},"system_fingerprint":"fp_44709d6fcb"})";
}

std::string json_list(Prose& prose) {
  std::string out = R"({"object":"list","data":[)";
  while (out.size() < 20'000) {
    out += R"({"id":")" + prose.id() + R"(","object":"model","created":)" +
           std::to_string(1'700'000'000 + prose.number(20'000'000)) + R"(,"owned_by":"team-)" +
           std::string(prose.word()) + R"(","ready":true},)";
  }
  out.back() = ']';
  return out + "}";
}

std::vector<std::string> events(Prose& prose, unsigned count) {
  const auto head = R"(data: {"id":"chatcmpl-)" + prose.id() +
                    R"(","object":"chat.completion.chunk","created":1718000000,"model":"gpt-4o-mini",)" +
                    R"("service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":)";
  std::vector<std::string> out;
  for (unsigned i = 0; i + 2 < count; ++i) {
    out.push_back(head + R"({"content":" )" + std::string(prose.word()) +
                  R"("},"logprobs":null,"finish_reason":null}]})" + "\n\n");
  }
  out.push_back(head + R"({},"logprobs":null,"finish_reason":"stop"}]})" + "\n\n");
  out.emplace_back("data: [DONE]\n\n");
  return out;
}

std::vector<Body> make_bodies() {
  Prose prose;
  return {{"chat completion", {chat_completion(prose)}},
          {"JSON list", {json_list(prose)}},
          {"64 events", events(prose, 64)},
          {"512 events", events(prose, 512)},
          {"prompt", {prose.text(220'000)}}};
}

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

struct Measured {
  std::size_t bytes = 0;
  std::size_t memory = 0;  // of the context, after the body
  double microseconds = 0;
};

std::optional<Measured> once(EncoderPool& pool, const EncoderSpec& spec, const Body& body) {
  const auto encoder = pool.get(spec);
  if (!encoder) return std::nullopt;
  Measured measured;
  std::string out;
  for (std::size_t i = 0; i < body.pieces.size(); ++i) {
    out.clear();
    if (!encoder->encode(body.pieces[i], body.pieces.size() > 1, i + 1 == body.pieces.size(), out)) return std::nullopt;
    measured.bytes += out.size();
  }
  measured.memory = encoder->memory();
  return measured;
}

bool print_line(const Body& body, Coding coding, int level, double budget) {
  EncoderSpec spec{.coding = coding, .level = level};
  if (body.pieces.size() == 1) spec.length = body.size();
  spec.events = body.pieces.size() > 1;
  EncoderPool pool;
  auto measured = once(pool, spec, body);  // the first makes the context
  if (!measured) return false;
  // The quickest of ten slices: on a shared machine the others tell of its neighbours.
  for (int slice = 0; slice < 10; ++slice) {
    const auto begin = cpu_microseconds();
    unsigned rounds = 0;
    do {
      once(pool, spec, body);
      ++rounds;
    } while (cpu_microseconds() - begin < budget * 100);
    const auto mean = (cpu_microseconds() - begin) / rounds;
    if (slice == 0 || mean < measured->microseconds) measured->microseconds = mean;
  }
  const auto share = 100.0 * static_cast<double>(measured->bytes) / static_cast<double>(body.size());
  const auto library_level = coding == Coding::gzip ? brink::filter::gzip_level(level) : level;
  std::printf("| %s | %zu | %s %d | %zu | %.0f %% | %.1f | %.0f |\n", body.name.c_str(), body.size(),
              std::string(to_string(coding)).c_str(), library_level, measured->bytes, share, measured->microseconds,
              static_cast<double>(measured->memory) / 1024);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 200;
  std::printf("| body | bytes | coding | on the wire | of the body | CPU, µs | context, KB |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const auto& body : make_bodies()) {
    for (const int level : {1, 3, 6}) {
      if (!print_line(body, Coding::zstd, level, budget)) return 1;
    }
    for (const int level : {1, 5}) {  // zlib's 1 and 6
      if (!print_line(body, Coding::gzip, level, budget)) return 1;
    }
  }
  return 0;
}
