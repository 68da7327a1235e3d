#include "kvstore/bucket.h"

#include <fmt/format.h>

#include "base/check.h"
#include "ndarray/access.h"

namespace symbind {
namespace {

std::span<float> floats(const NDArray& array) {
  return {reinterpret_cast<float*>(write_pointer(array)), static_cast<std::size_t>(array.size())};
}

}  // namespace

Bucket::Bucket(DistJob& job, std::uint64_t number, std::uint64_t count, DType dtype,
               const std::vector<Member>& members)
    : job_(job), number_(number), count_(count) {
  std::int64_t size = 0;
  for (const Member& m : members) size += m.shape.size();
  sums_ = NDArray(Shape({size}), cpu(), dtype);
  std::int64_t at = 0;
  for (const Member& m : members) {
    keys_.push_back(m.key);
    merged_.push_back(sums_.slice(at, at + m.shape.size()).reshape(m.shape));
    at += m.shape.size();
  }
}

// Without a residual the sum is that of 16-bit numbers. With one, every worker gets what all others
// send and adds it up: the sum itself has no such short form.
void Bucket::start(const GradientCompression* compression, Residuals& residuals) {
  compression_ = compression;
  if (compression != nullptr)
    for (const Key& key : keys_) GradientCompression::check_dtype(key, dtype());
  if (compression == nullptr) {
    set_pending(job_.start_sum(number_, count_, sums_));
  } else if (!compression->has_residual()) {
    sent_ = sums_.astype(compression->dtype());
    set_pending(job_.start_sum(number_, count_, sent_));
  } else {
    start_gather(*compression, residuals);
  }
  ++count_;
}

void Bucket::start_from(const NDArray& from, const NDArray& copy) {
  compression_ = nullptr;
  set_pending(job_.start_sum(number_, count_, sums_, from, copy));
  ++count_;
}

void Bucket::start_gather(const GradientCompression& compression, Residuals& residuals) {
  std::int64_t row = 0;
  for (const NDArray& one : merged_) row += compression.compressed_bytes(one.size());
  if (!sent_.defined() || sent_.shape() != Shape({job_.count(), row}))
    sent_ = NDArray({job_.count(), row}, cpu(), DType::kUint8);
  std::byte* out = reinterpret_cast<std::byte*>(write_pointer(sent_)) + job_.rank() * row;
  for (std::size_t i = 0; i < merged_.size(); ++i) {
    const std::int64_t bytes = compression.compressed_bytes(merged_[i].size());
    compression.compress(floats(merged_[i]), residuals.of(keys_[i], 0, merged_[i].size()),
                         {out, static_cast<std::size_t>(bytes)});
    out += bytes;
  }
  set_pending(job_.start_gather(number_, count_, sent_));
}

void Bucket::set_pending(std::shared_ptr<net::Pending> pending) {
  const std::lock_guard lock(guard_);
  pending_ = std::move(pending);
}

std::shared_ptr<net::Pending> Bucket::pending() const {
  const std::lock_guard lock(guard_);
  return pending_;
}

void Bucket::wait() {
  if (const auto started = pending()) job_.wait(*started, text());
}

void Bucket::take() {
  if (!is_started()) return;
  if (compression_ != nullptr) decompress();
  set_pending(nullptr);
}

void Bucket::swap_only(NDArray& value) {
  SYMBIND_ASSERT(merged_.size() == 1);
  std::swap(merged_.front(), value);
  sums_ = merged_.front().reshape(sums_.shape());
}

void Bucket::decompress() {
  if (!compression_->has_residual()) return sent_.astype(dtype()).copy_to(sums_);
  const std::size_t row = sent_.nbytes() / static_cast<std::size_t>(job_.count());
  const std::byte* all = reinterpret_cast<const std::byte*>(read_pointer(sent_));
  std::vector<std::span<const std::byte>> parts(static_cast<std::size_t>(job_.count()));
  std::size_t at = 0;
  for (const NDArray& one : merged_) {
    const auto bytes = static_cast<std::size_t>(compression_->compressed_bytes(one.size()));
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      parts[rank] = {all + rank * row + at, bytes};
    compression_->sum(parts, floats(one));
    at += bytes;
  }
}

std::string Bucket::text() const {
  const std::string more =
      keys_.size() == 1 ? std::string() : fmt::format(" and {} more", keys_.size() - 1);
  return fmt::format("the sum of key {}{} (push {})", key_text(keys_.front()), more, count_ - 1);
}

}  // namespace symbind
