#include "starling/data/synthetic.hpp"

#include "drift.hpp"

namespace starling {

const Table<Generator>& generator_table() {
  static const Table<Generator> table("generator",
                                      {{"drift",
                                        "two classes whose common mean drifts; rows of norm 1",
                                        {{"d", "features (5)"},
                                         {"informative", "1: the label keeps its direction while the mean drifts (0)"},
                                         {"n", "records per client; 0 is a stream without end (0)"}},
                                        make_drift}});
  return table;
}

}  // namespace starling
