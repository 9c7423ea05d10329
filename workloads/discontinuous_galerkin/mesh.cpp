#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "workloads/discontinuous_galerkin/elements.h"

namespace weft::workloads::galerkin {
namespace {

using Vector = std::array<double, 3>;
using Corners = std::array<Lattice, 4>;  // in edges of a cube

constexpr Vector kCube{0.25, 0.22, 0.28};  // its edges
// Corners of the faces t = -1, s = -1, r + s + t = -1, r = -1.
constexpr std::array<std::array<std::size_t, 3>, kFaces> kCornersOfFace{
    {{0, 1, 2}, {0, 1, 3}, {1, 2, 3}, {0, 2, 3}}};

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// One of the six tetrahedra of a cube that share its diagonal: from its lowest corner to its highest along
// the edges, in each order of the axes (Kuhn). They fit those of the neighbouring cubes.
Corners tetrahedron(std::size_t index) {
  static constexpr std::array<std::array<std::size_t, 3>, 6> kOrders{
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}};
  const std::size_t cube = index / 6;
  Corners corners;
  corners[0] = {static_cast<int>(cube % 4), static_cast<int>(cube / 4 % 4), static_cast<int>(cube / 16)};
  for (std::size_t i = 0; i < 3; ++i) {
    corners[i + 1] = corners[i];
    ++corners[i + 1][kOrders[index % 6][i]];
  }
  if (index % 6 >= 3) std::swap(corners[1], corners[2]);  // odd orders are mirrored
  return corners;
}

// Of a node in sixths of the cubes' edges: exact, so that nodes of two elements can be compared.
Lattice place(const Corners& corners, const Lattice& node) {
  const std::array<int, 4> weight{6 - node[0] - node[1] - node[2], node[0], node[1], node[2]};
  Lattice at{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (std::size_t corner = 0; corner < 4; ++corner) at[axis] += weight[corner] * corners[corner][axis];
  }
  return at;
}

Vector position(const Lattice& sixths) {
  Vector at{};
  for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = sixths[axis] * kCube[axis] / 6;
  return at;
}

// The gradients of r, s, t: rows of the inverse of d(x, y, z)/d(r, s, t).
std::array<Vector, 3> gradients(const Corners& corners) {
  std::array<Vector, 3> edge;  // columns
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      edge[i][axis] = (corners[i + 1][axis] - corners[0][axis]) * kCube[axis] / 2;
    }
  }
  const double determinant = dot(edge[0], cross(edge[1], edge[2]));
  std::array<Vector, 3> rows{cross(edge[1], edge[2]), cross(edge[2], edge[0]), cross(edge[0], edge[1])};
  for (Vector& row : rows) {
    for (double& value : row) value /= determinant;
  }
  return rows;
}

// Not normalised; its length is the scale of the face.
Vector outward(const std::array<Vector, 3>& gradient, std::size_t face) {
  Vector out{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    out[axis] = face == 0   ? -gradient[2][axis]
                : face == 1 ? -gradient[1][axis]
                : face == 2 ? gradient[0][axis] + gradient[1][axis] + gradient[2][axis]
                            : -gradient[0][axis];
  }
  return out;
}

std::array<Lattice, 3> key(const Corners& corners, std::size_t face) {
  std::array<Lattice, 3> key{};
  for (std::size_t i = 0; i < 3; ++i) key[i] = corners[kCornersOfFace[face][i]];
  std::sort(key.begin(), key.end());
  return key;
}

}  // namespace

std::vector<Element> make_mesh(const Operators& operators, std::size_t count) {
  std::vector<Element> mesh(count);
  struct Side {
    std::size_t element, face;
  };
  std::map<std::array<Lattice, 3>, std::vector<Side>> sides;
  for (std::size_t e = 0; e < count; ++e) {
    for (std::size_t face = 0; face < kFaces; ++face) sides[key(tetrahedron(e), face)].push_back({e, face});
  }
  const auto other_node = [&](const Side& side, const Lattice& at) {
    for (std::size_t i = 0; i < kNodesOfFace; ++i) {
      const std::size_t node = operators.face_node[side.face * kNodesOfFace + i];
      if (place(tetrahedron(side.element), operators.node[node]) == at) return side.element * kNodes + node;
    }
    return std::size_t{0};  // faces with the same corners have the same nodes
  };
  for (std::size_t e = 0; e < count; ++e) {
    const Corners corners = tetrahedron(e);
    Element& element = mesh[e];
    element.gradient = gradients(corners);
    for (std::size_t n = 0; n < kNodes; ++n)
      element.position[n] = position(place(corners, operators.node[n]));
    for (std::size_t i = 0; i < kFaceNodes; ++i) {
      const std::size_t face = i / kNodesOfFace;
      FaceNode& node = element.face[i];
      node.own = node.other = e * kNodes + operators.face_node[i];
      const auto& both = sides.at(key(corners, face));
      node.boundary = both.size() == 1;
      for (const Side& side : both) {
        if (side.element != e) {
          node.other = other_node(side, place(corners, operators.node[operators.face_node[i]]));
        }
      }
      const Vector out = outward(element.gradient, face);
      node.scale = std::sqrt(dot(out, out));
      for (std::size_t axis = 0; axis < 3; ++axis) node.normal[axis] = out[axis] / node.scale;
    }
  }
  return mesh;
}

}  // namespace weft::workloads::galerkin
