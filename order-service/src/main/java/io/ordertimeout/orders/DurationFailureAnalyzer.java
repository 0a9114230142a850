package io.ordertimeout.orders;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Reports a duration that is malformed or has no unit, with the right form, which Spring Boot's
 * message leaves out.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class DurationFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
    ConfigurationProperty property = cause.getProperty();
    if (property == null || !Duration.class.equals(cause.getTarget().getType().resolve())) {
      return null;
    }
    String fault =
        cause.getCause() instanceof DurationUnits.MissingUnitException missing
            ? missing.getMessage()
            : "'%s', which is not a duration".formatted(property.getValue());
    return new FailureAnalysis(
        "%s is %s (from %s).".formatted(property.getName(), fault, property.getOrigin()),
        "Write a number and a unit without a space between them, such as 500ms, 30s, 5m, 2h or 7d,"
            + " or a duration of ISO 8601, such as PT5M.",
        cause);
  }
}
