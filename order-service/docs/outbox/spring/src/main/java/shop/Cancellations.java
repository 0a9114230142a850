package shop;

import java.util.Objects;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Applies what the service has cancelled. */
@Component
@ConditionalOnProperty("run")
class Cancellations {

  private final Orders orders;
  private final JsonMapper json;

  Cancellations(Orders orders, JsonMapper json) {
    this.orders = orders;
    this.json = json;
  }

  @KafkaListener(topics = "${shop.topic-prefix}order-cancelled")
  void cancelled(String event) {
    orders.cancel(Objects.requireNonNull(json.readTree(event).path("orderId").stringValue()));
  }
}
