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

/** Dead letters: list, read and replay. */
@RestController
@RequestMapping("/api/dead-letters")
class DeadLetterController {

  private static final int MAX_PAGE_SIZE = 500;
  private static final int MAX_VALUE_LENGTH = 1_000_000;

  /**
   * A request to replay a dead letter.
   *
   * @param value the value to publish; if absent, that of the dead letter
   * @param reason why it is replayed; recorded in the audit log
   */
  record ReplayRequest(
      @Size(max = MAX_VALUE_LENGTH) @Nullable String value,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  private final DeadLetterReader reader;
  private final DeadLetterCommands commands;

  DeadLetterController(DeadLetterReader reader, DeadLetterCommands commands) {
    this.reader = reader;
    this.commands = commands;
  }

  /** The dead-letter topics. */
  @GetMapping
  List<String> topics() {
    return reader.topics();
  }

  /**
   * The dead letters of a topic, latest first. Each {@code before} has the form {@code
   * partition:offset} and limits that partition to lower offsets.
   */
  @GetMapping("/{topic}")
  List<DeadLetterReader.DeadLetter> latest(
      @PathVariable String topic,
      @RequestParam(defaultValue = "") List<String> before,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MAX_PAGE_SIZE) int limit) {
    requireDeadLetterTopic(topic);
    Map<Integer, Long> offsets = new TreeMap<>();
    for (String position : before) {
      String[] parts = position.split(":", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException(
            "before does not have the form partition:offset: " + position);
      }
      offsets.put(Integer.valueOf(parts[0]), Long.valueOf(parts[1]));
    }
    return reader.latest(topic, offsets, limit);
  }

  /** One dead letter with its value. */
  @GetMapping("/{topic}/{partition}/{offset}")
  DeadLetterReader.DeadLetterContent read(
      @PathVariable String topic, @PathVariable int partition, @PathVariable long offset) {
    requireDeadLetterTopic(topic);
    return reader
        .read(topic, partition, offset)
        .orElseThrow(
            () ->
                new UnknownSubjectException(
                    "there is no dead letter %s-%d@%d".formatted(topic, partition, offset)));
  }

  /** Publishes a dead letter again, to the topic that it came from. */
  @PostMapping(
      path = "/{topic}/{partition}/{offset}/replay",
      consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> replay(
      @PathVariable String topic,
      @PathVariable int partition,
      @PathVariable long offset,
      @Valid @RequestBody ReplayRequest request,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return ChangeResponses.of(
        commands.replay(
            ChangeResponses.requester(user, key),
            topic,
            partition,
            offset,
            request.value(),
            request.reason()));
  }

  private void requireDeadLetterTopic(String topic) {
    if (!reader.topics().contains(topic)) {
      throw new UnknownSubjectException(
          "'%s' is not a dead-letter topic; the dead-letter topics are %s"
              .formatted(topic, reader.topics()));
    }
  }
}
