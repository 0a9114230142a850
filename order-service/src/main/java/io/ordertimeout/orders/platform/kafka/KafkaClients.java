package io.ordertimeout.orders.platform.kafka;

import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.springframework.boot.kafka.autoconfigure.DefaultKafkaProducerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.core.KafkaAdmin;

/** The Kafka clients that several steps share, configured by {@code spring.kafka}. */
@Configuration(proxyBeanMethods = false)
class KafkaClients {

  private static final int CLOSE_TIMEOUT_SECONDS = 5;

  /** For topics, leaders and end offsets. */
  @Bean(destroyMethod = "close")
  Admin admin(KafkaAdmin kafkaAdmin) {
    return Admin.create(kafkaAdmin.getConfigurationProperties());
  }

  /** The producer settings that at-least-once delivery depends on. */
  @Bean
  DefaultKafkaProducerFactoryCustomizer reliableProducer() {
    return factory -> {
      factory.updateConfigs(
          Map.of(
              ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
              ByteArraySerializer.class,
              ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
              ByteArraySerializer.class,
              ProducerConfig.ACKS_CONFIG,
              "all",
              ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
              true));
      // Events that it has not sent by then stay in the outbox.
      factory.setPhysicalCloseTimeout(CLOSE_TIMEOUT_SECONDS);
      // Fails the startup on an invalid setting, although the producer is created later.
      ProducerConfig unused = new ProducerConfig(factory.getConfigurationProperties());
    };
  }
}
