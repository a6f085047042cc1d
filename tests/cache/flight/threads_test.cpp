// Leaders and followers on threads of their own, as workers have them: every follower gets every byte, nothing is lost
// and nobody waits for ever. Of most use under the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <thread>
#include <vector>

#include "cache/flight/table.hpp"

namespace brink::cache {
namespace {

constexpr int threads = 4;
constexpr int followers = 6;  // on each thread
constexpr int pieces = 200;
constexpr std::size_t piece_size = 4096;

struct Worker {
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{context.get_executor()};
  std::thread thread;
};

// Sends all pieces as fast as its followers take them, then ends.
class Publisher {
 public:
  Publisher(boost::asio::io_context& context, FlightTable& table, FlightPtr flight, bool keep, std::atomic<int>& left)
      : context_(context),
        table_(table),
        flight_(std::move(flight)),
        keep_(keep),
        left_(left),
        waker_(new Waker(
            context, [](void* self) { static_cast<Publisher*>(self)->go_on(); }, this)) {
    flight_->set_publisher(waker_);
    boost::asio::post(context_, [this] { begin(); });
  }

 private:
  void begin() {
    const boost::intrusive_ptr<Entry> head(new Entry);
    if (!keep_) {
      table_.remove(*flight_);
      flight_->stop_keeping();
    }
    flight_->open(head, head);
    go_on();
  }

  void go_on() {
    while (sent_ < pieces && !flight_->congested()) {
      Budget* const budget = table_.budget.take(piece_size) ? &table_.budget : nullptr;
      ++sent_;
      if (!flight_->append(Piece(new Bytes(std::string(piece_size, static_cast<char>('a' + sent_ % 26)), budget)))) {
        return;
      }
    }
    if (sent_ < pieces || ended_) return;
    ended_ = true;
    flight_->complete(nullptr, "end");
    if (keep_) table_.remove(*flight_);
    flight_->stop_keeping();
    waker_->detach();
    --left_;
  }

  boost::asio::io_context& context_;
  FlightTable& table_;
  FlightPtr flight_;
  const bool keep_;
  std::atomic<int>& left_;
  WakerPtr waker_;
  int sent_ = 0;
  bool ended_ = false;
};

class Reader {
 public:
  Reader(boost::asio::io_context& context, std::atomic<int>& left)
      : left_(left),
        waker_(new Waker(
            context, [](void* self) { static_cast<Reader*>(self)->read(); }, this)) {}

  void join(FlightTable& table, const std::string& key) {
    joined_ = table.join(key, waker_, 1000, FlightTable::Clock::now());
    ASSERT_NE(joined_.role, FlightTable::Role::alone);
  }
  const FlightTable::Joined& joined() const { return joined_; }
  int taken() const { return taken_; }

  void read() {
    if (joined_.flight == nullptr) return;
    const Flight::News news = joined_.flight->look(joined_.ticket);
    for (const Piece& piece : news.pieces) {
      ++taken_;
      EXPECT_EQ(piece->text.front(), static_cast<char>('a' + taken_ % 26));
    }
    if (news.phase == Flight::Phase::complete) leave();
  }

  void leave() {
    if (joined_.flight == nullptr) return;
    joined_.flight->leave(joined_.ticket);
    joined_.flight.reset();
    waker_->detach();
    --left_;
  }

 private:
  std::atomic<int>& left_;
  WakerPtr waker_;
  FlightTable::Joined joined_;
  int taken_ = 0;
};

class FlightThreads : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    for (Worker& worker : workers_) worker.thread = std::thread([&worker] { worker.context.run(); });
  }
  void wait_for(std::atomic<int>& left) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (left > 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    for (Worker& worker : workers_) worker.guard.reset();
    if (left > 0) {
      for (Worker& worker : workers_) worker.context.stop();
    }
    for (Worker& worker : workers_) worker.thread.join();
    ASSERT_EQ(left, 0) << "somebody waits for news that never come";
  }

  FlightTable table_{std::size_t{16} * 1024 * 1024};
  std::array<Worker, threads> workers_;
};

// The parameter: whether the answer is kept to be stored, or the slowest follower slows it down.
TEST_P(FlightThreads, EveryFollowerGetsEveryPiece) {
  std::vector<std::unique_ptr<Reader>> readers;
  std::vector<std::unique_ptr<Publisher>> publishers;
  std::atomic<int> left = threads * followers + 1;
  for (int i = 0; i < threads * followers; ++i) {
    readers.push_back(std::make_unique<Reader>(workers_[i % threads].context, left));
    readers.back()->join(table_, "key");
  }
  for (const auto& reader : readers) {
    if (reader->joined().role != FlightTable::Role::lead) continue;
    publishers.push_back(
        std::make_unique<Publisher>(workers_[0].context, table_, reader->joined().flight, GetParam(), left));
  }
  ASSERT_EQ(publishers.size(), 1u);
  wait_for(left);
  for (const auto& reader : readers) EXPECT_EQ(reader->taken(), pieces);
  EXPECT_EQ(table_.size(), 0u);
  readers.clear();
  publishers.clear();
  EXPECT_EQ(table_.budget.taken(), 0u);
}

// Every other follower leaves once it has seen something; the others must not notice.
TEST_P(FlightThreads, SomeLeaveInTheMiddle) {
  std::vector<std::unique_ptr<Reader>> readers;
  std::atomic<int> left = threads * followers + 1;
  for (int i = 0; i < threads * followers; ++i) {
    readers.push_back(std::make_unique<Reader>(workers_[i % threads].context, left));
    readers.back()->join(table_, "key");
  }
  const Publisher publisher(workers_[0].context, table_, readers.front()->joined().flight, GetParam(), left);
  for (int i = 1; i < threads * followers; i += 2) {
    boost::asio::post(workers_[i % threads].context, [reader = readers[i].get()] { reader->leave(); });
  }
  wait_for(left);
  for (std::size_t i = 0; i < readers.size(); i += 2) EXPECT_EQ(readers[i]->taken(), pieces);
}

INSTANTIATE_TEST_SUITE_P(KeptOrNot, FlightThreads, testing::Bool());

}  // namespace
}  // namespace brink::cache
