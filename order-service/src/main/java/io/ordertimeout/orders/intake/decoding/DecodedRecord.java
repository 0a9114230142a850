package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderSettled;
import org.jspecify.annotations.Nullable;

/** The result of decoding a record. */
public sealed interface DecodedRecord {

  /**
   * A created order.
   *
   * @param order the order
   */
  record Created(OrderCreated order) implements DecodedRecord {}

  /**
   * A payment or closing. If it has a fault it is both applied, because its order must not be
   * cancelled, and dead-lettered, so that its producer gets fixed.
   *
   * @param event the payment or closing
   * @param fault why it is also a dead letter; null if it is not
   * @param replacedFields number of unusable fields that were replaced
   */
  record Settled(OrderSettled event, @Nullable String fault, int replacedFields)
      implements DecodedRecord {}

  /** A record without an event that matters, such as the deletion of a row. */
  record Ignored() implements DecodedRecord {}

  /**
   * A record without a usable event: a dead letter.
   *
   * @param fault why
   * @param orderInDoubt the id of an order that the record may have paid or closed, known from its
   *     key; null if there is none
   */
  record Undecodable(String fault, @Nullable String orderInDoubt) implements DecodedRecord {}
}
