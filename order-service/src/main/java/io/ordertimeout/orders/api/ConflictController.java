package io.ordertimeout.orders.api;

import io.ordertimeout.orders.order.PaymentConflicts;
import io.ordertimeout.orders.order.PaymentConflicts.ConflictKey;
import io.ordertimeout.orders.order.PaymentConflicts.OrderConflict;
import io.ordertimeout.orders.platform.values.EpochMicros;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Payments that met a cancelled or closed order. */
@RestController
@RequestMapping("/api/v1/conflicts")
class ConflictController {

  private static final ConflictKey FIRST =
      new ConflictKey(Instant.parse("9999-12-31T23:59:59Z"), "", "");

  private final PaymentConflicts conflicts;

  ConflictController(PaymentConflicts conflicts) {
    this.conflicts = conflicts;
  }

  /** The payments that met a cancelled or closed order, the latest detected first. */
  @GetMapping
  @Reading
  Page<OrderConflict> conflicts(
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        conflicts.page(after == null ? FIRST : parse(after), limit + 1),
        limit,
        conflict -> text(conflict.key()));
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
