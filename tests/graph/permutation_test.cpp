// Keyed permutations: bijections whose two directions agree, and as random as a test of many can tell.
#include <algorithm>
#include <set>

#include "graph/random_pairs.hpp"
#include "statistics.hpp"

namespace starling::permutation_test {

using namespace testing_support;

std::vector<Client> images(const KeyedPermutation& permutation) {
  std::vector<Client> images;
  for (Client x = 0; x < permutation.size(); ++x) images.push_back(permutation(x));
  return images;
}

TEST(Permutation, TakesEveryNumberToAnotherAndBack) {
  for (const Client n : {1, 2, 3, 4, 5, 7, 9, 10, 16, 17, 30, 31, 99, 100, 101, 1'000, 9'999, 10'000}) {
    const KeyedPermutation permutation(7, 1, 3, n);
    std::vector<Client> all = images(permutation);
    for (Client x = 0; x < n; ++x) ASSERT_EQ(permutation.inverse(all[static_cast<std::size_t>(x)]), x) << n;
    std::sort(all.begin(), all.end());
    for (Client x = 0; x < n; ++x) ASSERT_EQ(all[static_cast<std::size_t>(x)], x) << n;
  }
}

TEST(Permutation, WorksForTheLargestSizes) {
  constexpr Client n = 2'147'483'647;
  const KeyedPermutation permutation(7, 1, 3, n);
  for (const Client x : {0, 1, n / 2, n - 1}) EXPECT_EQ(permutation.inverse(permutation(x)), x);
}

TEST(Permutation, DiffersBySeedStreamAndRound) {
  const std::set<std::vector<Client>> all = {images({1, 1, 0, 50}), images({2, 1, 0, 50}), images({1, 2, 0, 50}),
                                             images({1, 1, 1, 50})};
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(images({1, 1, 0, 50}), images({1, 1, 0, 50}));
}

/// Position of a permutation in the list of all of its size.
std::size_t rank_of(const std::vector<Client>& images) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto smaller = std::count_if(images.begin() + static_cast<std::ptrdiff_t>(i), images.end(),
                                       [&](Client y) { return y < images[i]; });
    rank = rank * (images.size() - i) + static_cast<std::size_t>(smaller);
  }
  return rank;
}

// Error rate 1e-6 for each size: all permutations of a few numbers come equally often.
TEST(Permutation, OfAFewNumbersAllComeEquallyOften) {
  for (const auto& [n, count] :
       {std::pair<Client, std::size_t>{2, 2}, {3, 6}, {4, 24}, {5, 120}, {6, 720}, {7, 5'040}}) {
    std::vector<int> counts(count, 0);
    for (Round t = 0; t < 60'000; ++t) ++counts[rank_of(images({11, 1, t, n}))];
    EXPECT_LT(chi_square(counts), chi_square_limit(count - 1)) << n;
  }
}

// Error rate 1e-6 each: where neighbours go, and how far apart, is uniform for many numbers too.
TEST(Permutation, OfManyNumbersScattersNeighbours) {
  for (const Client n : {50, 101, 150, 1'001, 10'001}) {
    std::vector<int> places(static_cast<std::size_t>(n), 0);
    std::vector<int> distances(static_cast<std::size_t>(n - 1), 0);
    for (Round t = 0; t < 60'000; ++t) {
      const KeyedPermutation permutation(12, 1, t, n);
      const Client a = permutation(n / 2);
      const Client b = permutation(n / 2 + 1);
      ++places[static_cast<std::size_t>(a)];
      ++distances[static_cast<std::size_t>((b - a + n - 1) % n)];
    }
    EXPECT_LT(chi_square(places), chi_square_limit(places.size() - 1)) << n;
    EXPECT_LT(chi_square(distances), chi_square_limit(distances.size() - 1)) << n;
  }
}

}  // namespace starling::permutation_test
