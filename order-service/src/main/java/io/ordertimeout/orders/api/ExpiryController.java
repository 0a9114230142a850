package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.OperatorAction;
import io.ordertimeout.orders.operator.ExpiryCommands;
import io.ordertimeout.orders.suspension.ExpiryHolds;
import io.ordertimeout.orders.suspension.ExpiryPauses;
import io.ordertimeout.orders.suspension.ParkedOrders;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.time.OffsetDateTime;
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

/** What stands between many orders and their decisions: pauses, holds, parked orders. */
@RestController
@RequestMapping("/api")
class ExpiryController {

  private static final int MOST = 500;

  /**
   * A pause to be placed.
   *
   * @param channel the channel whose orders to hold; all if absent
   * @param moveDeadlines whether deadlines move by the part of the pause that their orders live
   *     through
   * @param endsAt when it ends by itself; never if absent
   * @param reason why; stands in the audit
   */
  record Pausing(
      @Size(min = 1, max = 1_000) @Nullable String channel,
      @NotNull Boolean moveDeadlines,
      @Nullable OffsetDateTime endsAt,
      @NotBlank @Size(max = Reason.LONGEST) String reason) {}

  private final ExpiryPauses pauses;
  private final ExpiryHolds holds;
  private final ParkedOrders parked;
  private final ExpiryCommands commands;

  ExpiryController(
      ExpiryPauses pauses, ExpiryHolds holds, ParkedOrders parked, ExpiryCommands commands) {
    this.pauses = pauses;
    this.holds = holds;
    this.parked = parked;
    this.commands = commands;
  }

  /** Pauses, in force or not, the latest first. */
  @GetMapping("/pauses")
  List<ExpiryPauses.Pause> pauses(
      @RequestParam(defaultValue = "9223372036854775807") long before,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MOST) int limit) {
    return pauses.latest(before, limit);
  }

  /** Pauses expiry, on all instances, from the moment this returns. */
  @PostMapping(path = "/pauses", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> pause(
      @Valid @RequestBody Pausing pausing,
      @RequestHeader(name = Answers.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    OffsetDateTime endsAt = pausing.endsAt();
    return Answers.of(
        commands.pause(
            Answers.requester(who, key),
            pausing.channel(),
            pausing.moveDeadlines(),
            endsAt == null ? null : endsAt.toInstant(),
            pausing.reason()));
  }

  /** Ends a pause, whoever placed it. */
  @PostMapping(path = "/pauses/{id}/end", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> resume(
      @PathVariable long id,
      @Valid @RequestBody Reason reason,
      @RequestHeader(name = Answers.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return Answers.of(commands.resume(Answers.requester(who, key), id, reason.reason()));
  }

  /** The holds in force. */
  @GetMapping("/holds")
  List<ExpiryHolds.Hold> holds() {
    return holds.inForce();
  }

  /** Lifts the hold of a shard. */
  @PostMapping(path = "/holds/{id}/lift", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OperatorAction> lift(
      @PathVariable long id,
      @Valid @RequestBody Reason reason,
      @RequestHeader(name = Answers.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal who) {
    return Answers.of(commands.lift(Answers.requester(who, key), id, reason.reason()));
  }

  /** Parked orders by their ids. */
  @GetMapping("/parked")
  List<ParkedOrders.Parked> parked(
      @RequestParam(defaultValue = "") String after,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MOST) int limit) {
    return parked.page(after, limit);
  }
}
