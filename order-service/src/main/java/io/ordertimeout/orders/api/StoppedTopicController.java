package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.IntakeStops;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.DeadLetterCommands;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.security.Principal;
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

/** The input topics that are not read on, because most of their records are unusable. */
@RestController
@RequestMapping("/api/v1/stopped-topics")
class StoppedTopicController {

  private final IntakeStops stops;
  private final DeadLetterCommands commands;

  StoppedTopicController(IntakeStops stops, DeadLetterCommands commands) {
    this.stops = stops;
    this.commands = commands;
  }

  /** The topics that are not read on, by name. */
  @GetMapping
  @Reading
  Page<IntakeStops.Stop> stopped(
      @RequestParam(defaultValue = "") String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        stops.inForce().stream().filter(stop -> stop.topic().compareTo(after) > 0).toList(),
        limit,
        IntakeStops.Stop::topic);
  }

  /** Lets unusable records of a topic become dead letters for an hour. */
  @PostMapping(path = "/{topic}/permit-dead-letters", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<IntakeStops.Stop> permit(
      @PathVariable String topic,
      @Valid @RequestBody Reason reason,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    ChangeResult result =
        commands.permit(ChangeResponses.requester(user, key), topic, reason.reason());
    return ChangeResponses.of(result, stops.find(topic));
  }
}
