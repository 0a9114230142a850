package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.order.OrderChange;
import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import io.ordertimeout.orders.suspension.PaymentAttempt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The result of decoding a record. */
public sealed interface DecodedRecord {

  /**
   * A created order.
   *
   * @param replacedFields the unusable fields for display that were left out
   */
  record Created(OrderCreated order, Set<String> replacedFields) implements DecodedRecord {}

  /**
   * A payment or closure. If it has a fault it is both applied, because its order must not be
   * cancelled, and dead-lettered, so that its producer gets fixed.
   *
   * @param event the payment or closure
   * @param fault why it is also a dead letter; null if it is not
   * @param replacedFields the unusable fields that were replaced or left out
   */
  record Settled(OrderSettled event, @Nullable String fault, Set<String> replacedFields)
      implements DecodedRecord {}

  /**
   * An event of a payment attempt. If the record is unusable, it counts as an attempt of the
   * default length, because one may be under way, and it is dead-lettered.
   *
   * @param fault why it is also a dead letter; null if it is not
   */
  record Attempted(PaymentAttempt event, @Nullable String fault) implements DecodedRecord {}

  /**
   * A change of an order. If it has a fault it is both made, because its order must not be
   * cancelled before its new deadline, and dead-lettered.
   *
   * @param fault why it is also a dead letter; null if it is not
   * @param replacedFields the unusable fields for display that were left out
   */
  record Changed(OrderChange change, @Nullable String fault, Set<String> replacedFields)
      implements DecodedRecord {}

  /** A record without an event that matters, such as the deletion of a row. */
  record Ignored() implements DecodedRecord {}

  /**
   * A record without a usable event: a dead letter.
   *
   * @param fault why
   * @param ordersInDoubt the ids of the orders that the record may be about, as far as they are
   *     known: that of its key, and those of a record with several
   */
  record Undecodable(String fault, Set<String> ordersInDoubt) implements DecodedRecord {}
}
