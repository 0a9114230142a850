package io.ordertimeout.orders.access;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.authentication.InsufficientAuthenticationException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.security.web.access.AccessDeniedHandler;
import org.springframework.security.web.authentication.AuthenticationFailureHandler;
import org.springframework.security.web.csrf.CsrfException;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * Says no, as problem details (RFC 9457). Never with a challenge that has a browser ask for a
 * password, which it would then add to the requests of other sites too. Thread-safe.
 */
@Component
class Refusals
    implements AuthenticationEntryPoint, AccessDeniedHandler, AuthenticationFailureHandler {

  private final JsonMapper json;

  Refusals(JsonMapper json) {
    this.json = json;
  }

  @Override
  public void commence(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    write(
        response,
        HttpStatus.UNAUTHORIZED,
        failure instanceof InsufficientAuthenticationException
            ? "log in first, as a viewer or an operator"
            : "not accepted: no such user, another password, or a token that is not valid");
  }

  @Override
  public void onAuthenticationFailure(
      HttpServletRequest request, HttpServletResponse response, AuthenticationException failure)
      throws IOException {
    write(response, HttpStatus.UNAUTHORIZED, "not accepted: no such user, or another password");
  }

  @Override
  public void handle(
      HttpServletRequest request, HttpServletResponse response, AccessDeniedException denied)
      throws IOException {
    if (!(denied instanceof CsrfException)) {
      write(response, HttpStatus.FORBIDDEN, "this takes another role");
    } else if (SecurityContextHolder.getContext().getAuthentication() == null) {
      write(
          response,
          HttpStatus.UNAUTHORIZED,
          "log in first, as an operator; a page has to send the token that it was given");
    } else {
      write(
          response,
          HttpStatus.FORBIDDEN,
          "the request does not carry the token of its session; load the page again");
    }
  }

  void write(HttpServletResponse response, HttpStatus status, String detail) throws IOException {
    ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
    response.setStatus(status.value());
    response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
    json.writeValue(response.getOutputStream(), problem);
  }
}
