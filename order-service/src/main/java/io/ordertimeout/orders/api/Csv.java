package io.ordertimeout.orders.api;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Builds comma-separated values (RFC 4180). A text that a spreadsheet would take for a formula gets
 * an apostrophe before it. Not thread-safe.
 */
final class Csv {

  /** Also behind white space, which spreadsheets ignore. */
  private static final Pattern FORMULA =
      Pattern.compile("\\s*[=+\\-@\\t\\r\\n＝＋－＠].*", Pattern.DOTALL);

  private static final Pattern TO_BE_QUOTED = Pattern.compile("[\",\\r\\n]");

  private final StringBuilder text = new StringBuilder();
  private boolean inRecord;

  /** Adds a field with a text from outside; null is empty. */
  Csv text(@Nullable String value) {
    return add(value == null ? "" : FORMULA.matcher(value).matches() ? "'" + value : value);
  }

  /** Adds a field with a value of the service's own, such as a number or a time; null is empty. */
  Csv value(@Nullable Object value) {
    return add(value == null ? "" : value.toString());
  }

  private Csv add(String field) {
    if (inRecord) {
      text.append(',');
    }
    inRecord = true;
    if (TO_BE_QUOTED.matcher(field).find()) {
      text.append('"').append(field.replace("\"", "\"\"")).append('"');
    } else {
      text.append(field);
    }
    return this;
  }

  /** Ends the record. */
  Csv end() {
    text.append("\r\n");
    inRecord = false;
    return this;
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
