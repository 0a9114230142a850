package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.outbox.OutboxEvent;
import java.time.Instant;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Fields whose unusable values are left out or replaced, and counted. Not thread-safe. */
final class LenientFields {

  private final EventFields fields;
  private final Instant now;
  private final Set<String> replaced = new TreeSet<>();

  /**
   * @param now the time of the intake
   */
  LenientFields(EventFields fields, Instant now) {
    this.fields = fields;
    this.now = Micros.roundUp(now);
  }

  @Nullable String textOrNull(String field, int maxLength) {
    try {
      return fields.text(field, maxLength);
    } catch (UnusableRecordException e) {
      replaced.add(field);
      return null;
    }
  }

  /** A text that does not begin with the mark of a warning, which is none of a payment. */
  String paymentIdOrElse(String field, int maxLength, String replacement) {
    String text = textOrNull(field, maxLength);
    if (text != null && text.startsWith(OutboxEvent.WARNING_MARK)) {
      replaced.add(field);
      return replacement;
    }
    return text == null ? replacement : text;
  }

  @Nullable Amount amountOrNull(String field, @Nullable String currencyField) {
    try {
      return fields.amount(field, currencyField);
    } catch (UnusableRecordException e) {
      replaced.add(field);
      return null;
    }
  }

  /** A stated time; null if there is none that is usable. */
  @Nullable Instant timeOrNull(String field) {
    try {
      Instant time = fields.eventTime(field);
      if (time == null || Micros.isInRange(time)) {
        return time;
      }
    } catch (UnusableRecordException e) {
      // Left out, like a time that is out of bounds.
    }
    replaced.add(field);
    return null;
  }

  /**
   * The time of the record in place of one that is not stated or, if that is unusable, too, the
   * time of the intake, which is never too early.
   *
   * @param recordedAt the time of the record; null if it is unusable
   */
  Instant timeOfRecord(String field, @Nullable Instant recordedAt) {
    if (recordedAt != null) {
      return recordedAt;
    }
    replaced.add(field);
    return now;
  }

  Instant now() {
    return now;
  }

  Set<String> replaced() {
    return replaced;
  }
}
