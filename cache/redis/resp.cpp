#include "cache/redis/resp.hpp"

#include <hiredis/hiredis.h>

#include <new>
#include <vector>

namespace brink::cache::redis {
namespace {

// An element takes 4 bytes to send and a hundred to keep, and a header of a few bytes may declare a huge array:
// elements take memory as they come, and are counted over all arrays of a reply. CLUSTER SLOTS of 1000 nodes stays far
// below.
constexpr std::size_t most_elements = 1'000'000;

// Where hiredis's next object goes: into the array under way, or a reply of its own. An array grows only once the
// arrays inside it are complete, so pointers to them hold as long as hiredis needs them.
Reply* place(const redisReadTask* task) {
  if (task->parent == nullptr) return new Reply;
  return &static_cast<Reply*>(task->parent->obj)->elements.emplace_back();
}

// hiredis is C: no exception may pass it. Null makes it fail with "Out of memory".
template <typename Fill>
void* make(const redisReadTask* task, Reply::Type type, Fill fill) noexcept {
  try {
    if (++*static_cast<std::size_t*>(task->privdata) > most_elements) return nullptr;
    Reply* reply = place(task);
    reply->type = type;
    fill(*reply);
    return reply;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* create_string(const redisReadTask* task, char* text, std::size_t size) {
  const Reply::Type type = task->type == REDIS_REPLY_ERROR    ? Reply::Type::error
                           : task->type == REDIS_REPLY_STATUS ? Reply::Type::status
                                                              : Reply::Type::string;
  return make(task, type, [&](Reply& reply) { reply.text.assign(text, size); });
}

void* create_array(const redisReadTask* task, int elements) {
  if (static_cast<std::size_t>(elements) > most_elements) return nullptr;
  return make(task, Reply::Type::array, [](Reply&) {});
}

void* create_integer(const redisReadTask* task, long long value) {
  return make(task, Reply::Type::integer, [&](Reply& reply) { reply.integer = value; });
}

void* create_nil(const redisReadTask* task) {
  return make(task, Reply::Type::nil, [](Reply&) {});
}

void free_reply(void* reply) { delete static_cast<Reply*>(reply); }

redisReplyObjectFunctions functions{create_string, create_array, create_integer, create_nil, free_reply};

}  // namespace

Wire::Wire(std::span<const std::string_view> args) {
  std::vector<const char*> data;
  std::vector<std::size_t> sizes;
  for (const std::string_view arg : args) {
    data.push_back(arg.data() == nullptr ? "" : arg.data());
    sizes.push_back(arg.size());
  }
  char* command = nullptr;
  const int size = redisFormatCommandArgv(&command, static_cast<int>(args.size()), data.data(), sizes.data());
  if (size < 0) throw std::bad_alloc();
  data_ = std::shared_ptr<const char>(command, [](char* text) { redisFreeCommand(text); });
  size_ = static_cast<std::size_t>(size);
}

Wire Wire::followed_by(const Wire& other) const {
  const auto joined = std::make_shared<const std::string>(std::string(view()).append(other.view()));
  Wire both;
  both.data_ = std::shared_ptr<const char>(joined, joined->data());
  both.size_ = joined->size();
  return both;
}

ReplyReader::ReplyReader(std::size_t max_bytes)
    : reader_(redisReaderCreateWithFunctions(&functions), &redisReaderFree), max_bytes_(max_bytes) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &elements_;
}

ReplyReader::~ReplyReader() = default;

void ReplyReader::feed(std::string_view bytes) {
  if (failed() || bytes.empty()) return;
  fed_ += bytes.size();
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) error_ = reader_->errstr;
}

std::optional<Reply> ReplyReader::next() {
  if (failed()) return std::nullopt;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    error_ = reader_->errstr[0] != '\0' ? reader_->errstr : "unreadable reply";
    return std::nullopt;
  }
  if (reply == nullptr) {
    if (fed_ > max_bytes_) error_ = "a reply of more than " + std::to_string(max_bytes_) + " bytes";
    return std::nullopt;
  }
  const std::unique_ptr<Reply> owner(static_cast<Reply*>(reply));
  fed_ = reader_->len - reader_->pos;
  elements_ = 0;
  return std::move(*owner);
}

}  // namespace brink::cache::redis
