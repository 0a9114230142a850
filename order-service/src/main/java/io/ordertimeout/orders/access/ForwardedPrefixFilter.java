package io.ordertimeout.orders.access;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.catalina.Globals;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Makes the prefix that a trusted proxy has stripped from the path ({@code X-Forwarded-Prefix}) a
 * part of the context path, so that cookies, redirects and the address to which an identity
 * provider returns have the path that the browser knows. Tomcat evaluates the other forwarded
 * headers, and marks the requests of trusted proxies. Thread-safe.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ForwardedPrefixFilter extends OncePerRequestFilter {

  static final String HEADER = "X-Forwarded-Prefix";

  /** Segments of unreserved characters (RFC 3986), none of which is "." or "..". */
  private static final Pattern PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[\\w.~-]+)*");

  private final SecurityProblemHandler problems;

  ForwardedPrefixFilter(SecurityProblemHandler problems) {
    this.problems = problems;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    String prefix = isForwarded(request) ? prefix(request) : "";
    if (!PATH.matcher(prefix).matches()) {
      problems.write(
          request,
          response,
          HttpStatus.BAD_REQUEST,
          HEADER + " of the proxy is not a path: " + String.join(", ", headers(request)));
    } else if (prefix.isEmpty()) {
      chain.doFilter(request, response);
    } else {
      chain.doFilter(new PrefixedRequest(request, prefix), response);
    }
  }

  private static boolean isForwarded(HttpServletRequest request) {
    return Boolean.TRUE.equals(request.getAttribute(Globals.REQUEST_FORWARDED_ATTRIBUTE));
  }

  /** Each of several proxies adds what it has stripped. */
  private static String prefix(HttpServletRequest request) {
    StringBuilder prefix = new StringBuilder();
    for (String header : headers(request)) {
      for (String stripped : header.split(",", -1)) {
        prefix.append(stripped.strip().replaceFirst("/$", ""));
      }
    }
    return prefix.toString();
  }

  private static List<String> headers(HttpServletRequest request) {
    return Collections.list(request.getHeaders(HEADER));
  }

  /** A request as the browser has sent it. */
  private static final class PrefixedRequest extends HttpServletRequestWrapper {

    private final String prefix;

    PrefixedRequest(HttpServletRequest request, String prefix) {
      super(request);
      this.prefix = prefix;
    }

    @Override
    public String getContextPath() {
      return prefix + super.getContextPath();
    }

    @Override
    public String getRequestURI() {
      return prefix + super.getRequestURI();
    }

    @Override
    public StringBuffer getRequestURL() {
      StringBuffer url = super.getRequestURL();
      return url.insert(url.length() - super.getRequestURI().length(), prefix);
    }
  }
}
