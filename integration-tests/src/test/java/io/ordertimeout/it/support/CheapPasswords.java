package io.ordertimeout.it.support;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.crypto.password.DelegatingPasswordEncoder;
import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Hashes passwords at the lowest cost. Tests send them with every request, and hashing at the usual
 * cost took 40% of their processor time.
 */
final class CheapPasswords {

  private static final int LOWEST_STRENGTH = 4;

  private CheapPasswords() {}

  static PasswordEncoder encoder() {
    return new DelegatingPasswordEncoder(
        "bcrypt",
        Map.of("bcrypt", new BCryptPasswordEncoder(LOWEST_STRENGTH), "noop", new Plain()));
  }

  private static final class Plain implements PasswordEncoder {

    @Override
    public @Nullable String encode(@Nullable CharSequence password) {
      return password == null ? null : password.toString();
    }

    @Override
    public boolean matches(@Nullable CharSequence password, @Nullable String stored) {
      return password != null && password.toString().equals(stored);
    }
  }
}
