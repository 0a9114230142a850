package io.ordertimeout.orders.operator;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.order.OrderChanges.Made;
import io.ordertimeout.orders.suspension.Interruptions.Interruption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One move of an order's deadline: by an operator, by a change of the shop, or by an interruption.
 *
 * <p>Nothing is stored for the moves by interruptions, so that an outage costs no row per order:
 * they are derived from the present deadline, from what the audit log states before and after each
 * move by an operator or the shop, and from the interruptions themselves.
 *
 * @param at when it moved; an interruption moves a deadline once that is reached
 * @param before the deadline before
 * @param after the deadline after
 * @param action what an operator did; null if it was none
 * @param interruption the interruption; null if it was none. Without both, the shop changed the
 *     order
 */
record DeadlineMove(
    Instant at,
    Instant before,
    Instant after,
    @Nullable OperatorAction action,
    @Nullable Interruption interruption) {

  /** Returns all moves of an order's deadline, the earliest first. */
  static List<DeadlineMove> of(OrderFacts facts) {
    Instant createdAt = facts.order().createdAt();
    Instant deadline = facts.order().deadline();
    Deque<DeadlineMove> moves = new ArrayDeque<>();
    if (createdAt == null || deadline == null) {
      return List.of();
    }
    // Backwards, because the present deadline is the one that is known for sure.
    Instant after = deadline;
    Instant until = facts.extendedUntil();
    List<Stated> stated = stated(facts);
    for (int i = stated.size() - 1; i >= 0; i--) {
      DeadlineMove move = stated.get(i).move;
      Span span = new Span(stated.get(i).since, until, createdAt);
      addFirst(moves, span.moves(facts.interruptions(), move.after(), after));
      moves.addFirst(move);
      after = move.before();
      until = stated.get(i).extendedUntilBefore;
    }
    Span span = new Span(createdAt, until, createdAt);
    addFirst(moves, span.moves(facts.interruptions(), null, after));
    return List.copyOf(moves);
  }

  /**
   * A move that is stored.
   *
   * @param since since when interruptions move the deadline further
   * @param extendedUntilBefore the end of the last interruption or change before that moved it
   */
  private record Stated(DeadlineMove move, Instant since, @Nullable Instant extendedUntilBefore) {}

  private static List<Stated> stated(OrderFacts facts) {
    List<Stated> stated = new ArrayList<>();
    for (OperatorAction action : facts.actions()) {
      byOperator(action)
          .ifPresent(
              move ->
                  stated.add(
                      new Stated(
                          move,
                          action.at(),
                          instant(action.before(), "extendedUntil").orElse(null))));
    }
    Instant last = null;
    for (Made change : facts.changes()) {
      // Of changes that were made together, each states the move of all.
      if (!change.madeAt().equals(last)
          && !change.deadlineBefore().equals(change.deadlineAfter())) {
        DeadlineMove move =
            new DeadlineMove(
                change.madeAt(), change.deadlineBefore(), change.deadlineAfter(), null, null);
        stated.add(new Stated(move, change.changedAt(), change.extendedUntilBefore()));
      }
      last = change.madeAt();
    }
    stated.sort(Comparator.comparing(each -> each.move.at));
    return stated;
  }

  /** Returns the deadline of the order before anything moved it. */
  static @Nullable Instant first(@Nullable Instant deadline, List<DeadlineMove> moves) {
    return moves.isEmpty() ? deadline : moves.get(0).before();
  }

  /** Returns the move that an operator has made, if the action is one. */
  static Optional<DeadlineMove> byOperator(OperatorAction action) {
    Instant before = instant(action.before(), "deadline").orElse(null);
    Instant after = instant(action.after(), "deadline").orElse(null);
    return before == null || after == null || before.equals(after)
        ? Optional.empty()
        : Optional.of(new DeadlineMove(action.at(), before, after, action, null));
  }

  private static Optional<Instant> instant(@Nullable JsonNode state, String name) {
    String text = state == null ? "" : state.path(name).asString("");
    return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
  }

  private static void addFirst(Deque<DeadlineMove> moves, List<DeadlineMove> earlier) {
    for (int i = earlier.size() - 1; i >= 0; i--) {
      moves.addFirst(earlier.get(i));
    }
  }

  /**
   * A time in which neither an operator nor the shop moved the deadline.
   *
   * @param since its beginning
   * @param until the end of the last interruption in it that has moved the deadline, if one has
   * @param createdAt when the order was created
   */
  private record Span(Instant since, @Nullable Instant until, Instant createdAt) {

    /**
     * Returns the moves by interruptions.
     *
     * @param first the deadline at the beginning; null if it follows from the interruptions
     * @param last the deadline at the end
     */
    List<DeadlineMove> moves(
        List<Interruption> interruptions, @Nullable Instant first, Instant last) {
      if (until == null || last.equals(first)) {
        return List.of();
      }
      List<Interruption> applied =
          interruptions.stream()
              .filter(i -> i.endedAt().isAfter(since) && !i.endedAt().isAfter(until))
              .sorted(Comparator.comparing(Interruption::beganAt))
              .toList();
      List<Duration> lengths = lengths(applied);
      Instant before =
          first != null
              ? first
              : last.minus(lengths.stream().reduce(Duration.ZERO, Duration::plus));
      List<DeadlineMove> moves = new ArrayList<>();
      for (int i = 0; i < applied.size(); i++) {
        Interruption interruption = applied.get(i);
        Instant after = i == applied.size() - 1 ? last : before.plus(lengths.get(i));
        if (!after.equals(before)) {
          Instant at = before.isAfter(interruption.endedAt()) ? before : interruption.endedAt();
          moves.add(new DeadlineMove(at, before, after, null, interruption));
        }
        before = after;
      }
      return moves;
    }

    /** How much each adds to the ones before it; overlapping times count once. */
    private List<Duration> lengths(List<Interruption> applied) {
      List<Duration> lengths = new ArrayList<>();
      Instant reached = createdAt;
      for (Interruption interruption : applied) {
        Instant from = interruption.beganAt().isAfter(reached) ? interruption.beganAt() : reached;
        boolean adds = interruption.endedAt().isAfter(from);
        lengths.add(adds ? Duration.between(from, interruption.endedAt()) : Duration.ZERO);
        reached = adds ? interruption.endedAt() : reached;
      }
      return lengths;
    }
  }
}
