#include "host_cuda/kernels.h"

#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "weft/workloads/device.h"  // tests/host_cuda/include, not the one that clang compiles for the GPU

// Each in a namespace of its own: their constants have the same names.
namespace back_propagation {
#include "workloads/back_propagation/back_propagation.cu"
}
namespace bfs {
#include "workloads/bfs/bfs.cu"
}
namespace bfs_warp_centric {
#include "workloads/bfs_warp_centric/bfs_warp_centric.cu"
}
namespace coulombic_potential {
#include "workloads/coulombic_potential/coulombic_potential.cu"
}
namespace dyn_proc {
#include "workloads/dyn_proc/dyn_proc.cu"
}
namespace fast_walsh_transform {
#include "workloads/fast_walsh_transform/fast_walsh_transform.cu"
}
namespace h264_idct {
#include "workloads/h264_idct/h264_idct.cu"
}
namespace hotspot {
#include "workloads/hotspot/hotspot.cu"
}
namespace laplace_3d {
#include "workloads/laplace_3d/laplace_3d.cu"
}
namespace matrix_multiply {
#include "workloads/matrix_multiply/matrix_multiply.cu"
}
namespace merge_sort {
#include "workloads/merge_sort/merge_sort.cu"
}
namespace n_queens {
#include "workloads/n_queens/n_queens.cu"
}
namespace nearest_neighbor {
#include "workloads/nearest_neighbor/nearest_neighbor.cu"
}
namespace needleman_wunsch {
#include "workloads/needleman_wunsch/needleman_wunsch.cu"
}
namespace particle_filter {
#include "workloads/particle_filter/particle_filter.cu"
}
namespace ray_tracing {
#include "workloads/ray_tracing/ray_tracing.cu"
}
namespace reduction {
#include "workloads/reduction/reduction.cu"
}
namespace scan {
#include "workloads/scan/scan.cu"
}
namespace srad {
#include "workloads/srad/srad.cu"
}
namespace storegpu {
#include "workloads/storegpu/storegpu.cu"
}
namespace vector_add {
#include "workloads/vector_add/vector_add.cu"
}
namespace visibility {
#include "workloads/visibility/visibility.cu"
}

namespace weft::host_cuda {
namespace {

// One parameter, from where the PTX has it.
template <class Parameter>
Parameter parameter(const dispatch::Launch& launch, std::size_t index) {
  const ptx::Parameter& described = launch.program->parameters.at(index);
  // A parameter may be a pointer, whose size it is then.
  constexpr std::size_t kBytes = sizeof(Parameter);  // NOLINT(bugprone-sizeof-expression)
  if (described.size != kBytes) {
    throw std::runtime_error(launch.program->name + ": parameter " + std::to_string(index) +
                             " has another size on the host");
  }
  Parameter value;
  std::memcpy(static_cast<void*>(&value), launch.parameters.data() + described.offset, kBytes);
  return value;
}

template <class... Parameters, std::size_t... Indices>
void run(void (*kernel)(Parameters...), const dispatch::Launch& launch, std::index_sequence<Indices...>) {
  const std::tuple<Parameters...> values{parameter<Parameters>(launch, Indices)...};
  run_grid(launch.grid, launch.block, [&] { std::apply(kernel, values); });
}

template <class... Parameters>
HostKernel host(void (*kernel)(Parameters...), std::map<std::string, HostVariable> variables = {}) {
  return {[kernel](const dispatch::Launch& launch) {
            if (launch.program->parameters.size() != sizeof...(Parameters)) {
              throw std::runtime_error(launch.program->name + ": another number of parameters on the host");
            }
            run(kernel, launch, std::index_sequence_for<Parameters...>());
          },
          std::move(variables)};
}

template <class T>
HostVariable variable(T& value) {
  return {&value, sizeof value};
}

}  // namespace

const HostKernel& host_kernel(const std::string& name) {
  static const std::map<std::string, HostKernel> kernels = {
      {"adjust", host(back_propagation::adjust)},
      {"bfs", host(bfs::bfs)},
      {"bfs_warp_centric", host(bfs_warp_centric::bfs_warp_centric)},
      {"coefficients", host(srad::coefficients)},
      {"coulombic_potential",
       host(coulombic_potential::coulombic_potential, {{"atoms", variable(coulombic_potential::atoms)}})},
      {"count_completions", host(n_queens::count_completions)},
      {"diffuse", host(srad::diffuse)},
      {"distances_of_lines", host(nearest_neighbor::distances_of_lines)},
      {"distances_of_pairs", host(nearest_neighbor::distances_of_pairs)},
      {"dyn_proc", host(dyn_proc::dyn_proc)},
      {"forward", host(back_propagation::forward)},
      {"fwt_global", host(fast_walsh_transform::fwt_global)},
      {"fwt_modulate", host(fast_walsh_transform::fwt_modulate)},
      {"fwt_shared", host(fast_walsh_transform::fwt_shared)},
      {"hash_chunks", host(storegpu::hash_chunks)},
      {"hotspot", host(hotspot::hotspot)},
      {"idct_4x4", host(h264_idct::idct_4x4)},
      {"idct_8x8", host(h264_idct::idct_8x8)},
      {"laplace_3d", host(laplace_3d::laplace_3d)},
      {"lower_right", host(needleman_wunsch::lower_right)},
      {"matrix_multiply", host(matrix_multiply::matrix_multiply)},
      {"merge_intervals", host(merge_sort::merge_intervals)},
      {"merge_ranks", host(merge_sort::merge_ranks)},
      {"rank_samples", host(merge_sort::rank_samples)},
      {"ray_tracing", host(ray_tracing::ray_tracing, {{"places", variable(ray_tracing::places)},
                                                      {"materials", variable(ray_tracing::materials)}})},
      {"reduction", host(reduction::reduction)},
      {"resample", host(particle_filter::resample)},
      {"scan", host(scan::scan)},
      {"sort_shared", host(merge_sort::sort_shared)},
      {"upper_left", host(needleman_wunsch::upper_left)},
      {"vector_add", host(vector_add::vector_add)},
      {"visibility", host(visibility::visibility)},
  };
  // In PTX the name may be mangled: _Z3bfs...; it ends where the parameters' letters begin.
  std::string plain = name;
  if (name.rfind("_Z", 0) == 0) {
    std::size_t digits = 0;
    const std::size_t length = std::stoul(name.substr(2), &digits);
    plain = name.substr(2 + digits, length);
  }
  const auto found = kernels.find(plain);
  if (found == kernels.end()) {
    throw std::runtime_error("no host version of the kernel " + plain +
                             "; add it to tests/host_cuda/kernels.cpp");
  }
  return found->second;
}

}  // namespace weft::host_cuda
