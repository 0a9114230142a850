package io.ordertimeout.orders.access;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The users {@code operator} and {@code viewer}, who log in with a password. They exist only if the
 * service neither accepts tokens nor uses an identity provider.
 */
final class LocalUsers {

  private static final Logger log = LoggerFactory.getLogger(LocalUsers.class);
  private static final int RANDOM_BYTES = 18;

  /**
   * A user.
   *
   * @param name the user's name
   * @param role what the user may do
   * @param password the password, or its hash with the algorithm in braces before it
   */
  record User(String name, Role role, String password) {

    boolean isHashed() {
      return password.startsWith("{");
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private final OrderTimeoutProperties.Access settings;

  LocalUsers(OrderTimeoutProperties.Access settings) {
    this.settings = settings;
  }

  /** Returns the users by name; generates the operator's password if none is configured. */
  Map<String, User> byName() {
    Map<String, User> users = new HashMap<>();
    add(users, Role.OPERATOR, orElse(settings.operatorPassword(), LocalUsers::generatePassword));
    String viewerPassword = settings.viewerPassword();
    if (viewerPassword != null && !viewerPassword.isBlank()) {
      add(users, Role.VIEWER, viewerPassword);
    }
    return Map.copyOf(users);
  }

  private static void add(Map<String, User> users, Role role, String password) {
    String name = role.name().toLowerCase(Locale.ROOT);
    users.put(name, new User(name, role, password));
  }

  private static String orElse(@Nullable String password, Supplier<String> other) {
    return password == null || password.isBlank() ? other.get() : password;
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
