package io.ordertimeout.orders.access;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Refuses requests whose query cannot be decoded, before anything uses it. Thread-safe. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MalformedQueryFilter extends OncePerRequestFilter {

  private final SecurityProblemHandler problems;

  MalformedQueryFilter(SecurityProblemHandler problems) {
    this.problems = problems;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (request.getQueryString() != null && !isForm(request)) {
      try {
        request.getParameterMap();
      } catch (InvalidParameterException e) {
        problems.write(
            request,
            response,
            HttpStatus.BAD_REQUEST,
            "the query cannot be decoded: " + request.getQueryString());
        return;
      }
    }
    chain.doFilter(request, response);
  }

  /** Whether reading the parameters would read the body, too. */
  private static boolean isForm(HttpServletRequest request) {
    String type = request.getContentType();
    return type != null && !type.contains("json") && !type.startsWith("text/");
  }
}
