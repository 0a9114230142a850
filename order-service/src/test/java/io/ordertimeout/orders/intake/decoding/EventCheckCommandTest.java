package io.ordertimeout.orders.intake.decoding;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderServiceApplication;
import io.ordertimeout.orders.platform.avro.RegistryServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line that shows what records would become. */
class EventCheckCommandTest {

  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void showsWhatEachRecordBecomes() throws IOException {
    int status =
        check(
            """
            {"topic":"order-created","key":"k-1","ts":1777636800000,"payload":"{\\"orderId\\":\\"k-1\\"}"}

            {"topic":"order-paid","key":"k-1","payload":{"orderId":"k-1","paymentId":"p","paidAt":"2026-05-01T12:00:00Z"}}
            """);

    assertThat(lines(out))
        .containsExactly(
            "1: created, order k-1, at 2026-05-01T12:00:00Z, deadline 2026-05-01T12:15:00Z, by"
                + " DEFAULT",
            "3: paid, order k-1, payment p, at 2026-05-01T12:00:00Z",
            "In all: 1 created, 1 paid");
    assertThat(status).isZero();
  }

  @Test
  void appliesTheConfigurationAndTellsWhyARecordIsADeadLetter() throws IOException {
    String changed = "{\"topic\":\"bought\",\"key\":\"k\",\"payload\":{\"op\":\"c\",\"after\":%s}}";
    int status =
        check(
            changed.formatted("{\"orderId\":\"k\"}") + "\n" + changed.formatted("{\"id\":7}"),
            "--order-timeout.topics.paid=bought",
            "--order-timeout.intake.formats.paid=debezium");

    assertThat(lines(out)).hasSize(3);
    assertThat(lines(out).get(0)).startsWith("1: paid, order k, ");
    assertThat(lines(out).get(1)).startsWith("2: dead letter, order k, orderId is missing");
    assertThat(lines(out).get(2)).isEqualTo("In all: 1 paid, 1 dead letter");
    assertThat(status).isEqualTo(1);
  }

  @Test
  void readsBytesInBase64() throws IOException {
    Schema schema = SchemaBuilder.record("R").fields().requiredString("orderId").endRecord();
    GenericRecord event = new GenericRecordBuilder(schema).set("orderId", "k").build();
    Base64.Encoder base64 = Base64.getEncoder();
    try (RegistryServer registry = new RegistryServer()) {
      registry.has(7, schema);
      String record =
          "{\"topic\":\"order-paid\",\"key_base64\":\"%s\",\"payload_base64\":\"%s\"}"
              .formatted(
                  base64.encodeToString("k".getBytes(UTF_8)),
                  base64.encodeToString(RegistryServer.framed(7, schema, event)));
      String[] settings = {
        "--order-timeout.intake.encodings.paid=avro",
        "--order-timeout.schema-registry.url=" + registry.url()
      };

      assertThat(check(record, settings)).isZero();
      assertThat(lines(out).get(0)).startsWith("1: paid, order k, ");
      registry.stop();
      assertThat(check(record, settings)).isEqualTo(2);
      assertThat(lines(err).get(0)).contains("records.jsonl", "the schema registry at");
    }
    assertThat(check("{\"topic\":\"order-paid\",\"payload_base64\":\"%\"}")).isEqualTo(2);
    assertThat(lines(err).get(1)).contains("line 1", "base64");
  }

  @Test
  void tellsWhyRecordsCannotBeChecked() throws IOException {
    assertThat(check("{\"topic\":\"order-paid\"}\ngarbage")).isEqualTo(2);
    assertThat(lines(err).get(0)).contains("records.jsonl", "line 2", "not JSON");

    assertThat(check("{\"topic\":\"unknown\"}")).isEqualTo(2);
    assertThat(lines(err).get(1)).contains("line 1", "'unknown' is not an input topic");

    assertThat(run("--check-events=" + directory.resolve("nothing"))).isEqualTo(2);
    assertThat(lines(err).get(2)).contains("Cannot read the records", "nothing");
  }

  @Test
  void wrongSettingIsNoDeadLetter() throws IOException {
    assertThat(check("{\"topic\":\"order-paid\"}", "--order-timeout.wheel.tick=10")).isEqualTo(2);
    assertThat(lines(err)).singleElement().asString().contains("records.jsonl", "settings");
    assertThat(lines(out)).isEmpty();
  }

  @Test
  void escapesWhatTheCharsetOfTheTerminalDoesNotHave() throws Exception {
    String records =
        """
        {"topic":"order-created","key":"日-ü","payload":{"orderId":"日-ü"}}
        {"topic":"order-paid","key":"k","payload":{"orderId":"%s"}}
        garbage
        """
            .formatted("ğ".repeat(2_000));

    assertThat(check(records)).isEqualTo(2);
    assertThat(lines(out).get(0)).startsWith("1: created, order 日-ü, at ");

    assertThat(outputInAsciiTerminal(directory.resolve("records.jsonl")))
        .matches("\\p{ASCII}*")
        .startsWith("1: created, order \\u65e5-\\u00fc, at ")
        .contains("\\u011f...")
        .doesNotContain("?");
  }

  /** A process takes its charset from its environment. */
  private static String outputInAsciiTerminal(Path file) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            OrderServiceApplication.class.getName(),
            "--check-events=" + file);
    builder.environment().put("LC_ALL", "C");
    Process process = builder.redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor()).as(output).isEqualTo(2);
      return output;
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void saysThatAFileIsEmpty() throws IOException {
    assertThat(check("\n\n")).isZero();
    assertThat(lines(out)).singleElement().asString().contains("There are no records");
  }

  @Test
  void isMeantByItsOptionAlone() {
    assertThat(EventCheckCommand.isMeant("--server.port=0", "--check-events=x")).isTrue();
    assertThat(EventCheckCommand.isMeant("--server.port=0")).isFalse();
  }

  private int check(String records, String... settings) throws IOException {
    Path file = Files.writeString(directory.resolve("records.jsonl"), records);
    return run(
        Stream.concat(Stream.of(settings), Stream.of("--check-events=" + file))
            .toArray(String[]::new));
  }

  private int run(String... arguments) {
    return EventCheckCommand.run(
        new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8), UTF_8, arguments);
  }

  private static List<String> lines(ByteArrayOutputStream stream) {
    return stream.toString(UTF_8).lines().toList();
  }
}
