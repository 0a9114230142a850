package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.InvalidRequestException;
import io.ordertimeout.orders.operator.InvalidRequestException.FieldError;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.MethodParameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.stereotype.Component;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/**
 * Refuses requests with query parameters that are unknown or have values of the wrong type, with
 * one error for each, before anything is read. Thread-safe.
 */
@Component
class ParameterCheck implements HandlerInterceptor, WebMvcConfigurer {

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
  public boolean preHandle(
      HttpServletRequest request, HttpServletResponse response, Object handler) {
    if (handler instanceof HandlerMethod method) {
      Map<String, MethodParameter> known = parameters(method);
      List<FieldError> errors = new ArrayList<>();
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

  private boolean isConvertible(String[] values, MethodParameter parameter) {
    Object source = values.length == 1 ? values[0] : values;
    try {
      conversion
          .getObject()
          .convert(source, TypeDescriptor.forObject(source), new TypeDescriptor(parameter));
      return true;
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
    return switch (type.getSimpleName()) {
      case "int", "Integer", "long", "Long" -> "a whole number";
      case "boolean", "Boolean" -> "true or false";
      case "BigDecimal" -> "a decimal number";
      case "OffsetDateTime", "Instant" -> "a time with an offset, such as 2026-11-20T20:54:03Z";
      default -> "of type " + type.getSimpleName();
    };
  }
}
