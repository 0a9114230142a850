package io.ordertimeout.orders.relay;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.avro.RegistryServer;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

/** Serializers of events for tests. */
public final class Serializers {

  /** The id of every schema in the registry. */
  static final int SCHEMA_ID = 7;

  private Serializers() {}

  /** Creates a serializer, prepared for the topics by their default names. */
  public static EventSerializer of(String format) {
    try (RegistryServer registry = new RegistryServer()) {
      EventSerializer serializer =
          new EventSerializer(
              new Binder(
                      new MapConfigurationPropertySource(
                          Map.of(
                              "order-timeout.topics.expiring",
                              "order-expiring",
                              "order-timeout.outbox.format",
                              format,
                              "order-timeout.schema-registry.url",
                              registry.url())))
                  .bindOrCreate("order-timeout", OrderTimeoutProperties.class),
              registry.client(Map.of()));
      for (String topic :
          new String[] {"order-cancelled", "order-payment-conflict", "order-expiring"}) {
        registry.answer(200, "/subjects/" + topic + "-value/versions", Map.of("id", SCHEMA_ID));
        serializer.prepare(topic).join();
      }
      return serializer;
    }
  }
}
