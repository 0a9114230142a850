package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The audit log: who changed what, when and why. */
@RestController
@RequestMapping("/api/v1/audit")
class AuditController {

  private final AuditLog audit;

  AuditController(AuditLog audit) {
    this.audit = audit;
  }

  /** The recorded actions on one subject or on all, latest first. */
  @GetMapping
  @Reading
  Page<OperatorAction> actions(
      @RequestParam(required = false) @Nullable String subject,
      @RequestParam(required = false) @Nullable String after,
      @RequestParam(defaultValue = Page.DEFAULT_LIMIT) @Min(1) @Max(Page.MAX_LIMIT) int limit) {
    return Page.of(
        audit.page(subject, Page.number(after, Long.MAX_VALUE), limit + 1),
        limit,
        action -> Long.toString(action.id()));
  }
}
