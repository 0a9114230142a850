package io.ordertimeout.orders;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each table belongs to one package; others use the statements and conditions that it offers. */
class TableOwnershipTest {

  private static final Path SOURCES = Path.of("src/main/java/io/ordertimeout/orders");
  private static final Path MIGRATIONS = Path.of("src/main/resources/db/migration");

  private static final Pattern CREATED =
      Pattern.compile("^create (?:table|view) (\\w+)", Pattern.MULTILINE);

  private static final Pattern DROPPED =
      Pattern.compile("^drop (?:table|view) (.+);", Pattern.MULTILINE);

  // Text blocks and strings that name a table where SQL expects one.
  private static final String USE = "(?:from|join|into|update|view|table)\\s+%s\\b";

  private static final Map<String, String> OWNERS =
      Map.ofEntries(
          Map.entry("order_deadline", "order"),
          Map.entry("payment_without_effect", "order"),
          Map.entry("purge_horizon", "order"),
          Map.entry("outbox", "order"),
          Map.entry("intake_position", "position"),
          Map.entry("partition_count", "platform/kafka"),
          Map.entry("published_position", "position"),
          Map.entry("consumer_group_generation", "intake"),
          Map.entry("intake_stop", "intake"),
          Map.entry("suspension", "suspension"),
          Map.entry("parked_order", "suspension"),
          Map.entry("payment_attempt", "suspension"),
          Map.entry("order_change", "order"),
          Map.entry("shard_heartbeat", "suspension"),
          Map.entry("shard_outage", "suspension"),
          Map.entry("operator_action", "audit"),
          Map.entry("instance_report", "operator/status"),
          Map.entry("activity", "operator/status"));

  /** Spring Session uses them, by statements of its own. */
  private static final Set<String> OF_SPRING_SESSION =
      Set.of("console_session", "console_session_attributes");

  static Stream<String> tables() throws IOException {
    Set<String> tables = new TreeSet<>();
    Set<String> dropped = new TreeSet<>();
    for (Path migration : files(MIGRATIONS)) {
      Matcher created = CREATED.matcher(Files.readString(migration));
      while (created.find()) {
        tables.add(created.group(1));
      }
      Matcher drop = DROPPED.matcher(Files.readString(migration));
      while (drop.find()) {
        dropped.addAll(List.of(drop.group(1).split(", ")));
      }
    }
    assertThat(tables.removeAll(dropped)).isTrue();
    assertThat(tables.removeAll(OF_SPRING_SESSION)).isTrue();
    return tables.stream();
  }

  @ParameterizedTest
  @MethodSource("tables")
  void onlyTheOwnerUsesTheTable(String table) throws IOException {
    Pattern use = Pattern.compile(USE.formatted(table));
    Set<String> users = new TreeSet<>();
    for (Path source : files(SOURCES)) {
      if (use.matcher(Files.readString(source)).find()) {
        users.add(SOURCES.relativize(source.getParent()).toString().replace('\\', '/'));
      }
    }

    assertThat(users).containsExactly(OWNERS.get(table));
  }

  private static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }
}
