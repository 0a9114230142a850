package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.deadline.OrderState;
import io.ordertimeout.orders.operator.OrderCommands;
import io.ordertimeout.orders.operator.OrderLookup;
import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.time.OffsetDateTime;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.format.annotation.DateTimeFormat;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Orders: one with its history, many by a search, and what can be done to one. An order's id stands
 * in a parameter or in the body, not in the path: it may have any character.
 */
@RestController
@RequestMapping("/api")
class OrderController {

  private static final int MOST = 500;
  private static final int LONGEST_ID = 128;

  /**
   * An order whose deadline is to move.
   *
   * @param orderId the order
   * @param deadline its new deadline
   * @param reason why; stands in the audit
   */
  record Extension(
      @NotBlank @Size(max = 2 * LONGEST_ID) String orderId,
      @NotNull OffsetDateTime deadline,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * An order that something is to be done to.
   *
   * @param orderId the order
   * @param reason why; stands in the audit
   */
  record Named(
      @NotBlank @Size(max = 2 * LONGEST_ID) String orderId,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  private final OrderLookup orders;
  private final OrderSearch search;
  private final OrderCommands commands;

  OrderController(OrderLookup orders, OrderSearch search, OrderCommands commands) {
    this.orders = orders;
    this.search = search;
    this.commands = commands;
  }

  /** One order: how it stands, what it waits for, and what happened to it. */
  @GetMapping("/order")
  OrderLookup.Known order(@RequestParam String id) {
    return orders
        .find(id)
        .orElseThrow(() -> new UnknownSubjectException("there is no order '" + id + "'"));
  }

  /** Orders by state, window of deadlines and beginning of the id, page by page. */
  @GetMapping("/orders")
  OrderSearch.Page orders(
      @RequestParam(defaultValue = "") Set<OrderState> state,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueFrom,
      @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE_TIME)
          @Nullable OffsetDateTime dueTo,
      @RequestParam(defaultValue = "") @Size(max = 2 * LONGEST_ID) String prefix,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MOST) int limit) {
    return search.find(
        new OrderSearch.Query(
            state,
            dueFrom == null ? null : dueFrom.toInstant(),
            dueTo == null ? null : dueTo.toInstant(),
            prefix),
        after,
        limit);
  }

  /** Moves the deadline of a pending order to a later time. */
  @PostMapping(path = "/order/extend", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> extend(
      @Valid @RequestBody Extension extension,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return ChangeResponses.of(
        commands.extend(
            ChangeResponses.requester(who, key),
            extension.orderId(),
            extension.deadline().toInstant(),
            extension.reason()));
  }

  /** Closes a pending order: it has no timeout any more, and nobody is told. */
  @PostMapping(path = "/order/close", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> close(
      @Valid @RequestBody Named named,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return ChangeResponses.of(
        commands.close(ChangeResponses.requester(who, key), named.orderId(), named.reason()));
  }

  /** Makes a pending order due at once; it is cancelled once all payments until now are read. */
  @PostMapping(path = "/order/cancel", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> cancel(
      @Valid @RequestBody Named named,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return ChangeResponses.of(
        commands.cancel(ChangeResponses.requester(who, key), named.orderId(), named.reason()));
  }

  /** Lets a parked order be decided again. */
  @PostMapping(path = "/order/release", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> release(
      @Valid @RequestBody Named named,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return ChangeResponses.of(
        commands.release(ChangeResponses.requester(who, key), named.orderId(), named.reason()));
  }
}
