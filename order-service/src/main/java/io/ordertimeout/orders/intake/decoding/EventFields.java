package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.deadline.Amount;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Validated access to the fields of one JSON object. An invalid value raises an {@link
 * UnusableRecordException} that names the field and the value. A JSON null counts as absent.
 */
final class EventFields {

  private static final int MAX_TEXT_LENGTH = 256;
  private static final int MAX_EXCERPT_LENGTH = 80;
  private static final int MAX_DIGITS = 30;
  private static final int MAX_NUMBER_LENGTH = 100;
  private static final int MAX_SCALE = 10;
  private static final Pattern CURRENCY = Pattern.compile("[A-Za-z0-9]{1,10}");

  private final JsonNode root;
  private final boolean isRow;

  /**
   * @param isRow whether ids may be numbers, and times numbers of units since 1970
   */
  EventFields(JsonNode root, boolean isRow) {
    this.root = root;
    this.isRow = isRow;
  }

  /** A text of 1 to {@code maxLength} characters that Postgres can store, or null if absent. */
  @Nullable String text(String field, int maxLength) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (!node.isString() && !(isRow && node.isIntegralNumber())) {
      throw unusable(field, "is not a string", node);
    }
    String text = node.asString();
    int length = text.codePointCount(0, text.length());
    if (length < 1 || length > maxLength) {
      throw unusable(field, "has " + length + " characters, not 1 to " + maxLength, node);
    }
    if (text.codePoints().anyMatch(c -> c == 0 || (c >= 0xD800 && c <= 0xDFFF))) {
      throw unusable(field, "contains a NUL character or an unpaired surrogate", node);
    }
    return text;
  }

  /** A text of 1 to 256 characters, or null if absent. */
  @Nullable String text(String field) throws UnusableRecordException {
    return text(field, MAX_TEXT_LENGTH);
  }

  /** An ISO-8601 time with an offset, in whole microseconds, or null if absent. */
  @Nullable Instant instant(String field) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (isRow && node.canConvertToLong() && node.isIntegralNumber()) {
      Instant time = EpochTime.of(node.longValue());
      if (time == null) {
        throw unusable(field, "is no time in seconds or less since 1970", node);
      }
      return Micros.roundUp(time);
    }
    if (!node.isString()) {
      throw unusable(field, "is not a string with an ISO-8601 time", node);
    }
    try {
      return Micros.roundUp(OffsetDateTime.parse(node.stringValue()).toInstant());
    } catch (DateTimeException | ArithmeticException e) {
      throw unusable(field, "is not an ISO-8601 time with an offset", node);
    }
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
      return Duration.parse(node.stringValue());
    } catch (DateTimeException | ArithmeticException e) {
      throw unusable(field, "is not an ISO-8601 duration", node);
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
    // Parsing a number takes time quadratic in the length of its text.
    if (value.isString() && value.stringValue().length() > MAX_NUMBER_LENGTH) {
      throw unusable(field, "has a value of more than " + MAX_NUMBER_LENGTH + " characters", value);
    }
    try {
      BigDecimal decimal =
          value.isString() ? new BigDecimal(value.stringValue()) : value.decimalValue();
      if (decimal.precision() > MAX_DIGITS || Math.abs((long) decimal.scale()) > MAX_SCALE) {
        throw unusable(field, "has a value with too many digits", value);
      }
      return new Amount(decimal, currency.stringValue());
    } catch (tools.jackson.databind.exc.JsonNodeException | NumberFormatException e) {
      throw unusable(field, "has no usable value", value);
    }
  }

  private @Nullable JsonNode find(String field) {
    JsonNode node = at(field);
    return node.isMissingNode() || node.isNull() ? null : node;
  }

  private JsonNode at(String field) {
    return field.startsWith("/") ? root.at(field) : root.path(field);
  }

  private static UnusableRecordException unusable(String field, String fault, JsonNode node) {
    return new UnusableRecordException(field + " " + fault + ": " + excerpt(node));
  }

  // Bounded, because a value may be as large as a record of the topic.
  private static String excerpt(JsonNode node) {
    if (node.isContainer() || node.isMissingNode()) {
      return node.getNodeType().name().toLowerCase(Locale.ROOT);
    }
    if (!node.isString()) {
      return node.toString();
    }
    String text = node.stringValue();
    if (text.codePointCount(0, text.length()) <= MAX_EXCERPT_LENGTH) {
      return '"' + text + '"';
    }
    return '"' + text.substring(0, text.offsetByCodePoints(0, MAX_EXCERPT_LENGTH)) + '…';
  }
}
