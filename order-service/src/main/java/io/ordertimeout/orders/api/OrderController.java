package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.OrderCommands;
import io.ordertimeout.orders.operator.OrderDetails;
import io.ordertimeout.orders.operator.OrderLookup;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Looks up and changes orders. The id of an order is a parameter or part of the body, because it
 * may contain any character; one without special characters can be in the path.
 */
@RestController
@RequestMapping("/api/v1")
class OrderController {

  private static final int MAX_ID_LENGTH = 128;

  /**
   * A request to extend the deadline of an order.
   *
   * @param orderId the order
   * @param deadline its new deadline
   * @param reason why; recorded in the audit log
   */
  record ExtensionRequest(
      @NotBlank @Size(max = 2 * MAX_ID_LENGTH) String orderId,
      @NotNull OffsetDateTime deadline,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * A request to change an order.
   *
   * @param orderId the order
   * @param reason why; recorded in the audit log
   */
  record OrderRequest(
      @NotBlank @Size(max = 2 * MAX_ID_LENGTH) String orderId,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  private final OrderLookup orders;
  private final OrderCommands commands;

  OrderController(OrderLookup orders, OrderCommands commands) {
    this.orders = orders;
    this.commands = commands;
  }

  /** Returns one order: its state, what it waits for, and its history. */
  @GetMapping("/order")
  @Reading
  OrderDetails order(@RequestParam String id) {
    return find(id);
  }

  /** Returns one order whose id fits into a path. */
  @GetMapping("/orders/{id}")
  @Reading
  OrderDetails orderByPath(@PathVariable String id) {
    return find(id);
  }

  private OrderDetails find(String id) {
    return orders
        .find(id)
        .orElseThrow(() -> new UnknownSubjectException("there is no order '" + id + "'"));
  }

  /** Moves the deadline of a pending order to a later time. */
  @PostMapping(path = "/order/extend", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OrderDetails> extend(
      @Valid @RequestBody ExtensionRequest extension,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return changed(
        commands.extend(
            ChangeResponses.requester(user, key),
            extension.orderId(),
            extension.deadline().toInstant(),
            extension.reason()));
  }

  /** Closes a pending order, which then has no timeout any more. No event is published. */
  @PostMapping(path = "/order/close", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OrderDetails> close(
      @Valid @RequestBody OrderRequest order,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return changed(
        commands.close(ChangeResponses.requester(user, key), order.orderId(), order.reason()));
  }

  /**
   * Makes a pending order due immediately; it is cancelled once all payments until now are read.
   */
  @PostMapping(path = "/order/cancel", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OrderDetails> cancel(
      @Valid @RequestBody OrderRequest order,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return changed(
        commands.cancel(ChangeResponses.requester(user, key), order.orderId(), order.reason()));
  }

  /** Lets a parked order be decided again. */
  @PostMapping(path = "/order/release", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OrderDetails> release(
      @Valid @RequestBody OrderRequest order,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return changed(
        commands.release(ChangeResponses.requester(user, key), order.orderId(), order.reason()));
  }

  /** The response to a change: the order or, if only its parking was known, nothing. */
  private ResponseEntity<OrderDetails> changed(ChangeResult result) {
    return ChangeResponses.of(result, orders.find(result.action().subject()));
  }
}
