package io.ordertimeout.orders.access.session;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.SessionRepository;
import org.springframework.transaction.TransactionException;

/**
 * The sessions in Postgres, and a cache of those that this instance has read lately: users stay
 * logged in for a while when Postgres is unavailable, since operators need the console most in an
 * outage. A session that another instance has ended is accepted for as long. Thread-safe.
 *
 * @param <S> a session as the repository below keeps it
 */
public final class SharedSessions<S extends Session> implements SessionRepository<S> {

  private static final Logger log = LoggerFactory.getLogger(SharedSessions.class);

  /** The last access is stored with this precision, so that most requests write nothing. */
  private static final Duration ACCESS_PRECISION = Duration.ofMinutes(1);

  /** How long a session is accepted after Postgres has confirmed it. */
  private static final Duration REMEMBERED = Duration.ofMinutes(15);

  private static final int MAX_REMEMBERED = 1_000;

  private record Stored<S>(S session, Instant lastAccess, Map<String, Object> attributes) {

    static <S extends Session> Stored<S> of(S session) {
      return new Stored<>(session, session.getLastAccessedTime(), attributesOf(session));
    }

    boolean isCurrent(Session other) {
      return other.getLastAccessedTime().isBefore(lastAccess.plus(ACCESS_PRECISION))
          && attributes.equals(attributesOf(other));
    }

    private static Map<String, Object> attributesOf(Session session) {
      Map<String, Object> attributes = new HashMap<>();
      session
          .getAttributeNames()
          .forEach(name -> attributes.put(name, session.getRequiredAttribute(name)));
      return attributes;
    }
  }

  private final FindByIndexNameSessionRepository<S> stored;
  private final int maxPerUser;
  private final Cache<String, Stored<S>> remembered =
      Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).expireAfterWrite(REMEMBERED).build();

  /**
   * Creates it.
   *
   * @param stored the sessions in Postgres
   * @param maxPerUser how many sessions a user may have
   */
  SharedSessions(FindByIndexNameSessionRepository<S> stored, int maxPerUser) {
    this.stored = stored;
    this.maxPerUser = maxPerUser;
  }

  @Override
  public S createSession() {
    return stored.createSession();
  }

  /**
   * Returns a session.
   *
   * @throws SessionsUnavailableException if Postgres is unavailable and the session is not known to
   *     this instance
   */
  @Override
  public @Nullable S findById(String id) {
    S session;
    try {
      session = stored.findById(id);
    } catch (DataAccessException | TransactionException e) {
      Stored<S> known = remembered.getIfPresent(id);
      if (known == null || known.session().isExpired()) {
        throw new SessionsUnavailableException(e);
      }
      return known.session();
    }
    if (session == null) {
      remembered.invalidate(id);
    } else {
      remembered.put(id, Stored.of(session));
    }
    return session;
  }

  /**
   * Stores a session. That of a known session is put off if nothing but its last access has
   * changed.
   *
   * @throws SessionsUnavailableException if Postgres is unavailable and more has changed
   */
  @Override
  public void save(S session) {
    Stored<S> known = remembered.getIfPresent(session.getId());
    if (known != null && known.isCurrent(session)) {
      return;
    }
    try {
      stored.save(session);
    } catch (DataAccessException | TransactionException e) {
      if (known == null || !known.attributes().equals(Stored.of(session).attributes())) {
        throw new SessionsUnavailableException(e);
      }
      log.debug("The last access to a session is not stored: {}", e.toString());
    }
  }

  /**
   * Ends a session.
   *
   * @throws SessionsUnavailableException if Postgres is unavailable; the session goes on
   */
  @Override
  public void deleteById(String id) {
    try {
      stored.deleteById(id);
    } catch (DataAccessException | TransactionException e) {
      throw new SessionsUnavailableException(e);
    }
    remembered.invalidate(id);
  }

  /**
   * Makes room for one more session of a user: ends those that were not used for longest.
   *
   * @throws SessionsUnavailableException if Postgres is unavailable
   */
  void makeRoom(String user) {
    List<S> oldestFirst;
    try {
      oldestFirst =
          stored.findByPrincipalName(user).values().stream()
              .sorted(Comparator.comparing(Session::getLastAccessedTime))
              .toList();
    } catch (DataAccessException | TransactionException e) {
      throw new SessionsUnavailableException(e);
    }
    int surplus = oldestFirst.size() - (maxPerUser - 1);
    oldestFirst.stream()
        .limit(Math.max(0, surplus))
        .forEach(session -> deleteById(session.getId()));
  }
}
