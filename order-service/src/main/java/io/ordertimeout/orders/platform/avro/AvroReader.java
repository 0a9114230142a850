package io.ordertimeout.orders.platform.avro;

import io.ordertimeout.orders.platform.values.ConnectTypes;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads one value of Avro's binary encoding as a tree. Unlike Avro's own reader, it takes memory in
 * proportion to the data, and no deep stack, whatever the data claims. Not thread-safe.
 */
final class AvroReader {

  private static final int MAX_DEPTH = 500;

  /** Nodes that need no byte, such as null, in addition to as many as there are bytes. */
  private static final int FREE_NODES = 10_000;

  /** A number that is longer is no amount, and takes long to convert. */
  private static final int MAX_DECIMAL_BYTES = 64;

  private static final int UUID_BYTES = 16;
  private static final int DURATION_BYTES = 12;
  private static final int VARINT_BITS = 7;

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final ByteBuffer data;
  private int nodesLeft;

  AvroReader(ByteBuffer data) {
    this.data = data.slice();
    this.nodesLeft = data.remaining() + FREE_NODES;
  }

  JsonNode read(Schema schema) throws UnusableAvroException {
    JsonNode value;
    try {
      value = value(schema, 0);
    } catch (BufferUnderflowException e) {
      throw new UnusableAvroException("its data ends too early for its schema");
    }
    if (data.hasRemaining()) {
      throw new UnusableAvroException(
          "its data has %d bytes more than its schema".formatted(data.remaining()));
    }
    return value;
  }

  private JsonNode value(Schema schema, int depth) throws UnusableAvroException {
    if (depth > MAX_DEPTH) {
      throw new UnusableAvroException("its data is nested more than " + MAX_DEPTH + " levels deep");
    }
    nodesLeft--;
    if (nodesLeft < 0) {
      throw new UnusableAvroException("its data claims more items than it has bytes");
    }
    return switch (schema.getType()) {
      case RECORD -> record(schema, depth);
      case MAP -> map(schema.getValueType(), depth);
      case ARRAY -> array(schema.getElementType(), depth);
      case UNION -> value(schema.getTypes().get(index(schema.getTypes().size())), depth + 1);
      case ENUM -> {
        int symbol = index(schema.getEnumSymbols().size());
        yield NODES.stringNode(schema.getEnumSymbols().get(symbol));
      }
      case STRING -> NODES.stringNode(string());
      case BYTES -> binary(bytes(length()), schema.getLogicalType());
      case FIXED -> binary(bytes(schema.getFixedSize()), schema.getLogicalType());
      case INT -> number(int32(), schema);
      case LONG -> number(varint(), schema);
      case FLOAT -> NODES.numberNode(littleEndian(Float.BYTES).getFloat());
      case DOUBLE -> NODES.numberNode(littleEndian(Double.BYTES).getDouble());
      case BOOLEAN -> NODES.booleanNode(data.get() != 0);
      case NULL -> NODES.nullNode();
    };
  }

  private ObjectNode record(Schema schema, int depth) throws UnusableAvroException {
    ObjectNode node = NODES.objectNode();
    for (Schema.Field field : schema.getFields()) {
      node.set(field.name(), value(field.schema(), depth + 1));
    }
    return node;
  }

  private ObjectNode map(Schema values, int depth) throws UnusableAvroException {
    ObjectNode node = NODES.objectNode();
    for (long count = blockCount(); count != 0; count = blockCount()) {
      for (long i = 0; i < count; i++) {
        String key = string();
        node.set(key, value(values, depth + 1));
      }
    }
    return node;
  }

  private ArrayNode array(Schema elements, int depth) throws UnusableAvroException {
    ArrayNode node = NODES.arrayNode();
    for (long count = blockCount(); count != 0; count = blockCount()) {
      for (long i = 0; i < count; i++) {
        node.add(value(elements, depth + 1));
      }
    }
    return node;
  }

  /** The number of items that follow; a negative one is followed by their size in bytes. */
  private long blockCount() throws UnusableAvroException {
    long count = varint();
    if (count >= 0) {
      return count;
    }
    long unused = varint();
    return Math.abs(count);
  }

  private int index(int size) throws UnusableAvroException {
    long index = varint();
    if (index < 0 || index >= size) {
      throw new UnusableAvroException(
          "its data chooses an alternative that its schema does not have");
    }
    return (int) index;
  }

