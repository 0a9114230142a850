package io.ordertimeout.orders.access;

import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.springframework.http.HttpStatus;
import org.springframework.security.crypto.password.PasswordEncoder;

/**
 * Compares passwords with hashes on a single thread that rests three times as long as it hashes, so
 * that log-ins never take more than a quarter of a core from the threads that decide on orders. A
 * few comparisons may wait; further ones are refused. Thread-safe.
 */
final class PasswordHashing {

  /** Number of comparisons that may wait for the one that is under way. */
  static final int MAX_WAITING = 8;

  private static final int REST_FACTOR = 3;
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final Duration RETRY_AFTER = Duration.ofSeconds(5);

  private final PasswordEncoder encoder;
  private final ThreadPoolExecutor thread =
      new ThreadPoolExecutor(
          1,
          1,
          1,
          TimeUnit.MINUTES,
          new ArrayBlockingQueue<>(MAX_WAITING),
          PasswordHashing::daemon);

  PasswordHashing(PasswordEncoder encoder) {
    this.encoder = encoder;
    thread.allowCoreThreadTimeOut(true);
  }

  private static Thread daemon(Runnable task) {
    Thread hashing = new Thread(task, "password-hashing");
    hashing.setDaemon(true);
    return hashing;
  }

  /**
   * Returns whether the password has this hash.
   *
   * @throws RefusedLogInException if too many comparisons are waiting
   */
  boolean matches(String password, String hash) {
    CompletableFuture<Boolean> result = new CompletableFuture<>();
    try {
      thread.execute(() -> compare(password, hash, result));
      return result.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException | TimeoutException e) {
      result.cancel(false);
      throw busy();
    } catch (ExecutionException e) {
      throw new IllegalStateException("the password could not be compared with its hash", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw busy();
    }
  }

  private void compare(String password, String hash, CompletableFuture<Boolean> result) {
    if (result.isDone()) {
      return; // the client has been refused
    }
    long start = System.nanoTime();
    try {
      result.complete(encoder.matches(password, hash));
    } catch (RuntimeException e) {
      result.completeExceptionally(e);
    }
    LockSupport.parkNanos(REST_FACTOR * (System.nanoTime() - start));
  }

  private static RefusedLogInException busy() {
    return new RefusedLogInException(
        HttpStatus.SERVICE_UNAVAILABLE,
        "too many log-ins at the same time; try again in " + RETRY_AFTER.toSeconds() + " s",
        RETRY_AFTER);
  }
}
