package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.decoding.EventCheck;
import io.ordertimeout.orders.intake.decoding.EventCheck.CheckedRecord;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import io.ordertimeout.orders.operator.InvalidRequestException;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Shows how a shop's own records would be decoded, before it is connected. */
@RestController
@RequestMapping("/api/v1/events")
class EventCheckController {

  private static final int MAX_RECORDS = 10_000;

  /**
   * What would become of all records.
   *
   * @param counts how many would become what
   * @param records each of them
   */
  record CheckedRecords(Map<Result, Integer> counts, List<CheckedRecord> records) {}

  private final EventCheck check;
  private final DatabaseClock clock;

  EventCheckController(EventCheck check, DatabaseClock clock) {
    this.check = check;
    this.clock = clock;
  }

  /**
   * Decodes records with the current configuration; nothing is stored. The body has a JSON object
   * in each line, as {@code kcat -J} prints records: {@code topic}, {@code payload} and optional
   * {@code key}, {@code partition}, {@code ts} in milliseconds, and {@code headers}, a list of
   * names and values in turn. What is not text is in {@code payload_base64} or {@code key_base64}
   * instead.
   */
  @PostMapping(path = "/check", consumes = MediaType.TEXT_PLAIN_VALUE)
  CheckedRecords check(@RequestBody(required = false) @Nullable String lines) {
    if (lines == null || lines.isBlank()) {
      throw new InvalidRequestException(Problems.BODY, "has no records");
    }
    Map<Result, Integer> counts = new EnumMap<>(Result.class);
    List<CheckedRecord> records = check(lines.lines());
    if (records.size() > MAX_RECORDS) {
      throw new InvalidRequestException(Problems.BODY, "has more than " + MAX_RECORDS + " records");
    }
    records.forEach(record -> counts.merge(record.outcome().result(), 1, Integer::sum));
    return new CheckedRecords(counts, records);
  }

  private List<CheckedRecord> check(Stream<String> lines) {
    try {
      return check.check(lines, clock.now()).limit(MAX_RECORDS + 1).toList();
    } catch (IllegalArgumentException e) {
      throw new InvalidRequestException(Problems.BODY, String.valueOf(e.getMessage()));
    }
  }
}
