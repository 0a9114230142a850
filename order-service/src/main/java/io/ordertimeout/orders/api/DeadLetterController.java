package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.Correction;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.DeadLetter;
import io.ordertimeout.orders.intake.deadletter.DeadLetterReader.Position;
import io.ordertimeout.orders.operator.BulkResult;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.DeadLetterCommands;
import io.ordertimeout.orders.operator.DeadLetterReplays;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.util.List;
import java.util.Map;
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
import tools.jackson.databind.JsonNode;

/** Dead letters: list, read and replay. */
@RestController
@RequestMapping("/api/v1/dead-letters")
class DeadLetterController {

  private static final int MAX_GROUPED = 1_000;
  private static final int MAX_KEY_LENGTH = 128;
  private static final int MAX_VALUE_LENGTH = 1_000_000;

  /**
   * A dead-letter topic.
   *
   * @param topic its name
   */
  record DeadLetterTopic(String topic) {}

  /**
   * A dead letter that was published again.
   *
   * @param letter the dead letter
   * @param to the topic, partition and offset of the record that was published
   */
  record ReplayedDeadLetter(DeadLetterReader.DeadLetter letter, String to) {}

  /**
   * A request to replay a dead letter.
   *
   * @param key the key to publish, as text; if absent, that of the dead letter
   * @param value the value to publish; if absent, that of the dead letter
   * @param reason why it is replayed; recorded in the audit log
   */
  record ReplayRequest(
      @Size(min = 1, max = MAX_KEY_LENGTH) @Nullable String key,
      @Size(max = MAX_VALUE_LENGTH) @Nullable String value,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * The dead letters of a topic by their faults.
   *
   * @param data the groups
   * @param next always null: there is one page
   * @param letters how many dead letters were grouped
   * @param complete whether these are all dead letters of the topic
   */
  record Groups(
      List<DeadLetterReplays.Group> data, @Nullable String next, int letters, boolean complete) {}

  /**
   * Where a dead letter is.
   *
   * @param topic the dead-letter topic
   * @param partition its partition
   * @param offset its offset
   */
  record LetterPosition(
      @NotBlank @Size(max = 249) String topic,
      @NotNull @Min(0) Integer partition,
      @NotNull @Min(0) Long offset) {
    Position position() {
      return new Position(topic, partition, offset);
    }
  }

  /**
   * A request to replay dead letters as they are.
   *
   * @param positions the dead letters, in the order in which they are replayed
   * @param reason why they are replayed; recorded in the audit log
   */
  record BulkReplayRequest(
      @NotEmpty @Size(max = BulkResponses.MAX_ITEMS) List<@Valid @NotNull LetterPosition> positions,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * What became of one dead letter.
   *
   * @param topic the dead-letter topic
   * @param partition its partition
   * @param offset its offset
   * @param outcome whether it was published again
   * @param detail why it was not; null if it was
   * @param to the position of the new record; null if there is none
   */
  record LetterResult(
      String topic,
      int partition,
      long offset,
      BulkResult.Outcome outcome,
      @Nullable String detail,
      @Nullable String to) {

    static LetterResult of(BulkResult<Position> result) {
      Position position = result.item();
      OperatorAction action = result.action();
      return new LetterResult(
          position.topic(),
          position.partition(),
          position.offset(),
          result.outcome(),
          result.detail(),
          action == null || action.after() == null
              ? null
              : action.after().path("to").asString(null));
    }
  }

  private final DeadLetterReader reader;
  private final DeadLetterCommands commands;
  private final DeadLetterReplays replays;
  private final RequestLimit postgres;

  DeadLetterController(
      DeadLetterReader reader,
      DeadLetterCommands commands,
      DeadLetterReplays replays,
      RequestLimit postgres) {
    this.reader = reader;
    this.commands = commands;
    this.replays = replays;
    this.postgres = postgres;
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

  /**
   * The dead letters of a topic, latest first. With a fault, only those of the page that have it,
   * so a page may be empty although it has a next one.
   */
  @GetMapping("/{topic}")
  Page<DeadLetter> latest(
      @PathVariable String topic,
      @RequestParam(required = false) @Nullable String fault,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    requireDeadLetterTopic(topic);
    DeadLetterCursor cursor = DeadLetterCursor.parse(after);
    List<DeadLetter> found = reader.latest(topic, cursor.offsets(), limit + 1);
    List<DeadLetter> page = found.subList(0, Math.min(limit, found.size()));
    List<DeadLetter> wanted =
        page.stream().filter(letter -> fault == null || letter.fault().equals(fault)).toList();
    return new Page<>(
        postgres.within(() -> replays.mark(wanted)),
        found.size() > limit ? cursor.behind(page).text() : null);
  }

  /** The latest 1,000 dead letters of a topic by their faults, the most frequent first. */
  @GetMapping("/{topic}/groups")
  Groups groups(@PathVariable String topic) {
    requireDeadLetterTopic(topic);
    List<DeadLetter> found = reader.latest(topic, Map.of(), MAX_GROUPED + 1);
    List<DeadLetter> grouped = found.subList(0, Math.min(MAX_GROUPED, found.size()));
    return new Groups(
        postgres.within(() -> replays.group(grouped)),
        null,
        grouped.size(),
        found.size() <= MAX_GROUPED);
  }

  /** One dead letter with its value. */
  @GetMapping("/{topic}/{partition}/{offset}")
  DeadLetterReader.DeadLetterContent read(
      @PathVariable String topic, @PathVariable int partition, @PathVariable long offset) {
    requireDeadLetterTopic(topic);
    Position position = new Position(topic, partition, offset);
    return reader
        .read(position)
        .orElseThrow(() -> new UnknownSubjectException("there is no dead letter " + position));
  }

  /** Publishes a dead letter again, to the topic that it came from. */
  @PostMapping(
      path = "/{topic}/{partition}/{offset}/replay",
      consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<ReplayedDeadLetter> replay(
      @PathVariable String topic,
      @PathVariable int partition,
      @PathVariable long offset,
      @Valid @RequestBody ReplayRequest request,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    ChangeResult result =
        commands.replay(
            ChangeResponses.requester(user, key),
            new Position(topic, partition, offset),
            new Correction(request.key(), request.value()),
            request.reason());
    JsonNode replayed = result.action().after();
    String position = replayed == null ? "" : replayed.path("to").asString("");
    return ChangeResponses.of(
        result,
        reader
            .read(new Position(topic, partition, offset))
            .map(content -> new ReplayedDeadLetter(content.letter(), position)));
  }

  /** Publishes dead letters again as they are, to the topics that they came from. */
  @PostMapping(path = "/replay", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<BulkResponses.Results<LetterResult>> replayAll(
      @Valid @RequestBody BulkReplayRequest request,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    List<Position> positions =
        request.positions().stream().map(LetterPosition::position).distinct().toList();
    List<BulkResult<Position>> results =
        commands.replayAll(ChangeResponses.requester(user, key), positions, request.reason());
    return BulkResponses.of(results, results.stream().map(LetterResult::of).toList());
  }

  private void requireDeadLetterTopic(String topic) {
    if (!reader.topics().contains(topic)) {
      throw new UnknownSubjectException(
          "'%s' is not a dead-letter topic; the dead-letter topics are %s"
              .formatted(topic, reader.topics()));
    }
  }
}
