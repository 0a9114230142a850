package io.ordertimeout.orders.access;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

/**
 * What a session has to contain to belong to a user as configured now: for a local user, a text
 * derived from the password, so that another password ends the user's sessions. The derivation is
 * slow, so that a leaked session does not reveal the password. Thread-safe.
 */
final class SessionProof implements UnaryOperator<String> {

  private static final String DERIVATION = "PBKDF2WithHmacSHA256";
  private static final int ITERATIONS = 50_000;
  private static final int BITS = 128;

  /** Of users whom an identity provider has authenticated. */
  private static final String NOT_LOCAL = "-";

  private final Map<String, LocalUsers.User> users;
  private final Map<String, String> derived = new ConcurrentHashMap<>();

  /**
   * Creates it.
   *
   * @param users the local users by name
   */
  SessionProof(Map<String, LocalUsers.User> users) {
    this.users = users;
  }

  @Override
  public String apply(String name) {
    LocalUsers.User user = users.get(name);
    return user == null ? NOT_LOCAL : derived.computeIfAbsent(name, any -> derive(user));
  }

  private static String derive(LocalUsers.User user) {
    PBEKeySpec key =
        new PBEKeySpec(
            user.password().toCharArray(),
            ("order-timeout " + user.name()).getBytes(StandardCharsets.UTF_8),
            ITERATIONS,
            BITS);
    try {
      return Base64.getEncoder()
          .encodeToString(
              SecretKeyFactory.getInstance(DERIVATION).generateSecret(key).getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + DERIVATION, e);
    }
  }
}
