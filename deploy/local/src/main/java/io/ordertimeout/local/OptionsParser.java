package io.ordertimeout.local;

import io.ordertimeout.orders.DurationUnits;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.SimpleCommandLinePropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Reads {@link LocalOptions} from the command line, the system properties and the environment. */
final class OptionsParser {
  private OptionsParser() {}

  static LocalOptions parse(String... arguments) {
    ConfigurableEnvironment environment = new StandardEnvironment();
    environment.setConversionService(new ApplicationConversionService());
    MutablePropertySources sources = environment.getPropertySources();
    sources.addFirst(new SimpleCommandLinePropertySource(arguments));
    ConfigurationPropertySources.attach(environment);
    try {
      return Binder.get(environment)
          .bindOrCreate(
              "local",
              Bindable.of(LocalOptions.class),
              new NoUnboundElementsBindHandler(
                  new DurationUnits("local").apply(BindHandler.DEFAULT),
                  new UnboundElementsSourceFilter()));
    } catch (BindException e) {
      throw new InvalidOptionException(message(e));
    }
  }

  private static String message(BindException e) {
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof InvalidOptionException) {
        return String.valueOf(cause.getMessage());
      }
      if (cause instanceof UnboundConfigurationPropertiesException unknown) {
        return "Unknown option: " + names(unknown.getUnboundProperties());
      }
    }
    ConfigurationProperty property = e.getProperty();
    if (property == null) {
      return String.valueOf(e.getMessage());
    }
    return Duration.class.equals(e.getTarget().getType().resolve())
        ? property.getName() + " is not a duration such as 30s or 5m: " + property.getValue()
        : "Invalid value of " + property.getName() + ": " + property.getValue();
  }

  private static String names(Set<ConfigurationProperty> properties) {
    return properties.stream()
        .map(property -> property.getName().toString())
        .sorted()
        .collect(Collectors.joining(", "));
  }
}
