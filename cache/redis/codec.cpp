#include "cache/redis/codec.hpp"

#include <openssl/sha.h>
#include <xxhash.h>
#include <zstd.h>

#include <memory>
#include <new>
#include <optional>

namespace brink::cache::redis {
namespace {

constexpr std::string_view magic = "BRINKENT";
constexpr std::uint64_t format_version = 1;
constexpr std::uint64_t flag_zstd = 1;
constexpr int flag_shift = 56;
constexpr std::size_t checksum_at = 24, header_size = 32;
constexpr int level = 3;
constexpr std::size_t worth_compressing = 128;
constexpr std::uint64_t most_items = 65'536;  // of a list: empty texts take more memory than bytes

// A context is megabytes of tables: one a thread, not one a call.
template <typename T, T* (*create)(), std::size_t (*destroy)(T*)>
T* context() {
  struct Free {
    void operator()(T* made) const { destroy(made); }
  };
  thread_local const std::unique_ptr<T, Free> kept(create());
  if (!kept) throw std::bad_alloc();
  return kept.get();
}
ZSTD_CCtx* compressor() { return context<ZSTD_CCtx, ZSTD_createCCtx, ZSTD_freeCCtx>(); }
ZSTD_DCtx* decompressor() { return context<ZSTD_DCtx, ZSTD_createDCtx, ZSTD_freeDCtx>(); }

void put(std::string& out, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(number >> shift & 0xFF);
}
void put(std::string& out, std::string_view text) {
  put(out, std::uint64_t{text.size()});
  out += text;
}
void put(std::string& out, Duration duration) { put(out, static_cast<std::uint64_t>(duration.count())); }
void put(std::string& out, WallTime time) { put(out, time.time_since_epoch()); }
template <typename T>
void put(std::string& out, const std::vector<T>& list) {
  put(out, std::uint64_t{list.size()});
  for (const T& item : list) put(out, item);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::uint64_t checksum(std::string_view bytes) {
  struct Free {
    void operator()(XXH3_state_t* made) const { XXH3_freeState(made); }
  };
  const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), bytes.data(), checksum_at);
  XXH3_64bits_update(state.get(), bytes.data() + header_size, bytes.size() - header_size);
  return XXH3_64bits_digest(state.get());
}

// Reads the payload. After a failure everything reads as empty, and `ok` stays false.
struct Source {
  std::string_view left;
  bool ok = true;

