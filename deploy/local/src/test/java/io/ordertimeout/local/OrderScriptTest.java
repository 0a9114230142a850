package io.ordertimeout.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class OrderScriptTest {
  private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");
  private static final LocalOptions.Traffic OPTIONS =
      new LocalOptions.Traffic(
          true,
          20,
          Duration.ofSeconds(20),
          Duration.ofSeconds(60),
          Duration.ofMinutes(15),
          0.85,
          true,
          null);
  private static final int ORDERS = 50_000;
  private static final Set<OrderScript.Outcome> PAID_AFTER_THE_DEADLINE =
      Set.of(
          OrderScript.Outcome.PAID_LATE,
          OrderScript.Outcome.PAID_SLOWLY,
          OrderScript.Outcome.PAID_AFTER_CHANGE);

  @Test
  void theSameSeedGivesTheSameScripts() {
    assertThat(scripts(7, 200)).isEqualTo(scripts(7, 200)).isNotEqualTo(scripts(8, 200));
  }

  @Test
  void outcomesHaveTheirShares() {
    Map<OrderScript.Outcome, Integer> counts = new EnumMap<>(OrderScript.Outcome.class);
    scripts(1, ORDERS).forEach(script -> counts.merge(script.outcome(), 1, Integer::sum));

    assertThat(share(counts, OrderScript.Outcome.PAID)).isCloseTo(0.85 * 0.95 * 0.94, within(0.01));
    assertThat(share(counts, OrderScript.Outcome.PAID_JUST_IN_TIME))
        .isCloseTo(0.85 * 0.05, within(0.005));
    assertThat(share(counts, OrderScript.Outcome.PAID_SLOWLY))
        .isCloseTo(0.85 * 0.95 * 0.04, within(0.005));
    assertThat(share(counts, OrderScript.Outcome.PAID_AFTER_CHANGE))
        .isCloseTo(0.85 * 0.95 * 0.02, within(0.005));
    assertThat(share(counts, OrderScript.Outcome.PAYMENT_FAILED))
        .isCloseTo(0.15 * 0.1, within(0.003));
    assertThat(share(counts, OrderScript.Outcome.CLOSED))
        .isCloseTo(0.15 * 0.9 * 0.12, within(0.003));
    assertThat(share(counts, OrderScript.Outcome.PAID_LATE))
        .isCloseTo(0.15 * 0.9 * 0.04, within(0.002));
    assertThat(share(counts, OrderScript.Outcome.ABANDONED))
        .isCloseTo(0.15 * 0.9 * 0.84, within(0.01));
  }

  @Test
  void everyOrderIsCreatedWithATimeoutWithinTheBounds() {
    assertThat(scripts(2, 5_000))
        .allSatisfy(
            script -> {
              ShopEvent.Created created = created(script);
              assertThat(created.timeout())
                  .isBetween(
                      OPTIONS.timeoutMin(),
                      created.channel().equals("store")
                          ? OPTIONS.storeTimeoutMax()
                          : OPTIONS.timeoutMax());
              assertThat(script.deadline()).isEqualTo(created.createdAt().plus(created.timeout()));
            });
  }

  @Test
  void someOrdersComeDueInEachOfTheNextMinutes() {
    assertThat(
            scripts(6, 5_000).stream()
                .map(script -> Duration.between(NOW, script.deadline()).toMinutes())
                .distinct())
        .hasSize(15);
  }

  @Test
  void paymentsComeBeforeTheFirstDeadlineUnlessTheyAreMeantToComeLater() {
    assertThat(scripts(3, ORDERS))
        .allSatisfy(
            script ->
                payments(script)
                    .forEach(
                        paid -> {
                          if (PAID_AFTER_THE_DEADLINE.contains(script.outcome())) {
                            assertThat(paid.paidAt()).isAfter(script.deadline());
                          } else {
                            assertThat(paid.paidAt())
                                .isBetween(created(script).createdAt(), script.deadline());
                          }
                        }));
  }

  @Test
  void paymentDelaysAreSkewed() {
    List<Double> shares =
        scripts(4, ORDERS).stream()
            .filter(script -> script.outcome() == OrderScript.Outcome.PAID)
            .map(
                script ->
                    (double)
                            Duration.between(
                                    created(script).createdAt(),
                                    payments(script).findFirst().orElseThrow().paidAt())
                                .toMillis()
                        / created(script).timeout().toMillis())
            .sorted()
            .toList();
    double median = shares.get(shares.size() / 2);
    double mean = shares.stream().mapToDouble(Double::doubleValue).average().orElseThrow();

    assertThat(median).isCloseTo(0.2, within(0.01));
    assertThat(mean).isGreaterThan(median * 1.2);
  }

  @Test
  void someEventsAreDuplicatedAndSomeOutOfOrder() {
    List<OrderScript> scripts = scripts(5, ORDERS);
    long events = scripts.stream().mapToLong(script -> script.events().size()).sum();
    long distinct =
        scripts.stream()
            .mapToLong(
                script ->
                    script.events().stream().map(OrderScript.TimedEvent::event).distinct().count())
            .sum();
    long paidFirst = scripts.stream().filter(OrderScriptTest::paidFirst).count();

    assertThat((double) (events - distinct) / distinct).isCloseTo(0.02, within(0.003));
    assertThat((double) paidFirst / ORDERS).isCloseTo(0.85 * 0.95 * 0.94 * 0.01, within(0.003));
  }

  private static boolean paidFirst(OrderScript script) {
    return script.events().stream()
            .min(Comparator.comparing(OrderScript.TimedEvent::at))
            .orElseThrow()
            .event()
        instanceof ShopEvent.Paid;
  }

  private static List<OrderScript> scripts(long seed, int orders) {
    SplittableRandom random = new SplittableRandom(seed);
    return IntStream.range(0, orders)
        .mapToObj(order -> OrderScript.generate(random, OPTIONS, "o-" + order, NOW))
        .toList();
  }

  private static ShopEvent.Created created(OrderScript script) {
    return script.events().stream()
        .map(OrderScript.TimedEvent::event)
        .filter(ShopEvent.Created.class::isInstance)
        .map(ShopEvent.Created.class::cast)
        .findFirst()
        .orElseThrow();
  }

  private static Stream<ShopEvent.Paid> payments(OrderScript script) {
    return script.events().stream()
        .map(OrderScript.TimedEvent::event)
        .filter(ShopEvent.Paid.class::isInstance)
        .map(ShopEvent.Paid.class::cast);
  }

  private static double share(
      Map<OrderScript.Outcome, Integer> counts, OrderScript.Outcome outcome) {
    return counts.getOrDefault(outcome, 0) / (double) ORDERS;
  }
}
