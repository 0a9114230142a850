package io.ordertimeout.orders.access;

import io.ordertimeout.orders.api.Problems;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ErrorReportValve;
import org.apache.coyote.ActionCode;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import tools.jackson.databind.json.JsonMapper;

/**
 * Responds with problem details where Tomcat would with a page of its own: to requests that it
 * refuses before the service sees them, because they are malformed. Thread-safe.
 */
public final class MalformedRequestValve extends ErrorReportValve {

  private static final Logger logger = LoggerFactory.getLogger(MalformedRequestValve.class);

  @Override
  protected void report(Request request, Response response, @Nullable Throwable failure) {
    int code = response.getStatus();
    if (code < 400 || response.getContentWritten() > 0 || !response.setErrorReported()) {
      return;
    }
    AtomicBoolean isWritable = new AtomicBoolean();
    response.getCoyoteResponse().action(ActionCode.IS_IO_ALLOWED, isWritable);
    HttpStatus status = HttpStatus.resolve(code);
    if (!isWritable.get() || status == null) {
      return;
    }
    ProblemDetail problem =
        Problems.of(
            status,
            status.is4xxClientError()
                ? "the request is malformed, or its path has characters that are not permitted"
                : "the request failed unexpectedly",
            request.getRequestURI());
    try {
      response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
      response.setCharacterEncoding(StandardCharsets.UTF_8);
      Writer writer = response.getReporter();
      if (writer != null) {
        writer.write(JsonMapper.shared().writeValueAsString(problem));
        response.finishResponse();
      }
    } catch (IOException | IllegalStateException e) {
      logger.debug("The client did not wait for the response", e);
    }
  }
}
