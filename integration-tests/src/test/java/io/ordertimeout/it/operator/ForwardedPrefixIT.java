package io.ordertimeout.it.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http;
import io.ordertimeout.it.support.Http.Answer;
import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The prefix that a proxy has stripped from the path, of trusted proxies and of anybody else. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForwardedPrefixIT {

  private static final String HEADER = "X-Forwarded-Prefix";

  @AutoClose private final Scenario scenario = Scenario.create();
  private final Service service =
      scenario.startService(
          "server.forward-headers-strategy", "native",
          "server.tomcat.remoteip.internal-proxies", "127.0.0.1",
          "server.servlet.context-path", "/orders");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/shop | /shop/orders",
        "/shop/ | /shop/orders",
        "/eu, /shop | /eu/shop/orders",
        "/v1.2/~a_b-c | /v1.2/~a_b-c/orders",
        "/ | /orders",
      })
  void thePrefixOfATrustedProxyIsPartOfEveryPathThatTheServiceStates(String prefix, String path) {
    Http http = service.http().with(HEADER, prefix);

    assertThat(cookiePath(http.get("/orders/api/v1/session"))).isEqualTo(path);
    Answer refused = http.operator().get("/orders/api/v1/orders", "limit", "0");
    assertThat(refused.json().path("instance").asString()).isEqualTo(path + "/api/v1/orders");
    http.viewer().get("/orders/api/v1/overview").assertOk();
  }

  @Test
  void theHeadersOfSeveralProxiesAreJoined() {
    Http http = service.http().with(HEADER, "/eu").with(HEADER, "/shop");

    assertThat(cookiePath(http.get("/orders/api/v1/session"))).isEqualTo("/eu/shop/orders");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "shop",
        "//evil.example",
        "/shop//",
        "/../shop",
        "/shop/..",
        "https://shop.example/",
        "/shop;a=b",
        "/shop%2Fadmin",
        "/<script>"
      })
  void aPrefixThatIsNoPathIsRefused(String prefix) {
    Answer answer = service.http().with(HEADER, prefix).get("/orders/api/v1/session");

    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.json().path("detail").asString()).contains(HEADER, prefix);
  }

  @Test
  void aPrefixOfAnybodyElseIsIgnored() {
    try (Service strict = scenario.startService("server.forward-headers-strategy", "native")) {
      for (String prefix : new String[] {"/shop", "no path"}) {
        Http http = strict.http().with(HEADER, prefix);

        assertThat(cookiePath(http.get("/api/v1/session"))).isEqualTo("/");
      }
    }
  }

  @Test
  void aRedirectNamesNeitherSchemeNorHost() {
    assertThat(service.http().get("/orders").header("Location")).isEqualTo("/orders/");
  }

  private static String cookiePath(Answer answer) {
    return answer.header("Set-Cookie").replaceFirst(".*; ?[Pp]ath=([^;]*).*", "$1");
  }
}
