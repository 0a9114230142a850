package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.operator.OrderSearch.Query;
import io.ordertimeout.orders.operator.OrderSearch.Searched;
import io.ordertimeout.orders.operator.OrderSearch.Total;
import io.ordertimeout.orders.order.OrderView;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ContentDisposition;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.support.ExtendedServletRequestDataBinder;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/** Searches and exports orders. */
@RestController
@RequestMapping("/api/v1")
class OrderListController {

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

  /** By default, headers with the names of criteria would be criteria, too. */
  @InitBinder
  void ignoreHeaders(ExtendedServletRequestDataBinder binder) {
    binder.setHeaderPredicate(header -> false);
  }

  /** Returns the orders that match all criteria, page by page. */
  @GetMapping("/orders")
  @Reading
  OrderPage orders(
      @Valid OrderCriteria criteria,
      @RequestParam(defaultValue = "false") boolean total,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    Query query = criteria.query();
    OrderSearch.Page page = search.find(query, after, limit);
    return new OrderPage(
        page.data(), page.next(), page.searched(), total ? search.count(query) : null);
  }

  /**
   * Returns the orders that match all criteria as comma-separated values (RFC 4180), at most
   * 10,000. If there may be more, the header {@code Link} has the address of the next ones.
   */
  @GetMapping(path = "/orders.csv", produces = "text/csv")
  @Reading
  ResponseEntity<String> csv(
      @Valid OrderCriteria criteria, @RequestParam(required = false) @Nullable String after) {
    OrderExport.Part part = export.export(criteria.query(), after);
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
}
