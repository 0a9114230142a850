package io.ordertimeout.it.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.ordertimeout.it.support.Http.Answer;

/**
 * A session of the console, as a browser keeps it.
 *
 * @param id what identifies the session
 * @param token what shows that a change is no request of another site
 */
public record ConsoleSession(String id, String token) {

  /** The cookie with the id. */
  public static final String COOKIE = "order-timeout-session";

  private static final String TOKEN_COOKIE = "XSRF-TOKEN";

  /** Logs in; fails if that is refused. */
  public static ConsoleSession begin(Http nobody, String user, String password) {
    Answer logIn = tryToBegin(nobody, user, password);
    assertThat(logIn.status()).as(logIn.response().body()).isEqualTo(204);
    String id = logIn.cookie(COOKIE);
    String token =
        nobody.with("Cookie", cookie(COOKIE, id)).get("/api/v1/session").cookie(TOKEN_COOKIE);
    return new ConsoleSession(id, token);
  }

  /** Tries to log in. */
  public static Answer tryToBegin(Http nobody, String user, String password) {
    String token = nobody.get("/api/v1/session").cookie(TOKEN_COOKIE);
    return nobody
        .with("Cookie", cookie(TOKEN_COOKIE, token))
        .with("X-XSRF-TOKEN", token)
        .form("/api/v1/session", "username", user, "password", password);
  }

  /** A client of any instance that is logged in by this session. */
  public Http at(Service service) {
    return service
        .http()
        .with("Cookie", cookie(COOKIE, id) + "; " + cookie(TOKEN_COOKIE, token))
        .with("X-XSRF-TOKEN", token);
  }

  /** Asks an instance who is logged in; an empty text if nobody is. */
  public String userAt(Service service) {
    return at(service).get("/api/v1/session").assertOk().json().path("name").asString("");
  }

  /** Logs out, once. */
  public Answer end(Service service) {
    return at(service).postText("/api/v1/session/end", "");
  }

  private static String cookie(String name, String value) {
    return name + "=" + value;
  }
}
