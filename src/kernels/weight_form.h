// A weight in another form than its array has, e.g. packed or transformed. A constant weight keeps
// the form with its array; the form is made again when the array changes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "kernels/workspace.h"
#include "ndarray/storage.h"

namespace symbind {

/// A short name of a form: equal numbers give equal names. It fits std::string's internal buffer,
/// so that looking up a form allocates nothing.
std::string form_key(const void* bytes, std::size_t count);
std::string form_key(std::initializer_list<std::int64_t> numbers);

class WeightForm {
 public:
  WeightForm() = default;
  /// `key` names how the form is made of the array. `constant`: it is kept with the array; else its
  /// memory is part of the workspace.
  WeightForm(std::string key, std::size_t bytes, bool constant, Carver& workspace);

  /// The form of an input. `make(array, form)` writes it where it is not current.
  template <class F>
  void* operator()(const Args& args, int input, F&& make) const;

 private:
  void* thread_buffer() const;
  DerivedForm& kept(const TensorArg& weight) const;

  std::size_t bytes_ = 0, offset_ = 0;
  bool constant_ = false;
  std::string key_;
  std::shared_ptr<const void> use_;  ///< keeps forms of this key with their arrays
};

template <class F>
void* WeightForm::operator()(const Args& args, int input, F&& make) const {
  const TensorArg& weight = args.inputs[input];
  if (!constant_) {
    void* into = at(args, offset_);
    make(weight.data, into);
    return into;
  }
  if (weight.storage->escaped()) {
    void* into = thread_buffer();
    make(weight.data, into);
    return into;
  }
  DerivedForm& form = kept(weight);
  form.refresh(*weight.storage, [&](void* into) { make(weight.data, into); });
  return form.data();
}

}  // namespace symbind
