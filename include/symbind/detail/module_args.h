#pragma once
// Module options that accept more than one form: callbacks, stores, optimizers.

#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <symbind/kvstore.h>
#include <symbind/optimizer.h>

namespace symbind {

/// One callback or several.
template <class F>
class Callbacks {
 public:
  Callbacks() = default;
  template <class G>
  requires std::is_constructible_v<F, G> Callbacks(G callback)  // NOLINT: one is as good as a list
      : all_{F(std::move(callback))} {}
  Callbacks(std::initializer_list<F> callbacks) : all_(callbacks) {}
  Callbacks(std::vector<F> callbacks) : all_(std::move(callbacks)) {}  // NOLINT
  template <class... Args>
  void operator()(Args&&... args) const {
    for (const F& f : all_) f(args...);
  }
  const std::vector<F>& all() const { return all_; }

 private:
  std::vector<F> all_;
};

/// How gradients of several devices are combined: a name, a store, or nullptr for none.
class StoreArg {
 public:
  StoreArg(const char* name) : name_(name) {}             // NOLINT
  StoreArg(std::string name) : name_(std::move(name)) {}  // NOLINT
  template <class S>
  requires std::is_base_of_v<KVStore, S> StoreArg(std::shared_ptr<S> store)  // NOLINT
      : store_(std::move(store)) {}
  StoreArg(std::nullptr_t) {}  // NOLINT
  const std::string& name() const { return name_; }
  const std::shared_ptr<KVStore>& store() const { return store_; }

 private:
  std::string name_;
  std::shared_ptr<KVStore> store_;
};

/// An optimizer by name or ready-made.
class OptimizerArg {
 public:
  OptimizerArg(const char* name) : name_(name) {}             // NOLINT
  OptimizerArg(std::string name) : name_(std::move(name)) {}  // NOLINT
  template <class O>
  requires std::is_base_of_v<Optimizer, O> OptimizerArg(std::shared_ptr<O> made)  // NOLINT
      : optimizer_(std::move(made)) {}
  const std::string& name() const { return name_; }
  const std::shared_ptr<Optimizer>& optimizer() const { return optimizer_; }

 private:
  std::string name_;
  std::shared_ptr<Optimizer> optimizer_;
};

}  // namespace symbind
