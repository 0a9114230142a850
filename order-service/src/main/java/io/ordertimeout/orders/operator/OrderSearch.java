package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.deadline.OrderDeadline;
import io.ordertimeout.orders.deadline.OrderDeadlineRepository;
import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.deadline.OrderView;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Finds orders page by page; the cost of a page depends on its size, not on its position.
 * Thread-safe.
 */
@Component
public class OrderSearch {

  /**
   * The criteria of a search.
   *
   * @param states the states an order may have; empty for any
   * @param dueFrom earliest deadline, inclusive; null for any
   * @param dueTo latest deadline, exclusive; null for any
   * @param prefix the beginning of the order's id; empty for any
   */
  public record Query(
      Set<OrderState> states, @Nullable Instant dueFrom, @Nullable Instant dueTo, String prefix) {}

  /**
   * A page of orders: by id if the search has a prefix, else by deadline.
   *
   * @param orders the orders
   * @param next the cursor of the next page; null if this is the last
   */
  public record Page(List<OrderView> orders, @Nullable String next) {}

  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59Z");

  private final OrderDeadlineRepository orders;
  private final PartitionCounts partitionCounts;

  OrderSearch(OrderDeadlineRepository orders, PartitionCounts partitionCounts) {
    this.orders = orders;
    this.partitionCounts = partitionCounts;
  }

  /**
   * Finds a page of orders.
   *
   * @param after the cursor from the previous page; null for the first page
   * @param limit maximum number of orders on the page
   * @throws IllegalArgumentException if {@code after} is not a cursor
   */
  @Transactional(readOnly = true, timeout = 10)
  public Page find(Query query, @Nullable String after, int limit) {
    String[] states =
        (query.states().isEmpty() ? EnumSet.allOf(OrderState.class) : query.states())
            .stream().map(Enum::name).toArray(String[]::new);
    Instant from = Objects.requireNonNullElse(query.dueFrom(), FIRST);
    Instant to = Objects.requireNonNullElse(query.dueTo(), LAST);
    boolean byDeadline = query.prefix().isEmpty();
    List<OrderDeadline> found =
        byDeadline
            ? byDeadline(states, from, to, after, limit + 1)
            : byPrefix(query.prefix(), states, from, to, after, limit + 1);
    List<OrderDeadline> page = found.subList(0, Math.min(limit, found.size()));
    String next = found.size() > limit ? cursor(page.get(limit - 1), byDeadline) : null;
    return new Page(page.stream().map(OrderDeadline::view).toList(), next);
  }

  private List<OrderDeadline> byDeadline(
      String[] states, Instant from, Instant to, @Nullable String after, int limit) {
    Cursor cursor = after == null ? new Cursor(FIRST, "0") : Cursor.parse(after);
    return orders.findByDeadline(
        states, partitionCounts.greatest(), from, to, cursor.deadline(), cursor.row(), limit);
  }

  private List<OrderDeadline> byPrefix(
      String prefix, String[] states, Instant from, Instant to, @Nullable String after, int limit) {
    String first = after == null ? prefix : Cursor.parse(after).key();
    // Greater than every text that begins with the prefix, since no character is greater.
    String end = prefix + new String(Character.toChars(Character.MAX_CODE_POINT)).repeat(4);
    return orders.findByPrefix(first, after == null, end, states, from, to, limit);
  }

  private static String cursor(OrderDeadline order, boolean byDeadline) {
    OrderView view = order.view();
    Instant deadline = Objects.requireNonNullElse(view.deadline(), FIRST);
    return new Cursor(deadline, byDeadline ? String.valueOf(order.id()) : view.orderId()).text();
  }

  /**
   * Where a page ended.
   *
   * @param deadline the deadline of its last order
   * @param key the row of its last order or, if the search has a prefix, the order's id
   */
  private record Cursor(Instant deadline, String key) {

    long row() {
      try {
        return Long.parseLong(key);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "not the 'next' cursor of a search without a prefix: " + text(), e);
      }
    }

    String text() {
      long micros = ChronoUnit.MICROS.between(Instant.EPOCH, deadline);
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString((micros + " " + key).getBytes(StandardCharsets.UTF_8));
    }

    static Cursor parse(String text) {
      String[] parts =
          new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8).split(" ", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException("not the 'next' cursor of a page: " + text);
      }
      return new Cursor(Instant.EPOCH.plus(Long.parseLong(parts[0]), ChronoUnit.MICROS), parts[1]);
    }
  }
}
