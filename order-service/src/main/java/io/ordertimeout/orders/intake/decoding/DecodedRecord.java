package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.deadline.OrderCreated;
import io.ordertimeout.orders.deadline.OrderSettled;
import org.jspecify.annotations.Nullable;

/**
 * What a record came to. A payment or closing may be both usable and a dead letter: it is applied,
 * since its order must not be cancelled, and put aside, since its producer is to be mended.
 *
 * @param created the created order that it tells of
 * @param settled the payment or closing that it tells of
 * @param fault why it is a dead letter; null if it is none
 * @param orderInDoubt id of an order that may have been paid or closed by a record that tells
 *     nothing but its key
 * @param replacedFields how many unusable fields were replaced
 */
public record DecodedRecord(
    @Nullable OrderCreated created,
    @Nullable OrderSettled settled,
    @Nullable String fault,
    @Nullable String orderInDoubt,
    int replacedFields) {

  static DecodedRecord deadLetter(String fault) {
    return new DecodedRecord(null, null, fault, null, 0);
  }
}
