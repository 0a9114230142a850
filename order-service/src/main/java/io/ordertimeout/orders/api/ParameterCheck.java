package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.InvalidRequestException;
import io.ordertimeout.orders.operator.InvalidRequestException.FieldError;
import io.ordertimeout.orders.platform.values.StatedDecimal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Constructor;
import java.math.BigDecimal;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.format.FormatterRegistry;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Refuses requests with query parameters that are unknown or given more than once, and with values
 * of the wrong type in the query or the path, with one error for each, before anything is read. The
 * values are written as in JSON, and an empty value is only a text. Thread-safe.
 */
@Component
class ParameterCheck implements HandlerInterceptor, WebMvcConfigurer {

  private static final Pattern WHOLE_NUMBER = Pattern.compile("-?(?:0|[1-9]\\d{0,18})");

  private final ObjectProvider<ConversionService> conversion;
  private final DefaultParameterNameDiscoverer names = new DefaultParameterNameDiscoverer();

  ParameterCheck(@Qualifier("mvcConversionService") ObjectProvider<ConversionService> conversion) {
    this.conversion = conversion;
  }

  @Override
  public void addInterceptors(InterceptorRegistry registry) {
    registry.addInterceptor(this).addPathPatterns("/api/v1/**").order(-1);
  }

  @Override
  public void addFormatters(FormatterRegistry registry) {
    registry.addConverter(String.class, BigDecimal.class, StatedDecimal::parse);
    registry.addConverter(String.class, Integer.class, text -> Math.toIntExact(wholeNumber(text)));
    registry.addConverter(String.class, Long.class, ParameterCheck::wholeNumber);
    registry.addConverter(String.class, Boolean.class, ParameterCheck::truthValue);
    registry.addConverter(String.class, OffsetDateTime.class, JsonBodies::time);
  }

  private static long wholeNumber(String text) {
    if (!WHOLE_NUMBER.matcher(text).matches()) {
      throw new NumberFormatException(text);
    }
    return Long.parseLong(text);
  }

  private static boolean truthValue(String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException(text);
    };
  }

  @Override
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    if (handler instanceof HandlerMethod method) {
      Map<String, MethodParameter> known = parameters(method);
      List<FieldError> errors = new ArrayList<>(wrongPathVariables(request, method));
      request
          .getParameterMap()
          .forEach(
              (name, values) -> {
                MethodParameter parameter = known.get(name);
                if (parameter == null) {
                  errors.add(
                      new FieldError(
                          name,
                          "unknown parameter; this request has "
                              + (known.isEmpty() ? "none" : known.keySet())));
                } else if (String.join("", values).indexOf('\0') >= 0) {
                  errors.add(new FieldError(name, "contains the character NUL"));
                } else if (values.length > 1 && !isCollection(parameter)) {
                  errors.add(
                      new FieldError(
                          name, "is given more than once: " + String.join(", ", values)));
                } else if (!isConvertible(values, parameter)) {
                  errors.add(new FieldError(name, wrongValue(values, parameter)));
                }
              });
      if (!errors.isEmpty()) {
        throw new InvalidRequestException(errors);
      }
    }
    return true;
  }

  /** Without this check, Spring would convert what the conversion service refuses. */
  private List<FieldError> wrongPathVariables(HttpServletRequest request, HandlerMethod method) {
    List<FieldError> errors = new ArrayList<>();
    if (request.getAttribute(HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE)
        instanceof Map<?, ?> variables) {
      for (MethodParameter parameter : method.getMethodParameters()) {
        String[] values = {String.valueOf(variables.get(name(parameter)))};
        if (parameter.hasParameterAnnotation(PathVariable.class)
            && !isConvertible(values, parameter)) {
          errors.add(new FieldError(name(parameter), wrongValue(values, parameter)));
        }
      }
    }
    return errors;
  }

  /** The query parameters of a method: its own, and the components of records. */
  private Map<String, MethodParameter> parameters(HandlerMethod method) {
    Map<String, MethodParameter> parameters = new TreeMap<>();
    for (MethodParameter parameter : method.getMethodParameters()) {
      if (parameter.hasParameterAnnotation(RequestParam.class)) {
        parameters.put(name(parameter), parameter);
      } else if (parameter.getParameterType().isRecord()
          && !parameter.hasParameterAnnotation(RequestBody.class)) {
        Constructor<?> record = BeanUtils.getResolvableConstructor(parameter.getParameterType());
        for (int i = 0; i < record.getParameterCount(); i++) {
          MethodParameter component = new MethodParameter(record, i);
          parameters.put(name(component), component);
        }
      }
    }
    return parameters;
  }

  private String name(MethodParameter parameter) {
    parameter.initParameterNameDiscovery(names);
    return String.valueOf(parameter.getParameterName());
  }

  private static boolean isCollection(MethodParameter parameter) {
    return Collection.class.isAssignableFrom(parameter.getParameterType());
  }

  private boolean isConvertible(String[] values, MethodParameter parameter) {
    Object source = values.length == 1 ? values[0] : values;
    try {
      Object value =
          conversion
              .getObject()
              .convert(source, TypeDescriptor.forObject(source), new TypeDescriptor(parameter));
      // Spring takes an empty text for null.
      return value instanceof Collection<?> elements
          ? !elements.isEmpty() && elements.stream().allMatch(Objects::nonNull)
          : value != null;
    } catch (ConversionException e) {
      return false;
    }
  }

  /** Says which values are possible, if they are few. */
  private static String wrongValue(String[] values, MethodParameter parameter) {
    Class<?> type = new TypeDescriptor(parameter).getType();
    Class<?> element =
        parameter.nested().getNestedParameterType() == type
            ? type
            : parameter.nested().getNestedParameterType();
    Object[] constants = element.getEnumConstants();
    return "invalid value '%s'; it must be %s"
        .formatted(
            String.join(",", values),
            constants == null ? typeName(element) : "one of " + List.of(constants));
  }

  static String typeName(Class<?> type) {
    if (type.isRecord()) {
      return "one JSON object";
    }
    if (Collection.class.isAssignableFrom(type)) {
      return "an array";
    }
    return switch (type.getSimpleName()) {
      case "String" -> "a string";
      case "int", "Integer" -> "a whole number of at most " + Integer.MAX_VALUE;
      case "long", "Long" -> "a whole number of at most " + Long.MAX_VALUE;
      case "boolean", "Boolean" -> "true or false";
      case "BigDecimal" ->
          "a decimal number of at most %d digits, at most %d of them after the point"
              .formatted(StatedDecimal.MAX_DIGITS, StatedDecimal.MAX_SCALE);
      case "OffsetDateTime", "Instant" -> "a time with an offset, such as 2026-11-20T20:54:03Z";
      default -> "of type " + type.getSimpleName();
    };
  }
}
