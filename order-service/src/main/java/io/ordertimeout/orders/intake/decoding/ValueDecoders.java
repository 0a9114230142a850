package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.Encodings;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.UnusableAvroException;
import java.util.Arrays;
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
      case Encodings.JSON -> (topic, headers, value) -> json(value);
      case Encodings.AVRO -> (topic, headers, value) -> avro(value);
      default -> DeserializedValues.of(encoding, deserializer);
    };
  }

  /**
   * Decodes JSON, also behind the zero byte and the id of a schema that Confluent's serializers of
   * JSON Schema write: no JSON begins with a zero.
   */
  private static DecodedValue json(byte[] bytes) throws UnusableRecordException {
    byte[] text =
        AvroDecoder.isFramed(bytes)
            ? Arrays.copyOfRange(bytes, AvroDecoder.FRAME, bytes.length)
            : bytes;
    return new DecodedValue(JsonTree.parse(text), null, false);
  }

  /** Decodes bytes in Avro. */
  DecodedValue avro(byte[] bytes) throws UnusableRecordException {
    try {
      Schema schema = avro.schema(bytes);
      return new DecodedValue(AvroDecoder.decode(schema, bytes), schema.getFullName(), true);
    } catch (UnusableAvroException e) {
      throw new UnusableRecordException("the value is not usable Avro: " + e.getMessage());
    }
  }
}
