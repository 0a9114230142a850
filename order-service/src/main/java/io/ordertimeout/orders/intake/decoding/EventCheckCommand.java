package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.DurationUnits;
import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.intake.decoding.EventCheck.CheckedRecord;
import io.ordertimeout.orders.intake.decoding.EventCheck.Outcome;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.SchemaRegistry;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

/**
 * Shows what the records in a file would become with the configuration of the service, without
 * Kafka, Postgres or a running service. Only records in Avro need the schema registry. The file has
 * a record in each line, as {@code kcat -J} prints them.
 */
public final class EventCheckCommand {

  private static final String OPTION = "--check-events=";
  private static final int ALL_USABLE = 0;
  private static final int SOME_UNUSABLE = 1;
  private static final int NOT_CHECKED = 2;

  /** What decoding needs of the service. */
  @EnableConfigurationProperties(OrderTimeoutProperties.class)
  @Import({
    DurationUnits.class,
    EventCheck.class,
    EventDecoder.class,
    PaymentDeadlines.class,
    ValueDecoders.class,
    AvroDecoder.class,
    SchemaRegistry.class
  })
  static class Decoding {}

  private EventCheckCommand() {}

  /** Whether the command line asks for this instead of the service. */
  public static boolean isMeant(String... arguments) {
    return Arrays.stream(arguments).anyMatch(argument -> argument.startsWith(OPTION));
  }

  /**
   * Checks the file that the command line names; its other arguments configure the service.
   *
   * @return 0 if all records are usable, 1 if some are not, 2 if they could not be checked
   */
  public static int run(String... arguments) {
    return run(System.out, System.err, charsetOfStandardOutput(), arguments);
  }

  /** Java 17 knows only the platform's charset, which may be another one on Windows. */
  private static Charset charsetOfStandardOutput() {
    String nativeName = System.getProperty("native.encoding", "US-ASCII");
    String name = System.getProperty("stdout.encoding", nativeName);
    return Charset.isSupported(name) ? Charset.forName(name) : StandardCharsets.US_ASCII;
  }

  static int run(PrintStream out, PrintStream err, Charset charset, String... arguments) {
    String file =
        Arrays.stream(arguments)
            .filter(argument -> argument.startsWith(OPTION))
            .map(argument -> argument.substring(OPTION.length()))
            .reduce("", (first, last) -> last);
    try (Stream<String> lines = Files.lines(Path.of(file));
        ConfigurableApplicationContext context =
            new SpringApplicationBuilder(Decoding.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .run(arguments)) {
      Map<Result, Integer> counts = new EnumMap<>(Result.class);
      context
          .getBean(EventCheck.class)
          .check(lines, Clock.systemUTC().instant())
          .forEach(
              record -> {
                out.println(LogSanitizer.in(charset, text(record)));
                counts.merge(record.outcome().result(), 1, Integer::sum);
              });
      String summary = counts.isEmpty() ? "There are no records in " + file : summary(counts);
      out.println(LogSanitizer.in(charset, summary));
      return counts.containsKey(Result.DEAD_LETTER) ? SOME_UNUSABLE : ALL_USABLE;
    } catch (IOException | UncheckedIOException | InvalidPathException e) {
      err.println(LogSanitizer.in(charset, "Cannot read the records in '" + file + "': " + e));
    } catch (IllegalArgumentException | RetriableException e) {
      String fault = "Cannot check the records in '" + file + "': " + e.getMessage();
      err.println(LogSanitizer.in(charset, fault));
    } catch (BeansException e) {
      // Spring Boot has logged which setting is wrong.
      String fault = "Cannot check the records in '" + file + "' with these settings";
      err.println(LogSanitizer.in(charset, fault));
    }
    return NOT_CHECKED;
  }

  private static String text(CheckedRecord record) {
    Outcome outcome = record.outcome();
    return Stream.of(
            record.line() + ": " + name(outcome.result()),
            labelled("order ", outcome.orderId()),
            labelled("payment ", outcome.paymentId()),
            labelled("at ", outcome.at()),
            labelled("deadline ", outcome.deadline()),
            labelled("by ", outcome.policy()),
            outcome.replacedFields() == 0
                ? null
                : outcome.replacedFields() + " unusable fields are replaced",
            labelled("", outcome.fault()))
        .filter(Objects::nonNull)
        .collect(Collectors.joining(", "));
  }

  private static @Nullable String labelled(String label, @Nullable Object value) {
    return value == null ? null : label + LogSanitizer.of(value.toString());
  }

  private static String name(Result result) {
    return result.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String summary(Map<Result, Integer> counts) {
    return counts.entrySet().stream()
        .map(entry -> entry.getValue() + " " + name(entry.getKey()))
        .collect(Collectors.joining(", ", "In all: ", ""));
  }
}
