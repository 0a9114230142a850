package io.ordertimeout.orders;

import io.ordertimeout.orders.intake.decoding.EventCheckCommand;
import java.util.Locale;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.autoconfigure.web.DataWebAutoConfiguration;
import org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration;
import org.springframework.boot.micrometer.tracing.autoconfigure.NoopTracerAutoConfiguration;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.otlp.OtlpTracingAutoConfiguration;
import org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration;
import org.springframework.boot.opentelemetry.autoconfigure.logging.OpenTelemetryLoggingAutoConfiguration;
import org.springframework.boot.security.autoconfigure.UserDetailsServiceAutoConfiguration;

/** The entry point of the order timeout service. */
@SpringBootApplication(
    proxyBeanMethods = false,
    exclude = {
      UserDetailsServiceAutoConfiguration.class,
      // No request has a parameter of Spring Data, such as a Pageable.
      DataWebAutoConfiguration.class,
      // See TracingConfiguration.
      MicrometerTracingAutoConfiguration.class,
      NoopTracerAutoConfiguration.class,
      OpenTelemetryTracingAutoConfiguration.class,
      OtlpTracingAutoConfiguration.class,
      OpenTelemetrySdkAutoConfiguration.class,
      OpenTelemetryLoggingAutoConfiguration.class
    })
@EnableConfigurationProperties(OrderTimeoutProperties.class)
public class OrderServiceApplication {

  /**
   * Starts the service with Spring Boot's command line arguments, or checks a file of events and
   * ends. Both work alike in every language of the machine, which would change the digits in
   * messages and in SQL.
   */
  public static void main(String[] args) {
    Locale.setDefault(Locale.ENGLISH);
    if (EventCheckCommand.isMeant(args)) {
      System.exit(EventCheckCommand.run(args));
    }
    SpringApplication.run(OrderServiceApplication.class, args);
  }
}
