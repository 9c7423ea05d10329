// Tetrahedra of order 6 for the nodal discontinuous Galerkin method (Hesthaven and Warburton, Nodal
// Discontinuous Galerkin Methods, 2008, chapters 6 and 10): the reference element's matrices, and a mesh.
//
// The reference tetrahedron has the corners (-1,-1,-1), (1,-1,-1), (-1,1,-1), (-1,-1,1) and equidistant
// nodes.
#ifndef WEFT_WORKLOADS_DISCONTINUOUS_GALERKIN_ELEMENTS_H
#define WEFT_WORKLOADS_DISCONTINUOUS_GALERKIN_ELEMENTS_H

#include <array>
#include <cstddef>
#include <vector>

namespace weft::workloads::galerkin {

constexpr std::size_t kOrder = 6, kNodes = 84, kFaces = 4, kNodesOfFace = 28,
                      kFaceNodes = kFaces * kNodesOfFace;

// In sixths of an edge from the first corner: r = 2 i / 6 - 1, and so on.
using Lattice = std::array<int, 3>;

struct Operators {
  std::array<Lattice, kNodes> node;
  std::array<std::size_t, kFaceNodes> face_node;  // nodes of the faces t = -1, s = -1, r + s + t = -1, r = -1
  // Derivatives along r, s, t: [axis][to * kNodes + from].
  std::array<std::vector<double>, 3> derivative;
  std::vector<double> lift;  // [to * kFaceNodes + from]: inverse mass matrix times the faces' mass matrices
};
Operators make_operators();

struct FaceNode {
  std::size_t own = 0, other = 0;  // element * kNodes + node; on the boundary both are the same
  bool boundary = false;
  std::array<double, 3> normal{};  // outwards
  double scale = 0;                // area of the face over volume of the element, both by the reference's
};

struct Element {
  // d(r, s, t)/d(x, y, z): [axis of the reference][axis of space]
  std::array<std::array<double, 3>, 3> gradient{};
  std::array<std::array<double, 3>, kNodes> position{};
  std::array<FaceNode, kFaceNodes> face{};
};
// `count` tetrahedra of cubes in rows of four and layers of sixteen, six to a cube; outside are walls.
std::vector<Element> make_mesh(const Operators& operators, std::size_t count);

}  // namespace weft::workloads::galerkin

#endif
