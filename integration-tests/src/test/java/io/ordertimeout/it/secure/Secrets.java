package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.X509Bundle;
import java.util.List;

/** What no log may contain. */
record Secrets(List<String> words) {

  /** A password or part of a key. */
  static Secrets of(String... words) {
    return new Secrets(List.of(words));
  }

  /** A line of the key's PEM, which is in whatever form it is told. */
  static String lineOf(X509Bundle bundle) {
    return bundle.getPrivateKeyPEM().lines().skip(1).findFirst().orElseThrow();
  }

  void assertNotIn(CharSequence log) {
    assertThat(log.toString())
        .doesNotContain("PRIVATE KEY")
        .doesNotContain(words.toArray(String[]::new));
  }
}
