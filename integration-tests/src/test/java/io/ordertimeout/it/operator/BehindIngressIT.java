package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.kubernetes.Chart;
import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the service knows of its clients with the configuration that the chart gives it. */
class BehindIngressIT {

  private static final int FAILURES = 10;

  /** The proxy of the tests, beside those that the chart trusts by default. */
  private static final String LOOPBACK_TOO =
      Chart.defaultValue("/trustedProxies") + ", 127.0.0.0/8";

  @AutoClose private final Scenario scenario = Scenario.create();

  static Stream<String> entrances() {
    return Stream.of(
        "ingress: {enabled: true, host: orders.example.com}",
        "httpRoute: {enabled: true, parentRefs: [{name: gateway}]}");
  }

  @ParameterizedTest
  @MethodSource("entrances")
  void oneClientCannotLockOutAnother(String entrance) {
    try (Service service = behind(entrance, LOOPBACK_TOO)) {
      guessPasswords(service);

      assertThat(from(service, "203.0.113.1").operator().get("/api/v1/overview").status())
          .isEqualTo(429);
      from(service, "203.0.113.2").operator().get("/api/v1/overview").assertOk();
    }
  }

  @ParameterizedTest
  @MethodSource("entrances")
  void cookiesAreForTlsOnlyIfTheBrowserUsesIt(String entrance) {
    try (Service service = behind(entrance, LOOPBACK_TOO)) {
      Http client = from(service, "203.0.113.1");

      assertThat(cookie(client.get("/api/v1/session"))).doesNotContain("Secure");
      assertThat(cookie(client.with("X-Forwarded-Proto", "https").get("/api/v1/session")))
          .contains("Secure");
    }
  }

  @Test
  void aClientThatIsNoProxyCannotStateAnotherAddress() {
    for (String others : List.of(Chart.defaultValue("/trustedProxies"), "10.1.2.0/24")) {
      try (Service service = behind(entrances().findFirst().orElseThrow(), others)) {
        guessPasswords(service);

        assertThat(from(service, "203.0.113.2").operator().get("/api/v1/overview").status())
            .isEqualTo(429);
      }
    }
  }

  private static void guessPasswords(Service service) {
    for (int i = 0; i < FAILURES; i++) {
      Http attacker = from(service, "203.0.113.1").as("operator", "guess" + i);
      assertThat(attacker.get("/api/v1/overview").status()).isEqualTo(401);
    }
  }

  private Service behind(String entrance, String trustedProxies) {
    String values = entrance + "\ntrustedProxies: \"" + trustedProxies + "\"\n";
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
