package io.ordertimeout.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** Repeated measurements of one quantity. */
final class Sample {

  /**
   * The quantiles of Student's t distribution, two-sided 99.9 %, for 1 and more degrees of freedom.
   */
  private static final double[] STUDENT = {
    636.62, 31.60, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781
  };

  private final List<Double> values = new ArrayList<>();

  void add(double value) {
    values.add(value);
  }

  double mean() {
    return values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
  }

  /** Returns half of the 99.9 % confidence interval of the mean, NaN for a single value. */
  double error() {
    int freedom = values.size() - 1;
    if (freedom < 1) {
      return Double.NaN;
    }
    double mean = mean();
    double squares = values.stream().mapToDouble(value -> (value - mean) * (value - mean)).sum();
    double t = STUDENT[Math.min(freedom, STUDENT.length) - 1];
    return t * Math.sqrt(squares / freedom / values.size());
  }
}
