package io.ordertimeout.orders.api;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.ExpiryCommands;
import io.ordertimeout.orders.operator.OrderSearch;
import io.ordertimeout.orders.operator.OrderSearch.Total;
import io.ordertimeout.orders.operator.PauseEffects;
import io.ordertimeout.orders.operator.status.Hold;
import io.ordertimeout.orders.operator.status.Pause;
import io.ordertimeout.orders.order.OrderPages;
import io.ordertimeout.orders.suspension.ParkedOrders;
import io.ordertimeout.orders.suspension.Suspensions;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What suspends the expiry of orders: pauses, holds and parked orders. */
@RestController
@RequestMapping("/api/v1")
class ExpiryController {

  /**
   * A request to pause expiry.
   *
   * @param channel the channel whose orders are paused; if absent, all orders are
   * @param moveDeadlines whether each deadline moves by the part of the pause during which its
   *     order existed
   * @param endsAt when the pause ends automatically, at most 365 days from now; if absent, an
   *     operator has to end it
   * @param reason why expiry is paused; recorded in the audit log
   */
  record PauseRequest(
      @Size(min = 1, max = 1_000) @Nullable String channel,
      @NotNull Boolean moveDeadlines,
      @Nullable OffsetDateTime endsAt,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  /**
   * A pause that was placed.
   *
   * @param pause the pause
   * @param covers how many pending orders it covers; null if Postgres did not count them in time.
   *     No order at all suggests that the channel is misspelt.
   */
  record PlacedPause(@JsonUnwrapped Pause pause, @Nullable Total covers) {}

  private static final Logger log = LoggerFactory.getLogger(ExpiryController.class);

  private final Suspensions suspensions;
  private final OrderPages pages;
  private final ExpiryCommands commands;
  private final PauseEffects effects;
  private final OrderSearch orders;

  ExpiryController(
      Suspensions suspensions,
      OrderPages pages,
      ExpiryCommands commands,
      PauseEffects effects,
      OrderSearch orders) {
    this.suspensions = suspensions;
    this.pages = pages;
    this.commands = commands;
    this.effects = effects;
    this.orders = orders;
  }

  /** All pauses, whether in force or ended, latest first. */
  @GetMapping("/pauses")
  @Reading
  Page<Pause> pauses(
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        suspensions.latestPauses(Page.number(after, Long.MAX_VALUE), limit + 1).stream()
            .map(Pause::of)
            .toList(),
        limit,
        pause -> Long.toString(pause.id()));
  }

  /** Pauses expiry on all instances; in force once this responds. */
  @PostMapping(path = "/pauses", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<PlacedPause> pause(
      @Valid @RequestBody PauseRequest request,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    OffsetDateTime endsAt = request.endsAt();
    ChangeResult result =
        commands.pause(
            ChangeResponses.requester(user, key),
            request.channel(),
            request.moveDeadlines(),
            endsAt == null ? null : endsAt.toInstant(),
            request.reason());
    return ChangeResponses.of(
        result, find(result).map(pause -> new PlacedPause(pause, countPending(request.channel()))));
  }

  private @Nullable Total countPending(@Nullable String channel) {
    try {
      return orders.countPending(channel);
    } catch (DataAccessException | TransactionException e) {
      // The pause is in force, which the response has to say.
      log.warn("The orders that a pause covers could not be counted: {}", e.toString());
      return null;
    }
  }

  /** What the end of a pause would do now, before it is ended. */
  @GetMapping("/pauses/{id}/effect")
  @Reading
  PauseEffects.Effect effect(@PathVariable long id) {
    return effects.ofEnding(id);
  }

  /** Ends a pause of an operator or of the circuit breaker. */
  @PostMapping(path = "/pauses/{id}/end", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<Pause> resume(
      @PathVariable long id,
      @Valid @RequestBody Reason reason,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    ChangeResult result =
        commands.resume(ChangeResponses.requester(user, key), id, reason.reason());
    return ChangeResponses.of(result, find(result));
  }

  private Optional<Pause> find(ChangeResult result) {
    return suspensions.find(Long.parseLong(result.action().subject())).map(Pause::of);
  }

  /** The holds in force, in the order of their numbers. */
  @GetMapping("/holds")
  @Reading
  Page<Hold> holds(
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    long last = Page.number(after, 0);
    return Page.of(
        suspensions.inForce().stream()
            .filter(s -> !s.isPause() && s.id() > last)
            .map(Hold::of)
            .toList(),
        limit,
        hold -> Long.toString(hold.id()));
  }

  /** Lifts the hold of a shard. */
  @PostMapping(path = "/holds/{id}/lift", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<Hold> lift(
      @PathVariable long id,
      @Valid @RequestBody Reason reason,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    ChangeResult result = commands.lift(ChangeResponses.requester(user, key), id, reason.reason());
    return ChangeResponses.of(result, suspensions.find(id).filter(s -> !s.isPause()).map(Hold::of));
  }

  /**
   * Parked orders that are not decided, in the order of their ids. A page may be short, or even
   * empty, although it has a next one.
   */
  @GetMapping("/parked")
  @Reading
  Page<ParkedOrders.Parked> parked(
      @RequestParam(defaultValue = "") String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    ParkedOrders.Page page = pages.parked(after, limit);
    return new Page<>(page.orders(), page.next());
  }
}
