package io.ordertimeout.it.kubernetes;

import io.ordertimeout.it.support.StrictYaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The table of the chart's values in its README: names, defaults and descriptions. */
final class ValuesTable {

  private static final Pattern DESCRIPTION = Pattern.compile("( *)# -- (.+)");
  private static final Pattern KEY = Pattern.compile("( *)(\\w+):.*");
  private static final int INDENTATION = 2;

  private ValuesTable() {}

  /**
   * Returns a row for each value that has a description ({@code # -- …}) above it.
   *
   * @throws IllegalArgumentException if a value has none
   */
  static List<String> rows(Path values) throws IOException {
    JsonNode defaults = StrictYaml.read(values);
    List<String> rows = new ArrayList<>();
    Deque<String> path = new ArrayDeque<>();
    @Nullable String description = null;
    int described = Integer.MAX_VALUE;
    for (String line : Files.readAllLines(values)) {
      Matcher comment = DESCRIPTION.matcher(line);
      Matcher key = KEY.matcher(line);
      if (comment.matches()) {
        description = comment.group(2);
      } else if (key.matches()) {
        int depth = key.group(1).length() / INDENTATION;
        if (depth > described) {
          continue; // part of the default of a value that is described as a whole
        }
        while (path.size() > depth) {
          path.removeLast();
        }
        path.addLast(key.group(2));
        described = Integer.MAX_VALUE;
        if (description != null) {
          JsonNode value = defaults.at("/" + String.join("/", path));
          rows.add(row(String.join(".", path), value, description));
          description = null;
          described = depth;
        } else if (!line.stripTrailing().endsWith(":")) {
          throw new IllegalArgumentException(
              String.format(Locale.ROOT, "%s has no description", String.join(".", path)));
        }
      }
    }
    return rows;
  }

  private static String row(String name, JsonNode value, String description) {
    String shown = value.isString() ? value.asString() : value.toString();
    return "| `%s` | %s | %s |"
        .formatted(name, shown.isEmpty() ? "" : "`" + shown + "`", description);
  }
}
