package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.Encodings;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.UnusableAvroException;
import org.apache.avro.Schema;
import org.springframework.stereotype.Component;

/** The decoders of values, by encoding. Thread-safe. */
@Component
final class ValueDecoders {

  private final AvroDecoder avro;
  private final OrderTimeoutProperties.Deserializer deserializer;

  ValueDecoders(AvroDecoder avro, OrderTimeoutProperties properties) {
    this.avro = avro;
    this.deserializer = properties.intake().deserializer();
  }

  /**
   * Returns the decoder of an encoding.
   *
   * @throws UnusableDeserializerException if the encoding is the name of a class that does not work
   */
  ValueDecoder of(String encoding) {
    return switch (encoding) {
      case Encodings.JSON ->
          (topic, headers, value, json) -> new DecodedValue(ValueDecoder.json(value, json), null);
      case Encodings.AVRO -> (topic, headers, value, json) -> avro(value);
      default -> DeserializedValues.of(encoding, deserializer);
    };
  }

  /** Decodes bytes in Avro. */
  DecodedValue avro(byte[] bytes) throws UnusableRecordException {
    try {
      Schema schema = avro.schema(bytes);
      return new DecodedValue(AvroDecoder.decode(schema, bytes), schema.getFullName());
    } catch (UnusableAvroException e) {
      throw new UnusableRecordException("the value is not usable Avro: " + e.getMessage());
    }
  }
}
