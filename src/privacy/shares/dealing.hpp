/// What the dealer deals in a round: random words from a seed of each party, and one correction to the last party
/// (docs/methods/shares.md, "The dealer").
///
/// Party k and the dealer have a key that nobody else has. Its keystreams give party k its words; the dealer makes the
/// same words, and knows what they must add up to:
///
///   rows of masks    A_k     n × d_k     of party k alone, once: hide its columns
///   arguments        a_k     C n         Σ a_k = a: hide the arguments of the slope, modulo 2^128
///   powers                   C n each    shares of a², …, a^degree modulo 2^128
///   truncation       r_k     C n         Σ r_k = r: hide the slope before its truncation, modulo 2^128
///   high, top                C n each    shares of ⌊r/2^m⌋ and of [r >= 2^127] modulo 2^64 (Truncation)
///   factors          b_k     C n         Σ b_k = b: hide the slopes, modulo 2^64
///   products                 C d         shares of A_kᵀ b for every k, modulo 2^64
///
/// C is the number of outputs, 1 but for several classes. What has C n words has those of the first output, of all
/// records, first. Products have for each party a row of its columns for each output.
///
/// Of powers, high, top and products the last party's shares are not in its keystream: they are the correction,
/// C ((2 (degree − 1) + 2) n + d) words in a round. Whoever knows the keystreams of all parties but one finds the words
/// of that one, and their correction, uniform.
#pragma once

#include <span>
#include <vector>

#include "privacy/keys/keys.hpp"
#include "privacy/shares/ring.hpp"
#include "privacy/shares/slope_polynomial.hpp"

namespace starling {

/// The public sizes of a run on shares.
struct SharesShape {
  std::size_t records = 0;           ///< n
  std::vector<std::size_t> columns;  ///< d_1, …, d_K
  int degree = 1;                    ///< of the slope's polynomial
  std::size_t outputs = 1;           ///< C: scores of a record

  [[nodiscard]] std::size_t parties() const { return columns.size(); }
  /// d, the columns of all parties.
  [[nodiscard]] std::size_t all_columns() const;
  /// C n: slopes of a round.
  [[nodiscard]] std::size_t slopes() const { return outputs * records; }
  /// C d_k: components of the gradient of party k, from 0.
  [[nodiscard]] std::size_t components(std::size_t k) const { return outputs * columns[k]; }
  /// C d: components of the gradients of all parties.
  [[nodiscard]] std::size_t all_components() const { return outputs * all_columns(); }
  /// Place of party k's first component among those of all.
  [[nodiscard]] std::size_t first_component(std::size_t k) const;
  /// Words of a round's correction.
  [[nodiscard]] std::size_t correction() const;
};

/// One party's words of a round.
struct DealtWords {
  std::vector<WideWord> arguments;            ///< C n
  std::vector<std::vector<WideWord>> powers;  ///< shares of a², …, a^degree, C n each
  std::vector<WideWord> truncation;           ///< C n
  std::vector<Word> high;                     ///< C n
  std::vector<Word> top;                      ///< C n
  std::vector<Word> factors;                  ///< C n
  std::vector<Word> products;                 ///< C d
};

/// The words that a party and the dealer draw from the key that both have.
class DealtStream {
 public:
  /// `last`: of the last party, whose shares of powers, high, top and products are left empty.
  DealtStream(const NoiseKey& key, SharesShape shape, bool last);

  /// A_k: n × columns words, row after row.
  [[nodiscard]] std::vector<Word> row_masks(std::size_t columns) const;
  /// The words of a round.
  [[nodiscard]] DealtWords round(Round t) const;

 private:
  NoiseKey key_;
  SharesShape shape_;
  bool last_;
};

/// products[c, j] += Σ_i rows[i, j] factors[c, i] modulo 2^64 for each output c.
void add_products_of_outputs(std::span<const Word> rows, std::span<const Word> factors, std::size_t outputs,
                             std::span<Word> products);

/// Puts the correction of a round into the words of the last party. Throws FailureError for another length.
void correct(std::span<const Word> correction, const SharesShape& shape, DealtWords& last);

/// The dealer, who has the keys of all parties and no data.
class Dealer {
 public:
  Dealer(const std::vector<NoiseKey>& keys, SharesShape shape, Truncation truncation);

  /// The correction of a round. Its last C d words are the last party's shares of products.
  [[nodiscard]] std::vector<Word> correction(Round t) const;

 private:
  SharesShape shape_;
  Truncation truncation_;
  std::vector<DealtStream> streams_;
  std::vector<std::vector<Word>> row_masks_;
};

}  // namespace starling
