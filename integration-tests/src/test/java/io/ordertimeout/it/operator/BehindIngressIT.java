package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.kubernetes.Chart;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the service knows of its clients with the configuration that the chart gives it. */
class BehindIngressIT {

  private static final int FAILURES = 10;

  @AutoClose private final Scenario scenario = Scenario.create();

  static Stream<Map<String, Object>> entrances() {
    return Stream.of(
        Map.of("ingress.enabled", true, "ingress.host", "orders.example.com"),
        Map.of("httpRoute.enabled", true, "httpRoute.parentRefs[0].name", "gateway"));
  }

  @ParameterizedTest
  @MethodSource("entrances")
  void oneClientCannotLockOutAnother(Map<String, Object> entrance) {
    try (Service service = behind(entrance, "127.0.0.0/8")) {
      guessPasswords(service);

      assertThat(from(service, "203.0.113.1").operator().get("/api/v1/overview").status())
          .isEqualTo(429);
      from(service, "203.0.113.2").operator().get("/api/v1/overview").assertOk();
    }
  }

  @ParameterizedTest
  @MethodSource("entrances")
  void cookiesAreForTlsOnlyIfTheBrowserUsesIt(Map<String, Object> entrance) {
    try (Service service = behind(entrance, "127.0.0.0/8")) {
      Http client = from(service, "203.0.113.1");

      assertThat(cookie(client.get("/api/v1/session"))).doesNotContain("Secure");
      assertThat(cookie(client.with("X-Forwarded-Proto", "https").get("/api/v1/session")))
          .contains("Secure");
    }
  }

  @Test
  void aClientThatIsNoProxyCannotStateAnotherAddress() {
    try (Service service = behind(entrances().findFirst().orElseThrow(), "10.1.2.0/24")) {
      guessPasswords(service);

      assertThat(from(service, "203.0.113.2").operator().get("/api/v1/overview").status())
          .isEqualTo(429);
    }
  }

  private static void guessPasswords(Service service) {
    for (int i = 0; i < FAILURES; i++) {
      Http attacker = from(service, "203.0.113.1").as("operator", "guess" + i);
      assertThat(attacker.get("/api/v1/overview").status()).isEqualTo(401);
    }
  }

  private Service behind(Map<String, Object> entrance, String trustedProxies) {
    Map<String, Object> values = new HashMap<>(entrance);
    values.put("trustedProxies", trustedProxies);
    return scenario.startService(
        Chart.render(values).properties().entrySet().stream()
            .filter(property -> property.getKey().startsWith("server."))
            .flatMap(property -> Stream.of(property.getKey(), property.getValue()))
            .toArray(String[]::new));
  }

  private static Http from(Service service, String address) {
    return service.http().with("X-Forwarded-For", address);
  }

  private static String cookie(Answer answer) {
    return answer.header("Set-Cookie");
  }
}
