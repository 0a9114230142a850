package io.ordertimeout.orders.platform.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatedDecimalTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0",
        "-12.50",
        "1e10",
        "1e-10",
        "0.0000000001",
        "99999999999999999999.9999999999",
        "999999999999999999999999999999"
      })
  void numbersOfFewDigitsKeepAllOfThem(String text) {
    assertThat(StatedDecimal.parse(text)).isEqualTo(new BigDecimal(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e-30000000",
        "1e30000000",
        "1e2147483647",
        "1e-2147483647",
        "1e11",
        "1e-11",
        "0e-11",
        "1000000000000000000000000000000"
      })
  void numbersOfManyDigitsAreRefused(String text) {
    assertThatThrownBy(() -> StatedDecimal.parse(text))
        .isInstanceOf(NumberFormatException.class)
        .hasMessage("has a value with too many digits");
    assertThatThrownBy(() -> StatedDecimal.bounded(new BigDecimal(text)))
        .isInstanceOf(NumberFormatException.class)
        .hasMessage("has a value with too many digits");
  }

  @Test
  void longTextsAreRefusedBeforeTheyAreParsed() {
    assertThat(StatedDecimal.parse("0".repeat(StatedDecimal.MAX_LENGTH))).isZero();
    for (int length : new int[] {StatedDecimal.MAX_LENGTH + 1, 100_000_000}) {
      assertThatThrownBy(() -> StatedDecimal.parse("9".repeat(length)))
          .isInstanceOf(NumberFormatException.class)
          .hasMessage("has a value of more than 100 characters");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " 1", "1 000", "12,50", "ten", "NaN", "0x10", "1e99999999999"})
  void otherTextsAreRefused(String text) {
    assertThatThrownBy(() -> StatedDecimal.parse(text))
        .isInstanceOf(NumberFormatException.class)
        .hasMessage("has no usable value");
  }
}
