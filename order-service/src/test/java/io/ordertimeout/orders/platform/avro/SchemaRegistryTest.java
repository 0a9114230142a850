package io.ordertimeout.orders.platform.avro;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchemaRegistryTest {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Schema TEXT = SchemaBuilder.builder().stringType();

  private final RegistryServer server = new RegistryServer();
  private final SchemaRegistry registry = server.client(Map.of());

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void requestsASchemaOnce() throws UnusableAvroException {
    server.has(7, TEXT);

    assertThat(registry.schema(7)).isEqualTo(TEXT);
    assertThat(registry.schema(7)).isEqualTo(TEXT);
    assertThat(server.requests()).containsExactly("/schemas/ids/7");
    assertThat(server.authorization()).isNull();
  }

  @Test
  void logsIn() throws UnusableAvroException {
    server.has(7, TEXT);

    assertThat(server.client(Map.of("username", "u", "password", "p")).schema(7)).isEqualTo(TEXT);
    assertThat(server.authorization()).isEqualTo("Basic dTpw");
  }

  @Test
  void keepsAThousandSchemas() throws UnusableAvroException {
    int schemas = SchemaRegistry.MAX_SCHEMAS + 200;
    for (int round = 0; round < 2; round++) {
      for (int id = 0; id < schemas; id++) {
        server.has(id, TEXT);
        assertThat(registry.schema(id)).isEqualTo(TEXT);
      }
    }

    assertThat(server.requests()).hasSizeBetween(schemas + 200, 2 * schemas - 1);
  }

  @Test
  void parsesTheSchemasThatASchemaRefersTo() throws UnusableAvroException {
    Schema money =
        SchemaBuilder.record("Money")
            .namespace("shop")
            .fields()
            .requiredString("currency")
            .endRecord();
    server.answer(
        200,
        "/schemas/ids/7",
        Map.of(
            "schema",
            "{\"type\":\"record\",\"name\":\"O\",\"fields\":[{\"name\":\"a\",\"type\":\"shop.Money\"}]}",
            "references",
            List.of(
                Map.of("name", "shop.Money", "subject", "shop/Money", "version", 2),
                Map.of("name", "shop.Money", "subject", "shop/Money", "version", 2))));
    server.answer(200, "/subjects/shop%2FMoney/versions/2", Map.of("schema", money.toString()));

    assertThat(registry.schema(7).getField("a").schema()).isEqualTo(money);
  }

  @Test
  void aSchemaThatIsUnknownOrNotOfAvroIsUnusable() {
    server.answer(200, "/schemas/ids/2", Map.of("schemaType", "PROTOBUF", "schema", "x"));
    server.answer(200, "/schemas/ids/3", Map.of("schema", "{\"type\":\"unheard-of\"}"));
    server.answer(200, "/schemas/ids/4", Map.of("schema", "{"));
    server.answer(200, "/schemas/ids/5", Map.of("schema", ""));

    assertUnusable(1, "the schema registry does not know /schemas/ids/1");
    assertUnusable(2, "it is of the type PROTOBUF");
    assertUnusable(3, "Unknown schema");
    assertUnusable(4, "its schema 4 is unusable");
    assertUnusable(5, "its schema 5 is unusable");
    int requests = server.requests().size();
    assertUnusable(1, "the schema registry does not know /schemas/ids/1");
    assertThat(server.requests()).hasSize(requests);
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 403, 404, 408, 429, 500, 502, 503})
  void anyOtherFailureIsAnOutage(int status) {
    server.answer(status, "/schemas/ids/7", Map.of("message", "no"));

    assertUnavailable(registry, "answered with status " + status);
  }

  @Test
  void anAnswerWithoutASchemaIsAnOutage() {
    server.answer(200, "/schemas/ids/7", "a page of a gateway");

    assertUnavailable(registry, "answered with status 200");
  }

  @Test
  void aRegistryThatIsDownOrSilentIsUnavailable() throws IOException {
    server.stop();
    assertUnavailable(registry, "cannot be reached");
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      SchemaRegistry client =
          server.client(
              Map.of("url", "http://localhost:" + silent.getLocalPort(), "timeout", "100ms"));
      assertUnavailable(client, "does not answer within PT0.1S");
      try (Socket connection = silent.accept()) {
        connection.setSoTimeout((int) PATIENCE.toMillis());
        assertThat(connection.getInputStream().readAllBytes()).as("up to its end").isNotEmpty();
      }
    }
  }

  @Test
  void anAnswerThatTakesLongerIsUsedOnceItIsThere() {
    SchemaRegistry client = new SchemaRegistry(server.properties(Map.of("timeout", "1m")));
    server.has(7, TEXT);
    server.beSilent();
    assertUnavailable(client, "has not answered yet");
    assertUnavailable(client, "has not answered yet");

    server.answerAgain();
    await().ignoreExceptions().until(() -> client.schema(7).equals(TEXT));
    assertThat(server.requests()).containsExactly("/schemas/ids/7");
  }

  @Test
  void nobodyWaitsDuringAnOutage() {
    SchemaRegistry client = server.client(Map.of("timeout", "100ms"));
    server.has(7, TEXT);
    server.beSilent();
    assertUnavailable(client, "does not answer within PT0.1S");

    // After the pause, the call that sends another request fails before the request does.
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(failure(client, 7)::awaitAnswer)
                    .isInstanceOf(SchemaRegistryUnavailableException.class)
                    .hasMessageEndingWith("does not answer within PT0.1S"));
    server.answerAgain();
    await().ignoreExceptions().until(() -> client.schema(7).equals(TEXT));
    server.beSilent();
    assertThat(failure(client, 8).awaitAnswer()).as("it has waited").isFalse();
  }

  @Test
  void requestsFewSchemasAtATime() {
    SchemaRegistry client = new SchemaRegistry(server.properties(Map.of()), Duration.ZERO);
    server.beSilent();
    List<SchemaRegistryUnavailableException> failures = new ArrayList<>();
    for (int id = 0; id <= SchemaRegistry.MAX_REQUESTS; id++) {
      failures.add(failure(client, id));
    }

    server.answerAgain();
    assertThat(failures.remove(SchemaRegistry.MAX_REQUESTS).awaitAnswer()).isFalse();
    assertThat(failures).allMatch(SchemaRegistryUnavailableException::awaitAnswer);
    assertThat(server.requests()).hasSize(SchemaRegistry.MAX_REQUESTS);
  }

  @Test
  void afterAFailureItIsLeftAloneForAMoment() {
    server.answer(503, "/schemas/ids/7", Map.of());
    assertUnavailable(registry, "status 503");
    server.has(7, TEXT);
    assertUnavailable(registry, "status 503");

    assertThat(server.requests()).hasSize(1);
    await().ignoreExceptions().until(() -> registry.schema(7).equals(TEXT));
    assertThat(server.requests()).hasSize(2);
  }

  @Test
  void doesNotRegisterASchemaThatTheSubjectHas() {
    server.answer(200, "/subjects/s-value", Map.of("id", 11, "version", 1));

    assertThat(registry.register("s-value", TEXT)).succeedsWithin(PATIENCE).isEqualTo(11);
    assertThat(server.requests()).containsExactly("/subjects/s-value");
  }

  @Test
  void registersASchema() {
    server.answer(200, "/subjects/order%20cancelled-value/versions", Map.of("id", 11));

    assertThat(registry.register("order cancelled-value", TEXT))
        .succeedsWithin(PATIENCE)
        .isEqualTo(11);
    assertThat(server.body()).isEqualTo("{\"schema\":\"\\\"string\\\"\"}");
  }

  @ParameterizedTest
  @ValueSource(ints = {409, 422})
  void aRefusedSchemaIsNoOutage(int status) {
    server.answer(
        status,
        "/subjects/s-value/versions",
        Map.of("message", "Incompatible with an earlier one"));

    assertThat(registry.register("s-value", TEXT))
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOf(InvalidConfigurationException.class)
        .withMessage(
            "the schema registry refuses the schema of s-value: Incompatible with an earlier one");
  }

  @Test
  void aRegistrationFailsDuringAnOutage() {
    server.answer(503, "/subjects/s-value/versions", Map.of());
    assertNotRegistered("answered with status 503");
    server.answer(404, "/subjects/s-value/versions", "a page of a gateway");
    assertNotRegistered("answered with status 404");
    server.answer(200, "/subjects/s-value/versions", Map.of());
    assertNotRegistered("answered with status 200");
    server.stop();
    assertNotRegistered("cannot be reached: java.net.ConnectException");
  }

  private void assertNotRegistered(String message) {
    assertThat(registry.register("s-value", TEXT))
        .failsWithin(PATIENCE)
        .withThrowableOfType(ExecutionException.class)
        .havingCause()
        .isInstanceOf(SchemaRegistryUnavailableException.class)
        .withMessageContaining(message);
  }

  private void assertUnusable(int id, String message) {
    assertThatThrownBy(() -> registry.schema(id))
        .isInstanceOf(UnusableAvroException.class)
        .hasMessageContaining(message);
  }

  private static void assertUnavailable(SchemaRegistry registry, String message) {
    assertThat(failure(registry, 7))
        .hasMessageStartingWith("the schema registry at http://localhost:")
        .hasMessageContaining(message);
  }

  private static SchemaRegistryUnavailableException failure(SchemaRegistry registry, int id) {
    return catchThrowableOfType(
        SchemaRegistryUnavailableException.class, () -> registry.schema(id));
  }
}
