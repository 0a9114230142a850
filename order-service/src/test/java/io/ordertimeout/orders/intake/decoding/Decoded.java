package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.order.OrderCreated;
import io.ordertimeout.orders.order.OrderSettled;
import org.jspecify.annotations.Nullable;

/**
 * A decoded record whose parts can be asserted without a cast; null if its kind lacks the part.
 *
 * @param record the decoded record
 */
record Decoded(DecodedRecord record) {

  @Nullable OrderCreated created() {
    return record instanceof DecodedRecord.Created created ? created.order() : null;
  }

  @Nullable OrderSettled settled() {
    return record instanceof DecodedRecord.Settled settled ? settled.event() : null;
  }

  @Nullable String fault() {
    if (record instanceof DecodedRecord.Settled settled) {
      return settled.fault();
    }
    return record instanceof DecodedRecord.Undecodable undecodable ? undecodable.fault() : null;
  }

  @Nullable String orderInDoubt() {
    return record instanceof DecodedRecord.Undecodable undecodable
        ? undecodable.ordersInDoubt().stream().findFirst().orElse(null)
        : null;
  }

  int replacedFields() {
    if (record instanceof DecodedRecord.Created created) {
      return created.replacedFields().size();
    }
    return record instanceof DecodedRecord.Settled settled ? settled.replacedFields().size() : 0;
  }
}
