package io.ordertimeout.orders.platform.kafka;

import org.apache.kafka.common.KafkaException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;

/** Reports at startup, in words instead of a stack trace, why no client of Kafka can be created. */
final class KafkaSettingsFailureAnalyzer extends AbstractFailureAnalyzer<KafkaException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, KafkaException cause) {
    Throwable specific = NestedExceptionUtils.getMostSpecificCause(cause);
    return new FailureAnalysis(
        "No client of Kafka can be created with these settings: "
            + cause.getMessage()
            + (specific == cause ? "" : "; caused by " + specific)
            + ". No order can be read, so the start ends.",
        "Correct spring.kafka.*: bootstrap-servers, security.protocol, ssl.* and properties.*; files"
            + " have to exist and to be readable by the user of the service.",
        cause);
  }
}
