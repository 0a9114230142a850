package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.decoding.DeserializerOutageException;
import io.ordertimeout.orders.operator.DecisionsUnknownException;
import io.ordertimeout.orders.operator.ImpossibleChangeException;
import io.ordertimeout.orders.operator.InvalidRequestException;
import io.ordertimeout.orders.operator.InvalidRequestException.FieldError;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import io.ordertimeout.orders.platform.avro.SchemaRegistryUnavailableException;
import io.ordertimeout.orders.platform.values.InvalidJson;
import io.ordertimeout.orders.suspension.SuspensionNotPlacedException;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.TypeMismatchException;
import org.springframework.context.MessageSourceResolvable;
import org.springframework.core.MethodParameter;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.transaction.TransactionException;
import org.springframework.validation.Errors;
import org.springframework.validation.method.ParameterErrors;
import org.springframework.validation.method.ParameterValidationResult;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.method.annotation.HandlerMethodValidationException;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.servlet.resource.NoResourceFoundException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/** Translates exceptions of the API into problem details (RFC 9457). */
@RestControllerAdvice
class ApiExceptionHandler extends ResponseEntityExceptionHandler {

  /** Postgres's state for text that is not valid in its encoding. */
  private static final String UNSTORABLE_TEXT = "22021";

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
  ProblemDetail badRequest(InvalidRequestException e) {
    return Problems.invalid(e.errors());
  }

  @ExceptionHandler({DataAccessException.class, TransactionException.class, KafkaException.class})
  ProblemDetail unavailable(RuntimeException e) {
    if (rootCause(e) instanceof SQLException sql && UNSTORABLE_TEXT.equals(sql.getSQLState())) {
      return Problems.invalid(
          List.of(
              new FieldError(
                  Problems.BODY, "contains a character that cannot be stored, such as NUL")));
    }
    log.warn("A request failed, because Postgres or Kafka is unavailable: {}", e.toString());
    return Problems.of(
        HttpStatus.SERVICE_UNAVAILABLE,
        "Postgres or Kafka does not answer in time; nothing was changed");
  }

  @ExceptionHandler({SuspensionNotPlacedException.class, DecisionsUnknownException.class})
  ProblemDetail notNow(RuntimeException e) {
    return problem(HttpStatus.SERVICE_UNAVAILABLE, e);
  }

  @ExceptionHandler({SchemaRegistryUnavailableException.class, DeserializerOutageException.class})
  ProblemDetail undecodable(RetriableException e) {
    return problem(HttpStatus.SERVICE_UNAVAILABLE, e);
  }

  /** Filters respond to failures of authentication; every other exception is a mistake. */
  @ExceptionHandler
  ProblemDetail unexpected(RuntimeException e) {
    if (e instanceof AuthenticationException || e instanceof AccessDeniedException) {
      throw e;
    }
    log.error("A request failed unexpectedly; it is answered with status 500", e);
    return Problems.of(HttpStatus.INTERNAL_SERVER_ERROR, "the request failed unexpectedly");
  }

