package shop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import tools.jackson.databind.json.JsonMapper;

/** The events that Kafka has not acknowledged yet, in the order in which they are sent. */
@Component
public class Outbox {

  private static final int BATCH = 500;

  private final JdbcClient client;
  private final KafkaTemplate<String, String> kafka;
  private final JsonMapper json;
  private final String topicPrefix;

  Outbox(
      JdbcClient client,
      KafkaTemplate<String, String> kafka,
      JsonMapper json,
      @Value("${shop.topic-prefix}") String topicPrefix) {
    this.client = client;
    this.kafka = kafka;
    this.json = json;
    this.topicPrefix = topicPrefix;
  }

  private record Event(long position, String topic, String orderId, String event) {}

  /** Adds an event to the transaction that makes the change. */
  @Transactional(propagation = Propagation.MANDATORY)
  public void add(String topic, String orderId, Map<String, ?> event) {
    client
        .sql("insert into outbox (topic, order_id, event) values (?, ?, ?::jsonb)")
        .params(topicPrefix + topic, orderId, json.writeValueAsString(event))
        .update();
  }

  /**
   * Sends the next events and deletes them once Kafka has acknowledged all. If it does not, all
   * stay, and are sent again. Returns how many were sent.
   */
  @Transactional
  public int relay() {
    // The lock keeps another relay from sending a later event of the same order first.
    client.sql("lock table outbox in share update exclusive mode").update();
    List<Event> events =
        client
            .sql(
                "select position, topic, order_id, event::text from outbox order by position limit"
                    + " ?")
            .param(BATCH)
            .query(Event.class)
            .list();
    CompletableFuture.allOf(
            events.stream()
                .map(event -> kafka.send(event.topic(), event.orderId(), event.event()))
                .toArray(CompletableFuture[]::new))
        .join();
    client
        .sql("delete from outbox where position = any(?)")
        .param(events.stream().map(Event::position).toArray(Long[]::new))
        .update();
    return events.size();
  }
}
