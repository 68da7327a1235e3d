// Iterators by name, with options as text: what MXNet's Python calls `mx.io.CSVIter(...)`.
//
// Decided here: iterators over files read in their own thread, and the first batch is read at once,
// so that a bad file is an error at construction. Unknown options are ignored, as in MXNet, but a
// warning names one that looks misspelt.
#include <symbind/io.h>
#include <symbind/log.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/settings.h"

namespace symbind {
namespace {

/// Options of MXNet's iterators that have no effect here.
const std::vector<std::string> kPassedOver = {"ctx",     "data_shape", "input_shape",
                                              "verbose", "name",       "preprocess_threads"};

/// Hands out a first batch that was read when the iterator was made.
class FirstBatchRead final : public DataIter {
 public:
  explicit FirstBatchRead(std::shared_ptr<DataIter> iter) : iter_(std::move(iter)) {
    waiting_ = iter_->next(first_);
  }
  const std::vector<DataDesc>& provide_data() const override { return iter_->provide_data(); }
  const std::vector<DataDesc>& provide_label() const override { return iter_->provide_label(); }
  void reset() override {
    if (waiting_)
      hard_reset();
    else
      iter_->reset();
  }
  void hard_reset() override {
    waiting_ = false;
    iter_->hard_reset();
  }
  bool next(DataBatch& batch) override {
    if (!waiting_) return iter_->next(batch);
    waiting_ = false;
    batch = std::move(first_);
    return true;
  }

 private:
  std::shared_ptr<DataIter> iter_;
  DataBatch first_;
  bool waiting_;
};

struct PrefetchBuffer {
  int prefetch_buffer = 4;
  void describe(AttrVisitor& v) {
    v.field("prefetch_buffer", prefetch_buffer, "Batches to read ahead.").at_least(1);
  }
};

template <class Options>
Options parsed(std::string_view name, const AttrDict& given, PrefetchBuffer& buffer) {
  Options options;
  AttrVisitor fields;
  options.describe(fields);
  buffer.describe(fields);
  AttrDict rest;
  parse_attrs(fields.fields(), given, name, kPassedOver, &rest);
  std::vector<std::string> names;
  for (const AttrField& field : fields.fields()) names.push_back(field.name);
  for (const auto& [key, value] : rest) {
    const std::string hint = nearest_hint(key, names);
    if (!hint.empty())
      log_warning(fmt::format("{} ignores the unknown option '{}'; {}", name, key, hint));
  }
  return options;
}

template <class Iter, class Options>
std::shared_ptr<DataIter> reading_ahead(std::string_view name, const AttrDict& given) {
  PrefetchBuffer buffer;
  const auto options = parsed<Options>(name, given, buffer);
  auto iter = std::make_shared<PrefetchingIter>(
      std::vector<std::shared_ptr<DataIter>>{std::make_shared<Iter>(options)},
      PrefetchOptions{.depth = buffer.prefetch_buffer});
  return std::make_shared<FirstBatchRead>(std::move(iter));
}

}  // namespace

std::shared_ptr<DataIter> create_iter(std::string_view name, const AttrDict& options) {
  settings::refresh();
  if (name == "CSVIter") return reading_ahead<CSVIter, CSVIterOptions>(name, options);
  if (name == "LibSVMIter") return reading_ahead<LibSVMIter, LibSVMIterOptions>(name, options);
  if (name == "MNISTIter") {
    PrefetchBuffer unused;
    return std::make_shared<MNISTIter>(parsed<MNISTIterOptions>(name, options, unused));
  }
  fail(ErrorKind::kName, "there is no iterator '{}'; {}", name,
       nearest_hint(name, {"CSVIter", "LibSVMIter", "MNISTIter"}));
}

}  // namespace symbind
