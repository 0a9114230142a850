package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.PaymentPolicy;
import io.ordertimeout.orders.intake.decoding.ExtractedEvent.RowWithoutSchema;
import io.ordertimeout.orders.order.Amount;
import io.ordertimeout.orders.platform.values.StatedDecimal;
import io.ordertimeout.orders.platform.values.StatedDuration;
import io.ordertimeout.orders.platform.values.StatedTime;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Validated access to the fields of one event. An invalid value raises an {@link
 * UnusableRecordException} that names the field and the value. A JSON null counts as absent.
 */
final class EventFields {

  private static final int MAX_EXCERPT_LENGTH = 80;

  /** Between these, a difference may be the offset of a zone: one hour to fourteen, about. */
  private static final Duration LEAST_ZONE = Duration.ofMinutes(45);

  private static final Duration GREATEST_ZONE = Duration.ofHours(15);

  private static final String WITHOUT_ZONE =
      "is a local time without an offset, and no zone is configured for its topic";

  private static final String MAYBE_LOCAL =
      ", so it may be a local time, and no zone is configured for its topic";

  private static final Pattern CURRENCY = Pattern.compile(PaymentPolicy.CURRENCY);

  private final ExtractedEvent event;
  private final @Nullable ZoneId zone;

  /**
   * @param zone the zone of times that are stated without one; null if nobody knows it
   */
  EventFields(ExtractedEvent event, @Nullable ZoneId zone) {
    this.event = event;
    this.zone = zone;
  }

