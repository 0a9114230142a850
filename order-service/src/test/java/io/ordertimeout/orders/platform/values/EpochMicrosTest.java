package io.ordertimeout.orders.platform.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EpochMicrosTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0000-01-01T00:00:00Z",
        "1969-12-31T23:59:59.999999Z",
        "2026-11-20T20:54:03.123456Z",
        "9999-12-31T23:59:59.999999Z"
      })
  void timesInYearsOfFourDigitsAreReadAsTheyWereWritten(String time) {
    Instant instant = Instant.parse(time);

    assertThat(EpochMicros.parse(EpochMicros.text(instant))).isEqualTo(instant);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "9223372036854775807",
        "-9223372036854775808",
        "253402300800000000",
        "99999999999999999999",
        "1.5",
        ""
      })
  void whatIsNoSuchTimeIsRefused(String text) {
    assertThatThrownBy(() -> EpochMicros.parse(text)).isInstanceOf(NumberFormatException.class);
  }
}
