package io.ordertimeout.orders.access;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Enumeration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request whose parameters are the fields of a form that was already read. */
final class FormRequest extends HttpServletRequestWrapper {

  private final Map<String, String[]> fields = new LinkedHashMap<>();

  /**
   * Creates the request.
   *
   * @param form the fields, URL-encoded
   * @throws IllegalArgumentException if a field cannot be decoded or is given more than once
   */
  FormRequest(HttpServletRequest request, String form) {
    super(request);
    for (String field : form.split("&", -1)) {
      int equals = field.indexOf('=');
      if (equals > 0) {
        String name = decoded(field.substring(0, equals));
        String[] value = {decoded(field.substring(equals + 1))};
        if (fields.putIfAbsent(name, value) != null) {
          throw new IllegalArgumentException("the field '" + name + "' is given more than once");
        }
      }
    }
  }

  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      // The message does not repeat the text, which may be a password.
      throw new IllegalArgumentException("the form is not URL-encoded", e);
    }
  }

  @Override
  public @Nullable String getParameter(String name) {
    String[] values = fields.get(name);
    return values == null ? null : values[0];
  }

  @Override
  public Map<String, String[]> getParameterMap() {
    return Collections.unmodifiableMap(fields);
  }

  @Override
  public Enumeration<String> getParameterNames() {
    return Collections.enumeration(fields.keySet());
  }

  @Override
  public String @Nullable [] getParameterValues(String name) {
    return fields.get(name);
  }
}
