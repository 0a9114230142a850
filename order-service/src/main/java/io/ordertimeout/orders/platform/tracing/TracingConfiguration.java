package io.ordertimeout.orders.platform.tracing;

import org.springframework.boot.micrometer.tracing.autoconfigure.ConditionalOnEnabledTracingExport;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.otlp.OtlpTracingAutoConfiguration;
import org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Spring Boot's tracer and its export by OTLP, where they are switched on. They are excluded from
 * its auto-configuration, which makes the tracer all the same when its export is off, and a span of
 * whatever Micrometer observes.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnEnabledTracingExport
@Import({
  OpenTelemetrySdkAutoConfiguration.class,
  OpenTelemetryTracingAutoConfiguration.class,
  OtlpTracingAutoConfiguration.class
})
public class TracingConfiguration {}
