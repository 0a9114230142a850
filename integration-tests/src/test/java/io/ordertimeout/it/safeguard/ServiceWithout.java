package io.ordertimeout.it.safeguard;

import io.ordertimeout.orders.OrderServiceApplication;
import java.util.Arrays;
import java.util.Objects;
import org.springframework.boot.Banner;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.core.env.SimpleCommandLinePropertySource;

/**
 * Main class of a service that lacks the safeguards which the system property {@code
 * service.without} names, separated by commas.
 */
final class ServiceWithout {

  private ServiceWithout() {}

  public static void main(String[] args) {
    String closed =
        String.valueOf(
            new SimpleCommandLinePropertySource(args).getProperty("order-timeout.topics.closed"));
    SafeguardRemover safeguards = new SafeguardRemover(null, closed);
    String without = Objects.requireNonNull(System.getProperty("service.without"));
    Arrays.stream(without.split(",")).map(Safeguard::valueOf).forEach(safeguards::remove);
    new SpringApplicationBuilder(OrderServiceApplication.class)
        .initializers(
            context -> {
              safeguards.interceptors().forEach(context.getBeanFactory()::addBeanPostProcessor);
              safeguards
                  .outermostInterceptors()
                  .forEach(context.getBeanFactory()::addBeanPostProcessor);
            })
        .bannerMode(Banner.Mode.OFF)
        .run(args);
  }
}
