package io.ordertimeout.orders.platform.avro;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.avro.Conversions;
import org.apache.avro.Schema;
import org.apache.avro.data.TimeConversions;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificDatumWriter;
import org.apache.kafka.common.errors.RetriableException;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;

/**
 * Decodes values in Avro as Confluent's serializers frame them: a zero byte, the id of the schema
 * in four bytes, and the binary data. Thread-safe.
 */
@Component
public final class AvroDecoder {

  /** The length of the zero byte and the id. */
  public static final int FRAME = 1 + Integer.BYTES;

  private static final byte MAGIC = 0;

  /** Writes values of logical types that a Deserializer has converted to classes of Java. */
  private static final SpecificData CONVERTED = new SpecificData();

  static {
    List.of(
            new Conversions.DecimalConversion(),
            new Conversions.UUIDConversion(),
            new TimeConversions.DateConversion(),
            new TimeConversions.TimestampMillisConversion(),
            new TimeConversions.TimestampMicrosConversion())
        .forEach(CONVERTED::addLogicalTypeConversion);
  }

  private final SchemaRegistry registry;

  AvroDecoder(SchemaRegistry registry) {
    this.registry = registry;
  }

  /** Whether bytes may be such a value. */
  public static boolean isFramed(byte[] bytes) {
    return bytes.length >= FRAME && bytes[0] == MAGIC;
  }

  /**
   * Returns the schema of a value.
   *
   * @throws UnusableAvroException if it is not such a value, or has no usable schema
   * @throws RetriableException if its schema cannot be requested at present
   */
  public Schema schema(byte[] framed) throws UnusableAvroException {
    return registry.schema(data(framed).getInt());
  }

  private static ByteBuffer data(byte[] framed) throws UnusableAvroException {
    if (!isFramed(framed)) {
      throw new UnusableAvroException(
          "it does not begin with a zero byte and the id of a schema in four bytes");
    }
    return ByteBuffer.wrap(framed).position(1);
  }

  /**
   * Converts a record of Avro's generic or specific API to the same tree.
   *
   * @throws UnusableAvroException if its content is not as in its schema
   */
  public static JsonNode tree(IndexedRecord record) throws UnusableAvroException {
    return decode(record.getSchema(), framed(0, record));
  }

  /**
   * Decodes a value by a schema, whatever id it has, as a tree: times as ISO-8601, decimals
   * exactly, enums and UUIDs as text.
   *
   * @throws UnusableAvroException if it is not such a value, or does not have that schema
   */
  public static JsonNode decode(Schema schema, byte[] framed) throws UnusableAvroException {
    return new AvroReader(data(framed).position(FRAME)).read(schema);
  }

  /** Encodes a record of Avro's generic or specific API, behind the id of its schema. */
  public static byte[] framed(int schemaId, IndexedRecord record) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(ByteBuffer.allocate(FRAME).put(MAGIC).putInt(schemaId).array());
    BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    try {
      new SpecificDatumWriter<>(record.getSchema(), CONVERTED).write(record, encoder);
    } catch (IOException e) {
      throw new UncheckedIOException("memory cannot be written", e);
    }
    return bytes.toByteArray();
  }
}
