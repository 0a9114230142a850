package io.ordertimeout.orders.platform.tracing;

import org.springframework.boot.micrometer.tracing.autoconfigure.ConditionalOnEnabledTracingExport;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration;
import org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.otlp.OtlpTracingAutoConfiguration;
import org.springframework.boot.opentelemetry.autoconfigure.OpenTelemetrySdkAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Spring Boot's tracer and its OTLP export, only if the export is enabled. They are excluded from
 * auto-configuration, which would create the tracer even if the export is off, and a span for every
 * Micrometer observation.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnEnabledTracingExport
@Import({
  OpenTelemetrySdkAutoConfiguration.class,
  OpenTelemetryTracingAutoConfiguration.class,
  OtlpTracingAutoConfiguration.class
})
public class TracingConfiguration {}
