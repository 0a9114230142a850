package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.order.OrderDeadlineRepository;
import io.ordertimeout.orders.order.OrderPages;
import io.ordertimeout.orders.order.OrderPages.Count;
import io.ordertimeout.orders.order.OrderPages.Criteria;
import io.ordertimeout.orders.order.OrderPages.Found;
import io.ordertimeout.orders.order.OrderPages.OrderKey;
import io.ordertimeout.orders.order.OrderState;
import io.ordertimeout.orders.order.OrderView;
import io.ordertimeout.orders.order.OutboxStore;
import io.ordertimeout.orders.platform.kafka.PartitionCounts;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import io.ordertimeout.orders.platform.values.EpochMicros;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * Finds orders page by page; the cost of a page depends on its size, not on its position. Criteria
 * that no index carries are checked on at most {@link #MOST_CHECKED} orders for each page.
 * Thread-safe.
 */
@Component
public class OrderSearch {

  /** How many orders a page may check that do not match, over all states and shards. */
  public static final int MOST_CHECKED = 20_000;

  /** How many orders are counted exactly. */
  public static final int MOST_COUNTED = 10_000;

  /** What the orders are sorted by. */
  public enum Sort {
    /** The earliest deadline first. */
    DEADLINE(Key.DEADLINE, false),
    /** The latest deadline first. */
    DEADLINE_DESCENDING(Key.DEADLINE, true),
    /** The least id first. */
    ID(Key.ID, false),
    /** The greatest id first. */
    ID_DESCENDING(Key.ID, true),
    /** The least lateness first; only orders that were cancelled a second late or later. */
    LATENESS(Key.LATENESS, false),
    /** The greatest lateness first; only orders that were cancelled a second late or later. */
    LATENESS_DESCENDING(Key.LATENESS, true);

    private enum Key {
      DEADLINE,
      ID,
      LATENESS
    }

    /** What the text of an order matches. */
    public static final String PATTERN = "-?(deadline|id|lateness)";

    private final Key key;
    private final boolean descending;

    Sort(Key key, boolean descending) {
      this.key = key;
      this.descending = descending;
    }

    /**
     * Returns the order that a text names, which matches {@link #PATTERN}: a minus stands for
     * descending.
     */
    public static Sort of(String text) {
      return Stream.of(values()).filter(sort -> sort.tag().equals(text)).findFirst().orElseThrow();
    }

    private String tag() {
      return (descending ? "-" : "") + key.name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * The criteria of a search.
   *
   * @param states the states an order may have; empty for any
   * @param dueFrom earliest deadline, inclusive; null for any
   * @param dueTo latest deadline, exclusive; null for any
   * @param overdue whether only pending orders that should have been decided are wanted
   * @param prefix the beginning of the order's id; empty for any
   * @param channel the sales channel; null for any
   * @param currency the currency of the amount; null for any
   * @param amountFrom least amount, inclusive; null for any
   * @param amountTo greatest amount, inclusive; null for any
   * @param lateBy the least time after which a cancelled order was decided since it was due; null
   *     for any order
   * @param sort what the orders are sorted by
   */
  public record Query(
      Set<OrderState> states,
      @Nullable Instant dueFrom,
      @Nullable Instant dueTo,
      boolean overdue,
      String prefix,
      @Nullable String channel,
      @Nullable String currency,
      @Nullable BigDecimal amountFrom,
      @Nullable BigDecimal amountTo,
      @Nullable Duration lateBy,
      Sort sort) {}

  /**
   * A page of orders.
   *
   * @param data the orders
   * @param next the cursor of the next page; null if this is the last
   * @param searched how far the search came; null if the page is full or the last
   */
  public record Page(List<OrderView> data, @Nullable String next, @Nullable Searched searched) {}

  /**
   * How far a search came that checked as many orders as it may.
   *
   * @param orders how many orders it checked
   * @param lastOrderId the id of the last one
   * @param lastDeadline the deadline of the last one
   */
  public record Searched(long orders, String lastOrderId, @Nullable Instant lastDeadline) {}

  /**
   * How many orders match a search.
   *
   * @param orders how many were counted
   * @param exact whether these are all
   */
  public record Total(long orders, boolean exact) {}

  // Greater than every id, since no character is greater.
  private static final String GREATEST =
      new String(Character.toChars(Character.MAX_CODE_POINT)).repeat(4);

  // Less than every other character that a text may contain.
  private static final String LEAST_CHARACTER = "\u0001";

  private final OrderPages pages;
  private final OrderDeadlineRepository orders;
  private final OutboxStore outbox;
  private final PartitionCounts partitionCounts;
  private final DatabaseClock clock;
  private final Duration settlementGrace;

  OrderSearch(
      OrderPages pages,
      OrderDeadlineRepository orders,
      OutboxStore outbox,
      PartitionCounts partitionCounts,
      DatabaseClock clock,
      OrderTimeoutProperties properties) {
    this.pages = pages;
    this.orders = orders;
    this.outbox = outbox;
    this.partitionCounts = partitionCounts;
    this.clock = clock;
    this.settlementGrace = properties.expiry().settlementGrace();
  }

  /**
   * Finds a page of orders.
   *
   * @param after the cursor from the previous page; null for the first page
   * @param limit maximum number of orders on the page
   * @throws InvalidRequestException if {@code after} is not a cursor of a search that is sorted in
   *     the same way
   */
  @Transactional(readOnly = true, timeout = 10)
  public Page find(Query query, @Nullable String after, int limit) {
    Cursor cursor = after == null ? null : Cursor.parse(after, query.sort());
    Found found = find(query, criteria(query), cursor, limit);
    if (found.found().size() > limit) {
      List<OrderKey> keys = found.found().subList(0, limit);
      return new Page(load(keys), cursor(query.sort(), keys.get(limit - 1)), null);
    }
    OrderKey last = found.last();
    return last == null
        ? new Page(load(found.found()), null, null)
        : new Page(
            load(found.found()),
            cursor(query.sort(), last),
            new Searched(found.checked(), last.orderId(), last.deadline()));
  }

  private Found find(Query query, Criteria criteria, @Nullable Cursor after, int limit) {
    if (criteria.states().isEmpty()) {
      return new Found(List.of(), null, 0);
    }
    boolean descending = query.sort().descending;
    OrderKey last = after == null ? null : after.key();
    int window = window(query, limit + 1);
    return switch (query.sort().key) {
      case ID ->
          pages.byId(
              last == null ? criteria : beyond(criteria, last, descending),
              descending,
              window,
              limit + 1);
      case LATENESS -> pages.byLateness(criteria, descending, last, window, limit + 1);
      case DEADLINE -> {
        int shards = partitionCounts.greatest();
        int parts =
            criteria.states().size()
                + (criteria.states().contains(OrderState.PENDING) ? shards : 0);
        yield pages.byDeadline(
            criteria, descending, last, shards, Math.max(window / parts, limit + 1), limit + 1);
      }
    };
  }

  /** Counts the orders that match; exactly up to {@link #MOST_COUNTED}. */
  @Transactional(readOnly = true, timeout = 10)
  public Total count(Query query) {
    Criteria criteria = criteria(query);
    if (criteria.states().isEmpty()) {
      return new Total(0, true);
    }
    int window = window(query, MOST_COUNTED + 1);
    Count count =
        switch (query.sort().key) {
          case ID -> pages.countById(criteria, window);
          case LATENESS -> pages.countByLateness(criteria, window);
          case DEADLINE -> pages.count(criteria, partitionCounts.greatest(), window);
        };
    return new Total(
        Math.min(count.orders(), MOST_COUNTED),
        count.checked() < window && count.orders() <= MOST_COUNTED);
  }

  /**
   * Counts the pending orders of a channel as {@link #count} does.
   *
   * @param channel the sales channel; null for any
   */
  @Transactional(readOnly = true, timeout = 10)
  public Total countPending(@Nullable String channel) {
    return count(
        new Query(
            Set.of(OrderState.PENDING),
            null,
            null,
            false,
            "",
            channel,
            null,
            null,
            null,
            null,
            Sort.DEADLINE));
  }

  /** How many orders are checked to find some of them. */
  private static int window(Query query, int found) {
    if (!isSelective(query)) {
      return found;
    }
    // The lateness and the rest of an order are in two tables.
    return Math.max(query.sort().key == Sort.Key.LATENESS ? MOST_CHECKED / 2 : MOST_CHECKED, found);
  }

  /** Whether there are criteria that the index does not carry in which the orders are sorted. */
  private static boolean isSelective(Query query) {
    Sort.Key key = query.sort().key;
    boolean byAmount =
        query.currency() != null || query.amountFrom() != null || query.amountTo() != null;
    boolean byState = key == Sort.Key.ID && !query.states().isEmpty();
    boolean byDeadline =
        key != Sort.Key.DEADLINE
            && (query.overdue() || query.dueFrom() != null || query.dueTo() != null);
    boolean byPrefix = key != Sort.Key.ID && !query.prefix().isEmpty();
    boolean byLateness = key != Sort.Key.LATENESS && query.lateBy() != null;
    return byAmount || byState || byDeadline || byPrefix || byLateness || query.channel() != null;
  }

  private Criteria criteria(Query query) {
    Set<OrderState> states = EnumSet.allOf(OrderState.class);
    if (!query.states().isEmpty()) {
      states.retainAll(query.states());
    }
    Instant dueTo = query.dueTo();
    Instant overdueAt = null;
    if (query.overdue()) {
      states.retainAll(Set.of(OrderState.PENDING));
      overdueAt = clock.now().minus(settlementGrace);
      dueTo = dueTo == null || overdueAt.isBefore(dueTo) ? overdueAt : dueTo;
    }
    if (query.lateBy() != null || query.sort().key == Sort.Key.LATENESS) {
      states.retainAll(Set.of(OrderState.CANCELLED));
    }
    return new Criteria(
        states,
        query.dueFrom(),
        dueTo,
        overdueAt,
        query.prefix(),
        query.prefix() + GREATEST,
        query.channel(),
        query.currency(),
        query.amountFrom(),
        query.amountTo(),
        query.lateBy());
  }

  private static Criteria beyond(Criteria criteria, OrderKey after, boolean descending) {
    return new Criteria(
        criteria.states(),
        criteria.dueFrom(),
        criteria.dueTo(),
        criteria.overdueAt(),
        descending ? criteria.idFrom() : after.orderId() + LEAST_CHARACTER,
        descending ? after.orderId() : criteria.idTo(),
        criteria.channel(),
        criteria.currency(),
        criteria.amountFrom(),
        criteria.amountTo(),
        criteria.lateBy());
  }

  private List<OrderView> load(List<OrderKey> keys) {
    Map<String, OrderView> byId = all(keys.stream().map(OrderKey::orderId).toList());
    return keys.stream().map(key -> byId.get(key.orderId())).filter(Objects::nonNull).toList();
  }

  /** Returns the orders with those ids that exist, by id. */
  public Map<String, OrderView> all(Collection<String> orderIds) {
    Map<String, Long> lateByMillis = outbox.lateByMillis(orderIds);
    return orders.findAll(orderIds.toArray(String[]::new)).stream()
        .map(order -> order.view(lateByMillis.get(order.orderId())))
        .collect(Collectors.toMap(OrderView::orderId, Function.identity()));
  }

  private static String cursor(Sort sort, OrderKey key) {
    return new Cursor(sort, key).text();
  }

  /**
   * Where a page ended.
   *
   * @param sort what the orders are sorted by
   * @param key its last order, as far as it matters: the id, or the deadline or lateness and the
   *     row
   */
  private record Cursor(Sort sort, OrderKey key) {

    String text() {
      String position =
          switch (sort.key) {
            case ID -> key.orderId();
            case LATENESS -> key.lateMicros() + " " + key.row();
            case DEADLINE ->
                EpochMicros.text(Objects.requireNonNullElse(key.deadline(), Instant.EPOCH))
                    + " "
                    + key.row();
          };
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString((sort.tag() + " " + position).getBytes(StandardCharsets.UTF_8));
    }

    static Cursor parse(String text, Sort sort) {
      try {
        String position = new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
        if (!position.startsWith(sort.tag() + " ")) {
          throw invalid(text, sort);
        }
        position = position.substring(sort.tag().length() + 1);
        if (sort.key == Sort.Key.ID) {
          return new Cursor(sort, new OrderKey(position, null, null, 0));
        }
        String[] parts = position.split(" ", -1);
        long row = Long.parseLong(parts[1]);
        if (sort.key == Sort.Key.DEADLINE) {
          return new Cursor(sort, new OrderKey("", EpochMicros.parse(parts[0]), null, row));
        }
        long lateMicros = Long.parseLong(parts[0]);
        if (lateMicros < 0 || lateMicros > OrderPages.MAX_LATE_MICROS) {
          throw invalid(text, sort);
        }
        return new Cursor(sort, new OrderKey("", null, lateMicros, row));
      } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
        throw invalid(text, sort);
      }
    }

    private static InvalidRequestException invalid(String text, Sort sort) {
      return new InvalidRequestException(
          "after", "is not the 'next' of a page sorted by " + sort.tag() + ": " + text);
    }
  }
}
