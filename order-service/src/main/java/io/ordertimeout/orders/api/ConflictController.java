package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.ConflictCommands;
import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PaymentConflicts.ConflictKey;
import io.ordertimeout.orders.order.PaymentConflicts.OrderConflict;
import io.ordertimeout.orders.order.Resolution;
import io.ordertimeout.orders.platform.values.EpochMicros;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Instant;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Payments that met a cancelled or closed order. */
@RestController
@RequestMapping("/api/v1/conflicts")
class ConflictController {

  private static final int MAX_ORDER_ID = 128;
  private static final int MAX_PAYMENT_ID = 256;

  private static final ConflictKey FIRST =
      new ConflictKey(Instant.parse("9999-12-31T23:59:59Z"), "", "");

  /**
   * A request to end a conflict.
   *
   * @param orderId its order
   * @param paymentId its payment
   * @param resolution how it has ended
   * @param reason why; recorded in the audit log
   */
  record ResolutionRequest(
      @NotBlank @Size(max = 2 * MAX_ORDER_ID) String orderId,
      @NotBlank @Size(max = 2 * MAX_PAYMENT_ID) String paymentId,
      @NotNull Resolution resolution,
      @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  private final PaymentConflicts conflicts;
  private final ConflictCommands commands;

  ConflictController(PaymentConflicts conflicts, ConflictCommands commands) {
    this.conflicts = conflicts;
    this.commands = commands;
  }

  /**
   * The payments that met a cancelled or closed order, the latest detected first; with {@code
   * open}, those of which nobody has said what became of the money.
   */
  @GetMapping
  @Reading
  Page<OrderConflict> conflicts(
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = "false") boolean open,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        conflicts.page(after == null ? FIRST : parse(after), open, limit + 1),
        limit,
        conflict -> text(conflict.key()));
  }

  /** Records what became of the money; until then, a conflict is open and its order is kept. */
  @PostMapping(path = "/resolve", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<OrderConflict> resolve(
      @Valid @RequestBody ResolutionRequest conflict,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    return ChangeResponses.of(
        commands.resolve(
            ChangeResponses.requester(user, key),
            conflict.orderId(),
            conflict.paymentId(),
            conflict.resolution(),
            conflict.reason()),
        conflicts.find(conflict.orderId(), conflict.paymentId()));
  }

  // No id contains the character 0.
  private static String text(ConflictKey key) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(
            (EpochMicros.text(key.detectedAt()) + "\0" + key.orderId() + "\0" + key.paymentId())
                .getBytes(StandardCharsets.UTF_8));
  }

  private static ConflictKey parse(String after) {
    try {
      String[] parts =
          new String(Base64.getUrlDecoder().decode(after), StandardCharsets.UTF_8).split("\0", -1);
      return new ConflictKey(EpochMicros.parse(parts[0]), parts[1], parts[2]);
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw Page.invalid(after);
    }
  }
}
