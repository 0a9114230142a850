package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.avro.AvroValues;

/** Decoders of values for tests. */
final class Decoders {

  private Decoders() {}

  /** Creates those that the properties configure. */
  static ValueDecoders of(OrderTimeoutProperties properties) {
    return new ValueDecoders(AvroValues.decoder(properties), properties);
  }
}
