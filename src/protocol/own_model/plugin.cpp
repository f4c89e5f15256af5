#include <bit>
#include <dlfcn.h>
#include <filesystem>
#include <starling/plugin.h>
#include <unistd.h>

#include "core/check.hpp"
#include "core/digest.hpp"
#include "core/numerics/kept_arithmetic.hpp"
#include "core/record_error.hpp"
#include "files/tell_user.hpp"
#include "protocol/own_model/answer.hpp"
#include "protocol/own_model/own_model.hpp"

namespace starling {

namespace {

using Entry = int (*)(unsigned, const char*, starling_model*);

/// A loaded library.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* why = dlerror();
    fail<UsageError>("--model plugin:{}: it cannot be loaded ({}). Build it as a shared library for this machine.",
                     path, why != nullptr ? why : "no reason is given");
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The function of that name; null without one.
  [[nodiscard]] Entry entry(const char* name) const { return reinterpret_cast<Entry>(dlsym(handle_, name)); }

 private:
  void* handle_;
};

thread_local int running = 0;  ///< number of calls of plug-ins that this thread is in

/// Ends the process with an error if a plug-in has called exit. Otherwise exit(0), as by STOP of Fortran, would look
/// like the end of a good run.
void refuse_to_exit(int status, void* /*none*/) {
  if (running == 0) return;
  tell_user(
      "starling: --model: the plug-in has ended the process: exit, or STOP of Fortran. Let it return a number other "
      "than 0.\n");
  _exit(status != 0 ? status : static_cast<int>(ExitCode::failure));
}

/// Marks a call of a plug-in.
class Running {
 public:
  Running() {
    static const bool known = on_exit(refuse_to_exit, nullptr) == 0;
    static_cast<void>(known);
    ++running;
  }
  ~Running() { --running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

class Plugin final : public OwnModel {
 public:
  Plugin(const std::string& path, const std::string& options)
      : library_(path), identity_(sha256(sha256_of_file(path) + " " + options)) {
    const Entry entry = library_.entry("starling_plugin");
    check(entry != nullptr,
          "--model plugin:{}: it has no function starling_plugin. Write one, as starling/plugin.h says.", path);
    const int code = entered(entry, path, options);
    if (code != 0) refuse(path, options, code);
    check(model_.dimension != nullptr && model_.gradients != nullptr,
          "--model plugin:{}: its model lacks the function `{}`. Set it in starling_plugin.", path,
          model_.dimension == nullptr ? "dimension" : "gradients");
    check(model_.classifies == 0 || model_.scores != nullptr,
          "--model plugin:{}: it classifies without the function `scores`. Set it in starling_plugin.", path);
  }
  ~Plugin() override { destroy(); }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  std::size_t dimension(std::size_t features) override {
    const Running plugin;
    return model_.dimension(model_.self, features);
  }

  std::optional<Vector> start(std::uint64_t seed, std::size_t dimension) override {
    if (model_.start == nullptr) return std::nullopt;
    const Running plugin;
    Vector point(dimension, 0.0);
    point.resize(dimension + fence, std::bit_cast<double>(fence_bits));
    if (const int code = model_.start(model_.self, seed, point.data()); code != 0) {
      fail<UsageError>("--model: `start` of the plug-in returned {}{}", code, told());
    }
    require_fence(point, "start");
    point.resize(dimension);
    return point;
  }

  bool gradients(View point, const RecordTable& records, MutableView losses, MutableView gradients,
                 MutableView /*predictions*/) override {
    const starling_batch batch = batch_of(records);
    const Running plugin;
    require(model_.gradients(model_.self, point.data(), &batch, losses.data(), gradients.data()), "gradients");
    return false;
  }

  [[nodiscard]] bool predicts() const override { return model_.scores != nullptr; }
  [[nodiscard]] bool classifies() const override { return model_.classifies != 0; }

  void predict(View point, const RecordTable& records, MutableView predictions) override {
    const starling_batch batch = batch_of(records);
    const Running plugin;
    require(model_.scores(model_.self, point.data(), &batch, predictions.data()), "scores");
  }

  [[nodiscard]] std::optional<double> slope() const override {
    return model_.slope == 0 ? std::nullopt : std::optional(model_.slope);
  }
  [[nodiscard]] std::string identity() const override { return identity_; }

 private:
  [[nodiscard]] static starling_batch batch_of(const RecordTable& records) {
    return {records.rows, records.features, records.x, records.stride, records.y};
  }

  /// The message of the plug-in, with a colon before it; empty without one.
  [[nodiscard]] std::string told() const {
    const char* text = model_.error != nullptr ? model_.error(model_.self) : nullptr;
    return text != nullptr ? fmt::format(": {}", text) : "";
  }

  void require(int code, const char* function) const {
    if (code == 0) return;
    const std::string what = fmt::format("--model: `{}` of the plug-in returned {}", function, code);
    throw RecordError(what + ".", what + told());
  }

  /// Code that the plug-in's function starling_plugin returns. Throws UsageError if it throws.
  int entered(Entry entry, const std::string& path, const std::string& options) {
    const Running plugin;
    try {
      return entry(STARLING_PLUGIN_ABI, options.c_str(), &model_);
    } catch (const std::exception& error) {
      fail<UsageError>("--model plugin:{}: starling_plugin has failed: {}. Look at its options '{}'.", path,
                       error.what(), options);
    } catch (...) {
      fail<UsageError>("--model plugin:{}: starling_plugin has thrown what is no exception. Look at its options '{}'.",
                       path, options);
    }
  }

  [[noreturn]] void refuse(const std::string& path, const std::string& options, int code) {
    const std::string why = told();
    destroy();
    fail<UsageError>(
        "--model plugin:{}: starling_plugin returned {} for the options '{}'{}. Look at its options, and that it was "
        "built with the header of this starling (ABI {}).",
        path, code, options, why, STARLING_PLUGIN_ABI);
  }

  void destroy() const {
    if (model_.destroy != nullptr) model_.destroy(model_.self);
  }

  Library library_;
  std::string identity_;
  starling_model model_{};
};

}  // namespace

std::shared_ptr<OwnModel> open_plugin(const std::string& path, const std::string& options) {
  check(!path.empty(), "--model plugin: lacks the name of a library. Name it: --model plugin:./libmine.so");
  check(std::filesystem::is_regular_file(path), "--model plugin:{}: no such file. Name a shared library.", path);
  const KeptArithmetic kept;
  return std::make_shared<Plugin>(std::filesystem::absolute(path).string(), options);
}

}  // namespace starling
