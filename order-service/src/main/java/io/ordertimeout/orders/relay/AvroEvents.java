package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.platform.avro.AvroDecoder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.ClassPathResource;
import tools.jackson.databind.JsonNode;

/** The events that this service publishes in Avro, with the fields that they have in JSON. */
public final class AvroEvents {

  /** The schema of cancellations. */
  public static final Schema CANCELLED = schema("order-cancelled");

  /** The schema of payment conflicts. */
  public static final Schema CONFLICT = schema("order-payment-conflict");

  /** The schema of warnings. */
  public static final Schema EXPIRING = schema("order-expiring");

  private AvroEvents() {}

  private static Schema schema(String name) {
    try (InputStream document =
        new ClassPathResource("static/contracts/" + name + ".avsc").getInputStream()) {
      return new Schema.Parser().parse(document);
    } catch (IOException e) {
      throw new UncheckedIOException("a schema is missing in the service", e);
    }
  }

  /** Encodes an event, behind the id of its schema in the registry. */
  static byte[] encode(int schemaId, Schema schema, JsonNode event) {
    GenericData.Record fields = new GenericData.Record(schema);
    for (Schema.Field field : schema.getFields()) {
      fields.put(field.pos(), value(field.schema(), event.path(field.name())));
    }
    return AvroDecoder.framed(schemaId, fields);
  }

  private static @Nullable Object value(Schema schema, JsonNode node) {
    return switch (schema.getType()) {
      case UNION -> node.isMissingNode() ? null : value(schema.getTypes().get(1), node);
      case LONG -> micros(Instant.parse(node.stringValue()));
      case INT -> node.intValue();
      case ENUM -> new GenericData.EnumSymbol(schema, node.stringValue());
      default -> node.stringValue();
    };
  }

  /** Unlike ChronoUnit's, it does not overflow in the year 2262. */
  private static long micros(Instant time) {
    return TimeUnit.SECONDS.toMicros(time.getEpochSecond())
        + TimeUnit.NANOSECONDS.toMicros(time.getNano());
  }
}
