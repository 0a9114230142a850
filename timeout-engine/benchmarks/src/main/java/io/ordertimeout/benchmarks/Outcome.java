package io.ordertimeout.benchmarks;

import java.util.List;
import java.util.Optional;

/**
 * What a measuring process told.
 *
 * @param figures what it measured, none if it failed
 * @param failure why it failed, empty if it did not
 */
record Outcome(List<Figure> figures, String failure) {

  Optional<Figure> figure(String name) {
    return figures.stream().filter(figure -> figure.name().equals(name)).findFirst();
  }

  /** The figure without the benchmark's own share of it. */
  Optional<Figure> figure(String name, Outcome own) {
    return figure(name).map(figure -> own.figure(name).map(figure::minus).orElse(figure));
  }
}
