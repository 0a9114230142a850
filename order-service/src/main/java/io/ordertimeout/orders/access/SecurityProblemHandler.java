package io.ordertimeout.orders.access;

import io.ordertimeout.orders.access.session.SessionsUnavailableException;
import io.ordertimeout.orders.api.Problems;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.InsufficientAuthenticationException;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.security.web.authentication.AuthenticationFailureHandler;
import org.springframework.security.web.csrf.CsrfException;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Responds to failed authentication and denied access with problem details (RFC 9457). The response
 * never contains a {@code WWW-Authenticate} challenge: a browser would ask for a password and then
 * add it to cross-site requests too. Thread-safe.
 */
@Component
class SecurityProblemHandler
    implements AuthenticationEntryPoint, AccessDeniedHandler, AuthenticationFailureHandler {

  private static final Logger log = LoggerFactory.getLogger(SecurityProblemHandler.class);

  /** After which time a request may succeed that Postgres has not answered. */
  private static final Duration OUTAGE = Duration.ofSeconds(5);

  private static final String UNKNOWN = SecurityProblemHandler.class.getName() + ".unknown";

  private final JsonMapper json;

  SecurityProblemHandler(JsonMapper json) {
    this.json = json;
  }

  @Override
  public void commence(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    if (isUnknown(request, response) || isRefused(request, failure, response)) {
      return;
    }
    write(
        request,
        response,
        HttpStatus.UNAUTHORIZED,
        failure instanceof InsufficientAuthenticationException
            ? "log in first, as a viewer or an operator"
            : "wrong user name or password, or invalid token");
  }

  @Override
  public void onAuthenticationFailure(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    if (!isRefused(request, failure, response)) {
      write(request, response, HttpStatus.UNAUTHORIZED, "wrong user name or password");
    }
  }

  /**
   * Denies access to a path that the service does not have: it is answered as such to everybody.
   */
  static AuthorizationDecision denyUnknown(HttpServletRequest request) {
    request.setAttribute(UNKNOWN, true);
    return new AuthorizationDecision(false);
  }

  private boolean isUnknown(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    boolean isUnknown = request.getAttribute(UNKNOWN) != null;
    if (isUnknown) {
      write(request, response, HttpStatus.NOT_FOUND, Problems.NOTHING_HERE);
    }
    return isUnknown;
  }

  private boolean isRefused(
      HttpServletRequest request, AuthenticationException failure, HttpServletResponse response)
      throws IOException {
    if (failure instanceof RefusedLogInException refused) {
      refuse(request, response, refused.status(), refused.retryAfter(), failure);
    } else if (failure instanceof SessionsUnavailableException) {
      log.warn("A request was refused: {}", String.valueOf(failure.getCause()));
      refuse(request, response, HttpStatus.SERVICE_UNAVAILABLE, OUTAGE, failure);
    } else {
      return false;
    }
    return true;
  }

  private void refuse(
      HttpServletRequest request,
      HttpServletResponse response,
      HttpStatus status,
      Duration retryAfter,
      AuthenticationException failure)
      throws IOException {
    long seconds = Math.max(1, retryAfter.toSeconds());
    response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(seconds));
    write(request, response, status, String.valueOf(failure.getMessage()));
  }

  @Override
  public void handle(
      HttpServletRequest request, HttpServletResponse response, AccessDeniedException denied)
      throws IOException {
    if (isUnknown(request, response)) {
      return;
    }
    if (!(denied instanceof CsrfException)) {
      write(request, response, HttpStatus.FORBIDDEN, "your role does not permit this");
    } else if (SecurityContextHolder.getContext().getAuthentication() == null) {
      write(
          request,
          response,
          HttpStatus.UNAUTHORIZED,
          "log in first, as an operator; a browser must also send the CSRF token of its session");
    } else {
      write(
          request,
          response,
          HttpStatus.FORBIDDEN,
          "the request lacks the CSRF token of its session; reload the page");
    }
  }

  void write(
      HttpServletRequest request, HttpServletResponse response, HttpStatus status, String detail)
      throws IOException {
    ProblemDetail problem = Problems.of(status, detail, request.getRequestURI());
    response.setStatus(status.value());
    response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    json.writeValue(response.getOutputStream(), problem);
  }
}
