package io.ordertimeout.orders.platform.kafka;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.OrderTimeoutProperties.GroupProtocol;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.springframework.kafka.core.ConsumerFactory;
import org.springframework.stereotype.Component;

/**
 * A factory for consumers: configured by {@code spring.kafka}, except for the settings that the
 * service's guarantees depend on.
 */
@Component
public class KafkaConsumers {

  private final ConsumerFactory<?, ?> factory;
  private final OrderTimeoutProperties.Intake settings;

  KafkaConsumers(ConsumerFactory<?, ?> factory, OrderTimeoutProperties properties) {
    this.factory = factory;
    this.settings = properties.intake();
  }

  /** Creates a member of the consumer group for the thread of that number. */
  @SuppressWarnings("unchecked")
  public Consumer<byte[], byte[]> createGroupMember(int number, String groupId) {
    return ((ConsumerFactory<byte[], byte[]>) factory)
        .createConsumer(groupId, null, "-intake-" + number, overrides(number));
  }

  /** Creates a consumer without a group, for reading a topic without committing offsets. */
  @SuppressWarnings("unchecked")
  public Consumer<byte[], byte[]> createStandalone() {
    Properties overrides = new Properties();
    overrides.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    overrides.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    overrides.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    overrides.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    return ((ConsumerFactory<byte[], byte[]>) factory)
        .createConsumer(null, null, "-reading", overrides);
  }

  private Properties overrides(int number) {
    Properties overrides = new Properties();
    if (settings.instanceId() != null) {
      overrides.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, settings.instanceId() + "-" + number);
    }
    overrides.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    overrides.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    overrides.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    overrides.put(
        ConsumerConfig.ISOLATION_LEVEL_CONFIG,
        IsolationLevel.READ_COMMITTED.name().toLowerCase(Locale.ROOT));
    overrides.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    overrides.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, Integer.toString(settings.batchSize()));
    overrides.put(
        ConsumerConfig.GROUP_PROTOCOL_CONFIG,
        settings.groupProtocol().name().toLowerCase(Locale.ROOT));
    // The range assignor assigns a partition number of every topic to the same consumer.
    if (settings.groupProtocol() == GroupProtocol.CONSUMER) {
      overrides.put(ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG, RangeAssignor.RANGE_ASSIGNOR_NAME);
    } else {
      overrides.put(
          ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, RangeAssignor.class.getName());
    }
    return overrides;
  }
}
