// Private median regression among eight clients, by a model of its own.
//
//   ./median            one process hosts all clients
//   mpirun -n 4 ./median
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <starling/starling.hpp>
#include <string>
#include <vector>

namespace {

/// |w.x + b - y|, made smooth within 0.1.
class MedianRegression final : public starling::Model {
 public:
  std::size_t dimension(std::size_t features) override { return features + 1; }

  void gradients(const double* point, const starling::Batch& batch, double* losses, double* gradients) override {
    const std::size_t p = batch.features;
    for (std::size_t i = 0; i < batch.rows; ++i) {
      const double* x = batch.x + i * batch.stride;
      const double residual = score(point, x, p) - batch.y[i];
      const double size = std::sqrt(residual * residual + 0.01);
      losses[i] = size;
      for (std::size_t j = 0; j < p; ++j) gradients[i * (p + 1) + j] = residual / size * x[j];
      gradients[i * (p + 1) + p] = residual / size;
    }
  }

  bool predicts() const override { return true; }
  void predict(const double* point, const starling::Batch& batch, double* predictions) override {
    for (std::size_t i = 0; i < batch.rows; ++i) {
      predictions[i] = score(point, batch.x + i * batch.stride, batch.features);
    }
  }
  std::string identity() const override { return "median regression, version 1"; }

 private:
  static double score(const double* point, const double* x, std::size_t features) {
    double result = point[features];
    for (std::size_t j = 0; j < features; ++j) result += point[j] * x[j];
    return result;
  }
};

/// y = 2 x0 - x1 + 0.5 with errors of heavy tails.
void draw(std::vector<double>& x, std::vector<double>& y, std::size_t records) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::cauchy_distribution<double> error(0, 0.3);
  for (std::size_t i = 0; i < records; ++i) {
    const double a = normal(random);
    const double b = normal(random);
    x.insert(x.end(), {a, b});
    y.push_back(2 * a - b + 0.5 + error(random));
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    starling::Session session;
    std::vector<double> x;
    std::vector<double> y;
    draw(x, y, 32000);

    starling::Options options;
    options.set("clients", 8).set("batch", 40).set("mechanism", "gaussian").set("total-epsilon", 1).set("clip", 2);
    options.set("step", 0.5).set("progress", "off").set("seed", 1);
    if (argc > 1) options.set("output", argv[1]);
    starling::Records records;
    records.x = x.data();
    records.records = y.size();
    records.columns = 2;
    records.y = y.data();
    records.names = {"a", "b"};
    options.records(records).model(std::make_shared<MedianRegression>(), "median");

    const starling::Run run = session.run("omd", options);
    if (session.rank() != 0) return 0;
    const std::vector<double> model = run.model();
    std::printf("y = %.2f a + %.2f b + %.2f at epsilon %.2f for each record (drawn with 2, -1 and 0.5)\n", model[0],
                model[1], model[2], run.number("privacy.epsilon").value_or(0));
    return 0;
  } catch (const starling::Error& error) {
    std::fprintf(stderr, "median: %s\n", error.what());
    return error.code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "median: %s\n", error.what());
    return 1;
  }
}
