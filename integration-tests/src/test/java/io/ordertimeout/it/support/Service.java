package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.ordertimeout.orders.OrderServiceApplication;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.slf4j.bridge.SLF4JBridgeHandler;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.type.classreading.CachingMetadataReaderFactory;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** The service in this JVM, seen from outside. */
public final class Service implements Instance, AutoCloseable {

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  static {
    // Contexts that start side by side would reset logging under each other; logback-test.xml holds
    // for all of them.
    System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE);
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }

  /** What Spring reads from class files; reading them is a tenth of what a start costs. */
  private static final MetadataReaderFactory CLASS_METADATA =
      new CachingMetadataReaderFactory(new DefaultResourceLoader()) {
        /** Each context that has started would clear it for the next. */
        @Override
        public void clearCache() {}
      };

  /** The bean that Spring Boot creates for each context, unless there is one of that name. */
  private static final String CLASS_METADATA_BEAN =
      "org.springframework.boot.autoconfigure.internalCachingMetadataReaderFactory";

  private final ConfigurableApplicationContext context;

  private Service(ConfigurableApplicationContext context) {
    this.context = context;
  }

  /**
   * Starts the service with interceptors around its beans, and returns when its context is up; it
   * may not be ready yet.
   *
   * @param interceptors the first of them innermost
   */
  public static Service start(Map<String, String> settings, List<BeanPostProcessor> interceptors) {
    return new Service(
        new SpringApplicationBuilder(OrderServiceApplication.class)
            .initializers(
                context -> interceptors.forEach(context.getBeanFactory()::addBeanPostProcessor),
                Service::shareClassMetadata)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .registerShutdownHook(false)
            .run(
                settings.entrySet().stream()
                    .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
                    .toArray(String[]::new)));
  }

  private static void shareClassMetadata(ConfigurableApplicationContext context) {
    ((BeanDefinitionRegistry) context.getBeanFactory())
        .registerBeanDefinition(
            CLASS_METADATA_BEAN,
            new RootBeanDefinition(MetadataReaderFactory.class, () -> CLASS_METADATA));
  }

  /** Whether it reports readiness. */
  public boolean isReady() {
    try {
      return readiness().statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** Its readiness report, with the state of each component, as JSON. */
  public String health() {
    try {
      return readiness().body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpResponse<String> readiness() throws IOException {
    String port = property("local.management.port");
    HttpRequest readiness =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + port + "/actuator/health/readiness"))
            .timeout(Duration.ofSeconds(30))
            .build();
    try {
      return HTTP.send(readiness, HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Waits until it reports that it is ready, or that it is not. */
  public void awaitReady(boolean ready) {
    await(ready ? "readiness" : "no readiness").until(() -> isReady() == ready);
  }

  @Override
  public int ownedShards() {
    return (int) gauge("order.timeout.owned.shards");
  }

  /** Waits until lost records hold expiry in that many shards. */
  public void awaitHeldShards(int shards) {
    await("expiry held in " + shards + " shards")
        .until(() -> gauge("order.timeout.expiry.held") == shards);
  }

  /** Its HTTP interface, without credentials. */
  public Http http() {
    return Http.at(Integer.parseInt(property("local.server.port")));
  }

  /** Its management port, without credentials. */
  public Http management() {
    return Http.at(Integer.parseInt(property("local.management.port")));
  }

  /** How late an order was cancelled, as the API says, in milliseconds. */
  public long lateByMillis(String orderId) {
    return http()
        .viewer()
        .get("/api/v1/order", "id", orderId)
        .json()
        .at("/order/lateByMillis")
        .longValue();
  }

  /** Makes an order due now, as an operator who asks for its cancellation. */
  public void makeDue(String orderId) {
    http()
        .operator()
        .post("/api/v1/order/cancel", Map.of("orderId", orderId, "reason", "due by a test"))
        .assertOk();
  }

  /** Pauses expiry with those settings, as an operator; returns the id of the pause. */
  public String pause(Map<String, ?> settings) {
    Map<String, Object> body = new HashMap<>(settings);
    body.put("reason", "the payment provider is down");
    return http().operator().post("/api/v1/pauses", body).assertOk().json().path("id").asString();
  }

  /** Ends a pause, as an operator. */
  public void endPause(String id) {
    http()
        .operator()
        .post("/api/v1/pauses/" + id + "/end", Map.of("reason", "it is up"))
        .assertOk();
  }

  private String property(String name) {
    return Objects.requireNonNull(context.getEnvironment().getProperty(name));
  }

  /** The sum of a gauge over those of its series that have the tags. */
  public double gauge(String name, String... tags) {
    return meters().find(name).tags(tags).gauges().stream().mapToDouble(Gauge::value).sum();
  }

  /** How often timers have recorded, over those of their series that have the tags. */
  public long timers(String name, String... tags) {
    return meters().find(name).tags(tags).timers().stream().mapToLong(Timer::count).sum();
  }

  /** The total of the times that the series of a timer have recorded. */
  public Duration timeInTimers(String name) {
    return Duration.ofNanos(
        (long)
            meters().find(name).timers().stream()
                .mapToDouble(timer -> timer.totalTime(TimeUnit.NANOSECONDS))
                .sum());
  }

  /** The sum of a counter over those of its series that have the tags. */
  public double counter(String name, String... tags) {
    return meters().find(name).tags(tags).counters().stream().mapToDouble(Counter::count).sum();
  }

  private MeterRegistry meters() {
    return context.getBean(MeterRegistry.class);
  }

  /** A part of it, for tests that drive it in ways that no input can. */
  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** Returns whether it was stopped. */
  boolean isClosed() {
    return !context.isActive();
  }

  /** Stops it gracefully. */
  @Override
  public void close() {
    context.close();
  }
}
