package io.ordertimeout.orders.api;

import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.deadline.OrderView;
import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.operator.OrderSearch.Query;
import io.ordertimeout.orders.operator.OrderSearch.Searched;
import io.ordertimeout.orders.operator.OrderSearch.Sort;
import io.ordertimeout.orders.operator.OrderSearch.Total;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.format.annotation.DateTimeFormat;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Searches and exports orders. */
@RestController
@RequestMapping("/api/v1")
class OrderListController {

  private static final int MAX_ID_LENGTH = 128;
  private static final int MAX_TEXT_LENGTH = 1000;
  private static final MediaType CSV = new MediaType("text", "csv", StandardCharsets.UTF_8);

  /**
   * A page of orders.
   *
   * @param data the orders
   * @param next the {@code after} of the next page; null if this is the last
   * @param searched how far the search came, if it checked as many orders as it may before the page
   *     was full; else null
   * @param total how many orders match; null unless requested
   */
  record OrderPage(
      List<OrderView> data,
      @Nullable String next,
      @Nullable Searched searched,
      @Nullable Total total) {}

  private final OrderSearch search;
  private final OrderExport export;

  OrderListController(OrderSearch search, OrderExport export) {
    this.search = search;
    this.export = export;
  }

  /** Returns the orders that match all criteria, page by page. */
  @GetMapping("/orders")
  OrderPage orders(
      @RequestParam(defaultValue = "") Set<OrderState> state,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueFrom,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueTo,
      @RequestParam(defaultValue = "false") boolean overdue,
      @RequestParam(defaultValue = "") @Size(max = 2 * MAX_ID_LENGTH) String prefix,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String channel,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String currency,
      @RequestParam(required = false) @Nullable BigDecimal amountFrom,
      @RequestParam(required = false) @Nullable BigDecimal amountTo,
      @RequestParam(required = false) @Nullable String sort,
      @RequestParam(defaultValue = "false") boolean total,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    Query query =
        query(
            state, dueFrom, dueTo, overdue, prefix, channel, currency, amountFrom, amountTo, sort);
    OrderSearch.Page page = search.find(query, after, limit);
    return new OrderPage(
        page.data(), page.next(), page.searched(), total ? search.count(query) : null);
  }

  /**
   * Returns the orders that match all criteria as comma-separated values (RFC 4180), at most
   * 10,000. If there may be more, the header {@code Link} has the address of the next ones.
   */
  @GetMapping(path = "/orders.csv", produces = "text/csv")
  ResponseEntity<String> csv(
      @RequestParam(defaultValue = "") Set<OrderState> state,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueFrom,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueTo,
      @RequestParam(defaultValue = "false") boolean overdue,
      @RequestParam(defaultValue = "") @Size(max = 2 * MAX_ID_LENGTH) String prefix,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String channel,
      @RequestParam(required = false) @Size(max = MAX_TEXT_LENGTH) @Nullable String currency,
      @RequestParam(required = false) @Nullable BigDecimal amountFrom,
      @RequestParam(required = false) @Nullable BigDecimal amountTo,
      @RequestParam(required = false) @Nullable String sort,
      @RequestParam(required = false) @Nullable String after) {
    OrderExport.Part part =
        export.export(
            query(
                state,
                dueFrom,
                dueTo,
                overdue,
                prefix,
                channel,
                currency,
                amountFrom,
                amountTo,
                sort),
            after);
    HttpHeaders headers = new HttpHeaders();
    headers.setContentType(CSV);
    headers.setContentDisposition(ContentDisposition.attachment().filename("orders.csv").build());
    headers.set("Orders-Exported", Integer.toString(part.orders()));
    if (part.next() != null) {
      String query =
          ServletUriComponentsBuilder.fromCurrentRequest()
              .replaceQueryParam("after", part.next())
              .build()
              .getQuery();
      headers.set(HttpHeaders.LINK, "<?" + query + ">; rel=\"next\"");
    }
    return ResponseEntity.ok().headers(headers).body(part.csv());
  }

  private static Query query(
      Set<OrderState> states,
      @Nullable OffsetDateTime dueFrom,
      @Nullable OffsetDateTime dueTo,
      boolean overdue,
      String prefix,
      @Nullable String channel,
      @Nullable String currency,
      @Nullable BigDecimal amountFrom,
      @Nullable BigDecimal amountTo,
      @Nullable String sort) {
    if (currency == null && (amountFrom != null || amountTo != null)) {
      throw new IllegalArgumentException(
          "amountFrom and amountTo need a currency: %s, %s".formatted(amountFrom, amountTo));
    }
    return new Query(
        states,
        instant(dueFrom),
        instant(dueTo),
        overdue,
        prefix,
        channel,
        currency,
        amountFrom,
        amountTo,
        sort == null ? prefix.isEmpty() ? Sort.DEADLINE : Sort.ID : Sort.of(sort));
  }

  private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
    return time == null ? null : time.toInstant();
  }
}
