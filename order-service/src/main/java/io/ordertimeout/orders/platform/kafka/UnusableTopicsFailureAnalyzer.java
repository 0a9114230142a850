package io.ordertimeout.orders.platform.kafka;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports unusable topics at startup in words, instead of a stack trace. */
final class UnusableTopicsFailureAnalyzer extends AbstractFailureAnalyzer<UnusableTopicsException> {

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, UnusableTopicsException cause) {
    return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
  }
}
