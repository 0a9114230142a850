package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.order.OrderView;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Exports the orders that a search finds as comma-separated values. Thread-safe. */
@Component
class OrderExport {

  /**
   * A part of the orders that a search finds.
   *
   * @param csv the orders
   * @param orders how many there are
   * @param next the cursor of the next part; null if this is the last
   */
  record Part(String csv, int orders, @Nullable String next) {}

  /** How many pages a part has; with the size of a page, this bounds what it reads and returns. */
  private static final int PAGES = 20;

  /** A part has no more pages after this time, so that the last one ends in time as well. */
  private static final Duration MAX_TIME = Duration.ofSeconds(Reading.SECONDS / 4);

  private static final List<String> HEADER =
      List.of(
          "orderId",
          "state",
          "deadline",
          "amount",
          "currency",
          "channel",
          "paymentMethod",
          "createdAt",
          "decidedAt",
          "decidedBy",
          "paymentId",
          "policy",
          "shard",
          "lateByMillis");

  private final OrderSearch search;

  OrderExport(OrderSearch search) {
    this.search = search;
  }

  /**
   * Exports at most 10,000 orders, fewer if they are found slowly.
   *
   * @param after the cursor from the previous part; null for the first part
   */
  Part export(OrderSearch.Query query, @Nullable String after) {
    Csv csv = new Csv();
    HEADER.forEach(csv::value);
    csv.end();
    int orders = 0;
    String next = after;
    long startNanos = System.nanoTime();
    for (int page = 0;
        page == 0
            || (page < PAGES
                && next != null
                && System.nanoTime() - startNanos < MAX_TIME.toNanos());
        page++) {
      OrderSearch.Page found = search.find(query, next, Page.MAX_LIMIT);
      found.data().forEach(order -> add(csv, order));
      orders += found.data().size();
      next = found.next();
    }
    return new Part(csv.toString(), orders, next);
  }

  private static void add(Csv csv, OrderView order) {
    csv.text(order.orderId())
        .value(order.state())
        .value(order.deadline())
        .value(order.amount() == null ? null : order.amount().value())
        .text(order.amount() == null ? null : order.amount().currency())
        .text(order.channel())
        .text(order.paymentMethod())
        .value(order.createdAt())
        .value(order.decidedAt())
        .value(order.decidedBy())
        .text(order.paymentId())
        .text(order.policy())
        .value(order.shard())
        .value(order.lateByMillis())
        .end();
  }
}