  private static @Nullable Throwable rootCause(Throwable e) {
    return NestedExceptionUtils.getMostSpecificCause(e);
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
            Problems.of(exceeded.status(), exceeded.getMessage()),
            headers,
            exceeded.status(),
            request);
      }
      if (cause instanceof StreamReadException || cause instanceof StreamConstraintsException) {
        JacksonException invalid = (JacksonException) cause;
        return invalid(
            e,
            List.of(
                new FieldError(
                    place(invalid), "is not valid JSON: " + InvalidJson.problem(invalid))),
            headers,
            request);
      }
      if (cause instanceof DatabindException wrong) {
        return invalid(
            e, List.of(new FieldError(path(wrong), wrongField(wrong))), headers, request);
      }
    }
    return invalid(
        e, List.of(new FieldError(Problems.BODY, "is missing or unreadable")), headers, request);
  }

  private static String wrongField(DatabindException wrong) {
    if (wrong instanceof UnrecognizedPropertyException unknown) {
      return "unknown field; known are " + new TreeSet<>(unknown.getKnownPropertyIds());
    }
    String value = wrong instanceof InvalidFormatException format ? " " + written(format) : "";
    return wrong instanceof MismatchedInputException mismatch && mismatch.getTargetType() != null
        ? "invalid value%s; it must be %s"
            .formatted(value, ParameterCheck.typeName(mismatch.getTargetType()))
        : "invalid value" + value;
  }

  /** Of an empty string where an object or an array is expected, Jackson has only the content. */
  private static String written(InvalidFormatException wrong) {
    String value = String.valueOf(wrong.getValue());
    return value.isEmpty() ? "\"\"" : value;
  }

  /** Returns the field at which the JSON is invalid, such as one that appears twice. */
  private static String place(JacksonException invalid) {
    String path =
        invalid.processor() instanceof JsonParser parser ? path(parser.streamReadContext()) : "";
    return path.isEmpty() ? Problems.BODY : path;
  }

  private static String path(@Nullable TokenStreamContext context) {
    if (context == null || context.inRoot()) {
      return "";
    }
    String outer = path(context.getParent());
    if (context.inArray()) {
      return outer + "[" + context.getCurrentIndex() + "]";
    }
    return context.hasCurrentName()
        ? outer + (outer.isEmpty() ? "" : ".") + context.currentName()
        : outer;
  }

  private static String path(DatabindException wrong) {
    StringBuilder path = new StringBuilder();
    for (JacksonException.Reference part : wrong.getPath()) {
      if (part.getPropertyName() == null) {
        path.append('[').append(part.getIndex()).append(']');
      } else {
        path.append(path.isEmpty() ? "" : ".").append(part.getPropertyName());
      }
    }
    return path.isEmpty() ? Problems.BODY : path.toString();
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleMethodArgumentNotValid(
      MethodArgumentNotValidException e,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    return invalid(e, fieldErrors(e), headers, request);
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleHandlerMethodValidationException(
      HandlerMethodValidationException e,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    List<FieldError> errors = new ArrayList<>();
    for (ParameterValidationResult result : e.getParameterValidationResults()) {
      if (result instanceof ParameterErrors body) {
        errors.addAll(fieldErrors(body));
      } else {
        String name = String.valueOf(result.getMethodParameter().getParameterName());
        result
            .getResolvableErrors()
            .forEach(
                error ->
                    errors.add(new FieldError(name, message(result.getMethodParameter(), error))));
      }
    }
    return invalid(e, errors, headers, request);
  }

  private static List<FieldError> fieldErrors(Errors errors) {
    return errors.getFieldErrors().stream()
        .map(error -> new FieldError(error.getField(), message(error)))
        .sorted(Comparator.comparing(FieldError::field))
        .toList();
  }

  private static String message(MethodParameter parameter, MessageSourceResolvable error) {
    Min min = parameter.getParameterAnnotation(Min.class);
    Max max = parameter.getParameterAnnotation(Max.class);
    return min == null || max == null
        ? message(error)
        : "must be between %d and %d".formatted(min.value(), max.value());
  }

  private static String message(MessageSourceResolvable error) {
    return Objects.requireNonNullElse(error.getDefaultMessage(), "invalid value");
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleTypeMismatch(
      TypeMismatchException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
    Class<?> type = e.getRequiredType();
    FieldError error =
        new FieldError(
            String.valueOf(e.getPropertyName()),
            "invalid value '%s'%s"
                .formatted(
                    e.getValue(),
                    type == null ? "" : "; it must be " + ParameterCheck.typeName(type)));
    return invalid(e, List.of(error), headers, request);
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleMissingServletRequestParameter(
      MissingServletRequestParameterException e,
      HttpHeaders headers,
      HttpStatusCode status,
      WebRequest request) {
    return invalid(
        e, List.of(new FieldError(e.getParameterName(), "is missing")), headers, request);
  }

  @Override
  protected @Nullable ResponseEntity<Object> handleNoResourceFoundException(
      NoResourceFoundException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
    return handleExceptionInternal(
        e, Problems.of(status, Problems.NOTHING_HERE), headers, status, request);
  }

  private @Nullable ResponseEntity<Object> invalid(
      Exception e, List<FieldError> errors, HttpHeaders headers, WebRequest request) {
    return handleExceptionInternal(
        e, Problems.invalid(errors), headers, HttpStatus.BAD_REQUEST, request);
  }

  /** Adds the type to the problems that Spring describes. */
  @Override
  protected ResponseEntity<Object> createResponseEntity(
      @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
    if (body instanceof ProblemDetail problem) {
      problem.setType(Problems.type(status));
    }
    return super.createResponseEntity(body, headers, status, request);
  }

  private static ProblemDetail problem(HttpStatus status, RuntimeException e) {
    return Problems.of(status, e.getMessage());
  }
}
