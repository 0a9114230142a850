package io.ordertimeout.orders.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.ordertimeout.orders.api.ClientAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.AuthenticationProvider;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.web.authentication.WebAuthenticationDetails;

/**
 * Checks the passwords of the local users, at a cost that no client can drive up: repeated failures
 * are limited by user and address, a password configured in plain text is never hashed, and one
 * configured as a hash is hashed at a bounded rate, and not again for a while after it was right.
 * Thread-safe.
 */
final class LocalUserAuthentication implements AuthenticationProvider {

  /** Time for which a right password is not hashed again. */
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  private static final Logger log = LoggerFactory.getLogger(LocalUserAuthentication.class);
  private static final String MAC = "HmacSHA256";
  private static final int KEY_BYTES = 32;
  private static final String UNKNOWN_USER = "";

  private final Map<String, LocalUsers.User> users;
  private final PasswordHashing hashing;
  private final LogInAttempts attempts;
  private final SecretKeySpec key;

  /** By user, the authentication code of the password that was last found right. */
  private final Cache<String, byte[]> right =
      Caffeine.newBuilder().expireAfterWrite(REMEMBERED).build();

  LocalUserAuthentication(
      Map<String, LocalUsers.User> users, PasswordHashing hashing, LogInAttempts attempts) {
    this.users = users;
    this.hashing = hashing;
    this.attempts = attempts;
    byte[] random = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(random);
    this.key = new SecretKeySpec(random, MAC);
  }

  @Override
  public boolean supports(Class<?> authentication) {
    return UsernamePasswordAuthenticationToken.class.isAssignableFrom(authentication);
  }

  @Override
  public Authentication authenticate(Authentication request) {
    LocalUsers.User user = users.get(request.getName());
    String password = request.getCredentials() instanceof String text ? text : "";
    String name = user == null ? UNKNOWN_USER : user.name();
    String address = address(request.getDetails());
    if (attempts.areUsedUp(name, address)) {
      throw tooManyFailures();
    }
    if (user == null || !isRightWithoutHashing(user, password)) {
      // Taken before the comparison, so that simultaneous attempts do not exceed their number.
      if (!attempts.take(name, address)) {
        throw tooManyFailures();
      }
      if (user == null || !user.isHashed() || !hasHash(user, password, address)) {
        warnIfUsedUp(name, address);
        throw new BadCredentialsException("wrong user name or password");
      }
      attempts.giveBack(name, address);
    }
    UsernamePasswordAuthenticationToken result =
        UsernamePasswordAuthenticationToken.authenticated(
            name, null, List.of(new SimpleGrantedAuthority("ROLE_" + user.role())));
    result.setDetails(request.getDetails());
    return result;
  }

  private boolean isRightWithoutHashing(LocalUsers.User user, String password) {
    byte[] expected = user.isHashed() ? right.getIfPresent(user.name()) : code(user.password());
    return expected != null && MessageDigest.isEqual(code(password), expected);
  }

  private boolean hasHash(LocalUsers.User user, String password, String address) {
    try {
      boolean matches = hashing.matches(password, user.password());
      if (matches) {
        right.put(user.name(), code(password));
      }
      return matches;
    } catch (RefusedLogInException e) {
      attempts.giveBack(user.name(), address);
      throw e;
    }
  }

  private void warnIfUsedUp(String name, String address) {
    if (attempts.areUsedUp(name, address)) {
      log.warn(
          "Too many failed log-ins from {} as {}; one attempt is regained every {}",
          address,
          name.equals(UNKNOWN_USER) ? "unknown users" : name,
          attempts.regain());
    }
  }

  private byte[] code(String password) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(key);
      return mac.doFinal(password.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + MAC, e);
    }
  }

  private RefusedLogInException tooManyFailures() {
    return new RefusedLogInException(
        HttpStatus.TOO_MANY_REQUESTS,
        "too many failed log-ins; try again in " + attempts.regain().toSeconds() + " s",
        attempts.regain());
  }

  private static String address(@Nullable Object details) {
    return details instanceof WebAuthenticationDetails web
        ? ClientAddress.group(web.getRemoteAddress())
        : "";
  }
}
