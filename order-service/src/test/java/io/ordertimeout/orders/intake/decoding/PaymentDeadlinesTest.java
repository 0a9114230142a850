package io.ordertimeout.orders.intake.decoding;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class PaymentDeadlinesTest {

  private static final Instant NOW = Instant.parse("2026-05-01T12:00:00Z");

  private final PaymentDeadlines deadlines =
      new PaymentDeadlines(
          new Binder(
                  new MapConfigurationPropertySource(
                      Map.of(
                          "order-timeout.deadline.policies[0].name", "transfer",
                          "order-timeout.deadline.policies[0].payment-method", "Transfer",
                          "order-timeout.deadline.policies[0].timeout", "3d",
                          "order-timeout.deadline.policies[1].name", "web",
                          "order-timeout.deadline.policies[1].channel", "web",
                          "order-timeout.deadline.policies[1].timeout", "10m")))
              .bindOrCreate("order-timeout", OrderTimeoutProperties.class));

  @Test
  void policyAppliesInUpperAndLowerCase() throws UnusableRecordException {
    assertThat(policy(null, "transfer")).isEqualTo("transfer");
    assertThat(policy(null, "TRANSFER")).isEqualTo("transfer");
    assertThat(policy("WEB", "card")).isEqualTo("web");
    assertThat(policy("web ", "card")).isEqualTo("DEFAULT");
    assertThat(policy(null, null)).isEqualTo("DEFAULT");
  }

  private String policy(@Nullable String channel, @Nullable String paymentMethod)
      throws UnusableRecordException {
    return deadlines.of(NOW, true, NOW, null, null, channel, paymentMethod, null).policy();
  }
}
