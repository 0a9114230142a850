package io.ordertimeout.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Compares the wheel with a map of deadlines after every step. */
class TimingWheelModelTest {

  private enum Kind {
    SCHEDULE,
    SCHEDULE_MANY_AT_ONCE,
    SCHEDULE_SPREAD,
    CANCEL,
    CANCEL_MANY,
    ADVANCE,
    ADVANCE_TO_NEXT,
    ADVANCE_TO_JUST_BEFORE_NEXT,
    ADVANCE_REJECTING,
    ADVANCE_THROWING,
    ADVANCE_REENTRANT,
    CATCH_UP
  }

  /** One step. Each kind ignores the values it does not need. */
  record Step(Kind kind, long id, long offsetMillis, int limit) {}

  private static final class Rejection extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @Property(tries = 1000)
  void behavesLikeAMapOfDeadlines(
      @ForAll("ticks") long tickMillis,
      @ForAll("times") long startMillis,
      @ForAll("steps") List<Step> steps) {
    Model model = new Model(tickMillis, startMillis);
    for (Step step : steps) {
      model.make(step);
      model.check();
    }
    model.drain();
  }

  @Provide
  Arbitrary<Long> ticks() {
    return Arbitraries.of(
        1L, 2L, 7L, 10L, 64L, 1000L, 1L << 40, Long.MAX_VALUE - 1, Long.MAX_VALUE);
  }

  @Provide
  Arbitrary<Long> times() {
    return Arbitraries.oneOf(
        Arbitraries.of(0L, -1L, -64L, 1_700_000_000_000L, (1L << 36) - 1, -(1L << 36)),
        Arbitraries.of(
            Long.MIN_VALUE, Long.MIN_VALUE + 5000, Long.MAX_VALUE, Long.MAX_VALUE - 5000),
        Arbitraries.longs());
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Long> ids =
        Arbitraries.oneOf(
            Arbitraries.longs().between(0, 40),
            Arbitraries.of(Long.MIN_VALUE, Long.MAX_VALUE, -1L));
    Arbitrary<Integer> limits = Arbitraries.of(1, 2, 3, 10, 100, Integer.MAX_VALUE);
    return Combinators.combine(Arbitraries.of(Kind.class), ids, offsets(), limits)
        .as(Step::new)
        .list()
        .ofMaxSize(40);
  }

  /** Zero, small steps, the edges of the levels and leaps, more often forward than back. */
  private static Arbitrary<Long> offsets() {
    Arbitrary<Long> edges =
        Combinators.combine(
                Arbitraries.integers().between(0, 62), Arbitraries.longs().between(-1, 1))
            .as((digit, nudge) -> (1L << digit) + nudge);
    Arbitrary<Long> forth =
        Arbitraries.oneOf(
            Arbitraries.of(0L, 1L, 63L, 64L, 900_000L),
            Arbitraries.longs().between(0, 5000),
            edges,
            Arbitraries.longs().greaterOrEqual(0));
    return Combinators.combine(forth, Arbitraries.of(1, 1, 1, -1))
        .as((offset, sign) -> offset * sign);
  }

  private static final class Model {
    private final BigInteger tick;
    private final TimingWheel wheel;
    private final Map<Long, Long> armed = new HashMap<>();

    /** Timers armed before a later tick was passed, which must therefore expire in tick order. */
    private final Set<Long> inOrder = new HashSet<>();

    private BigInteger latestPassed = BigInteger.valueOf(Long.MIN_VALUE);
    private BigInteger latestPassedInOrder = latestPassed;
    private long nowMillis;

    Model(long tickMillis, long startMillis) {
      tick = BigInteger.valueOf(tickMillis);
      wheel = new TimingWheel(tickMillis, startMillis);
      nowMillis = startMillis;
    }

    void make(Step step) {
      switch (step.kind) {
        case SCHEDULE -> schedule(step.id, plus(nowMillis, step.offsetMillis));
        case SCHEDULE_MANY_AT_ONCE -> {
          for (int i = 0; i < 150; i++) {
            schedule(step.id + i, plus(nowMillis, step.offsetMillis));
          }
        }
        case SCHEDULE_SPREAD -> {
          for (int i = 0; i < 70; i++) {
            schedule(step.id * 31 + i, plus(nowMillis, step.offsetMillis / 70 * i));
          }
        }
        case CANCEL -> cancel(step.id);
        case CANCEL_MANY -> {
          for (int i = 0; i < 140; i++) {
            cancel(step.id + i);
          }
        }
        case ADVANCE -> advance(plus(nowMillis, step.offsetMillis), step.limit, Kind.ADVANCE);
        case ADVANCE_TO_NEXT -> advance(wheel.nextDeadlineMillis(), step.limit, Kind.ADVANCE);
        case ADVANCE_TO_JUST_BEFORE_NEXT ->
            advance(plus(wheel.nextDeadlineMillis(), -1), step.limit, Kind.ADVANCE);
        case ADVANCE_REJECTING, ADVANCE_THROWING ->
            advance(plus(nowMillis, step.offsetMillis), step.limit, step.kind);
        // Without a limit, a handler that arms due timers again would never end.
        case ADVANCE_REENTRANT ->
            advance(plus(nowMillis, step.offsetMillis), Math.min(step.limit, 300), step.kind);
        case CATCH_UP -> catchUp(plus(nowMillis, step.offsetMillis));
      }
    }

