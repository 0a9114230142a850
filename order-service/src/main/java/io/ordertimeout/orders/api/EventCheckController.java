package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.decoding.EventCheck;
import io.ordertimeout.orders.intake.decoding.EventCheck.Outcome;
import io.ordertimeout.orders.intake.decoding.EventCheck.Result;
import io.ordertimeout.orders.intake.decoding.EventCheck.Sample;
import io.ordertimeout.orders.platform.postgres.DatabaseClock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Shows how a shop's own records would be decoded, before it is connected. */
@RestController
@RequestMapping("/api/events")
class EventCheckController {

  private static final int MAX_RECORDS = 10_000;

  /**
   * What would become of one record.
   *
   * @param line its line in the request, from 1
   * @param outcome what it would become
   */
  record CheckedRecord(int line, Outcome outcome) {}

  /**
   * What would become of all records.
   *
   * @param counts how many would become what
   * @param records each of them
   */
  record CheckedRecords(Map<Result, Integer> counts, List<CheckedRecord> records) {}

  private final EventCheck check;
  private final DatabaseClock clock;
  private final JsonMapper json;

  EventCheckController(EventCheck check, DatabaseClock clock, JsonMapper json) {
    this.check = check;
    this.clock = clock;
    this.json = json;
  }

  /**
   * Decodes records with the current configuration; nothing is stored. The body has a JSON object
   * in each line, as {@code kcat -J} prints records: {@code topic}, {@code payload} and optional
   * {@code key}, {@code partition}, {@code ts} in milliseconds, and {@code headers}, a list of
   * names and values in turn.
   */
  @PostMapping(path = "/check", consumes = MediaType.TEXT_PLAIN_VALUE)
  CheckedRecords check(@RequestBody(required = false) @Nullable String lines) {
    if (lines == null || lines.isBlank()) {
      throw new IllegalArgumentException("there are no records in the body");
    }
    Instant now = clock.now();
    Map<Result, Integer> counts = new EnumMap<>(Result.class);
    List<CheckedRecord> records = new ArrayList<>();
    int number = 0;
    for (String line : lines.split("\\R", -1)) {
      number++;
      if (line.isBlank()) {
        continue;
      }
      if (records.size() == MAX_RECORDS) {
        throw new IllegalArgumentException("there are more than " + MAX_RECORDS + " records");
      }
      Outcome outcome = check(number, sample(number, line, now), now);
      counts.merge(outcome.result(), 1, Integer::sum);
      records.add(new CheckedRecord(number, outcome));
    }
    return new CheckedRecords(counts, records);
  }

  private Outcome check(int number, Sample sample, Instant now) {
    try {
      return check.check(sample, now);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
    }
  }

  private Sample sample(int number, String line, Instant now) {
    JsonNode record;
    try {
      record = json.readTree(line);
    } catch (JacksonException e) {
      throw new IllegalArgumentException(
          "line " + number + " is not JSON: " + e.getOriginalMessage(), e);
    }
    if (!record.path("topic").isString()) {
      throw new IllegalArgumentException("line " + number + " has no topic");
    }
    JsonNode list = record.path("headers");
    Map<String, String> headers = new LinkedHashMap<>();
    for (int i = 0; i + 1 < list.size(); i += 2) {
      headers.put(list.path(i).asString(""), list.path(i + 1).asString(""));
    }
    return new Sample(
        record.path("topic").stringValue(),
        record.path("partition").asInt(0),
        record.path("ts").asLong(now.toEpochMilli()),
        text(record.path("key")),
        text(record.path("payload")),
        headers);
  }

  /** A value that is an object is a convenience for those who write records by hand. */
  private static @Nullable String text(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return null;
    }
    return node.isString() ? node.stringValue() : node.toString();
  }
}