  private String string() throws UnusableAvroException {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(bytes(length())))
          .toString();
    } catch (CharacterCodingException e) {
      throw new UnusableAvroException("its data has text that is not UTF-8");
    }
  }

  private int length() throws UnusableAvroException {
    long length = varint();
    if (length < 0 || length > data.remaining()) {
      throw new BufferUnderflowException();
    }
    return (int) length;
  }

  private byte[] bytes(int length) {
    if (length > data.remaining()) {
      throw new BufferUnderflowException();
    }
    byte[] bytes = new byte[length];
    data.get(bytes);
    return bytes;
  }

  private ByteBuffer littleEndian(int length) {
    return ByteBuffer.wrap(bytes(length)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private long varint() throws UnusableAvroException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += VARINT_BITS) {
      byte next = data.get();
      value |= (next & 0x7FL) << shift;
      if (next >= 0) {
        return (value >>> 1) ^ -(value & 1);
      }
    }
    throw new UnusableAvroException("its data has a number of more than ten bytes");
  }

  private int int32() throws UnusableAvroException {
    long value = varint();
    if (value != (int) value) {
      throw new UnusableAvroException("its data has a number that is too large for an int");
    }
    return (int) value;
  }

  private static JsonNode number(long value, Schema schema) {
    try {
      // Kafka Connect writes times without a zone with the logical type of instants.
      String meant = ConnectTypes.text(schema.getProp("connect.name"), value);
      return meant == null ? number(value, schema.getLogicalType()) : NODES.stringNode(meant);
    } catch (DateTimeException | ArithmeticException e) {
      // As text, it is no time, and a fault only of the field that has it.
      return text(value);
    }
  }

  private static JsonNode number(long value, @Nullable LogicalType type) {
    return switch (type == null ? "" : type.getName()) {
      case "timestamp-millis" -> text(time(value, ChronoUnit.MILLIS));
      case "timestamp-micros" -> text(time(value, ChronoUnit.MICROS));
      case "timestamp-nanos" -> text(time(value, ChronoUnit.NANOS));
      case "local-timestamp-millis" -> text(local(time(value, ChronoUnit.MILLIS)));
      case "local-timestamp-micros" -> text(local(time(value, ChronoUnit.MICROS)));
      case "local-timestamp-nanos" -> text(local(time(value, ChronoUnit.NANOS)));
      case "date" -> text(LocalDate.EPOCH.plusDays(value));
      default -> NODES.numberNode(value);
    };
  }

  private static Instant time(long value, ChronoUnit unit) {
    return Instant.EPOCH.plus(value, unit);
  }

  private static LocalDateTime local(Instant time) {
    return LocalDateTime.ofInstant(time, ZoneOffset.UTC);
  }

  private static JsonNode binary(byte[] bytes, @Nullable LogicalType type)
      throws UnusableAvroException {
    if (type instanceof LogicalTypes.Decimal decimal && bytes.length <= MAX_DECIMAL_BYTES) {
      return decimal(bytes, decimal.getScale());
    }
    if (type instanceof LogicalTypes.BigDecimal && bytes.length <= MAX_DECIMAL_BYTES) {
      AvroReader nested = new AvroReader(ByteBuffer.wrap(bytes));
      return decimal(nested.bytes(nested.length()), nested.int32());
    }
    if (type instanceof LogicalTypes.Uuid && bytes.length == UUID_BYTES) {
      ByteBuffer halves = ByteBuffer.wrap(bytes);
      return text(new UUID(halves.getLong(), halves.getLong()));
    }
    if (type instanceof LogicalTypes.Duration && bytes.length == DURATION_BYTES) {
      return duration(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    }
    return NODES.binaryNode(bytes);
  }

  private static JsonNode decimal(byte[] unscaled, int scale) {
    return unscaled.length == 0
        ? NODES.nullNode()
        : NODES.numberNode(new BigDecimal(new BigInteger(unscaled), scale));
  }

  /** Months, days and milliseconds. Months have no fixed length, so they remain months. */
  private static JsonNode duration(ByteBuffer parts) {
    long months = Integer.toUnsignedLong(parts.getInt());
    long days = Integer.toUnsignedLong(parts.getInt());
    long millis = Integer.toUnsignedLong(parts.getInt());
    Duration exact = Duration.ofDays(days).plusMillis(millis);
    return months == 0
        ? text(exact)
        : NODES.stringNode("P" + months + "M" + exact.toString().substring(1));
  }

  private static JsonNode text(Object value) {
    return NODES.stringNode(value.toString());
  }
}
