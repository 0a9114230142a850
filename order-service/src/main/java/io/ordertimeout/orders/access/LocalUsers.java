package io.ordertimeout.orders.access;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;

/**
 * The users {@code operator} and {@code viewer}, who log in with a password. They exist only if the
 * service neither accepts tokens nor uses an identity provider.
 */
final class LocalUsers {

  private static final Logger log = LoggerFactory.getLogger(LocalUsers.class);
  private static final int RANDOM_BYTES = 18;

  private final OrderTimeoutProperties.Access settings;

  LocalUsers(OrderTimeoutProperties.Access settings) {
    this.settings = settings;
  }

  UserDetailsService userDetailsService() {
    List<UserDetails> users = new ArrayList<>();
    users.add(
        user(
            Role.OPERATOR,
            isSet(settings.operatorPassword()) ? settings.operatorPassword() : generatePassword()));
    if (isSet(settings.viewerPassword())) {
      users.add(user(Role.VIEWER, settings.viewerPassword()));
    }
    return new InMemoryUserDetailsManager(users);
  }

  private static boolean isSet(@Nullable String password) {
    return password != null && !password.isBlank();
  }

  private static UserDetails user(Role role, @Nullable String password) {
    String encoded =
        password == null || password.startsWith("{")
            ? String.valueOf(password)
            : "{noop}" + password;
    return User.withUsername(role.name().toLowerCase(Locale.ROOT))
        .password(encoded)
        .roles(role.name())
        .build();
  }

  private static String generatePassword() {
    byte[] random = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(random);
    String password = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    log.warn(
        "No access is configured. Until this instance stops, log in as operator with the password"
            + " {} ; for anything but a trial, set order-timeout.access.operator-password or accept"
            + " tokens",
        password);
    return password;
  }
}
