package io.ordertimeout.it.chaos;

import io.ordertimeout.it.support.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.kafka.common.config.TopicConfig;

/**
 * The settings of a run that its seed determines: each of the lowest three bits decides one of
 * them, so that six consecutive seeds contain every value.
 *
 * @param intakeThreads consumer threads of each instance
 * @param producersTime whether the records of some topics carry the time of their producers ({@code
 *     CreateTime}) instead of the brokers' ({@code LogAppendTime})
 */
record Variant(GroupProtocol protocol, int intakeThreads, boolean producersTime) {

  enum GroupProtocol {
    CONSUMER,
    CLASSIC
  }

  static Variant of(long seed) {
    return new Variant(
        isSet(seed, 0) ? GroupProtocol.CLASSIC : GroupProtocol.CONSUMER,
        isSet(seed, 1) ? 2 : 1,
        isSet(seed, 2));
  }

  private static boolean isSet(long seed, int bit) {
    return (seed >> bit & 1) == 1;
  }

  /** The service's settings, as pairs of name and value. */
  List<String> settings() {
    List<String> settings = new ArrayList<>();
    settings.addAll(
        List.of(
            "order-timeout.intake.group-protocol", protocol.name().toLowerCase(Locale.ROOT),
            "order-timeout.intake.threads", String.valueOf(intakeThreads)));
    if (protocol == GroupProtocol.CLASSIC) {
      // Under this protocol, the consumers choose how long they may be silent; here, as long as
      // the brokers allow under the other one.
      settings.addAll(List.of("spring.kafka.consumer.properties.session.timeout.ms", "10000"));
    }
    return settings;
  }

  /** Configures the topics of the scenario. */
  void configure(Scenario scenario) {
    if (producersTime) {
      scenario
          .kafka()
          .configure(
              List.of(
                  scenario.topics().created(),
                  scenario.topics().paid(),
                  scenario.topics().conflict()),
              TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG,
              "CreateTime");
    }
  }

  @Override
  public String toString() {
    return "%s protocol, %d intake thread(s), %s"
        .formatted(
            protocol,
            intakeThreads,
            producersTime ? "CreateTime and LogAppendTime" : "LogAppendTime");
  }
}
