// Streams and events.
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

using namespace weft::cuda;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return runtime_call("cudaStreamCreate", [&](Context& c) {
    required(stream) = reinterpret_cast<cudaStream_t>(&c.streams().create(flags, priority));
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return runtime_call("cudaStreamDestroy",
                      [&](Context& c) { c.streams().destroy(c.streams().stream(stream)); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return runtime_call("cudaStreamSynchronize",
                      [&](Context& c) { c.streams().synchronise(c.streams().stream(stream)); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return runtime_call("cudaStreamQuery", [&](Context& c) { c.streams().query(c.streams().stream(stream)); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  return runtime_call("cudaStreamWaitEvent", [&](Context& c) {
    c.streams().wait(c.streams().stream(stream), c.streams().event(event));
  });
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned /*flags*/) {
  return runtime_call("cudaStreamAddCallback", [&](Context& c) {
    if (callback == nullptr) fail(Error::kInvalidValue);
    c.streams().call(c.streams().stream(stream), [=] { callback(stream, cudaSuccess, data); });
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return runtime_call("cudaLaunchHostFunc", [&](Context& c) {
    if (function == nullptr) fail(Error::kInvalidValue);
    c.streams().call(c.streams().stream(stream), [=] { function(data); });
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return runtime_call("cudaStreamGetFlags",
                      [&](Context& c) { required(flags) = c.streams().stream(stream).flags; });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return runtime_call("cudaStreamGetPriority",
                      [&](Context& c) { required(priority) = c.streams().stream(stream).priority; });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return runtime_call("cudaStreamGetId",
                      [&](Context& c) { required(id) = c.streams().stream(stream).number; });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return runtime_call("cudaStreamGetDevice", [&](Context& c) {
    c.streams().stream(stream);
    required(device) = 0;
  });
}
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int attribute,
                                   const cudaLaunchAttributeValue* value) {
  return runtime_call("cudaStreamSetAttribute",
                      [&](Context& c) { set(c.streams().stream(stream), attribute, required(value)); });
}
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, cudaLaunchAttributeValue* value) {
  return runtime_call("cudaStreamGetAttribute",
                      [&](Context& c) { required(value) = get(c.streams().stream(stream), attribute); });
}
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return runtime_call("cudaStreamCopyAttributes",
                      [&](Context& c) { copy_attributes(c.streams().stream(to), c.streams().stream(from)); });
}
// Kernels see managed memory whatever stream it belongs to.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* memory, std::size_t /*bytes*/,
                                     unsigned flags) {
  return runtime_call("cudaStreamAttachMemAsync", [&](Context& c) {
    c.streams().attach(c.streams().stream(stream), address_of(memory), flags);
  });
}
// Nothing ever captures: graphs are not provided.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int* status) {
  return runtime_call("cudaStreamIsCapturing", [&](Context& c) {
    c.streams().stream(stream);
    required(status) = 0;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return runtime_call("cudaEventCreate", [&](Context& c) {
    required(event) = reinterpret_cast<cudaEvent_t>(&c.streams().create_event(flags));
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return runtime_call("cudaEventDestroy",
                      [&](Context& c) { c.streams().destroy_event(c.streams().event(event)); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return runtime_call("cudaEventRecord", [&](Context& c) {
    c.streams().record(c.streams().event(event), c.streams().stream(stream));
  });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call("cudaEventQuery", [&](Context& c) { c.streams().query(c.streams().event(event)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call("cudaEventSynchronize",
                      [&](Context& c) { c.streams().synchronise(c.streams().event(event)); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return runtime_call("cudaEventElapsedTime", [&](Context& c) {
    required(milliseconds) = c.streams().milliseconds(c.streams().event(start), c.streams().event(end));
  });
}
