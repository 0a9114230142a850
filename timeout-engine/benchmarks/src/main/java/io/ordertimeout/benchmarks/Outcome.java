package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.Optional;

/**
 * The result of a measuring process.
 *
 * @param figures the figures, empty if it failed
 * @param failure the reason for the failure, empty if it succeeded
 */
record Outcome(List<Figure> figures, String failure) {

  Optional<Figure> figure(String name) {
    return figures.stream().filter(figure -> figure.name().equals(name)).findFirst();
  }

  /** Returns a figure minus the same figure of the baseline. */
  Optional<Figure> figure(String name, Outcome baseline) {
    return figure(name).map(figure -> baseline.figure(name).map(figure::minus).orElse(figure));
  }
}
