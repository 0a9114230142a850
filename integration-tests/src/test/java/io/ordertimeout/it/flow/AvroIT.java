package io.ordertimeout.it.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.PublishedEvent;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TcpProxy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.Deserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A shop whose events are in Avro, except its closures, which only its Deserializer understands.
 */
@Tag("faults")
class AvroIT {

  /** A zero byte and the id of the schema. */
  private static final int FRAME = 5;

  private static final Schema TIME =
      LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG));

  private static final Schema CREATED =
      SchemaBuilder.record("OrderCreated")
          .fields()
          .requiredString("orderId")
          .name("createdAt")
          .type(TIME)
          .noDefault()
          .name("payBy")
          .type(TIME)
          .noDefault()
          .endRecord();

  private static final Schema PAID =
      SchemaBuilder.record("OrderPaid").fields().requiredString("orderId").endRecord();

  private static final Schema PAID_WITH_ID =
      SchemaBuilder.record("OrderPaid")
          .fields()
          .requiredString("orderId")
          .requiredString("paymentId")
          .endRecord();

  private static final String UNREACHABLE = "unreachable";

  /** Turns an order id into an event. */
  public static final class Closings implements Deserializer<Map<String, String>> {
    @Override
    public Map<String, String> deserialize(String topic, byte[] data) {
      String orderId = new String(data, StandardCharsets.UTF_8);
      if (orderId.equals(UNREACHABLE)) {
        throw new TimeoutException("the shop does not answer");
      }
      return Map.of("orderId", orderId);
    }
  }

  private final Scenario scenario = Scenario.create();
  private SchemaRegistryServer registry;
  private TcpProxy network;

  @BeforeEach
  void start() throws IOException {
    registry = SchemaRegistryServer.start();
    network = TcpProxy.to(registry.port());
  }

  @AfterEach
  void close() {
    scenario.close();
    network.close();
    registry.close();
  }

  @Test
  void ordersExpireAsTheyDoInJson() throws IOException {
    registry.setReadOnly(true);
    try (Service service =
        scenario.startService(
            "order-timeout.intake.encodings.created", "avro",
            "order-timeout.intake.encodings.paid", "avro",
            "order-timeout.intake.encodings.closed", Closings.class.getName(),
            "order-timeout.outbox.format", "avro",
            "order-timeout.schema-registry.url", "http://localhost:" + network.port())) {
      service.awaitReady(true);
      assertDecided(service);
      assertDeadLettered();
      assertOutageDecidesNothing(service);
    }
  }

  private void assertDecided(Service service) throws IOException {
    Instant payBy = Scenario.in(Duration.ofSeconds(4));
    create("unpaid", 0, payBy);
    // However long that takes, they are settled in time.
    create("paid", 0, payBy.plusSeconds(3_600));
    create("closed", 0, payBy.plusSeconds(3_600));
    send(scenario.topics().paid(), "paid", 0, event(PAID, "paid").build());
    send(scenario.topics().closed(), "closed", 0, Shop.utf8("closed"));

    scenario.awaitState("unpaid", "CANCELLED");
    await("the schema to be missing")
        .until(() -> service.gauge("order.timeout.failing", "step", "outbox-relay") > 0);
    assertThat(scenario.outcomes().cancelled()).isEmpty();
    registry.setReadOnly(false);
    assertPublished(scenario.outcomes().awaitCancelled("unpaid"), payBy);
    scenario.awaitState("paid", "PAID");
    scenario.awaitState("closed", "CLOSED");
  }

  /** A consumer decodes the event with the registry's schema. */
  private void assertPublished(PublishedEvent event, Instant payBy) throws IOException {
    byte[] value = Objects.requireNonNull(event.record().value());
    int id = ByteBuffer.wrap(value).getInt(1);
    assertThat(registry.subjects()).containsEntry(scenario.topics().cancelled() + "-value", id);
    GenericRecord cancelled =
        new GenericDatumReader<GenericRecord>(registry.schema(id))
            .read(
                null, DecoderFactory.get().binaryDecoder(value, FRAME, value.length - FRAME, null));
    assertThat(cancelled.get("orderId")).hasToString("unpaid");
    assertThat(cancelled.get("eventId")).hasToString(event.header("ce_id"));
    assertThat(cancelled.get("deadline")).isEqualTo(micros(payBy));
    assertThat(event.header("content-type")).isEqualTo("application/avro");
  }

  private void assertDeadLettered() throws IOException {
    byte[] unknownSchema = framed(event(PAID, "doubtful").build());
    ByteBuffer.wrap(unknownSchema).putInt(1, 4_711);
    send(scenario.topics().paid(), "doubtful", 0, unknownSchema);

    PublishedEvent letter =
        await("the dead letter")
            .until(
                () -> scenario.outcomes().deadLetters(scenario.topics().paid()),
                letters -> !letters.isEmpty())
            .get(0);
    assertThat(letter.header("x-error")).contains("does not know /schemas/ids/4711", "parked");
  }

  /** What cannot be decoded for the time being may pay an order, and is no dead letter. */
  private void assertOutageDecidesNothing(Service service) throws IOException {
    Instant payBy = Scenario.in(Duration.ofSeconds(4));
    for (String order : new String[] {"late-unpaid", "late-paid"}) {
      create(order, 1, payBy);
    }
    create("elsewhere", 2, payBy);
    network.blackHole();
    byte[] payment = framed(event(PAID_WITH_ID, "late-paid").set("paymentId", "p").build());
    send(scenario.topics().paid(), "late-paid", 1, payment);

    scenario.outcomes().awaitCancelled("elsewhere");
    scenario.awaitPast(payBy.plusSeconds(2));
    assertThat(scenario.database().state("late-unpaid")).isEqualTo("PENDING");
    assertThat(scenario.database().state("late-paid")).isEqualTo("PENDING");
    assertThat(service.gauge("order.timeout.failing", "step", "decoding-0")).isPositive();
    assertThat(service.isReady()).isFalse();
    assertNotChecked(
        service,
        scenario.topics().paid(),
        payment,
        "the schema registry at http://localhost:%d does not answer within PT5S"
            .formatted(network.port()));
    assertNotChecked(
        service,
        scenario.topics().closed(),
        Shop.utf8(UNREACHABLE),
        "the Deserializer cannot decode at present: "
            + "org.apache.kafka.common.errors.TimeoutException: the shop does not answer");

    network.restore();
    scenario.outcomes().awaitCancelled("late-unpaid");
    scenario.awaitState("late-paid", "PAID");
    assertThat(scenario.database().column("late-paid", "payment_id")).isEqualTo("p");
    service.awaitReady(true);
    assertThat(scenario.outcomes().deadLetters()).hasSize(1);
    assertThat(scenario.outcomes().cancelled())
        .extracting(PublishedEvent::key)
        .containsExactlyInAnyOrder("unpaid", "elsewhere", "late-unpaid");
  }

  private static void assertNotChecked(
      Service service, String topic, byte[] value, String problem) {
    String line =
        "{\"topic\":\"%s\",\"payload_base64\":\"%s\"}"
            .formatted(topic, Base64.getEncoder().encodeToString(value));
    Http.Answer checked = service.http().operator().postText("/api/v1/events/check", line);
    assertThat(checked.status()).isEqualTo(503);
    assertThat(checked.json().path("detail").asString()).isEqualTo(problem);
  }

  private void create(String order, int partition, Instant payBy) throws IOException {
    send(
        scenario.topics().created(),
        order,
        partition,
        event(CREATED, order)
            .set("createdAt", micros(payBy.minusSeconds(60)))
            .set("payBy", micros(payBy))
            .build());
  }

  private static GenericRecordBuilder event(Schema schema, String order) {
    return new GenericRecordBuilder(schema).set("orderId", order);
  }

  private void send(String topic, String key, int partition, GenericRecord event)
      throws IOException {
    send(topic, key, partition, framed(event));
  }

  private void send(String topic, String key, int partition, byte[] value) {
    Shop.await(scenario.shop().send(new ProducerRecord<>(topic, partition, Shop.utf8(key), value)));
  }

  /** As Confluent's serializer writes it. */
  private byte[] framed(GenericRecord event) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(
        ByteBuffer.allocate(FRAME)
            .put((byte) 0)
            .putInt(registry.register(event.getSchema()))
            .array());
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<>(event.getSchema()).write(event, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }

  private static long micros(Instant time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time);
  }
}
