/// Renewable estimation: streaming second-order learning with rank 0 as aggregator (method 3; Guo, Xie, Lu, Jiang, Dai
/// and Kong, "Online federated learning framework for classification").
#pragma once

namespace starling {}
