package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.InvalidRequestException;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A page of a list.
 *
 * @param data its entries
 * @param next the {@code after} of the next page; null if this is the last
 * @param <T> the type of the entries
 */
record Page<T>(List<T> data, @Nullable String next) {

  static final String DEFAULT_LIMIT = "50";
  static final int MAX_LIMIT = 500;

  /**
   * Returns the page that begins a list.
   *
   * @param found the entries of the list from the start of the page, at least one more than the
   *     limit if there are so many
   * @param cursor returns the {@code after} of a page that begins behind an entry
   */
  static <T> Page<T> of(List<T> found, int limit, Function<T, String> cursor) {
    List<T> data = List.copyOf(found.subList(0, Math.min(limit, found.size())));
    return new Page<>(data, found.size() > limit ? cursor.apply(data.get(limit - 1)) : null);
  }

  /** Returns the number that is the {@code next} of a page, or another if there is none. */
  static long number(@Nullable String after, long otherwise) {
    if (after == null) {
      return otherwise;
    }
    try {
      return Long.parseLong(after);
    } catch (NumberFormatException e) {
      throw invalid(after);
    }
  }

  /** Returns the exception for an {@code after} that is not the {@code next} of a page. */
  static InvalidRequestException invalid(String after) {
    return new InvalidRequestException("after", "is not the 'next' of a page: " + after);
  }
}
