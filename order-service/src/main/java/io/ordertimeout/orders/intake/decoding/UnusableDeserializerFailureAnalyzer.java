package io.ordertimeout.orders.intake.decoding;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Reports an unusable class among the encodings at startup in words, instead of a stack trace.
 * Before the analyzer of Kafka's settings, because the cause may be an exception of Kafka's.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnusableDeserializerFailureAnalyzer
    extends AbstractFailureAnalyzer<UnusableDeserializerException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, UnusableDeserializerException cause) {
    return new FailureAnalysis(
        cause.getMessage() + ". No order can be read, so the start ends.",
        "order-timeout.intake.encodings.* is json, avro, or the full name of a class that implements"
            + " Kafka's Deserializer and has a public constructor without parameters. Its jars are on"
            + " the class path or in order-timeout.intake.deserializer.libraries, and"
            + " order-timeout.intake.deserializer.properties.* has its settings.",
        cause);
  }
}