    void check() {
      WheelInvariants.check(wheel);
      assertThat(wheel.size()).isEqualTo(armed.size());
      Map<Long, Long> seen = new HashMap<>();
      wheel.forEach(
          (id, deadlineMillis) -> {
            require(seen.put(id, deadlineMillis) == null, "passed once", id);
            return true;
          });
      assertThat(seen).isEqualTo(armed);
      for (long id : new long[] {0, 7, 40, -1, Long.MIN_VALUE}) {
        assertThat(wheel.contains(id)).isEqualTo(armed.containsKey(id));
      }
      long next = wheel.nextDeadlineMillis();
      if (armed.isEmpty()) {
        assertThat(next).isEqualTo(Long.MAX_VALUE);
      }
      BigInteger nextMillis = BigInteger.valueOf(next);
      for (long deadlineMillis : armed.values()) {
        require(
            dueAt(deadlineMillis).compareTo(nextMillis) >= 0, "next is not late", deadlineMillis);
      }
    }

    void drain() {
      catchUp(Long.MAX_VALUE);
      assertThat(armed).isEmpty();
      check();
    }

    private void schedule(long id, long deadlineMillis) {
      boolean isNew = armed.put(id, deadlineMillis) == null;
      if (dueAt(deadlineMillis).compareTo(latestPassed) >= 0) {
        inOrder.add(id);
      } else {
        inOrder.remove(id);
      }
      assertThat(wheel.schedule(id, deadlineMillis)).isEqualTo(isNew);
    }

    private void cancel(long id) {
      assertThat(wheel.cancel(id)).isEqualTo(armed.remove(id) != null);
    }

    private void catchUp(long toMillis) {
      int calls = armed.size() * 14 + 2;
      do {
        assertThat(calls--).as("calls left").isPositive();
        advance(toMillis, 1, Kind.ADVANCE);
      } while (wheel.size() > 0 && wheel.nextDeadlineMillis() <= toMillis);
      for (long deadlineMillis : armed.values()) {
        require(isAfter(dueAt(deadlineMillis), toMillis), "nothing due remains", deadlineMillis);
      }
    }

    private void advance(long toMillis, int limit, Kind kind) {
      nowMillis = toMillis;
      List<Long> passed = new ArrayList<>();
      int[] deliveredCount = {0};
      boolean threw = false;
      int returned = 0;
      try {
        returned =
            wheel.advance(
                toMillis,
                (id, deadlineMillis) -> {
                  passed.add(id);
                  require(Objects.equals(armed.get(id), deadlineMillis), "armed as scheduled", id);
                  BigInteger dueAt = dueAt(deadlineMillis);
                  require(dueAt.compareTo(BigInteger.valueOf(toMillis)) <= 0, "not early", id);
                  if (inOrder.contains(id)) {
                    require(dueAt.compareTo(latestPassedInOrder) >= 0, "in order", id);
                    latestPassedInOrder = dueAt;
                  }
                  latestPassed = latestPassed.max(dueAt);
                  require(wheel.contains(id), "armed while in the handler", id);
                  if (kind == Kind.ADVANCE_REENTRANT && reenter(id)) {
                    deliveredCount[0]++;
                    return true;
                  }
                  boolean last = passed.size() == 3;
                  if (last && kind == Kind.ADVANCE_THROWING) {
                    throw new Rejection();
                  }
                  if (last && kind == Kind.ADVANCE_REJECTING) {
                    return false;
                  }
                  armed.remove(id);
                  inOrder.remove(id);
                  deliveredCount[0]++;
                  return true;
                },
                limit);
      } catch (Rejection e) {
        threw = true;
      }
      if (!threw) {
        assertThat(returned).isEqualTo(deliveredCount[0]);
      }
      assertThat(passed).hasSizeLessThanOrEqualTo(limit);
      if (passed.size() < 3 && wheel.nextDeadlineMillis() > toMillis) {
        for (long deadlineMillis : armed.values()) {
          require(isAfter(dueAt(deadlineMillis), toMillis), "nothing due remains", deadlineMillis);
        }
      }
    }

    /** Changes the wheel from within the handler. Returns true if it changed the given timer. */
    private boolean reenter(long id) {
      switch ((int) (id & 3)) {
        case 0 -> {
          cancel(id);
          return true;
        }
        case 1 -> {
          schedule(id, plus(nowMillis, 100_000));
          return true;
        }
        case 2 -> {
          cancel(id + 1);
          schedule(id + 1000, plus(nowMillis, id));
          return false;
        }
        default -> {
          return false;
        }
      }
    }

    /** The first multiple of the tick at or after the deadline, limited to the end of time. */
    private BigInteger dueAt(long deadlineMillis) {
      BigInteger[] quotient = BigInteger.valueOf(deadlineMillis).divideAndRemainder(tick);
      BigInteger ticks = quotient[1].signum() > 0 ? quotient[0].add(BigInteger.ONE) : quotient[0];
      return ticks.multiply(tick).min(BigInteger.valueOf(Long.MAX_VALUE));
    }

    /** Cheaper than an assertion library, because it runs for every timer after every step. */
    private static void require(boolean holds, String requirement, long value) {
      if (!holds) {
        throw new AssertionError("violated: " + requirement + ": " + value);
      }
    }

    private static boolean isAfter(BigInteger dueAt, long millis) {
      return dueAt.compareTo(BigInteger.valueOf(millis)) > 0;
    }

    private static long plus(long millis, long offsetMillis) {
      BigInteger sum = BigInteger.valueOf(millis).add(BigInteger.valueOf(offsetMillis));
      return sum.max(BigInteger.valueOf(Long.MIN_VALUE))
          .min(BigInteger.valueOf(Long.MAX_VALUE))
          .longValueExact();
    }
  }
}
