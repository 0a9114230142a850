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
 * The fields of one JSON object by their configured names: checked, or an {@link
 * UnusableRecordException} that names field and value. A JSON null counts as absent.
 */
final class EventFields {

  private static final int MAX_TEXT = 256;
  private static final int MAX_SHOWN = 80;
  private static final int MAX_DIGITS = 30;
  private static final int MAX_NUMBER = 100;
  private static final int MAX_SCALE = 10;
  private static final Pattern CURRENCY = Pattern.compile("[A-Za-z0-9]{1,10}");

  private final JsonNode root;

  EventFields(JsonNode root) {
    this.root = root;
  }

  /** Text of 1 to {@code maxLength} characters that Postgres can store, or null if absent. */
  @Nullable String text(String field, int maxLength) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    if (!node.isString()) {
      throw unusable(field, "is not a string", node);
    }
    String text = node.stringValue();
    int length = text.codePointCount(0, text.length());
    if (length < 1 || length > maxLength) {
      throw unusable(field, "has " + length + " characters, not 1 to " + maxLength, node);
    }
    if (text.codePoints().anyMatch(c -> c == 0 || (c >= 0xD800 && c <= 0xDFFF))) {
      throw unusable(field, "contains a NUL or half a surrogate pair", node);
    }
    return text;
  }

  /** Short text, or null if absent. */
  @Nullable String text(String field) throws UnusableRecordException {
    return text(field, MAX_TEXT);
  }

  /** An ISO-8601 time with an offset, in whole microseconds, or null if absent. */
  @Nullable Instant instant(String field) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
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

  /** An amount with value and currency, or null if absent. */
  @Nullable Amount amount(String field) throws UnusableRecordException {
    JsonNode node = find(field);
    if (node == null) {
      return null;
    }
    JsonNode value = node.path("value");
    JsonNode currency = node.path("currency");
    if (!currency.isString() || !CURRENCY.matcher(currency.stringValue()).matches()) {
      throw unusable(field, "has no usable currency", currency);
    }
    // Making a number of a text takes time quadratic in its length.
    if (value.isString() && value.stringValue().length() > MAX_NUMBER) {
      throw unusable(field, "has a value of more than " + MAX_NUMBER + " characters", value);
    }
    try {
      BigDecimal decimal =
          value.isString() ? new BigDecimal(value.stringValue()) : value.decimalValue();
      if (decimal.precision() > MAX_DIGITS || Math.abs((long) decimal.scale()) > MAX_SCALE) {
        throw unusable(field, "has a value of too many digits", value);
      }
      return new Amount(decimal, currency.stringValue());
    } catch (tools.jackson.databind.exc.JsonNodeException | NumberFormatException e) {
      throw unusable(field, "has no usable value", value);
    }
  }

  private @Nullable JsonNode find(String field) {
    JsonNode node = field.startsWith("/") ? root.at(field) : root.path(field);
    return node.isMissingNode() || node.isNull() ? null : node;
  }

  private static UnusableRecordException unusable(String field, String fault, JsonNode node) {
    return new UnusableRecordException(field + " " + fault + ": " + shown(node));
  }

  // Never more of a record than a few words: it may be as large as a topic allows.
  private static String shown(JsonNode node) {
    if (node.isContainer() || node.isMissingNode()) {
      return node.getNodeType().name().toLowerCase(Locale.ROOT);
    }
    if (!node.isString()) {
      return node.toString();
    }
    String text = node.stringValue();
    if (text.codePointCount(0, text.length()) <= MAX_SHOWN) {
      return '"' + text + '"';
    }
    return '"' + text.substring(0, text.offsetByCodePoints(0, MAX_SHOWN)) + '…';
  }
}
