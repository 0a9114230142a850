package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.generic.IndexedRecord;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import tools.jackson.databind.json.JsonMapper;

class DeserializedValuesTest {

  private static final JsonMapper JSON = JsonMapper.shared();

  /** What the next value is deserialized to. */
  private static Supplier<@Nullable Object> result = () -> null;

  /** A Deserializer of a shop, by one of its settings. */
  public static final class Choosing implements Deserializer<@Nullable Object> {
    @Override
    public void configure(Map<String, ?> configuration, boolean isKey) {
      if (isKey || !"1".equals(configuration.get("schema.version"))) {
        throw new ConfigException("schema.version is missing");
      }
    }

    @Override
    public @Nullable Object deserialize(String topic, byte[] data) {
      return result.get();
    }
  }

  /** An event as a bean. */
  public record Order(String orderId) {}

  @TempDir private Path directory;

  static Stream<Object> results() {
    Schema schema = SchemaBuilder.record("R").fields().requiredString("orderId").endRecord();
    return Stream.of(
        "{\"orderId\":\"o\"}",
        "{\"orderId\":\"o\"}".getBytes(UTF_8),
        JSON.readTree("{\"orderId\":\"o\"}"),
        com.fasterxml.jackson.databind.node.JsonNodeFactory.instance
            .objectNode()
            .put("orderId", "o"),
        Map.of("orderId", "o"),
        new Order("o"),
        new GenericRecordBuilder(schema).set("orderId", "o").build());
  }

  @ParameterizedTest
  @MethodSource("results")
  void everyKindOfResultIsATree(Object value) throws UnusableRecordException {
    result = () -> value;

    assertThat(decode(choosing()))
        .isEqualTo(
            new DecodedValue(
                JSON.readTree("{\"orderId\":\"o\"}"),
                value instanceof IndexedRecord ? "R" : null,
                true));
  }

  static Stream<Supplier<@Nullable Object>> faults() {
    return Stream.of(
        () -> null,
        () -> "no JSON",
        throwing(new SerializationException("malformed", new IOException("unexpected end"))),
        throwing(new IllegalStateException("malformed")));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void anExceptionMakesTheRecordUnusable(Supplier<@Nullable Object> fault) {
    result = fault;

    assertThatThrownBy(() -> decode(choosing()))
        .isInstanceOf(UnusableRecordException.class)
        .hasMessageStartingWith("the value ");
  }

  static Stream<Supplier<@Nullable Object>> outages() {
    return Stream.of(
        throwing(new TimeoutException("it does not answer")),
        throwing(
            new SerializationException("no schema", new ConnectException("it does not answer"))));
  }

  @ParameterizedTest
  @MethodSource("outages")
  void anOutageDoesNot(Supplier<@Nullable Object> outage) {
    result = outage;

    assertThatThrownBy(() -> decode(choosing()))
        .isInstanceOf(DeserializerOutageException.class)
        .hasMessageStartingWith("the Deserializer cannot decode at present: ")
        .hasMessageEndingWith("it does not answer");
  }

  private static Supplier<@Nullable Object> throwing(RuntimeException e) {
    return () -> {
      throw e;
    };
  }

  @Test
  void aClassThatCannotBeUsedIsReportedAtTheStart() {
    assertUnusable("shop.Unknown", Map.of(), null, "shop.Unknown", "ClassNotFoundException");
    assertUnusable("java.lang.String", Map.of(), null, "java.lang.String", "ClassCastException");
    assertUnusable(
        Choosing.class.getName(), Map.of(), null, "Choosing", "schema.version is missing");
    assertUnusable(
        StringDeserializer.class.getName(),
        Map.of(),
        directory.resolve("nothing"),
        "order-timeout.intake.deserializer.libraries is not a readable directory");
  }

  @Test
  void itsMessageTellsWhatToDo() {
    UnusableDeserializerException cause =
        new UnusableDeserializerException("it is broken", new ConfigException("x"));
    FailureAnalysis analysis = new UnusableDeserializerFailureAnalyzer().analyze(cause, cause);

    assertThat(analysis.getDescription()).startsWith("it is broken. No order can be read");
    assertThat(analysis.getAction()).contains("order-timeout.intake.deserializer.libraries");
  }

  @Test
  void classesCanBeInJarsOfADirectory() throws IOException, UnusableRecordException {
    Path source =
        Files.writeString(
            directory.resolve("FromJar.java"),
            """
            public class FromJar implements org.apache.kafka.common.serialization.Deserializer<String> {
              public void configure(java.util.Map<String, ?> settings, boolean isKey) {
                try {
                  // As libraries find classes that their settings name.
                  Class.forName("FromJar", true, Thread.currentThread().getContextClassLoader());
                } catch (ClassNotFoundException e) {
                  throw new IllegalStateException(e);
                }
              }
              public String deserialize(String topic, byte[] data) { return "{\\"orderId\\":\\"o\\"}"; }
            }
            """);
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                System.getProperty("java.class.path"),
                source.toString());
    assertThat(status).isZero();
    try (OutputStream file = Files.newOutputStream(directory.resolve("shop.jar"));
        JarOutputStream jar = new JarOutputStream(file)) {
      jar.putNextEntry(new JarEntry("FromJar.class"));
      jar.write(Files.readAllBytes(directory.resolve("FromJar.class")));
      jar.closeEntry();
    }

    assertThat(decode(values("FromJar", Map.of(), directory)).tree())
        .isEqualTo(JSON.readTree("{\"orderId\":\"o\"}"));
  }

  private static ValueDecoder choosing() {
    return values(Choosing.class.getName(), Map.of("schema.version", "1"), null);
  }

  private static ValueDecoder values(
      String className, Map<String, String> properties, @Nullable Path libraries) {
    return DeserializedValues.of(
        className, new OrderTimeoutProperties.Deserializer(properties, libraries));
  }

  private static void assertUnusable(
      String className,
      Map<String, String> properties,
      @Nullable Path libraries,
      String... explained) {
    assertThatThrownBy(() -> values(className, properties, libraries))
        .isInstanceOf(UnusableDeserializerException.class)
        .hasMessageContainingAll(explained);
  }

  private static DecodedValue decode(ValueDecoder values) throws UnusableRecordException {
    return values.decode("t", new RecordHeaders(), new byte[] {1});
  }
}
