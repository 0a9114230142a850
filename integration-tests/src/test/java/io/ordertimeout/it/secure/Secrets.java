package io.ordertimeout.it.secure;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.X509Bundle;
import java.util.List;

/** Secrets that no log may contain. */
record Secrets(List<String> words) {

  /** Creates secrets from passwords or parts of keys. */
  static Secrets of(String... words) {
    return new Secrets(List.of(words));
  }

  /** Returns a line of the key's PEM, which every text form of the key contains. */
  static String lineOf(X509Bundle bundle) {
    return bundle.getPrivateKeyPEM().lines().skip(1).findFirst().orElseThrow();
  }

  void assertNotIn(CharSequence log) {
    assertThat(log.toString())
        .doesNotContain("PRIVATE KEY")
        .doesNotContain(words.toArray(String[]::new));
  }
}
