package io.ordertimeout.orders.platform.postgres;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a malformed URL of Postgres at startup in words, instead of a stack trace. */
final class MalformedDatasourceUrlFailureAnalyzer
    extends AbstractFailureAnalyzer<MalformedDatasourceUrlException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, MalformedDatasourceUrlException cause) {
    return new FailureAnalysis(
        cause.getMessage() + ".",
        "Write spring.datasource.url as jdbc:postgresql://host:5432/database; several hosts are"
            + " separated by commas. User and password are settings of their own.",
        cause);
  }
}
