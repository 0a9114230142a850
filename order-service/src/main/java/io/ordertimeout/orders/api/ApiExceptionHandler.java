package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.ImpossibleChangeException;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Translates exceptions of the API into problem details (RFC 9457). */
@RestControllerAdvice
class ApiExceptionHandler extends ResponseEntityExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(ApiExceptionHandler.class);

  @ExceptionHandler
  ProblemDetail notFound(UnknownSubjectException e) {
    return problem(HttpStatus.NOT_FOUND, e);
  }

  @ExceptionHandler
  ProblemDetail conflict(ImpossibleChangeException e) {
    return problem(HttpStatus.CONFLICT, e);
  }

  @ExceptionHandler
  ProblemDetail badRequest(IllegalArgumentException e) {
    return problem(HttpStatus.BAD_REQUEST, e);
  }

  @ExceptionHandler({DataAccessException.class, TransactionException.class, KafkaException.class})
  ProblemDetail unavailable(RuntimeException e) {
    log.warn("A request failed, because Postgres or Kafka is unavailable: {}", e.toString());
    return ProblemDetail.forStatusAndDetail(
        HttpStatus.SERVICE_UNAVAILABLE,
        "Postgres or Kafka does not answer in time; nothing was changed");
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleHttpMessageNotReadable(
      HttpMessageNotReadableException e,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof BoundedBody.LimitExceededException exceeded) {
        return handleExceptionInternal(
            e,
            ProblemDetail.forStatusAndDetail(exceeded.status(), exceeded.getMessage()),
            headers,
            exceeded.status(),
            request);
      }
    }
    return super.handleHttpMessageNotReadable(e, headers, status, request);
  }

  private static ProblemDetail problem(HttpStatus status, RuntimeException e) {
    return ProblemDetail.forStatusAndDetail(status, e.getMessage());
  }
}
