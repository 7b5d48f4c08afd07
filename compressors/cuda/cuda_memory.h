#pragma once
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

/// Owners of CUDA resources. All are move-only: two owners would free a resource twice. This is the
/// only header that includes CUDA's; everything else passes device pointers and streams as void*.
namespace gradwire::compressors {

/// Throws Error(kFailure) with CUDA's own text unless `status` is success.
inline void check_cuda(cudaError_t status, const char* attempted) {
  if (status == cudaSuccess) return;
  const ErrorKind kind = status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver
                             ? ErrorKind::kCapability
                             : ErrorKind::kFailure;
  throw Error(kind, attempted, "on the CUDA device",
              std::string(cudaGetErrorName(status)) + ", " + cudaGetErrorString(status));
}

/// `size()` elements of T on the device, uninitialised. T is trivially copyable.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    void* pointer = nullptr;
    if (size > 0) check_cuda(cudaMalloc(&pointer, size * sizeof(T)), "allocate memory");
    data_ = static_cast<T*>(pointer);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// Synchronous copies of the first host.size() elements.
  void upload(std::span<const T> host) {
    GRADWIRE_ASSERT(host.size() <= size_);
    check_cuda(cudaMemcpy(data_, host.data(), host.size_bytes(), cudaMemcpyHostToDevice),
               "copy to memory");
  }
  void download(std::span<T> host) const {
    GRADWIRE_ASSERT(host.size() <= size_);
    check_cuda(cudaMemcpy(host.data(), data_, host.size_bytes(), cudaMemcpyDeviceToHost),
               "copy from memory");
  }
  void clear() { check_cuda(cudaMemset(data_, 0, size_ * sizeof(T)), "clear memory"); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// `size()` elements of T in page-locked host memory, zero at first: copies to and from it can
/// overlap with everything else.
template <class T>
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t size) : size_(size) {
    void* pointer = nullptr;
    if (size > 0) check_cuda(cudaMallocHost(&pointer, size * sizeof(T)), "allocate pinned memory");
    data_ = static_cast<T*>(pointer);
    std::fill_n(data_, size, T{});
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  ~PinnedBuffer() { cudaFreeHost(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Page-locks memory that someone else owns, which must outlive this.
class PinnedRange {
 public:
  explicit PinnedRange(std::span<float> memory) : data_(memory.data()) {
    check_cuda(cudaHostRegister(data_, memory.size_bytes(), cudaHostRegisterDefault),
               "pin host memory");
  }
  PinnedRange(PinnedRange&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PinnedRange& operator=(PinnedRange&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  PinnedRange(const PinnedRange&) = delete;
  PinnedRange& operator=(const PinnedRange&) = delete;
  ~PinnedRange() {
    if (data_ != nullptr) cudaHostUnregister(data_);
  }

 private:
  void* data_ = nullptr;
};

/// A stream that does not wait for the default stream.
class CudaStream {
 public:
  CudaStream() {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  }
  CudaStream(CudaStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  CudaStream& operator=(CudaStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  void* get() const { return stream_; }
  void synchronize() const { check_cuda(cudaStreamSynchronize(stream_), "wait for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A timestamp in a stream.
class CudaEvent {
 public:
  CudaEvent() { check_cuda(cudaEventCreate(&event_), "create an event"); }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  void record(const CudaStream& stream) { record(stream.get()); }
  void record(void* stream) {
    check_cuda(cudaEventRecord(event_, static_cast<cudaStream_t>(stream)), "record an event");
  }
  void synchronize() const { check_cuda(cudaEventSynchronize(event_), "wait for an event"); }
  /// Seconds from `start` to this event; both must have completed.
  double seconds_since(const CudaEvent& start) const {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, start.event_, event_), "read events");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace gradwire::compressors
