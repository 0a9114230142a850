package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader;
import io.ordertimeout.orders.operator.DeadLetterCommands;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Dead letters: listed, looked at, published again. */
@RestController
@RequestMapping("/api/dead-letters")
class DeadLetterController {

  private static final int MOST = 500;
  private static final int LONGEST_VALUE = 1_000_000;

  /**
   * A dead letter to be published again.
   *
   * @param value what to publish instead of its value; its value if absent
   * @param reason why; stands in the audit
   */
  record Replay(
      @Size(max = LONGEST_VALUE) @Nullable String value,
      @NotBlank @Size(max = Reason.LONGEST) String reason) {}

  private final DeadLetterReader shelf;
  private final DeadLetterCommands commands;

  DeadLetterController(DeadLetterReader shelf, DeadLetterCommands commands) {
    this.shelf = shelf;
    this.commands = commands;
  }

  /** The dead-letter topics. */
  @GetMapping
  List<String> topics() {
    return shelf.topics();
  }

  /**
   * The last dead letters of a topic, the latest first; before, as {@code partition:offset}, tells
   * below which offsets of partitions to look.
   */
  @GetMapping("/{topic}")
  List<DeadLetterReader.Letter> latest(
      @PathVariable String topic,
      @RequestParam(defaultValue = "") List<String> before,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MOST) int limit) {
    requireDeadLetterTopic(topic);
    Map<Integer, Long> offsets = new TreeMap<>();
    for (String place : before) {
      String[] parts = place.split(":", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException("not partition:offset: " + place);
      }
      offsets.put(Integer.valueOf(parts[0]), Long.valueOf(parts[1]));
    }
    return shelf.latest(topic, offsets, limit);
  }

  /** One dead letter with its value. */
  @GetMapping("/{topic}/{partition}/{offset}")
  DeadLetterReader.Opened open(
      @PathVariable String topic, @PathVariable int partition, @PathVariable long offset) {
    requireDeadLetterTopic(topic);
    return shelf
        .open(topic, partition, offset)
        .orElseThrow(
            () ->
                new UnknownSubjectException(
                    "there is no dead letter %s-%d@%d".formatted(topic, partition, offset)));
  }

  /** Publishes a dead letter again where it came from. */
  @PostMapping(
      path = "/{topic}/{partition}/{offset}/replay",
      consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> replay(
      @PathVariable String topic,
      @PathVariable int partition,
      @PathVariable long offset,
      @Valid @RequestBody Replay replay,
      @RequestHeader(name = Answers.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return Answers.of(
        commands.replay(
            Answers.requester(who, key),
            topic,
            partition,
            offset,
            replay.value(),
            replay.reason()));
  }

  private void requireDeadLetterTopic(String topic) {
    if (!shelf.topics().contains(topic)) {
      throw new UnknownSubjectException(
          "'%s' is no dead-letter topic; those are %s".formatted(topic, shelf.topics()));
    }
  }
}
