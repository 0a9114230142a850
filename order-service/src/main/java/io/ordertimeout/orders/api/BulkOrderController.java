package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.BulkResult;
import io.ordertimeout.orders.operator.BulkResult.Outcome;
import io.ordertimeout.orders.operator.OrderCommands;
import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.order.OrderView;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Changes many orders in the same way and for the same reason. */
@RestController
@RequestMapping("/api/v1/orders")
class BulkOrderController {

  private static final int MAX_ID_LENGTH = 256;

  /**
   * A request to extend the deadlines of orders.
   *
   * @param orderIds the orders; one that is listed twice is extended once
   * @param deadline their new deadline
   * @param reason why; recorded in the audit log
   */
  record BulkExtensionRequest(
      @NotEmpty @Size(max = BulkResponses.MAX_ITEMS)
          List<@NotBlank @Size(max = MAX_ID_LENGTH) String> orderIds,
      @NotNull OffsetDateTime deadline,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * A request to change orders.
   *
   * @param orderIds the orders; one that is listed twice is changed once
   * @param reason why; recorded in the audit log
   */
  record BulkOrderRequest(
      @NotEmpty @Size(max = BulkResponses.MAX_ITEMS)
          List<@NotBlank @Size(max = MAX_ID_LENGTH) String> orderIds,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * What became of one order.
   *
   * @param orderId the order
   * @param outcome whether it was changed
   * @param detail why it was not; null if it was
   * @param order the order afterwards; null if there is none
   */
  record OrderResult(
      String orderId, Outcome outcome, @Nullable String detail, @Nullable OrderView order) {}

  private final OrderCommands commands;
  private final OrderSearch search;

  BulkOrderController(OrderCommands commands, OrderSearch search) {
    this.commands = commands;
    this.search = search;
  }

  /** Moves the deadlines of pending orders to a later time. */
  @PostMapping(path = "/extend", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<BulkResponses.Results<OrderResult>> extendOrders(
      @Valid @RequestBody BulkExtensionRequest extension,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    Instant deadline = extension.deadline().toInstant();
    return change(
        extension.orderIds(),
        ids ->
            commands.extendAll(
                ChangeResponses.requester(user, key), ids, deadline, extension.reason()));
  }

  /** Closes pending orders, which then have no timeout any more. No event is published. */
  @PostMapping(path = "/close", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<BulkResponses.Results<OrderResult>> closeOrders(
      @Valid @RequestBody BulkOrderRequest orders,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return change(
        orders.orderIds(),
        ids -> commands.closeAll(ChangeResponses.requester(user, key), ids, orders.reason()));
  }

  /**
   * Makes pending orders due immediately; they are cancelled once all payments until now are read.
   */
  @PostMapping(path = "/cancel", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<BulkResponses.Results<OrderResult>> cancelOrders(
      @Valid @RequestBody BulkOrderRequest orders,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return change(
        orders.orderIds(),
        ids -> commands.cancelAll(ChangeResponses.requester(user, key), ids, orders.reason()));
  }

  private ResponseEntity<BulkResponses.Results<OrderResult>> change(
      List<String> orderIds, Function<List<String>, List<BulkResult<String>>> change) {
    List<BulkResult<String>> results = change.apply(orderIds.stream().distinct().toList());
    Map<String, OrderView> orders = search.all(results.stream().map(BulkResult::item).toList());
    return BulkResponses.of(
        results,
        results.stream()
            .map(
                result ->
                    new OrderResult(
                        result.item(),
                        result.outcome(),
                        result.detail(),
                        orders.get(result.item())))
            .toList());
  }
}
