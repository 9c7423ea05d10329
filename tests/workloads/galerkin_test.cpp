// The reference element and the mesh of discontinuous_galerkin, by what must hold of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "workloads/discontinuous_galerkin/elements.h"

namespace weft::workloads::galerkin {
namespace {

double coordinate(const Operators& operators, std::size_t node, std::size_t axis) {
  return operators.node[node][axis] / 3.0 - 1;
}

TEST(Galerkin, DerivesPolynomialsOfItsOrderExactly) {
  const Operators operators = make_operators();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t other = (axis + 1) % 3;
    for (std::size_t to = 0; to < kNodes; ++to) {
      double got = 0;
      for (std::size_t from = 0; from < kNodes; ++from) {
        const double r = coordinate(operators, from, axis), s = coordinate(operators, from, other);
        got += operators.derivative[axis][to * kNodes + from] * (std::pow(r, 4) * s * s + r);
      }
      const double r = coordinate(operators, to, axis), s = coordinate(operators, to, other);
      EXPECT_NEAR(got, 4 * std::pow(r, 3) * s * s + 1, 1e-11);
    }
  }
}

// The lift L of the constant 1 on the face t = -1 has, for every v of order 6, the integral of L v equal to
// that of v over the face. Integrals of v over slices of constant t are (1 - t)^2 times a polynomial q of
// order 6, so L depends on t alone, and the integral of L (1 - t)^2 q is 4 q(-1). In Jacobi polynomials P of
// weight (1 - t)^2, whose norms are 8 / (2 n + 3): L(t) = 1/2 sum (2 n + 3) P_n(-1) P_n(t). With P_n(-1) =
// (-1)^n it is (3 + 5 + ... + 15) / 2 = 31.5 on the face, and with P_n(1) = (n + 1)(n + 2) / 2 it is (3 - 15
// + 42 - 90 + 165 - 273 + 420) / 2 = 126 at the corner beyond.
TEST(Galerkin, LiftsAConstantAsDerivedByHand) {
  const Operators operators = make_operators();
  const std::array<Lattice, kFaces> opposite{{{0, 0, 6}, {0, 6, 0}, {0, 0, 0}, {6, 0, 0}}};
  for (std::size_t face = 0; face < kFaces; ++face) {
    const auto lifted = [&](std::size_t to) {
      double sum = 0;
      for (std::size_t i = 0; i < kNodesOfFace; ++i) {
        sum += operators.lift[to * kFaceNodes + face * kNodesOfFace + i];
      }
      return sum;
    };
    for (std::size_t i = 0; i < kNodesOfFace; ++i) {
      EXPECT_NEAR(lifted(operators.face_node[face * kNodesOfFace + i]), 31.5, 1e-6);
    }
    const auto corner = std::find(operators.node.begin(), operators.node.end(), opposite[face]);
    EXPECT_NEAR(lifted(static_cast<std::size_t>(corner - operators.node.begin())), 126, 1e-6);
  }
}

// 96 tetrahedra fill 4 x 4 x 1 cubes: 2 x (16 + 4 + 4) squares of two triangles outside.
TEST(Galerkin, FacesOfNeighboursMeet) {
  const Operators operators = make_operators();
  const auto mesh = make_mesh(operators, 96);
  struct Seen {
    std::size_t other;
    std::array<double, 3> normal, position;
  };
  std::multimap<std::size_t, Seen> seen;
  std::size_t outside = 0;
  for (const Element& element : mesh) {
    for (const FaceNode& node : element.face) {
      outside += node.boundary ? 1 : 0;
      seen.insert({node.own, {node.other, node.normal, element.position[node.own % kNodes]}});
    }
  }
  EXPECT_EQ(outside, 96 * kNodesOfFace);
  for (const auto& [own, here] : seen) {
    if (here.other == own) continue;
    const auto [first, last] = seen.equal_range(here.other);
    const auto back =
        std::find_if(first, last, [own = own](const auto& node) { return node.second.other == own; });
    ASSERT_NE(back, last) << "node " << own;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(back->second.position[axis], here.position[axis], 1e-14);
      EXPECT_NEAR(back->second.normal[axis], -here.normal[axis], 1e-12);
    }
  }
}

}  // namespace
}  // namespace weft::workloads::galerkin
