package io.ordertimeout.orders;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.stereotype.Component;

/**
 * Refuses durations without a unit. Spring Boot reads a bare number as milliseconds, so a timeout
 * of {@code 1800}, meant in seconds, would cancel every order after 1.8 seconds. The properties of
 * Spring Boot keep their documented units.
 */
@Component
public final class DurationUnits implements ConfigurationPropertiesBindHandlerAdvisor {

  /** A duration is a bare number. */
  static final class MissingUnitException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private MissingUnitException(String value) {
      super("'" + value + "', which has no unit");
    }
  }

  private final ConfigurationPropertyName prefix;

  /** For the properties of the service. */
  public DurationUnits() {
    this("order-timeout");
  }

  /** For the properties below a prefix. */
  public DurationUnits(String prefix) {
    this.prefix = ConfigurationPropertyName.of(prefix);
  }

  @Override
  public BindHandler apply(BindHandler handler) {
    return new AbstractBindHandler(handler) {
      @Override
      public @Nullable Object onSuccess(
          ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        if (result instanceof Duration && prefix.isAncestorOf(name)) {
          requireUnit(context.getBinder().bind(name, Bindable.of(String.class)).orElse(""));
        }
        return super.onSuccess(name, target, context, result);
      }
    };
  }

  /** Checks the text of a duration, with its placeholders resolved. All units are letters. */
  private static void requireUnit(String value) {
    if (!value.isEmpty() && Character.isDigit(value.charAt(value.length() - 1))) {
      throw new MissingUnitException(value);
    }
  }
}
