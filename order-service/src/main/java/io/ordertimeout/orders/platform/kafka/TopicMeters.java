package io.ordertimeout.orders.platform.kafka;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;

/**
 * Leaves out the second name under which Kafka's clients report a topic whose name has dots: with
 * underscores in their place, until Kafka 5. With both, every sum over topics would count it twice.
 * Thread-safe.
 *
 * @see <a href="https://cwiki.apache.org/confluence/x/-42MEw">KIP-1109</a>
 */
@Component
class TopicMeters implements MeterFilter {

  private final Set<String> secondNames;

  TopicMeters(OrderTimeoutProperties properties) {
    Set<String> topics = topics(properties.topics());
    this.secondNames =
        topics.stream()
            .map(topic -> topic.replace('.', '_'))
            .filter(name -> !topics.contains(name))
            .collect(Collectors.toUnmodifiableSet());
  }

  private static Set<String> topics(OrderTimeoutProperties.Topics topics) {
    Stream<String> deadLetters = topics.inputs().stream().map(topics::deadLetters);
    return Stream.of(topics.inputs().stream(), topics.outputs().stream(), deadLetters)
        .flatMap(names -> names)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public MeterFilterReply accept(Meter.Id id) {
    String topic = id.getName().startsWith("kafka.") ? id.getTag("topic") : null;
    return topic != null && secondNames.contains(topic)
        ? MeterFilterReply.DENY
        : MeterFilterReply.NEUTRAL;
  }
}
