package io.ordertimeout.orders.platform.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatedTimeTest {

  /** The grammar, of which the reader makes no use. */
  private static final Pattern FORM =
      Pattern.compile(
          "(\\d{4}-\\d\\d-\\d\\d)[Tt ](\\d\\d):(\\d\\d)(?::(\\d\\d(?:[.,]\\d+)?))?"
              + "([Zz]|[+-]\\d\\d(?::?\\d\\d)?)?");

  private static final int MINUTE = 60;

  @Property(tries = 20_000, shrinking = ShrinkingMode.OFF)
  void readsWhatTheGrammarAndTheCalendarAllow(@ForAll long seed) {
    String text = text(new Random(seed));
    Instant expected;
    try {
      expected = model(text);
    } catch (DateTimeException e) {
      assertThatThrownBy(() -> StatedTime.parse(text))
          .as(text)
          .isInstanceOf(DateTimeException.class)
          .message()
          .matches("(is|states) .+");
      return;
    }
    StatedTime time = StatedTime.parse(text);
    assertThat(time.instant(null)).as(text).isEqualTo(hasOffset(text) ? expected : null);
    assertThat(time.instant(ZoneOffset.UTC)).as(text).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-28T22:00:00Z, 2026-11-28T22:00:00Z",
    "2026-11-28t22:00z, 2026-11-28T22:00:00Z",
    "2026-11-28 22:00:00.5+0130, 2026-11-28T20:30:00.5Z",
    "'2026-11-28T22:00:00,123-02', 2026-11-29T00:00:00.123Z",
    "2026-11-28T22:00:00+23:59, 2026-11-27T22:01:00Z",
    "2016-12-31T23:59:60Z, 2017-01-01T00:00:00Z",
    "2026-11-28T22:00:00.1234567890Z, 2026-11-28T22:00:00.123456789Z",
    "2026-11-28T22:00:00.1234567891Z, 2026-11-28T22:00:00.123456790Z",
    "2026-11-28T22:00:00.9999999999Z, 2026-11-28T22:00:01Z",
  })
  void readsAllForms(String text, Instant expected) {
    assertThat(StatedTime.parse(text).instant(null)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-28, is a date without a time of day",
    "'', is not an ISO-8601 time with an offset",
    "tomorrow, is not an ISO-8601 time with an offset",
    "2026-11-28T22, is not an ISO-8601 time with an offset",
    "2026-11-28T22:00:00+1, is not an ISO-8601 time with an offset",
    "2026-11-28T22:00:00+01:, is not an ISO-8601 time with an offset",
    "2026-11-28T22:00:00.Z, is not an ISO-8601 time with an offset",
    "2026-11-28T22:00.5Z, is not an ISO-8601 time with an offset",
    "2026-11-28T22:00:00Z., is not an ISO-8601 time with an offset",
    "2026-11-28T22:00:00٣Z, is not an ISO-8601 time with an offset",
    "2026-02-30T22:00:00Z, is no time that exists",
    "2026-11-28T24:00:00Z, is no time that exists",
    "2026-11-28T22:00:61Z, is no time that exists",
    "2026-11-28T22:00:00+01:60, states no offset that exists",
    "2026-11-28T22:00:00+24:00, states no offset that exists",
  })
  void saysWhatIsWrong(String text, String message) {
    assertThatThrownBy(() -> StatedTime.parse(text))
        .isInstanceOf(DateTimeException.class)
        .hasMessage(message);
  }

  /** A time, at least one that looks like one, often with a fault. */
  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    text.append(
        "%04d-%02d-%02d".formatted(random.nextInt(10_000), random.nextInt(14), random.nextInt(33)));
    text.append(one(random, "T", "t", " "));
    text.append("%02d:%02d".formatted(random.nextInt(25), random.nextInt(61)));
    if (random.nextInt(5) > 0) {
      text.append(":%02d".formatted(random.nextInt(62)));
      if (random.nextBoolean()) {
        text.append(one(random, ".", ","));
        for (int digits = random.nextInt(12); digits > 0; digits--) {
          text.append(one(random, "0", "9", String.valueOf(random.nextInt(10))));
        }
      }
    }
    text.append(
        one(
            random,
            "",
            "Z",
            "z",
            "+%02d".formatted(random.nextInt(26)),
            "-%02d%02d".formatted(random.nextInt(26), random.nextInt(62)),
            "+%02d:%02d".formatted(random.nextInt(26), random.nextInt(62))));
    if (random.nextInt(4) == 0) {
      int at = random.nextInt(text.length());
      text.replace(at, at + random.nextInt(2), one(random, "", "0", ":", "-", "+", "Z", ".", "x"));
    }
    return text.toString();
  }

  private static String one(Random random, String... texts) {
    return List.of(texts).get(random.nextInt(texts.length));
  }

  private static Instant model(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new DateTimeException("form");
    }
    BigDecimal second =
        new BigDecimal(Objects.requireNonNullElse(form.group(4), "0").replace(',', '.'));
    int hour = Integer.parseInt(form.group(2));
    int minute = Integer.parseInt(form.group(3));
    if (hour > 23 || minute > 59 || second.intValue() > 60) {
      throw new DateTimeException("time of day");
    }
    return Instant.ofEpochSecond(
            LocalDate.parse(form.group(1)).atTime(hour, minute).toEpochSecond(ZoneOffset.UTC))
        .minusSeconds((long) MINUTE * offsetMinutes(Objects.requireNonNullElse(form.group(5), "Z")))
        .plusNanos(second.setScale(9, RoundingMode.CEILING).movePointRight(9).longValueExact());
  }

  private static boolean hasOffset(String text) {
    Matcher form = FORM.matcher(text);
    return form.matches() && form.group(5) != null;
  }

  private static int offsetMinutes(String offset) {
    if (offset.equalsIgnoreCase("Z")) {
      return 0;
    }
    String digits = offset.substring(1).replace(":", "");
    int hours = Integer.parseInt(digits.substring(0, 2));
    int minutes = digits.length() == 2 ? 0 : Integer.parseInt(digits.substring(2));
    if (hours > 23 || minutes > 59) {
      throw new DateTimeException("offset");
    }
    return (offset.startsWith("-") ? -1 : 1) * (hours * MINUTE + minutes);
  }
}
