#pragma once
#include <cstddef>

/// Products of a tall float matrix m[rows, columns] (row-major) with a few vectors, in double.
/// Sums have a fixed order, at every vector width: over columns in 16 interleaved partial sums that
/// fold in halves, over rows one after the other. Buffers do not overlap.
namespace gradwire::compressors::kernels {

inline constexpr std::size_t kLargestRank = 32;

/// p[k, i] = sum over j of m[i, j] q[k, j], for rows [begin, end). q[rank, columns], p[rank, rows].
void multiply_rows(const float* m, std::size_t rows, std::size_t columns, std::size_t begin,
                   std::size_t end, const double* q, std::size_t rank, double* p);

/// q[k, j] = sum over i of m[i, j] p[k, i], for columns [begin, end).
void multiply_columns(const float* m, std::size_t rows, std::size_t columns, std::size_t begin,
                      std::size_t end, const double* p, std::size_t rank, double* q);

/// values[j] = sum over k of p[k] q[k, j], saturating at the largest float; rank <= kLargestRank.
void combine_row(const double* p, const double* q, std::size_t columns, std::size_t rank,
                 float* values);
/// values[j] += factor * that, product rounded before the sum.
void combine_row_add(const double* p, const double* q, std::size_t columns, std::size_t rank,
                     float factor, float* values);

}  // namespace gradwire::compressors::kernels
