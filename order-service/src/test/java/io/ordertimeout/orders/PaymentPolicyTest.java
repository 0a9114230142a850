package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.Year;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class PaymentPolicyTest {

  private static final Set<LocalDate> CHRISTMAS =
      Set.of(LocalDate.parse("2026-12-25"), LocalDate.parse("2026-12-26"));

  /** With and without daylight saving, also by half an hour, and with days that never were. */
  private static final List<ZoneId> ZONES =
      Stream.of(
              "Europe/Berlin",
              "America/New_York",
              "Australia/Lord_Howe",
              "Pacific/Apia",
              "Asia/Kolkata",
              "America/Sao_Paulo",
              "Africa/Cairo",
              "Z")
          .map(ZoneId::of)
          .toList();

  private static PaymentPolicy policy(
      @Nullable Duration timeout,
      @Nullable Integer businessDays,
      @Nullable String until,
      @Nullable String zone) {
    return policy("timeout", timeout, "business-days", businessDays, "until", until, "zone", zone);
  }

  /** Binds a policy as Spring Boot does. */
  private static PaymentPolicy policy(@Nullable Object... settings) {
    Map<String, String> properties = new HashMap<>(Map.of("policy.name", "policy"));
    for (int i = 0; i < settings.length; i += 2) {
      if (settings[i + 1] != null) {
        properties.put("policy." + settings[i], String.valueOf(settings[i + 1]));
      }
    }
    return new Binder(new MapConfigurationPropertySource(properties))
        .bind("policy", PaymentPolicy.class)
        .get();
  }

  private static PaymentPolicy forAmounts(@Nullable String above, @Nullable String upTo) {
    return policy(
        "timeout", "1m", "amount.above", above, "amount.up-to", upTo, "amount.currency", "EUR");
  }

  @ParameterizedTest
  @CsvSource({
    // Thursday to Monday, whatever the time of the day in the zone.
    "2026-07-02T00:00:00+02:00, 2, 2026-07-06T23:59:00+02:00",
    "2026-07-02T23:59:59+02:00, 2, 2026-07-06T23:59:00+02:00",
    // A Thursday in Berlin that is a Wednesday in UTC.
    "2026-07-01T22:30:00Z, 1, 2026-07-03T23:59:00+02:00",
    // Created at a weekend.
    "2026-07-04T12:00:00+02:00, 1, 2026-07-06T23:59:00+02:00",
    // Over Christmas, which is a Friday and a Saturday.
    "2026-12-24T12:00:00+01:00, 1, 2026-12-28T23:59:00+01:00",
    // Over the end of daylight saving, and over a leap day.
    "2026-10-23T12:00:00+02:00, 1, 2026-10-26T23:59:00+01:00",
    "2028-02-28T12:00:00+01:00, 1, 2028-02-29T23:59:00+01:00",
  })
  void businessDaysLeaveOutTheDayOfTheCreationWeekendsAndHolidays(
      String createdAt, int days, String deadline) {
    assertThat(policy(null, days, "23:59", "Europe/Berlin").deadline(instant(createdAt), CHRISTMAS))
        .isEqualTo(instant(deadline));
  }

  @ParameterizedTest
  @CsvSource({
    "2026-07-02T10:00:00+02:00, 24h, 2026-07-03T18:00:00+02:00",
    "2026-07-02T18:00:00+02:00, 24h, 2026-07-03T18:00:00+02:00",
    "2026-07-02T18:00:01+02:00, 24h, 2026-07-04T18:00:00+02:00",
    "2026-12-31T17:59:00+01:00, 1h, 2027-01-01T18:00:00+01:00",
  })
  void timeoutIsProlongedToTheTimeOfDay(String createdAt, String timeout, String deadline) {
    assertThat(
            policy(
                    Duration.parse("PT" + timeout.toUpperCase(Locale.ROOT)),
                    null,
                    "18:00",
                    "Europe/Berlin")
                .deadline(instant(createdAt), Set.of()))
        .isEqualTo(instant(deadline));
  }

  @Test
  void timeOfDayThatIsSkippedIsLaterAndOneThatIsRepeatedCountsTheSecondTime() {
    // On Friday, 24 April 2026, 0:00 is followed by 1:00; 30 October 2026 begins twice.
    assertThat(
            policy(null, 1, "00:30", "Africa/Cairo")
                .deadline(instant("2026-04-23T12:00:00+02:00"), Set.of()))
        .isEqualTo(instant("2026-04-24T01:30:00+03:00"));
    assertThat(
            policy(null, 1, "23:30", "Africa/Cairo")
                .deadline(instant("2026-10-28T12:00:00+03:00"), Set.of()))
        .isEqualTo(instant("2026-10-29T23:30:00+02:00"));
  }

  /** Compares business days with the days of the calendar, one after the other. */
  @Property(tries = 5_000, shrinking = ShrinkingMode.OFF)
  void businessDaysAreThoseOfTheCalendar(@ForAll long seed) {
    Random random = new Random(seed);
    Instant createdAt = instant(random);
    ZoneId zone = ZONES.get(random.nextInt(ZONES.size()));
    LocalTime until = LocalTime.of(random.nextInt(24), random.nextInt(60), random.nextInt(60));
    int days = 1 + random.nextInt(random.nextBoolean() ? 5 : 250);
    LocalDate created = createdAt.atZone(zone).toLocalDate();
    Set<LocalDate> holidays = new HashSet<>();
    for (int i = random.nextInt(10); i > 0; i--) {
      holidays.add(created.plusDays(random.nextInt(30)));
    }

    Instant deadline =
        policy(null, days, until.toString(), zone.getId()).deadline(createdAt, holidays);

    LocalDate last =
        Stream.iterate(created.plusDays(1), day -> day.plusDays(1))
            .filter(
                day ->
                    !EnumSet.of(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY).contains(day.getDayOfWeek())
                        && !holidays.contains(day))
            .skip(days - 1L)
            .findFirst()
            .orElseThrow();
    assertThat(deadline).isAfter(createdAt).isEqualTo(latest(last.atTime(until), zone));
  }

  /** Compares with the first day on which the time of day is not before the end of the timeout. */
  @Property(tries = 5_000, shrinking = ShrinkingMode.OFF)
  void prolongedTimeoutEndsAtTheFirstTimeOfDayBehindIt(@ForAll long seed) {
    Random random = new Random(seed);
    Instant createdAt = instant(random);
    ZoneId zone = ZONES.get(random.nextInt(ZONES.size()));
    LocalTime until = LocalTime.of(random.nextInt(24), random.nextInt(60));
    Duration timeout =
        Duration.ofSeconds(1 + random.nextInt(random.nextBoolean() ? 100_000 : 100_000_000));

    Instant deadline =
        policy(timeout, null, until.toString(), zone.getId()).deadline(createdAt, Set.of());

    Instant shortest = createdAt.plus(timeout);
    Instant expected =
        Stream.iterate(shortest.atZone(zone).toLocalDate(), day -> day.plusDays(1))
            .map(day -> latest(day.atTime(until), zone))
            .filter(time -> !time.isBefore(shortest))
            .findFirst()
            .orElseThrow();
    assertThat(deadline).isEqualTo(expected).isBefore(shortest.plus(Duration.ofHours(50)));
  }

  /** The instant of a local time: the later of two, and behind a gap as far as it is in it. */
  private static Instant latest(LocalDateTime local, ZoneId zone) {
    List<ZoneOffset> offsets = zone.getRules().getValidOffsets(local);
    return offsets.isEmpty()
        ? local.toInstant(zone.getRules().getTransition(local).getOffsetBefore())
        : local.toInstant(offsets.get(offsets.size() - 1));
  }

  /** Often at the end of a year or of February, within a century. */
  private static Instant instant(Random random) {
    Year year = Year.of(1990 + random.nextInt(100));
    LocalDate day =
        switch (random.nextInt(3)) {
          case 0 -> year.atMonth(12).atDay(25 + random.nextInt(7));
          case 1 -> year.atMonth(3).atDay(1).minusDays(random.nextInt(4));
          default -> year.atDay(1 + random.nextInt(365));
        };
    return day.atTime(LocalTime.ofSecondOfDay(random.nextInt(86_400))).toInstant(ZoneOffset.UTC);
  }

  private static Instant instant(String text) {
    return OffsetDateTime.parse(text).toInstant();
  }

  @ParameterizedTest
  @CsvSource({
    ", 50, 50, EUR, true",
    ", 50, 50.01, EUR, false",
    "50, , 50, EUR, false",
    "50, , 50.01, eur, true",
    "50, 100, 100, EUR, true",
    ", 50, 10, USD, false",
    ", 50, 10, , false",
    ", 50, , EUR, false",
  })
  void rangeExcludesItsBeginAndIncludesItsEnd(
      @Nullable String above,
      @Nullable String upTo,
      @Nullable BigDecimal amount,
      @Nullable String currency,
      boolean matches) {
    assertThat(forAmounts(above, upTo).matches(null, null, amount, currency)).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource({
    ", 100, , 50, true",
    ", 50, , 100, false",
    "10, , 50, , true",
    "50, , 10, , false",
    "10, 100, 10, 100, true",
    "10, 100, 10, , false",
    "10, 100, , 100, false",
  })
  void rangeCoversAnotherOne(
      @Nullable String above,
      @Nullable String upTo,
      @Nullable String otherAbove,
      @Nullable String otherUpTo,
      boolean covers) {
    assertThat(forAmounts(above, upTo).covers(forAmounts(otherAbove, otherUpTo))).isEqualTo(covers);
  }
}
