package io.ordertimeout.orders.platform.avro;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Duration;

/** Gives tests of other packages a decoder. */
public final class AvroValues {

  /** Longer than any registry in tests takes. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private AvroValues() {}

  /** Creates a decoder with the registry that the properties name. */
  public static AvroDecoder decoder(OrderTimeoutProperties properties) {
    return new AvroDecoder(new SchemaRegistry(properties, PATIENCE));
  }

  /** Creates a decoder for which any registry is too slow. */
  public static AvroDecoder impatientDecoder(OrderTimeoutProperties properties) {
    return new AvroDecoder(new SchemaRegistry(properties, Duration.ZERO));
  }
}
