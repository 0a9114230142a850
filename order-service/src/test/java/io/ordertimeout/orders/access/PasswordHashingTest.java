package io.ordertimeout.orders.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.crypto.password.PasswordEncoder;

@Timeout(30)
class PasswordHashingTest {

  private static final int CLIENTS = 40;

  /** Hashes until it is allowed to end, and remembers how many passwords it hashed at once. */
  private static final class SlowEncoder implements PasswordEncoder {

    final CountDownLatch end = new CountDownLatch(1);
    final AtomicInteger underWay = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final AtomicInteger hashed = new AtomicInteger();

    @Override
    public @Nullable String encode(@Nullable CharSequence password) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean matches(@Nullable CharSequence password, @Nullable String hash) {
      most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
      hashed.incrementAndGet();
      try {
        assertThat(end.await(20, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        underWay.decrementAndGet();
      }
      return "right".contentEquals(String.valueOf(password));
    }
  }

  private final SlowEncoder encoder = new SlowEncoder();
  private final PasswordHashing hashing = new PasswordHashing(encoder);

  @Test
  void oneIsHashedAtATimeAndMostOfManyAreRefused() throws Exception {
    CountDownLatch refusedOnes = new CountDownLatch(CLIENTS - 1 - PasswordHashing.MAX_WAITING);
    List<FutureTask<Boolean>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      FutureTask<Boolean> client =
          new FutureTask<>(
              () -> {
                try {
                  return hashing.matches("wrong", "{slow}hash");
                } catch (RefusedLogInException e) {
                  refusedOnes.countDown();
                  throw e;
                }
              });
      clients.add(client);
      new Thread(client, "client").start();
    }
    assertThat(refusedOnes.await(20, TimeUnit.SECONDS)).isTrue();
    encoder.end.countDown();

    int refused = 0;
    for (FutureTask<Boolean> client : clients) {
      try {
        assertThat(client.get()).isFalse();
      } catch (ExecutionException e) {
        assertThat(e.getCause())
            .isInstanceOfSatisfying(
                RefusedLogInException.class,
                busy -> {
                  assertThat(busy.status()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
                  assertThat(busy.retryAfter()).isPositive();
                });
        refused++;
      }
    }
    assertThat(refused).isEqualTo(CLIENTS - 1 - PasswordHashing.MAX_WAITING);
    assertThat(encoder.most).hasValue(1);
  }

  @Test
  void aRightPasswordIsHashedOnceAndAPlainOneNever() {
    encoder.end.countDown();
    LocalUserAuthentication users =
        new LocalUserAuthentication(
            Map.of(
                "operator", new LocalUsers.User("operator", Role.OPERATOR, "{slow}hash"),
                "viewer", new LocalUsers.User("viewer", Role.VIEWER, "plain")),
            hashing,
            new LogInAttempts(10, Duration.ofMinutes(5), System::nanoTime));

    for (int i = 0; i < 3; i++) {
      assertThat(users.authenticate(request("operator", "right")).isAuthenticated()).isTrue();
      assertThat(users.authenticate(request("viewer", "plain")).getName()).isEqualTo("viewer");
    }
    assertThat(encoder.hashed).hasValue(1);
    for (String[] wrong :
        new String[][] {{"viewer", "{slow}hash"}, {"viewer", ""}, {"somebody", "right"}}) {
      assertThatThrownBy(() -> users.authenticate(request(wrong[0], wrong[1])))
          .isInstanceOf(BadCredentialsException.class);
    }
    assertThat(encoder.hashed).hasValue(1);
    assertThatThrownBy(() -> users.authenticate(request("operator", "wrong")))
        .isInstanceOf(BadCredentialsException.class);
    assertThat(users.authenticate(request("operator", "right")).isAuthenticated()).isTrue();
    assertThat(encoder.hashed).hasValue(2);
  }

  private static UsernamePasswordAuthenticationToken request(String user, String password) {
    return UsernamePasswordAuthenticationToken.unauthenticated(user, password);
  }
}
