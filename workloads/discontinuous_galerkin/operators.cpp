#include <algorithm>
#include <cmath>
#include <utility>

#include "workloads/discontinuous_galerkin/elements.h"

namespace weft::workloads::galerkin {
namespace {

using Real = long double;  // monomials of order 6 need more digits than the result has

// Square, row by row.
struct Matrix {
  explicit Matrix(std::size_t side) : n(side), values(side * side, 0) {}
  Real& at(std::size_t row, std::size_t column) { return values[row * n + column]; }
  Real at(std::size_t row, std::size_t column) const { return values[row * n + column]; }
  std::size_t n;
  std::vector<Real> values;
};

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t k = 0; k < a.n; ++k) {
      for (std::size_t j = 0; j < a.n; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

Matrix transposed(const Matrix& a) {
  Matrix b(a.n);
  for (std::size_t i = 0; i < a.n; ++i) {
    for (std::size_t j = 0; j < a.n; ++j) b.at(j, i) = a.at(i, j);
  }
  return b;
}

// Gauss and Jordan with the largest pivot of each column.
Matrix inverse(Matrix a) {
  Matrix b(a.n);
  for (std::size_t i = 0; i < a.n; ++i) b.at(i, i) = 1;
  for (std::size_t column = 0; column < a.n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < a.n; ++row) {
      if (std::abs(a.at(row, column)) > std::abs(a.at(pivot, column))) pivot = row;
    }
    const Real scale = 1 / a.at(pivot, column);
    for (std::size_t j = 0; j < a.n; ++j) {
      std::swap(a.at(pivot, j), a.at(column, j));
      std::swap(b.at(pivot, j), b.at(column, j));
      a.at(column, j) *= scale;
      b.at(column, j) *= scale;
    }
    for (std::size_t row = 0; row < a.n; ++row) {
      const Real factor = a.at(row, column);
      if (row == column || factor == 0) continue;
      for (std::size_t j = 0; j < a.n; ++j) {
        a.at(row, j) -= factor * a.at(column, j);
        b.at(row, j) -= factor * b.at(column, j);
      }
    }
  }
  return b;
}

Real factorial(int n) {
  return n < 2 ? 1 : static_cast<Real>(n) * factorial(n - 1);
}

// Exponents of the monomials u^i v^j w^k up to order 6 in u = (r + 1) / 2 and so on, of `axes` axes. They are
// the coordinates of the nodes in sixths as well.
template <std::size_t axes>
std::vector<Lattice> lattice() {
  const int order = static_cast<int>(kOrder);
  std::vector<Lattice> all;
  for (int k = 0; k <= (axes == 3 ? order : 0); ++k) {
    for (int j = 0; j <= order - k; ++j) {
      for (int i = 0; i <= order - k - j; ++i) all.push_back({i, j, k});
    }
  }
  return all;
}

Real monomial(const Lattice& exponent, const Lattice& at) {
  Real value = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    value *=
        std::pow(static_cast<Real>(at[axis]) / static_cast<Real>(kOrder), static_cast<Real>(exponent[axis]));
  }
  return value;
}

// Integrals of products of monomials over the reference simplex of `axes` axes, whose edges are 2 long: over
// the unit simplex a! b! c! / (a + b + c + axes)!.
Matrix monomial_mass(const std::vector<Lattice>& exponents, int axes) {
  Matrix mass(exponents.size());
  for (std::size_t i = 0; i < mass.n; ++i) {
    for (std::size_t j = 0; j < mass.n; ++j) {
      Real value = std::pow(static_cast<Real>(2), axes);
      int sum = axes;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const int exponent = exponents[i][axis] + exponents[j][axis];
        value *= factorial(exponent);
        sum += exponent;
      }
      mass.at(i, j) = value / factorial(sum);
    }
  }
  return mass;
}

// at(i, j): monomial j at node i.
Matrix vandermonde(const std::vector<Lattice>& lattice) {
  Matrix v(lattice.size());
  for (std::size_t i = 0; i < v.n; ++i) {
    for (std::size_t j = 0; j < v.n; ++j) v.at(i, j) = monomial(lattice[j], lattice[i]);
  }
  return v;
}

std::vector<double> derivative(const std::vector<Lattice>& lattice, const Matrix& inverse_vandermonde,
                               std::size_t axis) {
  Matrix slope(lattice.size());
  for (std::size_t i = 0; i < slope.n; ++i) {
    for (std::size_t j = 0; j < slope.n; ++j) {
      Lattice lower = lattice[j];
      if (lower[axis] == 0) continue;
      const Real factor = static_cast<Real>(lower[axis]) / 2;  // du/dr
      --lower[axis];
      slope.at(i, j) = factor * monomial(lower, lattice[i]);
    }
  }
  const Matrix matrix = product(slope, inverse_vandermonde);
  return {matrix.values.begin(), matrix.values.end()};
}

}  // namespace

Operators make_operators() {
  Operators operators;
  const auto nodes = lattice<3>();
  std::copy(nodes.begin(), nodes.end(), operators.node.begin());
  const Matrix v = vandermonde(nodes), v_inverse = inverse(v);
  for (std::size_t axis = 0; axis < 3; ++axis)
    operators.derivative[axis] = derivative(nodes, v_inverse, axis);

  // A face's nodes, and where they lie on it: the two axes that are free.
  const auto face_lattice = lattice<2>();
  const std::array<std::array<std::size_t, 2>, kFaces> axes{{{0, 1}, {0, 2}, {0, 1}, {1, 2}}};
  const auto on_face = [](const Lattice& at, std::size_t face) {
    return face == 0   ? at[2] == 0
           : face == 1 ? at[1] == 0
           : face == 2 ? at[0] + at[1] + at[2] == 6
                       : at[0] == 0;
  };
  for (std::size_t face = 0; face < kFaces; ++face) {
    for (std::size_t i = 0; i < kNodesOfFace; ++i) {
      for (std::size_t n = 0; n < kNodes; ++n) {
        if (on_face(nodes[n], face) && nodes[n][axes[face][0]] == face_lattice[i][0] &&
            nodes[n][axes[face][1]] == face_lattice[i][1]) {
          operators.face_node[face * kNodesOfFace + i] = n;
        }
      }
    }
  }
  // Mass matrices of nodal bases: V^-T M V^-1; inverted V M^-1 V^T.
  const Matrix face_inverse = inverse(vandermonde(face_lattice));
  const Matrix face_mass =
      product(product(transposed(face_inverse), monomial_mass(face_lattice, 2)), face_inverse);
  const Matrix mass_inverse = product(product(v, inverse(monomial_mass(nodes, 3))), transposed(v));
  operators.lift.assign(kNodes * kFaceNodes, 0);
  for (std::size_t to = 0; to < kNodes; ++to) {
    for (std::size_t from = 0; from < kFaceNodes; ++from) {
      const std::size_t face = from / kNodesOfFace, column = from % kNodesOfFace;
      Real sum = 0;
      for (std::size_t i = 0; i < kNodesOfFace; ++i) {
        sum += mass_inverse.at(to, operators.face_node[face * kNodesOfFace + i]) * face_mass.at(i, column);
      }
      operators.lift[to * kFaceNodes + from] = static_cast<double>(sum);
    }
  }
  return operators;
}

}  // namespace weft::workloads::galerkin
