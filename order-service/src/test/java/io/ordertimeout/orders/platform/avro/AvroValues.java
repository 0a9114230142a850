package io.ordertimeout.orders.platform.avro;

import io.ordertimeout.orders.OrderTimeoutProperties;

/** Gives tests of other packages a decoder. */
public final class AvroValues {

  private AvroValues() {}

  /** Creates a decoder with the registry that the properties name. */
  public static AvroDecoder decoder(OrderTimeoutProperties properties) {
    return new AvroDecoder(new SchemaRegistry(properties));
  }
}
