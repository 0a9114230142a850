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
@RequestMapping("/api/v1/dead-letters")
class DeadLetterController {

  private static final int MAX_VALUE_LENGTH = 1_000_000;

  /**
   * A dead-letter topic.
   *
   * @param topic its name
   */
  record DeadLetterTopic(String topic) {}

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

  /** The dead-letter topics, by name. */
  @GetMapping
  Page<DeadLetterTopic> topics(
      @RequestParam(defaultValue = "") String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        reader.topics().stream()
            .filter(topic -> topic.compareTo(after) > 0)
            .map(DeadLetterTopic::new)
            .toList(),
        limit,
        DeadLetterTopic::topic);
  }

  /** The dead letters of a topic, latest first. */
  @GetMapping("/{topic}")
  Page<DeadLetterReader.DeadLetter> latest(
      @PathVariable String topic,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    requireDeadLetterTopic(topic);
    DeadLetterCursor cursor = DeadLetterCursor.parse(after);
    List<DeadLetterReader.DeadLetter> found = reader.latest(topic, cursor.offsets(), limit + 1);
    List<DeadLetterReader.DeadLetter> page = found.subList(0, Math.min(limit, found.size()));
    return new Page<>(page, found.size() > limit ? cursor.behind(page).text() : null);
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
