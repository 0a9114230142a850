package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.InvalidRequestException.FieldError;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;

/** The problem details (RFC 9457) with which the API answers; each has a type that stays. */
public final class Problems {

  /** The field of an error of a body as a whole. */
  static final String BODY = "body";

  /** What a request for a path that the service does not have is answered. */
  public static final String NOTHING_HERE = "there is nothing at this path";

  private static final String PREFIX = "urn:order-timeout:problem:";

  private static final Map<Integer, String> TYPES =
      Map.ofEntries(
          Map.entry(400, "invalid-request"),
          Map.entry(401, "not-logged-in"),
          Map.entry(403, "not-permitted"),
          Map.entry(404, "not-found"),
          Map.entry(405, "method-not-allowed"),
          Map.entry(406, "not-acceptable"),
          Map.entry(408, "request-too-slow"),
          Map.entry(409, "change-not-possible"),
          Map.entry(413, "request-too-large"),
          Map.entry(415, "unsupported-media-type"),
          Map.entry(429, "too-many-requests"),
          Map.entry(503, "unavailable"));

  private Problems() {}

  /** Creates the details of a problem. */
  public static ProblemDetail of(HttpStatusCode status, @Nullable String detail) {
    ProblemDetail problem = ProblemDetail.forStatus(status);
    problem.setDetail(detail);
    problem.setType(type(status));
    return problem;
  }

  /** Creates the details of a problem with the request to a path; null if the path is unknown. */
  public static ProblemDetail of(
      HttpStatusCode status, @Nullable String detail, @Nullable String path) {
    ProblemDetail problem = of(status, detail);
    if (path != null) {
      try {
        problem.setInstance(new URI(path));
      } catch (URISyntaxException e) {
        // It is part of the detail, if of anything.
      }
    }
    return problem;
  }

  /** Creates the details of a request of which these parts are invalid. */
  static ProblemDetail invalid(List<FieldError> errors) {
    ProblemDetail problem =
        of(
            HttpStatus.BAD_REQUEST,
            String.join(
                "; ",
                errors.stream().map(error -> error.field() + ": " + error.message()).toList()));
    problem.setProperty("errors", errors);
    return problem;
  }

  /** Returns the type of the problems with a status. */
  static URI type(HttpStatusCode status) {
    String other = status.is4xxClientError() ? "invalid-request" : "internal-error";
    return URI.create(PREFIX + TYPES.getOrDefault(status.value(), other));
  }
}
