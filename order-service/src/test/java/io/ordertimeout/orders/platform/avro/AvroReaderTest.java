package io.ordertimeout.orders.platform.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Conversions;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class AvroReaderTest {

  private static final String NAMED = "\"name\":\"N\"";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "timestamp-millis | 1777636800123 | 2026-05-01T12:00:00.123Z",
        "timestamp-micros | 1777636800123456 | 2026-05-01T12:00:00.123456Z",
        "timestamp-nanos | 1777636800123456789 | 2026-05-01T12:00:00.123456789Z",
        "timestamp-micros | -9223372036854775808 | -290308-12-21T19:59:05.224192Z",
        "local-timestamp-millis | 1777636800123 | 2026-05-01T12:00:00.123",
        "local-timestamp-micros | 1777636800123456 | 2026-05-01T12:00:00.123456",
        "local-timestamp-nanos | 1777636800123456789 | 2026-05-01T12:00:00.123456789",
      })
  void timesAreText(String type, long value, String text) throws UnusableAvroException {
    Schema schema = schema("{\"type\":\"long\",\"logicalType\":\"%s\"}".formatted(type));

    assertThat(read(schema, value).stringValue()).isEqualTo(text);
  }

  @Test
  void otherLogicalTypesAreTextOrExactNumbers() throws UnusableAvroException {
    assertThat(read("{\"type\":\"int\",\"logicalType\":\"date\"}", 20_574).stringValue())
        .isEqualTo("2026-05-01");
    assertThat(read("{\"type\":\"int\",\"logicalType\":\"time-millis\"}", 5).intValue())
        .isEqualTo(5);
    UUID uuid = UUID.fromString("843af6f1-6101-5572-b095-000575e2964c");
    assertThat(
            read("{\"type\":\"string\",\"logicalType\":\"uuid\"}", uuid.toString()).stringValue())
        .isEqualTo(uuid.toString());
    byte[] halves =
        ByteBuffer.allocate(16)
            .putLong(uuid.getMostSignificantBits())
            .putLong(uuid.getLeastSignificantBits())
            .array();
    Schema fixedUuid =
        schema("{\"type\":\"fixed\"," + NAMED + ",\"size\":16,\"logicalType\":\"uuid\"}");
    assertThat(read(fixedUuid, new GenericData.Fixed(fixedUuid, halves)).stringValue())
        .isEqualTo(uuid.toString());
  }

  @Test
  void decimalsAreExact() throws UnusableAvroException {
    BigDecimal amount = new BigDecimal("-12345678901234567890.10");
    String logical = "\"logicalType\":\"decimal\",\"precision\":30,\"scale\":2";
    Schema bytes = schema("{\"type\":\"bytes\"," + logical + "}");
    Schema fixed = schema("{\"type\":\"fixed\"," + NAMED + ",\"size\":13," + logical + "}");
    Schema big = schema("{\"type\":\"bytes\",\"logicalType\":\"big-decimal\"}");
    Conversions.DecimalConversion conversion = new Conversions.DecimalConversion();

    assertThat(
            read(bytes, conversion.toBytes(amount, bytes, bytes.getLogicalType())).decimalValue())
        .isEqualTo(amount);
    assertThat(
            read(fixed, conversion.toFixed(amount, fixed, fixed.getLogicalType())).decimalValue())
        .isEqualTo(amount);
    assertThat(
            read(
                    big,
                    new Conversions.BigDecimalConversion()
                        .toBytes(amount, big, LogicalTypes.bigDecimal()))
                .decimalValue())
        .isEqualTo(amount);
    assertThat(read(bytes, ByteBuffer.allocate(0)).isNull()).isTrue();
    assertThat(read(bytes, ByteBuffer.allocate(1_000_000)).isBinary()).isTrue();
  }

  @Test
  void durationsAreOfIso8601() throws UnusableAvroException {
    Schema duration =
        schema("{\"type\":\"fixed\"," + NAMED + ",\"size\":12,\"logicalType\":\"duration\"}");

    assertThat(read(duration, fixed(duration, 0, 0, 0, 0, 1, 0, 0, 0, 0xE8, 3, 0, 0)).stringValue())
        .isEqualTo("PT24H1S");
    assertThat(read(duration, fixed(duration, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).stringValue())
        .isEqualTo("P2MT0S");
  }

  private static GenericData.Fixed fixed(Schema schema, int... bytes) {
    byte[] value = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      value[i] = (byte) bytes[i];
    }
    return new GenericData.Fixed(schema, value);
  }

  @Test
  void recordsUnionsMapsArraysAndEnumsAreATree() throws UnusableAvroException {
    Schema schema = nested();
    GenericRecord inner =
        new GenericRecordBuilder(schema.getField("inner").schema().getTypes().get(0))
            .set("state", new GenericData.EnumSymbol(schema, "PAID"))
            .set("flag", true)
            .build();
    GenericRecord record =
        new GenericRecordBuilder(schema)
            .set("inner", inner)
            .set("list", List.of(1L, -2L, Long.MIN_VALUE))
            .set("map", Map.of("ä", 1.5))
            .set("ratio", 0.25f)
            .set("bytes", ByteBuffer.wrap(new byte[] {1, 2}))
            .build();
    JsonNode expected =
        JsonMapper.shared()
            .readTree(
                """
                {"inner":{"state":"PAID","flag":true,"none":null},"list":[1,-2,-9223372036854775808],
                "map":{"ä":1.5},"ratio":0.25,"bytes":"AQI="}""");

    JsonNode tree = read(schema, record);

    assertThat(JsonMapper.shared().readTree(tree.toString())).isEqualTo(expected);
    assertThat(AvroDecoder.tree(record)).isEqualTo(tree);
  }

  private static Schema nested() {
    return SchemaBuilder.record("Outer")
        .fields()
        .name("inner")
        .type()
        .nullable()
        .record("Inner")
        .fields()
        .name("state")
        .type()
        .enumeration("State")
        .symbols("OPEN", "PAID")
        .noDefault()
        .requiredBoolean("flag")
        .optionalString("none")
        .endRecord()
        .noDefault()
        .name("list")
        .type()
        .array()
        .items()
        .longType()
        .noDefault()
        .name("map")
        .type()
        .map()
        .values()
        .doubleType()
        .noDefault()
        .requiredFloat("ratio")
        .requiredBytes("bytes")
        .endRecord();
  }

  /** As Deserializers return it that convert logical types. */
  @Test
  void convertedLogicalTypesAreTheSameTree() throws UnusableAvroException {
    Schema time = LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
    Schema amount = LogicalTypes.decimal(10, 2).addToSchema(Schema.create(Schema.Type.BYTES));
    Schema schema =
        SchemaBuilder.record("R")
            .fields()
            .name("at")
            .type(time)
            .noDefault()
            .name("amount")
            .type(amount)
            .noDefault()
            .endRecord();
    GenericData.Record record = new GenericData.Record(schema);
    record.put("at", Instant.parse("2026-05-01T12:00:00.123456Z"));
    record.put("amount", new BigDecimal("12.50"));

    JsonNode tree = AvroDecoder.tree(record);

    assertThat(tree.path("at").stringValue()).isEqualTo("2026-05-01T12:00:00.123456Z");
    assertThat(tree.path("amount").decimalValue()).isEqualTo(new BigDecimal("12.50"));
  }

  @Test
  void itemsMayComeInBlocksWithTheirSize() throws UnusableAvroException {
    Schema schema = schema("{\"type\":\"array\",\"items\":\"int\"}");

    assertThat(bytes(schema, 3, 4, 2, 4, 2, 6, 0).toString()).isEqualTo("[1,2,3]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"string\" | 10,65 | ends too early",
        "\"string\" | 1 | ends too early",
        "\"string\" | -2,-1,-1,-1,15 | ends too early",
        "\"string\" | 2,-1 | not UTF-8",
        "\"string\" | 2,65,66 | 1 bytes more than its schema",
        "\"long\" | -1,-1,-1,-1,-1,-1,-1,-1,-1,-1,1 | more than ten bytes",
        "\"int\" | -1,-1,-1,-1,-1,1 | too large for an int",
        "\"double\" | 1,2 | ends too early",
        "\"boolean\" | '' | ends too early",
        "[\"null\"] | 2 | an alternative that its schema does not have",
        "[\"null\"] | 1 | an alternative that its schema does not have",
        "{\"type\":\"enum\",\"name\":\"E\",\"symbols\":[\"A\"]} | 2 | an alternative",
        "{\"type\":\"array\",\"items\":\"null\"} | -2,-1,-1,-1,15,0 | more items than it has bytes",
        "{\"type\":\"map\",\"values\":\"null\"} | 2,2 | ends too early",
        "{\"type\":\"fixed\",\"name\":\"F\",\"size\":1000000000} | 1 | ends too early",
      })
  void malformedDataIsUnusable(String schema, String data, String fault) {
    assertThatThrownBy(
            () ->
                bytes(
                    schema(schema),
                    data.isEmpty()
                        ? new int[0]
                        : Arrays.stream(data.split(",")).mapToInt(Integer::parseInt).toArray()))
        .isInstanceOf(UnusableAvroException.class)
        .hasMessageContaining(fault);
  }

  /** A mebibyte of it would otherwise need a stack of a million frames. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":[\"null\",\"R\"]}]}",
        "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"r\",\"type\":\"R\"}]}",
      })
  void deepDataIsUnusable(String schema) {
    int[] data = new int[1_000_000];
    Arrays.fill(data, 2);

    assertThatThrownBy(() -> bytes(schema(schema), data)).hasMessageContaining("500 levels deep");
  }

  private static Schema schema(String json) {
    return new Schema.Parser().parse(json);
  }

  private static JsonNode read(String schema, Object value) throws UnusableAvroException {
    return read(schema(schema), value);
  }

  private static JsonNode read(Schema schema, Object value) throws UnusableAvroException {
    return new AvroReader(ByteBuffer.wrap(RegistryServer.binary(schema, value))).read(schema);
  }

  private static JsonNode bytes(Schema schema, int... bytes) throws UnusableAvroException {
    byte[] data = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      data[i] = (byte) bytes[i];
    }
    return new AvroReader(ByteBuffer.wrap(data)).read(schema);
  }
}
