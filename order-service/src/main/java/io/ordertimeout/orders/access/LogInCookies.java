package io.ordertimeout.orders.access;

import jakarta.servlet.http.Cookie;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.security.oauth2.client.autoconfigure.OAuth2ClientProperties;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseCookie;
import org.springframework.security.oauth2.client.web.AuthorizationRequestRepository;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.web.util.WebUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps what a log-in through an identity provider has to remember until the provider redirects the
 * browser back. It is kept in an encrypted cookie of that browser and not in a session, because
 * everybody can begin a log-in. The key is derived from the secrets of the clients, which all
 * instances share, so that any of them can complete the log-in; without a secret, it is this
 * instance's own. Thread-safe.
 */
final class LogInCookies implements AuthorizationRequestRepository<OAuth2AuthorizationRequest> {

  private static final String NAME = "order-timeout-log-in";
  private static final String PATH = "/login/oauth2/";
  private static final Duration MAX_AGE = Duration.ofMinutes(10);

  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final String MAC = "HmacSHA256";
  private static final int KEY_BYTES = 16;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;

  private record Begun(
      String authorizationUri,
      String clientId,
      String redirectUri,
      Set<String> scopes,
      String state,
      Map<String, String> attributes) {

    static Begun of(OAuth2AuthorizationRequest request) {
      Map<String, String> attributes = new TreeMap<>();
      request.getAttributes().forEach((name, value) -> attributes.put(name, String.valueOf(value)));
      return new Begun(
          request.getAuthorizationUri(),
          request.getClientId(),
          String.valueOf(request.getRedirectUri()),
          request.getScopes(),
          String.valueOf(request.getState()),
          attributes);
    }

    OAuth2AuthorizationRequest request() {
      return OAuth2AuthorizationRequest.authorizationCode()
          .authorizationUri(authorizationUri)
          .clientId(clientId)
          .redirectUri(redirectUri)
          .scopes(scopes)
          .state(state)
          .attributes(all -> all.putAll(attributes))
          .build();
    }
  }

  private final JsonMapper json;
  private final SecureRandom random = new SecureRandom();
  private final SecretKeySpec key;

  /**
   * Creates it.
   *
   * @param clients the clients of identity providers; null for none
   */
  LogInCookies(JsonMapper json, @Nullable OAuth2ClientProperties clients) {
    this.json = json;
    String secrets = clients == null ? "" : secrets(clients);
    this.key = new SecretKeySpec(secrets.isEmpty() ? random(KEY_BYTES) : derived(secrets), "AES");
  }

  private static String secrets(OAuth2ClientProperties clients) {
    return clients.getRegistration().values().stream()
        .map(OAuth2ClientProperties.Registration::getClientSecret)
        .filter(Objects::nonNull)
        .sorted()
        .collect(Collectors.joining("\n"));
  }

  private static byte[] derived(String secrets) {
    try {
      Mac mac = Mac.getInstance(MAC);
      mac.init(new SecretKeySpec(secrets.getBytes(StandardCharsets.UTF_8), MAC));
      return Arrays.copyOf(mac.doFinal(NAME.getBytes(StandardCharsets.UTF_8)), KEY_BYTES);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + MAC, e);
    }
  }

  @Override
  public @Nullable OAuth2AuthorizationRequest loadAuthorizationRequest(HttpServletRequest request) {
    Cookie cookie = WebUtils.getCookie(request, NAME);
    Begun begun = cookie == null ? null : decrypted(cookie.getValue());
    return begun == null || !begun.state().equals(request.getParameter("state"))
        ? null
        : begun.request();
  }

  @Override
  public void saveAuthorizationRequest(
      @Nullable OAuth2AuthorizationRequest begun,
      HttpServletRequest request,
      HttpServletResponse response) {
    if (begun == null) {
      write("", Duration.ZERO, request, response);
    } else {
      write(encrypted(Begun.of(begun)), MAX_AGE, request, response);
    }
  }

  @Override
  public @Nullable OAuth2AuthorizationRequest removeAuthorizationRequest(
      HttpServletRequest request, HttpServletResponse response) {
    OAuth2AuthorizationRequest begun = loadAuthorizationRequest(request);
    if (begun != null) {
      write("", Duration.ZERO, request, response);
    }
    return begun;
  }

  private static void write(
      String value, Duration maxAge, HttpServletRequest request, HttpServletResponse response) {
    response.addHeader(
        HttpHeaders.SET_COOKIE,
        ResponseCookie.from(NAME, value)
            .path(request.getContextPath() + PATH)
            .maxAge(maxAge)
            .httpOnly(true)
            .secure(request.isSecure())
            .sameSite("Lax")
            .build()
            .toString());
  }

  private String encrypted(Begun begun) {
    byte[] nonce = random(NONCE_BYTES);
    try {
      byte[] text = cipher(Cipher.ENCRYPT_MODE, nonce).doFinal(json.writeValueAsBytes(begun));
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(
              ByteBuffer.allocate(nonce.length + text.length).put(nonce).put(text).array());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java runtime has " + CIPHER, e);
    }
  }

  private @Nullable Begun decrypted(String value) {
    try {
      ByteBuffer bytes = ByteBuffer.wrap(Base64.getUrlDecoder().decode(value));
      byte[] nonce = new byte[NONCE_BYTES];
      if (bytes.remaining() <= nonce.length) {
        return null;
      }
      bytes.get(nonce);
      byte[] text = new byte[bytes.remaining()];
      bytes.get(text);
      return json.readValue(cipher(Cipher.DECRYPT_MODE, nonce).doFinal(text), Begun.class);
    } catch (IllegalArgumentException | GeneralSecurityException | JacksonException e) {
      return null; // written with another key
    }
  }

  private Cipher cipher(int mode, byte[] nonce) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    return cipher;
  }

  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
