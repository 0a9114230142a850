package io.ordertimeout.orders.access.session;

import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.boot.session.autoconfigure.SessionTimeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.session.FindByIndexNameSessionRepository;
import org.springframework.session.Session;
import org.springframework.session.config.annotation.web.http.EnableSpringHttpSession;

/** Replaces the servlet container's sessions by those in Postgres. */
@Configuration(proxyBeanMethods = false)
@EnableSpringHttpSession
class SessionConfiguration {

  private static final int MAX_PER_USER = 20;

  @Bean
  SessionStore sessionStore(DataSource dataSource, SessionTimeout timeout) {
    return new SessionStore(
        dataSource, Objects.requireNonNull(timeout.getTimeout(), "has a default"));
  }

  @Bean
  SharedSessions<?> sharedSessions(SessionStore store) {
    return shared(store.sessions());
  }

  private static <S extends Session> SharedSessions<S> shared(
      FindByIndexNameSessionRepository<S> sessions) {
    return new SharedSessions<>(sessions, MAX_PER_USER);
  }
}