  /** A text of 1 to {@code maxLength} characters that Postgres can store, or null if absent. */
  @Nullable String text(String field, int maxLength) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (!node.isString() && !(event.isTyped() && node.isIntegralNumber())) {
      throw unusable(field, "is not a string", node);
    }
    String text = node.asString();
    int length = text.codePointCount(0, text.length());
    if (length < 1 || length > maxLength) {
      throw unusable(field, "has " + length + " characters, not 1 to " + maxLength, node);
    }
    if (!isStorable(text)) {
      throw unusable(field, "contains a NUL character or an unpaired surrogate", node);
    }
    return text;
  }

  /** Whether Postgres can store the text: it has no NUL and no unpaired surrogate. */
  private static boolean isStorable(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.codePointAt(text, i) > Character.MAX_VALUE) {
        i++;
      } else if (c == 0 || Character.isSurrogate(c)) {
        return false;
      }
    }
    return true;
  }

  /** A time, in whole microseconds, or null if absent. */
  @Nullable Instant instant(String field) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (event.isTyped() && node.isIntegralNumber()) {
      return Micros.roundUp(counted(field, node));
    }
    if (!node.isString()) {
      throw unusable(field, "is not a string with an ISO-8601 time", node);
    }
    try {
      Instant time = StatedTime.parse(node.stringValue()).instant(zone);
      if (time == null) {
        throw unusable(field, WITHOUT_ZONE, node);
      }
      return Micros.roundUp(time);
    } catch (DateTimeException e) {
      throw unusable(field, String.valueOf(e.getMessage()), node);
    }
  }

  /**
   * The time at which the event happened, as {@link #instant}. In a row without a schema, it may be
   * a local time, which is off by hours from the insertion of the row.
   */
  @Nullable Instant eventTime(String field) throws UnusableRecordException {
    Instant time = instant(field);
    Instant insertedAt = insertionToCompare(field);
    if (time == null || insertedAt == null) {
      return time;
    }
    Duration off = Duration.between(time, insertedAt).abs();
    if (off.compareTo(LEAST_ZONE) > 0 && off.compareTo(GREATEST_ZONE) < 0) {
      throw unusable(
          field, "differs by " + off + " from the insertion of its row" + MAYBE_LOCAL, at(field));
    }
    return time;
  }

  /**
   * The time until which an order can be paid, as {@link #instant}. In a row without a schema, it
   * may be a local time, if it is over before the row was inserted.
   */
  @Nullable Instant payBy(String field) throws UnusableRecordException {
    Instant time = instant(field);
    Instant insertedAt = insertionToCompare(field);
    if (time != null && insertedAt != null && time.isBefore(insertedAt)) {
      throw unusable(field, "is before the insertion of its row" + MAYBE_LOCAL, at(field));
    }
    return time;
  }

  /** When the row was inserted; null if that tells nothing about the field's zone. */
  private @Nullable Instant insertionToCompare(String field) {
    RowWithoutSchema row = event.row();
    return row == null || zone != null || !at(field).isIntegralNumber() ? null : row.insertedAt();
  }

  private Instant counted(String field, JsonNode node) throws UnusableRecordException {
    Instant time = node.canConvertToLong() ? EpochTime.of(node.longValue()) : null;
    if (time == null) {
      throw unusable(
          field, "is no time from 2000 to 2999 in seconds, or smaller units, since 1970", node);
    }
    // Debezium counts times without a zone alone: those with one are text.
    return event.row() == null || zone == null
        ? time
        : LocalDateTime.ofInstant(time, ZoneOffset.UTC).atZone(zone).toInstant();
  }

  /** An ISO-8601 duration, or null if absent. */
  @Nullable Duration duration(String field) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (!node.isString()) {
      throw unusable(field, "is not a string with an ISO-8601 duration", node);
    }
    try {
      return StatedDuration.parse(node.stringValue());
    } catch (DateTimeException e) {
      throw unusable(field, String.valueOf(e.getMessage()), node);
    }
  }

  /**
   * An amount with a value and a currency, or null if absent.
   *
   * @param currencyField where the currency is; null if it is beside the value
   */
  @Nullable Amount amount(String field, @Nullable String currencyField)
      throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    JsonNode value = currencyField == null ? node.path("value") : node;
    JsonNode currency = currencyField == null ? node.path("currency") : at(currencyField);
    if (!currency.isString() || !CURRENCY.matcher(currency.stringValue()).matches()) {
      throw unusable(field, "has no usable currency", currency);
    }
    try {
      BigDecimal decimal =
          value.isString()
              ? StatedDecimal.parse(value.stringValue())
              : StatedDecimal.bounded(value.decimalValue());
      return new Amount(decimal, currency.stringValue());
    } catch (NumberFormatException e) {
      throw unusable(field, String.valueOf(e.getMessage()), value);
    } catch (tools.jackson.databind.exc.JsonNodeException e) {
      throw unusable(field, "has no usable value", value);
    }
  }

  /** What the order id may be, if it has no one meaning. */
  List<String> candidates(String field) {
    List<String> texts = new ArrayList<>();
    Unclear unclear = Unclear.of(at(field));
    if (unclear != null) {
      for (JsonNode candidate : unclear.candidates()) {
        if (candidate.isString() || candidate.isIntegralNumber()) {
          texts.add(candidate.asString());
        }
      }
    }
    return texts;
  }

  private @Nullable JsonNode find(String field) throws UnusableRecordException {
    JsonNode node = at(field);
    Unclear unclear = Unclear.of(node);
    if (unclear != null) {
      throw new UnusableRecordException(field + " " + unclear.fault());
    }
    return node.isMissingNode() || node.isNull() ? null : node;
  }

  private JsonNode at(String field) {
    return JsonTree.at(event.event(), field);
  }

  private static UnusableRecordException unusable(String field, String fault, JsonNode node) {
    return new UnusableRecordException(field + " " + fault + ": " + excerpt(node));
  }

  // Bounded, because a value may be as large as a record of the topic.
  static String excerpt(JsonNode node) {
    Unclear unclear = Unclear.of(node);
    if (unclear != null) {
      return unclear.fault();
    }
    if (node.isContainer() || node.isMissingNode()) {
      return node.getNodeType().name().toLowerCase(Locale.ROOT);
    }
    return node.isString() ? excerpt(node.stringValue()) : node.toString();
  }

  static String excerpt(String text) {
    if (text.codePointCount(0, text.length()) <= MAX_EXCERPT_LENGTH) {
      return '"' + text + '"';
    }
    return '"' + text.substring(0, text.offsetByCodePoints(0, MAX_EXCERPT_LENGTH)) + "...";
  }
}
