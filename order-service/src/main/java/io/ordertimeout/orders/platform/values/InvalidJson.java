package io.ordertimeout.orders.platform.values;

import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;

/** Describes what is wrong with a JSON text, for its author. */
public final class InvalidJson {

  /** What the parser adds about its source, which it does not show. */
  private static final Pattern SOURCE =
      Pattern.compile(" \\(start marker at \\[Source: [^\\]]*\\]\\)");

  private InvalidJson() {}

  /** Returns what the parser has found, without where. */
  public static String problem(JacksonException invalid) {
    return SOURCE.matcher(String.valueOf(invalid.getOriginalMessage())).replaceAll("");
  }
}
