package io.ordertimeout.orders.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ordertimeout.orders.api.BoundedBody.LimitExceededException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletRequest;

class BoundedBodyTest {

  private static final Duration LONG = Duration.ofHours(1);

  @Test
  void aBodyUpToTheMaximumIsReadAsItIs() throws IOException {
    assertThat(body(10, 10, LONG).readAllBytes()).hasSize(10);
    assertThat(body(0, 10, LONG).read()).isEqualTo(-1);
    assertThat(body(1, 10, LONG).read()).isEqualTo('x');
  }

  @Test
  void aLargerBodyIsNotReadToItsEnd() {
    assertExceeded(body(11, 10, LONG), HttpStatus.CONTENT_TOO_LARGE);
  }

  @Test
  void aBodyIsNotReadAfterItsTime() {
    assertExceeded(body(10, 10, Duration.ZERO), HttpStatus.REQUEST_TIMEOUT);
  }

  private static void assertExceeded(InputStream body, HttpStatus status) {
    assertThatThrownBy(body::readAllBytes)
        .isInstanceOfSatisfying(
            LimitExceededException.class,
            exceeded -> assertThat(exceeded.status()).isEqualTo(status));
  }

  private static InputStream body(int size, long max, Duration timeout) {
    MockHttpServletRequest request = new MockHttpServletRequest();
    request.setContent("x".repeat(size).getBytes(StandardCharsets.UTF_8));
    try {
      return new BoundedBody(request, max, timeout).getInputStream();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