  void get(std::uint64_t& number) {
    number = 0;
    if (left.size() < 8) {
      fail();
      return;
    }
    number = number_at(left, 0);
    left.remove_prefix(8);
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    if (size > left.size()) {
      fail();
      return;
    }
    text.assign(left.substr(0, size));
    left.remove_prefix(size);
  }
  template <typename T>
  void get(std::vector<T>& list) {
    std::uint64_t size = 0;
    get(size);
    if (size > most_items || size > left.size() / 8) fail();  // each item has a length of 8 bytes at least
    for (; ok && size > 0; --size) get(list.emplace_back());
  }
  void get(Duration& duration) {
    std::uint64_t number = 0;
    get(number);
    duration = Duration(static_cast<Duration::rep>(number));
  }
  void get(WallTime& time) {
    Duration since{};
    get(since);
    time = WallTime(since);
  }
  void get(bool& flag) { flag = small(1) == 1; }
  std::uint64_t small(std::uint64_t most) {
    std::uint64_t number = 0;
    get(number);
    if (number > most) fail();
    return ok ? number : 0;
  }
  void fail() {
    ok = false;
    left = {};
  }
};

// Ages and lifetimes are added to clocks: what no clock reaches would overflow there.
bool sane(Duration value) { return value.count() >= 0 && value < std::chrono::years(1'000); }
bool sane(WallTime value) { return sane(value.time_since_epoch()); }

// Where the entry has its body as a zstd frame, only the frame is kept: the body follows from it.
std::string payload_of(const Entry& entry, WallTime stored_at) {
  std::string out;
  out.reserve(1'024 + entry.key.size() + entry.head.size() + (entry.zstd.empty() ? entry.body : entry.zstd).size());
  put(out, stored_at);
  put(out, entry.key);
  put(out, static_cast<std::uint64_t>(entry.kind));
  put(out, entry.freshness.response_time);
  put(out, entry.freshness.initial_age);
  put(out, entry.freshness.lifetime);
  put(out, entry.freshness.stale_while_revalidate);
  put(out, entry.freshness.stale_if_error);
  put(out, std::uint64_t{entry.freshness.must_revalidate});
  put(out, std::uint64_t{entry.freshness.always_validate});
  put(out, entry.useful_until);
  put(out, entry.url);
  put(out, entry.route);
  put(out, entry.model);
  put(out, entry.tags);
  put(out, entry.vary);
  put(out, std::uint64_t{entry.status});
  put(out, entry.head);
  put(out, entry.zstd);
  put(out, entry.zstd.empty() ? entry.body : std::string());
  return out;
}

// One whole zstd frame of exactly `size` bytes.
bool decompress(std::string_view frame, std::size_t size, std::string& out) {
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) return false;
  out.resize(size);
  const std::size_t got = ZSTD_decompressDCtx(decompressor(), out.data(), size, frame.data(), frame.size());
  return ZSTD_isError(got) == 0 && got == size;
}

DecodeError read_body(Source& source, std::size_t max_size, Entry& entry) {
  source.get(entry.zstd);
  source.get(entry.body);
  if (entry.zstd.empty() || !source.ok) return DecodeError::none;
  const unsigned long long size = ZSTD_getFrameContentSize(entry.zstd.data(), entry.zstd.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return DecodeError::corrupt;
  if (size > max_size) return DecodeError::too_large;
  if (!entry.body.empty() || !decompress(entry.zstd, size, entry.body)) return DecodeError::corrupt;
  return DecodeError::none;
}

DecodeError read_payload(std::string_view payload, std::size_t max_size, Entry& entry, WallTime& stored_at) {
  Source source{payload};
  source.get(stored_at);
  source.get(entry.key);
  entry.kind = source.small(1) == 0 ? Entry::Kind::response : Entry::Kind::variants;
  Freshness& fresh = entry.freshness;
  source.get(fresh.response_time);
  source.get(fresh.initial_age);
  source.get(fresh.lifetime);
  source.get(fresh.stale_while_revalidate);
  source.get(fresh.stale_if_error);
  source.get(fresh.must_revalidate);
  source.get(fresh.always_validate);
  source.get(entry.useful_until);
  source.get(entry.url);
  source.get(entry.route);
  source.get(entry.model);
  source.get(entry.tags);
  source.get(entry.vary);
  entry.status = static_cast<unsigned>(source.small(999));
  source.get(entry.head);
  const DecodeError error = read_body(source, max_size, entry);
  if (error != DecodeError::none) return error;
  const bool good = source.ok && source.left.empty() && sane(stored_at) && sane(fresh.response_time) &&
                    sane(fresh.initial_age) && sane(fresh.lifetime) && sane(fresh.stale_while_revalidate) &&
                    sane(fresh.stale_if_error) && sane(entry.useful_until);
  return good ? DecodeError::none : DecodeError::corrupt;
}

// The header's word on what follows; sets `size` and `flags`.
DecodeError read_header(std::string_view bytes, std::size_t max_size, std::size_t& size, std::uint64_t& flags) {
  const bool ours = bytes.substr(0, magic.size()) == magic.substr(0, bytes.size());
  if (!ours) return DecodeError::foreign;
  if (bytes.size() < header_size) return DecodeError::truncated;
  const std::uint64_t version = number_at(bytes, 8);
  flags = version >> flag_shift;
  if ((version & ((std::uint64_t{1} << flag_shift) - 1)) != format_version || flags > flag_zstd) {
    return DecodeError::version;
  }
  size = number_at(bytes, 16);
  if (size > max_size) return DecodeError::too_large;
  if (flags != flag_zstd && bytes.size() - header_size < size) return DecodeError::truncated;
  return checksum(bytes) == number_at(bytes, checksum_at) ? DecodeError::none : DecodeError::corrupt;
}

}  // namespace

std::string encode(const Entry& entry, WallTime stored_at) {
  const std::string payload = payload_of(entry, stored_at);
  std::uint64_t flags = 0;
  std::string out(header_size, '\0');
  if (payload.size() - entry.zstd.size() >= worth_compressing) {
    const std::size_t bound = ZSTD_compressBound(payload.size());
    out.resize(header_size + bound);
    const std::size_t size =
        ZSTD_compressCCtx(compressor(), out.data() + header_size, bound, payload.data(), payload.size(), level);
    if (ZSTD_isError(size) == 0 && size < payload.size()) {
      flags = flag_zstd;
      out.resize(header_size + size);
    }
  }
  if (flags != flag_zstd) {
    out.resize(header_size);
    out += payload;
  }
  std::string header(magic);
  put(header, format_version | flags << flag_shift);
  put(header, std::uint64_t{payload.size()});
  out.replace(0, header.size(), header);
  std::string sum;
  put(sum, checksum(out));
  out.replace(checksum_at, sum.size(), sum);
  return out;
}

std::string_view to_string(DecodeError error) {
  switch (error) {
    case DecodeError::none:
      return "none";
    case DecodeError::truncated:
      return "truncated";
    case DecodeError::foreign:
      return "foreign";
    case DecodeError::version:
      return "version";
    case DecodeError::too_large:
      return "too_large";
    case DecodeError::corrupt:
      return "corrupt";
  }
  return "unknown";
}

Decoded decode(std::string_view bytes, std::size_t max_size) {
  Decoded decoded;
  std::size_t size = 0;
  std::uint64_t flags = 0;
  decoded.error = read_header(bytes, max_size, size, flags);
  if (decoded.error != DecodeError::none) return decoded;
  std::string_view payload = bytes.substr(header_size);
  std::string decompressed;
  if (flags == flag_zstd) {
    decoded.error = DecodeError::corrupt;
    if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != size) return decoded;
    if (!decompress(payload, size, decompressed)) return decoded;
    payload = decompressed;
  } else if (payload.size() != size) {
    decoded.error = DecodeError::corrupt;
    return decoded;
  }
  boost::intrusive_ptr<Entry> entry(new Entry);
  decoded.error = read_payload(payload, max_size, *entry, decoded.stored_at);
  if (decoded.error != DecodeError::none) return decoded;
  entry->index_fields();
  decoded.entry = std::move(entry);
  return decoded;
}

std::string redis_key(std::string_view prefix, std::string_view key_text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(key_text.data()), key_text.size(), digest);
  static constexpr char digits[] = "0123456789abcdef";
  std::string key(prefix);
  for (const unsigned char byte : digest) {
    key += digits[byte >> 4];
    key += digits[byte & 15];
  }
  return key;
}

}  // namespace brink::cache::redis
