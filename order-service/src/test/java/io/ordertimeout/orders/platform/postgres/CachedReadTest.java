package io.ordertimeout.orders.platform.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A reader that reads only what has changed. */
class CachedReadTest {

  private @Nullable String fingerprint = "a";
  private long nanos;
  private final CachedRead watched = new CachedRead(() -> fingerprint, () -> nanos);
  private int readings;

  @Test
  void readsOnceAndThenAfterEachChange() {
    read();
    read();
    assertThat(readings).isEqualTo(1);

    fingerprint = "b";
    read();
    read();
    assertThat(readings).isEqualTo(2);
  }

  @Test
  void readsWithEveryCallWhileTheFingerprintIsUnknown() {
    read();
    fingerprint = null;
    read();
    read();
    assertThat(readings).isEqualTo(3);

    fingerprint = "a";
    read();
    assertThat(readings).isEqualTo(4);
  }

  @Test
  void readsAgainAfterAWhileEvenIfNothingSeemsToHaveChanged() {
    read();
    nanos += CachedRead.MAX_AGE.toNanos() - 1;
    read();
    assertThat(readings).isEqualTo(1);

    nanos++;
    read();
    assertThat(readings).isEqualTo(2);
  }

  @Test
  void repeatsAReadingThatDoesNotSucceed() {
    assertThat(watched.readIfChanged(() -> false)).isFalse();
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                watched.readIfChanged(
                    () -> {
                      throw new IllegalStateException("no answer");
                    }));

    read();
    assertThat(readings).isEqualTo(1);
  }

  @Test
  void readsAgainWhatHasChangedDuringTheReading() {
    watched.readIfChanged(
        () -> {
          fingerprint = "b";
          return true;
        });

    read();
    assertThat(readings).isEqualTo(1);
  }

  @Test
  void readsAgainWhatWasForgotten() {
    read();
    watched.forget();
    read();
    watched.forget();
    watched.readIfChanged(
        () -> {
          watched.forget();
          return true;
        });
    read();

    assertThat(readings).isEqualTo(3);
  }

  private void read() {
    assertThat(
            watched.readIfChanged(
                () -> {
                  readings++;
                  return true;
                }))
        .isTrue();
  }
}
