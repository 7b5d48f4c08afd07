#pragma once
#include <exception>
#include <string>
#include <string_view>

/// Two kinds of failure. What a user, a file, the network or the machine can cause is an Error (or
/// a folder's subclass of it); only `main` catches. What only a mistake of ours can cause is an
/// assertion (GRADWIRE_ASSERT), on in every preset.
namespace gradwire {

/// Decides the exit code; see exit_code().
enum class ErrorKind {
  kFailure,      ///< the command or run failed (1)
  kUsage,        ///< wrong command line (2)
  kScenario,     ///< a scenario is invalid (3)
  kPartial,      ///< finished, but some runs failed or diverged (4)
  kCapability,   ///< a needed capability is missing: CUDA, ns-3, privilege (5)
  kStore,        ///< the results database is unusable: locked, newer, damaged (6)
  kGate,         ///< a bar, pass mark or gate failed (7)
  kInterrupted,  ///< SIGINT (130)
  kTerminated,   ///< SIGTERM (143)
};

int exit_code(ErrorKind kind);

/// What was attempted, on what, why it failed, and what the user can do.
class Error : public std::exception {
 public:
  /// Message: "cannot <attempted> <subject>: <reason>" and, if given, "; <remedy>".
  Error(ErrorKind kind, std::string_view attempted, std::string_view subject,
        std::string_view reason, std::string_view remedy = {});
  /// For messages that already have their final form (lists of scenario errors).
  Error(ErrorKind kind, std::string message);

  const char* what() const noexcept override { return message_.c_str(); }
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
  std::string message_;
};

/// An Error for a failed system call: the reason is the text of `error_number`.
Error system_error(std::string_view attempted, std::string_view subject, int error_number,
                   std::string_view remedy = {});

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace gradwire

/// A broken invariant is a bug of ours: print it and abort.
#define GRADWIRE_ASSERT(condition) \
  ((condition) ? void(0) : ::gradwire::assertion_failed(#condition, __FILE__, __LINE__))
